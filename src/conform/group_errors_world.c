/*
 * group_errors_world.c - a world that refuses: no permission, no room, no descriptors, damage.
 *
 * The one invariant: whatever was acknowledged before the world refused is still there.
 */
#include "conform/contents.h"
#include "conform/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* open, make and a session, as far as it goes; closes it all again. */
static bk_status get_going(struct bk_test *t, struct bk_error *err)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_layered *l = NULL;
	struct bk_session *s = NULL;
	bk_status st = bk_open(&l, t->config->plugin, t->options, t->space[BK_SPACE_A], NULL,
			       BK_DURABLE_NONE, BK_OPEN_CHECK, err);

	if (st == BK_OK)
		st = l->tables.store.make(l->store, err);
	if (st == BK_OK)
		st = l->tables.session.open(&s, l->store, &config, err);
	if (s)
		l->tables.session.close(s);
	bk_close(l);
	return st;
}

static void refused_cleanly(struct bk_test *t, struct bk_at at, uint32_t set)
{
	struct bk_error err;
	bk_status st;

	bk_test_arm(&err);
	st = get_going(t, &err);
	if (st == BK_OK)
		bk_test_fail(t, at, "open, make and a session went well");
	bk_test_status(t, at, "open, make or session", set, st, BK_ITEM_ANY, &err);
}

static void no_permission(struct bk_test *t)
{
	CHECK(t, chmod(t->folder, 0555) == 0, "chmod: %s", strerror(errno));
	if (geteuid() == 0) /* permissions bind everybody else */
		CHECK(t, chown(t->folder, 0, 0) == 0 && setgid(65534) == 0 && setuid(65534) == 0,
		      "setuid: %s", strerror(errno));
	refused_cleanly(t, AT, TWO(BK_AUTH, BK_IO));
	CHECK(t, bk_folder_entries(t, t->folder) == 0, "something came into the folder");
	chmod(t->folder, 0755);
}

static void folder_is_file(struct bk_test *t)
{
	const char *text = "not a folder";

	CHECK(t, rmdir(t->folder) == 0, "rmdir: %s", strerror(errno));
	bk_file_write(t, t->folder, text);
	refused_cleanly(t, AT, THREE(BK_IO, BK_INVALID, BK_FOREIGN) | TWO(BK_NOT_FOUND, BK_EXISTS));
	bk_file_same(t, AT, t->folder, text);
}

/* ---- Descriptors
 * --------------------------------------------------------------------------------- */

static void limit_descriptors(struct bk_test *t, rlim_t more, struct rlimit *before)
{
	struct rlimit limit;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK(t, next >= 0 && getrlimit(RLIMIT_NOFILE, before) == 0, "open: %s", strerror(errno));
	close(next);
	limit = *before;
	limit.rlim_cur = (rlim_t)next + more;
	CHECK(t, setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit: %s", strerror(errno));
}

/* Each call works or says why not; what was said to be stored is remembered. */
static int puts_without(struct bk_box *b, int from, int count, bool *stored)
{
	int failed = 0, i;

	for (i = from; i < from + count; i++) {
		struct bk_node node = bk_node_named(b, "n%d", i), got;
		bk_status st;

		node.doc = bk_test_bytes(&b->arena, (uint64_t)i, 2000);
		ANY(b->t, st, b->ops->node.put(b->s, &node, BK_PUT_CREATE, E));
		stored[i] = st == BK_OK;
		failed += st != BK_OK;
		ANY(b->t, st, b->ops->node.get(&got, b->s, node.id, BK_WANT_ALL, E));
		if (st == BK_OK && stored[i])
			bk_t_equal(b, AT, &node, &got, BK_WANT_ALL);
	}
	return failed;
}

static void stored_is_there(struct bk_box *b, struct bk_at at, int count, const bool *stored)
{
	int i;

	for (i = 0; i < count; i++) {
		struct bk_node node = bk_node_named(b, "n%d", i);

		node.doc = bk_test_bytes(&b->arena, (uint64_t)i, 2000);
		if (stored[i])
			bk_t_same(b, at, &node);
	}
}

static void no_descriptors(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	bool stored[120];
	struct rlimit before;
	rlim_t more;
	int i = 0;

	for (more = 0; more < 3; more++, i += 30) {
		limit_descriptors(t, more, &before);
		puts_without(b, i, 30, stored);
		CHECK(t, setrlimit(RLIMIT_NOFILE, &before) == 0, "setrlimit");
	}
	CHECK(t, puts_without(b, i, 30, stored) == 0,
	      "a put fails when descriptors are there again");
	stored_is_there(b, AT, 120, stored);
}

static void no_descriptors_open(struct bk_test *t)
{
	struct rlimit before;
	struct bk_error err;
	bk_status st;
	rlim_t more;

	for (more = 0; more < 12; more++) {
		limit_descriptors(t, more, &before);
		bk_test_arm(&err);
		st = get_going(t, &err);
		CHECK(t, setrlimit(RLIMIT_NOFILE, &before) == 0, "setrlimit");
		if (st != BK_OK)
			bk_test_status(t, AT, "open, make or session", UINT32_MAX, st, BK_ITEM_ANY,
				       &err);
	}
	bk_fill(bk_test_box(t), "n");
}

/* ---- Room
 * ---------------------------------------------------------------------------------------- */

static void write_map(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n = (ssize_t)strlen(text);

	if (fd >= 0 && write(fd, text, (size_t)n) != n)
		n = 0; /* the mount that follows fails, and says why */
	if (fd >= 0)
		close(fd);
}

/* A small file system of our own in the store's folder, seen by this process only. */
static void small_disk(struct bk_test *t, const char *size)
{
	unsigned uid = geteuid(), gid = getegid();
	int flags = uid == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;

	if (unshare(flags) != 0)
		bk_test_skip(t, "cannot make a small file system here (unshare: %s)",
			     strerror(errno));
	if (uid != 0) {
		write_map("/proc/self/setgroups", "deny");
		write_map("/proc/self/uid_map", bk_arena_printf(&t->arena, "0 %u 1", uid));
		write_map("/proc/self/gid_map", bk_arena_printf(&t->arena, "0 %u 1", gid));
	}
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("bakeoff", t->folder, "tmpfs", 0, size) != 0)
		bk_test_skip(t, "cannot make a small file system here (mount: %s)",
			     strerror(errno));
}

static void disk_full(struct bk_test *t)
{
	enum { DOC = 64 << 10, MOST = 3000 };
	struct bk_box *b;
	struct bk_slice bytes;
	struct bk_node node;
	bk_status st = BK_OK;
	int n, i;

	small_disk(t, "size=48m");
	b = bk_test_box(t);
	bytes = bk_test_bytes(&b->arena, 1, DOC + MOST);
	for (n = 0; n < MOST && st == BK_OK; n++) {
		node = bk_node_named(b, "n%d", n);
		node.doc = bk_slice_of((const char *)bytes.data + n, DOC);
		WANT_IN(t, TWO(BK_OK, BK_NO_SPACE), UINT64_MAX, st,
			b->ops->node.put(b->s, &node, BK_PUT_CREATE, E));
	}
	CHECK(t, st == BK_NO_SPACE, "%d MiB went onto a disk of 48", MOST * DOC >> 20);
	for (i = 0; i < n - 1; i++) {
		node = bk_node_named(b, "n%d", i);
		node.doc = bk_slice_of((const char *)bytes.data + i, DOC);
		SAME(b, &node);
	}
}

static void disk_full_binary(struct bk_test *t)
{
	struct bk_box *b;
	struct bk_slice old = bk_slice_str("old"), key = bk_slice_str("key");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;
	static char chunk[65536];
	bk_status st = BK_OK;
	uint64_t at, size = 1000000;

	small_disk(t, "size=16m");
	b = bk_test_box(t);
	STORE(b, old, 1, size);
	w = WRITE_OPEN(b, key, UINT64_C(64) << 20, BK_PUT_UPSERT);
	for (at = 0; at < (UINT64_C(64) << 20) && st == BK_OK; at += sizeof(chunk)) {
		bk_content_fill(chunk, 2, at, sizeof(chunk));
		WANT_IN(t, TWO(BK_OK, BK_NO_SPACE), UINT64_MAX, st,
			b->ops->binary.write(w, chunk, sizeof(chunk), E));
	}
	if (st == BK_OK)
		WANT(t, BK_NO_SPACE, b->ops->binary.finish(w, &info, E));
	else
		b->ops->binary.abort(w);
	NO_BINARY(b, key);
	BINARY(b, old, 1, size);
	bk_t_list(b, AT, &old, &size, 1, 10);
	STORE(b, key, 3, 100000); /* what the failed one took is free again */
	BINARY(b, key, 3, 100000);
}

/* ---- Damage
 * --------------------------------------------------------------------------------------- */

static void damage_file(const char *path, struct bk_rng *rng)
{
	struct stat sb;
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char byte;
	off_t at;
	int i;

	if (fd < 0 || fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode) || sb.st_size == 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (bk_rng_below(rng, 4) == 0 &&
	    ftruncate(fd, (off_t)bk_rng_below(rng, (uint64_t)sb.st_size)) != 0)
		sb.st_size = 0;
	for (i = 0; i < 3 && sb.st_size; i++) {
		at = (off_t)bk_rng_below(rng, (uint64_t)sb.st_size);
		if (pread(fd, &byte, 1, at) == 1) {
			byte ^= (unsigned char)(1u << bk_rng_below(rng, 8));
			if (pwrite(fd, &byte, 1, at) != 1)
				break;
		}
	}
	close(fd);
}

static void damage_tree(struct bk_test *t, const char *folder, struct bk_rng *rng)
{
	struct dirent **list = NULL;
	int n = scandir(folder, &list, NULL, alphasort), i;

	for (i = 0; i < n; i++) {
		const char *path = bk_arena_printf(&t->arena, "%s/%s", folder, list[i]->d_name);
		struct stat sb;

		if (list[i]->d_name[0] != '.' && lstat(path, &sb) == 0) {
			if (S_ISDIR(sb.st_mode))
				damage_tree(t, path, rng);
			else if (bk_rng_below(rng, 2))
				damage_file(path, rng);
		}
		free(list[i]);
	}
	free(list);
}

/* Reads all there may be; any status will do, so long as it comes. */
static void read_damaged(struct bk_test *t)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	struct bk_session *s = NULL;
	struct bk_box b;
	int i;

	if (bk_open(&l, t->config->plugin, t->options, t->space[BK_SPACE_A], NULL, BK_DURABLE_NONE,
		    BK_BARE, &err) != BK_OK)
		return;
	if (l->tables.session.open(&s, l->store, &config, &err) == BK_OK) {
		memset(&b, 0, sizeof(b));
		b.t = t;
		for (i = 0; i < 12; i++) {
			struct bk_node got;

			if (bk_test_has(t, BK_F_NODES))
				l->tables.node.get(&got, s, bk_id_named(&b, "n%d", i), BK_WANT_ALL,
						   &err);
		}
		bk_arena_free(&b.arena);
		l->tables.session.close(s);
	}
	bk_close(l);
}

static void damaged(struct bk_test *t)
{
	struct bk_error err = bk_error_init();
	struct bk_rng rng;
	struct bk_box *b;
	int i;

	bk_rng_init(&rng, t->seed);
	for (i = 0; i < 8; i++) {
		struct bk_layered *l;

		b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
		bk_fill(b, "n");
		bk_test_shut_box(b);
		damage_tree(t, t->folder, &rng);
		read_damaged(t);
		l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
		if (l->tables.store.unmake(l->store, &err) != BK_OK) {
			/* the mark itself was hit: not ours any more, as far as it can tell */
			CHECK(t, err.status == BK_FOREIGN, "unmake of a damaged store: %s: %s",
			      bk_test_status_name(err.status), err.message);
			bk_test_shut(t, l);
			t->space_used[BK_SPACE_A] = false;
			return;
		}
		bk_test_shut(t, l);
	}
}

static const struct bk_case cases[] = {
	{"no-permission", "a folder that may not be written: AUTH or IO", no_permission,
	 .flags = BK_CASE_FOLDER},
	{"folder-is-file", "a file where the folder should be: refused, unharmed", folder_is_file,
	 .flags = BK_CASE_FOLDER},
	{"no-descriptors", "no descriptor left: errors, then as before", no_descriptors,
	 .needs = BK_F_NODES, .flags = BK_CASE_FOLDER},
	{"no-descriptors-open", "no descriptor left at open: an error", no_descriptors_open,
	 .flags = BK_CASE_FOLDER},
	{"disk-full", "a full disk: NO_SPACE, and all that was stored is there", disk_full,
	 .needs = BK_F_NODES, .flags = BK_CASE_FOLDER},
	{"disk-full-binary",
	 "a full disk in mid-binary: NO_SPACE, nothing of it stays, its room is free again",
	 disk_full_binary, .needs = BK_F_BINARIES, .flags = BK_CASE_FOLDER},
	{"damaged", "files with bits turned over: any answer, but an answer", damaged,
	 .flags = BK_CASE_FOLDER},
	{.name = NULL},
};

const struct bk_group bk_group_errors_world = {"errors", cases};
