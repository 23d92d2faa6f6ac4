/*
 * The file backend in a world that says no: a full disk, no inodes, no descriptors, no permission,
 * a read-only mount, a limit on file sizes.  Each is told with the path and the cause, changes
 * nothing, and is over when the cause is.
 */
#include "file_fixture.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

/* A file system of our own; false: not allowed here. */
static bool mount_small(const char *data)
{
	static bool tried, may;
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (!tried) {
		tried = true;
		may = unshare(CLONE_NEWNS) == 0;
		if (!may && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
			file_write("/proc/self/setgroups", "deny");
			snprintf(map, sizeof(map), "0 %u 1", (unsigned)uid);
			file_write("/proc/self/uid_map", map);
			snprintf(map, sizeof(map), "0 %u 1", (unsigned)gid);
			file_write("/proc/self/gid_map", map);
			may = true;
		}
		may = may && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	}
	assert_int_equal(mkdir(in_store(""), 0777), 0);
	if (may && mount("tmpfs", in_store(""), "tmpfs", 0, data) == 0) {
		set_option("path", in_store("s"));
		return true;
	}
	print_message("mounting is not allowed here\n");
	return false;
}

static int teardown_mount(void **state)
{
	if (io)
		store_leave();
	umount2(in_store(""), MNT_DETACH);
	return fixture_teardown(state);
}

/* Take all that is left, but for `spare` bytes. */
static void fill_up(size_t spare)
{
	static char block[4096];
	int fd = open(in_store("filler"), O_CREAT | O_WRONLY, 0666);
	off_t size;

	assert_true(fd >= 0);
	memset(block, 'f', sizeof(block));
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		;
	assert_int_equal(errno, ENOSPC);
	size = lseek(fd, 0, SEEK_END);
	assert_int_equal(ftruncate(fd, size > (off_t)spare ? size - (off_t)spare : 0), 0);
	close(fd);
}

static void expect_full(bk_status st)
{
	assert_int_equal(st, BK_NO_SPACE);
	assert_contains(err.message, in_store("s"));
	assert_contains(err.message, "No space left on device");
}

static void a_full_disk(void **state)
{
	struct bk_link links[] = {link_to("r", "root")};
	struct bk_slice id;
	struct bk_node node;
	char big[16384];

	if (!mount_small("size=8m"))
		skip();
	memset(big, 'b', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	store_use(BK_DURABLE_PROCESS);
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		ok(put(name, "root", "doc", BK_PUT_CREATE, links, 1));
	}
	fill_up(0);
	expect_full(put("more", "root", big, BK_PUT_CREATE, links, 1));
	expect_full(put("n3", "root", big, BK_PUT_REPLACE, NULL, 0));
	expect_full(t->node.append(s, bk_slice_str("n3"), bk_slice_str(big), NULL, 0, &err));
	/* nothing has changed */
	gives(t->node.get(&node, s, bk_slice_str("more"), 7, &err), BK_NOT_FOUND);
	gives(t->node.find(&id, s, bk_slice_str("/p/more"), &err), BK_NOT_FOUND);
	ok(t->node.get(&node, s, bk_slice_str("n3"), 7, &err));
	assert_true(bk_slice_eq(node.doc, bk_slice_str("doc")));
	assert_int_equal(node.link_count, 1);
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), 20);
	assert_int_equal(count_hits("root", BK_IN, ""), 20);
	assert_int_equal(count_files(in_store("s/main/tmp")), 0);
	/* a full disk can be emptied, and used again */
	for (int i = 5; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		ok(t->node.remove(s, bk_slice_str(name), &err));
	}
	ok(put("more", "root", "doc", BK_PUT_CREATE, links, 1));
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), 6);
	store_leave();
	/* opened, and closed, while full */
	fill_up(0);
	store_use(BK_DURABLE_PROCESS);
	assert_int_equal(count_hits("root", BK_IN, ""), 6);
}

/* Links until the list log has no more space: the node is whole, with what was acknowledged. */
static void a_disk_that_fills_with_lists(void **state)
{
	size_t appended = 0;
	bk_status st = BK_OK;
	struct bk_node node;

	if (!mount_small("size=3m"))
		skip();
	store_use(BK_DURABLE_PROCESS);
	ok(put("a", "", "", BK_PUT_CREATE, NULL, 0));
	while (st == BK_OK && appended < 100000) {
		char target[600];
		struct bk_link link;

		memset(target, 't', sizeof(target));
		snprintf(target + 500, sizeof(target) - 500, "%zu", appended);
		link = link_to("rel", target);
		st = t->node.append(s, bk_slice_str("a"), bk_slice_str(""), &link, 1, &err);
		appended += st == BK_OK;
	}
	expect_full(st);
	ok(t->node.get(&node, s, bk_slice_str("a"), BK_WANT_LINKS, &err));
	assert_int_equal(node.link_count, appended);
	ok(t->node.remove(s, bk_slice_str("a"), &err));
}

static void a_full_disk_and_binaries(void **state)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;
	char block[65536];
	bk_status st = BK_OK;

	if (!mount_small("size=4m"))
		skip();
	memset(block, 'x', sizeof(block));
	store_use(BK_DURABLE_PROCESS);
	write_binary("k", "old");
	ok(t->binary.write_open(&w, s, bk_slice_str("k"), BK_SIZE_UNKNOWN, BK_PUT_UPSERT, &err));
	while (st == BK_OK)
		st = t->binary.write(w, block, sizeof(block), &err);
	expect_full(st);
	t->binary.abort(w);
	ok(t->binary.stat(s, bk_slice_str("k"), &info, &err));
	assert_int_equal(info.size_bytes, 3);
	assert_int_equal(count_files(in_store("s/main/tmp")), 0);
	write_binary("k", "new");
}

static void no_inodes(void **state)
{
	bk_status st = BK_OK;
	int n = 0;

	if (!mount_small("size=8m,nr_inodes=60"))
		skip();
	store_use(BK_DURABLE_PROCESS);
	while (st == BK_OK && n < 100) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", n);
		st = put(name, "", "", BK_PUT_CREATE, NULL, 0);
		n += st == BK_OK;
	}
	expect_full(st);
	assert_contains(err.message, "inodes");
	assert_between(n, 5, 60);
	ok(t->node.remove(s, bk_slice_str("n0"), &err));
}

static void make_on_a_full_disk(void **state)
{
	if (!mount_small("size=1m"))
		skip();
	fill_up(0);
	store_open(BK_DURABLE_NONE);
	gives(t->store.make(io->store, &err), BK_NO_SPACE);
	ok(t->store.unmake(io->store, &err));
	assert_int_equal(count_files(in_store("")), 1);
}

static void no_descriptors(void **state)
{
	struct rlimit limit, none;
	struct bk_reader *r;
	struct bk_writer *w;
	struct bk_node node;
	bk_status st;
	int next;

	store_use(BK_DURABLE_PROCESS);
	ok(put("a", "", "", BK_PUT_CREATE, NULL, 0));
	write_binary("k", "v");
	next = dup(0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &none);
#define gives_none(call)                                                                           \
	do {                                                                                       \
		st = (call);                                                                       \
		if (st != BK_IO || err.vendor_code != EMFILE || !strstr(err.message, "ulimit -n")) \
			setrlimit(RLIMIT_NOFILE, &limit);                                          \
		assert_int_equal(st, BK_IO);                                                       \
		assert_contains(err.message, "Too many open files");                               \
		assert_contains(err.message, "ulimit -n");                                         \
	} while (0)
	gives_none(put("b", "", "", BK_PUT_CREATE, NULL, 0));
	gives_none(put("a", "", "", BK_PUT_REPLACE, NULL, 0));
	gives_none(t->node.get(&node, s, bk_slice_str("a"), 7, &err));
	gives_none(t->node.append(s, bk_slice_str("a"), bk_slice_str("x"), NULL, 0, &err));
	gives_none(t->node.remove(s, bk_slice_str("a"), &err));
	gives_none(t->binary.read_open(&r, s, bk_slice_str("k"), 0, 1, NULL, &err));
	gives_none(t->binary.write_open(&w, s, bk_slice_str("k"), 1, BK_PUT_UPSERT, &err));
	/* with a few, sessions do not open, and leave nothing behind */
	t->session.close(s);
	s = NULL;
	for (int few = next - 2; few < next + 2; few++) {
		none.rlim_cur = (rlim_t)few;
		setrlimit(RLIMIT_NOFILE, &none);
		st = session_try(BK_DURABLE_PROCESS);
		setrlimit(RLIMIT_NOFILE, &limit);
		if (st == BK_OK)
			t->session.close(s);
		else
			assert_contains(err.message, "ulimit -n");
		s = NULL;
	}
	ok(session_try(BK_DURABLE_PROCESS));
	ok(put("b", "", "", BK_PUT_CREATE, NULL, 0));
	ok(t->node.get(&node, s, bk_slice_str("a"), 7, &err));
}

static void expect_refused(bk_status st, const char *path)
{
	assert_int_equal(st, BK_AUTH);
	assert_contains(err.message, path);
	assert_contains(err.message, "Permission denied");
}

static void no_permission(void **state)
{
	bool root = geteuid() == 0;
	struct bk_node node;

	/* a folder that may be looked at, but not written to */
	assert_int_equal(mkdir(in_store(""), 0755), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	chmod(in_store(""), 0555);
	set_option("path", in_store("s"));
	if (root && seteuid(65534) < 0)
		skip();
	store_open(BK_DURABLE_NONE);
	expect_refused(t->store.make(io->store, &err), in_store("s"));
	bk_close(io);
	io = NULL;
	if (root)
		assert_int_equal(seteuid(0), 0);
	/* a store of somebody else */
	chmod(in_store(""), 0755);
	store_use(BK_DURABLE_NONE);
	ok(put("a", "", "", BK_PUT_CREATE, NULL, 0));
	store_leave();
	if (!root)
		return;
	assert_int_equal(seteuid(65534), 0);
	store_open(BK_DURABLE_NONE);
	expect_refused(session_try(BK_DURABLE_NONE), in_store("s/main/lock"));
	s = NULL;
	expect_refused(t->store.clear(io->store, &err), in_store("s/main/lock"));
	expect_refused(t->store.unmake(io->store, &err), in_store("s/main/lock"));
	bk_close(io);
	io = NULL;
	assert_int_equal(seteuid(0), 0);
	/* a folder that may not even be looked into */
	chmod(in_store(""), 0700);
	assert_int_equal(seteuid(65534), 0);
	expect_refused(bk_open(&io, plugin, options, NULL, NULL, 0, 0, &err), in_store("s"));
	assert_int_equal(seteuid(0), 0);
	store_use(BK_DURABLE_NONE);
	ok(t->node.get(&node, s, bk_slice_str("a"), 7, &err));
}

struct told {
	size_t flags, values;
};

static void told_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	((struct told *)ctx)->values++;
	if (strcmp(name, "nodes.count") == 0)
		assert_int_equal(value, 1);
}

static void told_str(void *ctx, const char *name, const char *value)
{
	((struct told *)ctx)->values++;
	if (strcmp(name, "filesystem.type") == 0)
		assert_string_equal(value, "tmpfs");
}

static void told_flag(void *ctx, const char *code, const char *text)
{
	((struct told *)ctx)->flags += strcmp(code, "volatile") == 0;
}

static void a_read_only_mount(void **state)
{
	struct told told = {0, 0};
	struct bk_sink sink = {.struct_size = sizeof(sink),
			       .ctx = &told,
			       .put_u64 = told_u64,
			       .put_str = told_str,
			       .flag = told_flag};

	if (!mount_small("size=4m"))
		skip();
	store_use(BK_DURABLE_NONE);
	ok(put("a", "", "", BK_PUT_CREATE, NULL, 0));
	store_leave();
	assert_int_equal(mount(NULL, in_store(""), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL),
			 0);
	store_open(BK_DURABLE_NONE);
	gives(session_try(BK_DURABLE_NONE), BK_AUTH);
	s = NULL;
	assert_contains(err.message, "Read-only file system");
	/* it can be described all the same, and is told to be in memory */
	ok(t->store.inspect(io->store, BK_INSPECT_IDENTITY | BK_INSPECT_SIZE, &sink, &err));
	assert_true(told.values > 10);
	assert_int_equal(told.flags, 1);
}

/* What a power cut empties cannot give durability machine. */
static void memory_is_not_durable(void **state)
{
	if (!mount_small("size=4m"))
		skip();
	store_open(BK_DURABLE_MACHINE);
	ok(t->store.make(io->store, &err));
	gives(session_try(BK_DURABLE_MACHINE), BK_UNSUPPORTED);
	assert_contains(err.message, "tmpfs");
	ok(session_try(BK_DURABLE_PROCESS));
}

static void a_limit_on_file_sizes(void **state)
{
	struct rlimit limit, small;
	struct bk_writer *w;
	char block[65536];
	bk_status st = BK_OK;

	store_use(BK_DURABLE_PROCESS);
	memset(block, 'x', sizeof(block));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	small = limit;
	small.rlim_cur = 200000;
	ok(t->binary.write_open(&w, s, bk_slice_str("k"), BK_SIZE_UNKNOWN, BK_PUT_UPSERT, &err));
	setrlimit(RLIMIT_FSIZE, &small);
	for (int i = 0; i < 10 && st == BK_OK; i++)
		st = t->binary.write(w, block, sizeof(block), &err);
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(st, BK_NO_SPACE);
	assert_contains(err.message, "ulimit -f");
	t->binary.abort(w);
}

int main(void)
{
#define CASE(f)  cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
#define MOUNT(f) cmocka_unit_test_setup_teardown(f, fixture_setup, teardown_mount)
	const struct CMUnitTest tests[] = {
		CASE(no_permission), /* before a user namespace makes us root */
		MOUNT(a_full_disk),
		MOUNT(a_disk_that_fills_with_lists),
		MOUNT(a_full_disk_and_binaries),
		MOUNT(no_inodes),
		MOUNT(make_on_a_full_disk),
		CASE(no_descriptors),
		MOUNT(a_read_only_mount),
		MOUNT(memory_is_not_durable),
		CASE(a_limit_on_file_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
