/*
 * The leveldb backend when the world is against it: a full disk, damaged files, no descriptors, no
 * permission.  Each says what failed, on what, why and what to do; what was acknowledged is there
 * afterwards.
 */
#include "leveldb.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static bk_status put_numbered(struct ldb_test *t, int i, const char *doc)
{
	char id[32];

	snprintf(id, sizeof(id), "node-%d", i);
	return ldb_put(t, t->s, id, NULL, doc, BK_PUT_CREATE);
}

static void has_numbered(struct ldb_test *t, int i)
{
	struct bk_node node;
	char id[32];

	snprintf(id, sizeof(id), "node-%d", i);
	OK(t->t->node.get(&node, t->s, bk_slice_str(id), BK_WANT_DOC, &t->err));
}

/* A document that does not compress. */
static void noise(char *doc, size_t len)
{
	uint32_t x = 2463534242u;
	size_t i;

	for (i = 0; i + 1 < len; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		doc[i] = (char)('!' + x % 90);
	}
	doc[len - 1] = '\0';
}

/* After the first failure no write is taken, although there is room again: LevelDB would go on
 * behind a torn record, where recovery does not look.  Opened again, all that was acknowledged is
 * there, and it goes on.  (Opening writes the log's content to a table: it needs that much room.)
 */
static void full_disk(void **state)
{
	struct ldb_test *t = *state;
	char ballast[512], doc[3000];
	int fd, stored = 0;
	bk_status st;

	if (mount("bakeoff", t->folder, "tmpfs", 0, "size=12m") != 0)
		skip(); /* needs to be root */
	noise(doc, sizeof(doc));
	snprintf(ballast, sizeof(ballast), "%s/ballast", t->folder);
	fd = open(ballast, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0 && posix_fallocate(fd, 0, 9 << 20) == 0);
	close(fd);
	ldb_begin(t);
	while ((st = put_numbered(t, stored, doc)) == BK_OK)
		stored++;
	GIVES(NO_SPACE, st);
	assert_int_equal(t->err.vendor_code, ENOSPC);
	assert_true(t->err.flags & BK_ERR_OUTCOME_UNKNOWN);
	assert_contains(t->err.message, t->folder);
	assert_contains(t->err.message, "No space left on device");
	assert_true(stored > 100);
	assert_int_equal(unlink(ballast), 0);
	GIVES(NO_SPACE, put_numbered(t, stored + 1, doc));
	assert_contains(t->err.message, "until the store is closed and opened again");
	has_numbered(t, 0); /* reading goes on */
	ldb_end(t);
	ldb_begin(t);
	while (stored-- > 0)
		has_numbered(t, stored);
	OK(put_numbered(t, 1000000, doc));
}

static int unmount_and_teardown(void **state)
{
	struct ldb_test *t = *state;

	ldb_end(t);
	umount2(t->folder, MNT_DETACH); /* not there when the test was skipped */
	return ldb_teardown(state);
}

/* Turns over every 500th byte of the files that end in `suffix`; how many files. */
static int damage(const struct ldb_test *t, const char *prefix, const char *suffix)
{
	char path[1024];
	struct dirent *e;
	int files = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/main/db", t->folder);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		size_t n = strlen(e->d_name), m = strlen(suffix);
		struct stat st;
		char byte;
		off_t at;
		int fd;

		if (n < m || strcmp(e->d_name + n - m, suffix) != 0 ||
		    strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDWR);
		assert_true(fd >= 0 && fstat(fd, &st) == 0);
		for (at = 20; at < st.st_size; at += 500) {
			assert_int_equal(pread(fd, &byte, 1, at), 1);
			byte ^= 0x55;
			assert_int_equal(pwrite(fd, &byte, 1, at), 1);
		}
		close(fd);
		files++;
	}
	closedir(dir);
	return files;
}

static void damaged_table(void **state)
{
	struct ldb_test *t = *state;
	struct bk_node node;
	char doc[3000];
	int i;

	OK(bk_options_set(t->options, "verify-checksums", "yes", BK_FROM_USER, &t->err));
	OK(bk_options_set(t->options, "write-buffer", "64KiB", BK_FROM_USER, &t->err));
	OK(bk_options_set(t->options, "block-cache", "0", BK_FROM_USER, &t->err));
	ldb_begin(t);
	noise(doc, sizeof(doc));
	for (i = 0; i < 300; i++)
		OK(put_numbered(t, i, doc));
	OK(t->t->store.settle(t->io->store, UINT64_C(60000000000), &t->err));
	assert_true(damage(t, "", ".ldb") > 0);
	GIVES(CORRUPT, t->t->node.get(&node, t->s, bk_slice_str("node-7"), BK_WANT_DOC, &t->err));
	assert_contains(t->err.message, "Corruption");
	assert_contains(t->err.message, t->folder);
	ldb_end(t);
	OK(ldb_open(&t->io, t));
	GIVES(CORRUPT, t->io->tables.store.make(t->io->store, &t->err));
	OK(t->io->tables.store.unmake(t->io->store, &t->err));
	bk_close(t->io);
	t->io = NULL;
}

static void damaged_manifest(void **state)
{
	struct ldb_test *t = *state;

	ldb_begin(t);
	ldb_end(t);
	assert_int_equal(damage(t, "MANIFEST-", ""), 1);
	OK(ldb_open(&t->io, t));
	GIVES(CORRUPT, t->io->tables.store.make(t->io->store, &t->err));
	assert_contains(t->err.message, "clear the store");
	OK(t->io->tables.store.clear(t->io->store, &t->err));
	bk_close(t->io);
	ldb_begin(t);
	OK(ldb_put(t, t->s, "n", NULL, "", BK_PUT_CREATE));
}

/* In a process of its own, since descriptors and user ids are the process's. */
static void in_child(struct ldb_test *t, void (*body)(struct ldb_test *))
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		body(t);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void make_without_descriptors(struct ldb_test *t)
{
	struct rlimit limit = {0};
	int next = dup(0);
	bk_status st;

	assert_true(next > 0);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	OK(ldb_open(&t->io, t));
	/* With each number of descriptors from none on: an error that says why, or success. */
	do {
		limit.rlim_cur = (rlim_t)next++;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		st = t->io->tables.store.make(t->io->store, &t->err);
		if (st != BK_OK) {
			GIVES(IO, st);
			assert_int_equal(t->err.vendor_code, EMFILE);
			assert_contains(t->err.message, "ulimit -n");
		}
	} while (st != BK_OK && next < 100);
	OK(st);
	bk_close(t->io);
}

static void no_descriptors(void **state)
{
	in_child(*state, make_without_descriptors);
}

static void make_as_nobody(struct ldb_test *t)
{
	if (setgid(65534) != 0 || setuid(65534) != 0)
		_exit(1);
	OK(ldb_open(&t->io, t));
	GIVES(AUTH, t->io->tables.store.make(t->io->store, &t->err));
	assert_int_equal(t->err.vendor_code, EACCES);
	assert_contains(t->err.message, t->folder);
	bk_close(t->io);
}

static void no_permission(void **state)
{
	struct ldb_test *t = *state;

	if (geteuid() != 0)
		skip();
	in_child(t, make_as_nobody); /* the folder itself: mode 0700 */
	assert_int_equal(chmod(t->folder, 0755), 0);
	in_child(t, make_as_nobody); /* may look, may not make */
	ldb_begin(t);
	ldb_end(t);
	assert_int_equal(chmod(t->folder, 0777), 0);
	in_child(t, make_as_nobody); /* the database's own files */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_disk, ldb_setup, unmount_and_teardown),
		cmocka_unit_test_setup_teardown(damaged_table, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(damaged_manifest, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(no_descriptors, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(no_permission, ldb_setup, ldb_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
