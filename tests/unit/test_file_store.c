/*
 * The file backend's folder: who it belongs to, where things are, what happens when parts of it
 * are cut, removed, or from before a power cut.
 */
#include "file_fixture.h"

static void nodes_are_readable_files(void **state)
{
	struct bk_link links[] = {link_to("hasMember", "other")};
	char path[600], *text;

	store_use(BK_DURABLE_NONE);
	ok(put("the-id", "", "a document", BK_PUT_CREATE, links, 1));
	/* printf %s the-id | xxh128sum */
	only_file(path, sizeof(path), in_store("main/nodes"));
	assert_contains(path, "/nodes/58/58037b7a61c3152d5ee359e0edea5c25");
	ok(bk_fs_read(&text, NULL, path, 4096, &err));
	assert_contains(text, "\nthe-id\n\n/p/the-id\n");
	assert_contains(text, "hasMember other\n");
	assert_contains(text, "\na document\n");
	free(text);
}

static void binaries_lie_under_their_keys(void **state)
{
	static const char *const digest = "00112233445566778899aabbccddeeff00112233";
	char path[4096], long_key[1025];

	store_use(BK_DURABLE_NONE);
	write_binary(digest, "x");
	only_file(path, sizeof(path), in_store("main/binaries"));
	assert_contains(path, "/binaries/00/11/22/00112233445566778899aabbccddeeff00112233");
	ok(t->binary.remove(s, bk_slice_str(digest), &err));
	/* any other key: nothing in it reaches the file system as it is */
	write_binary("../../../etc/passwd", "x");
	only_file(path, sizeof(path), in_store("main/binaries"));
	assert_contains(path, "/=..%2F..%2F..%2Fetc%2Fpasswd");
	ok(t->binary.remove(s, bk_slice_str("../../../etc/passwd"), &err));
	memset(long_key, '/', 1024);
	long_key[1024] = '\0';
	write_binary(long_key, "x");
	only_file(path, sizeof(path), in_store("main/binaries"));
	ok(t->binary.remove(s, bk_slice_str(long_key), &err));
	assert_int_equal(count_files(in_store("main/binaries")), 0);
}

/* Every key comes back from list as it went in. */
static void keys_come_back(void **state)
{
	static const char *const ends[] = {".", "..", "+", "=", "%2F", "%", "é", " ", "a/", "\n"};
	enum { KEYS = 40 };
	char keys[KEYS][1025];
	bool seen[KEYS] = {false};
	struct bk_slice got[7];
	struct bk_cursor *c;
	uint64_t sizes[7];
	size_t n, all = 0;
	bk_status st;

	store_use(BK_DURABLE_NONE);
	for (size_t i = 0; i < KEYS; i++) {
		/* lengths around the places where a name is cut */
		size_t fill = (i / 10) * 239;

		memset(keys[i], i % 2 ? 'a' : 'x', fill);
		snprintf(keys[i] + fill, sizeof(keys[i]) - fill, "%s", ends[i % 10]);
		write_binary(keys[i], "12345");
	}
	ok(t->binary.list_open(&c, s, &err));
	while ((st = t->binary.list_next(c, got, sizes, 7, &n, &err)) == BK_OK) {
		for (size_t i = 0; i < n; i++, all++) {
			size_t k = 0;

			while (k < KEYS && !bk_slice_eq(got[i], bk_slice_str(keys[k])))
				k++;
			if (k == KEYS || seen[k])
				fail_msg("'%.*s' is listed twice or was never written",
					 (int)got[i].len, (const char *)got[i].data);
			seen[k] = true;
			assert_int_equal(sizes[i], 5);
		}
	}
	gives(st, BK_END);
	t->binary.list_close(c);
	assert_int_equal(all, KEYS);
	for (size_t i = 0; i < KEYS; i++)
		ok(t->binary.remove(s, bk_slice_str(keys[i]), &err));
	assert_int_equal(count_files(in_store("main/binaries")), 0);
}

static void somebody_elses_folder(void **state)
{
	assert_int_equal(mkdir(in_store(""), 0777), 0);
	file_write(in_store("thesis.txt"), "years of work");
	store_open(BK_DURABLE_NONE);
	gives(t->store.make(io->store, &err), BK_FOREIGN);
	assert_contains(err.message, "'thesis.txt'");
	gives(t->store.clear(io->store, &err), BK_FOREIGN);
	gives(t->store.unmake(io->store, &err), BK_FOREIGN);
	gives(session_try(BK_DURABLE_NONE), BK_FOREIGN);
	s = NULL;
	assert_int_equal(count_files(in_store("")), 1);
}

static void another_backends_folder(void **state)
{
	assert_int_equal(mkdir(in_store(""), 0777), 0);
	file_write(in_store(".bakeoff"), "bakeoff\nleveldb\n");
	store_open(BK_DURABLE_NONE);
	gives(t->store.make(io->store, &err), BK_FOREIGN);
	assert_contains(err.message, "backend 'leveldb'");
	gives(t->store.unmake(io->store, &err), BK_FOREIGN);
	assert_int_equal(count_files(in_store("")), 1);
}

static void a_file_in_the_way(void **state)
{
	file_write(in_store(""), "");
	store_open(BK_DURABLE_NONE);
	gives(t->store.make(io->store, &err), BK_FOREIGN);
	assert_contains(err.message, "is no folder");
}

/* What somebody put beside ours stays, and unmake says so before it removes anything. */
static void guests_are_not_removed(void **state)
{
	store_use(BK_DURABLE_NONE);
	ok(put("a", "", "", BK_PUT_CREATE, NULL, 0));
	t->session.close(s);
	s = NULL;
	file_write(in_store("main/notes.txt"), "mine");
	gives(t->store.unmake(io->store, &err), BK_FOREIGN);
	assert_contains(err.message, "'notes.txt'");
	assert_int_equal(count_files(in_store("main/nodes")), 1);
	unlink(in_store("main/notes.txt"));
	ok(t->store.unmake(io->store, &err));
	assert_int_equal(access(in_store(""), F_OK), -1);
}

/* unmake removes the folders that make made, and no others. */
static void folders_that_were_there_stay(void **state)
{
	assert_int_equal(mkdir(in_store(""), 0777), 0);
	set_option("path", in_store("a/b"));
	store_open(BK_DURABLE_NONE);
	ok(t->store.make(io->store, &err));
	ok(t->store.unmake(io->store, &err));
	assert_int_equal(access(in_store(""), F_OK), 0);
	assert_int_equal(access(in_store("a"), F_OK), -1);
}

/* An unmake cut short before its last step is finished by the next. */
static void what_is_half_gone_goes(void **state)
{
	set_option("path", in_store("a"));
	store_open(BK_DURABLE_NONE);
	ok(t->store.make(io->store, &err));
	ok(bk_fs_remove_tree(in_store("a/main/index"), &err));
	ok(bk_fs_remove_tree(in_store("a/main/nodes"), &err));
	assert_int_equal(rename(in_store("a/main"), in_store("a/.bakeoff-main.half")), 0);
	rmdir(in_store("a/.bakeoff-main.half/binaries"));
	rmdir(in_store("a/.bakeoff-main.half/tmp"));
	unlink(in_store("a/.bakeoff-main.half/lock"));
	ok(t->store.unmake(io->store, &err));
	assert_int_equal(access(in_store(""), F_OK), -1);
}

/* The last space to go takes the folders with it that the first one made. */
static void spaces_share_a_folder(void **state)
{
	struct bk_layered *other;

	set_option("path", in_store("a"));
	store_use(BK_DURABLE_NONE);
	ok(put("x", "", "", BK_PUT_CREATE, NULL, 0));
	ok(bk_open(&other, plugin, options, "other", "another mark", 0, 0, &err));
	ok(other->tables.store.make(other->store, &err));
	t->session.close(s);
	s = NULL;
	ok(t->store.unmake(io->store, &err));
	assert_int_equal(access(in_store("a/other/.bakeoff"), F_OK), 0);
	ok(other->tables.store.unmake(other->store, &err));
	bk_close(other);
	assert_int_equal(access(in_store(""), F_OK), -1);
}

static void a_space_is_no_path(void **state)
{
	store_use(BK_DURABLE_NONE);
	store_leave();
	set_option("path", in_store("main"));
	store_open(BK_DURABLE_NONE);
	gives(t->store.make(io->store, &err), BK_FOREIGN);
	assert_contains(err.message, "the one above it");
}

static void one_user_at_a_time(void **state)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_layered *other;
	struct bk_session *session;
	char pid[32];

	store_use(BK_DURABLE_NONE);
	ok(bk_open(&other, plugin, options, NULL, NULL, 0, 0, &err));
	gives(other->tables.session.open(&session, other->store, &config, &err), BK_UNAVAILABLE);
	snprintf(pid, sizeof(pid), "process %ld", (long)getpid());
	assert_contains(err.message, pid);
	assert_true(err.flags & BK_ERR_RETRY);
	t->session.close(s);
	s = NULL;
	ok(other->tables.session.open(&session, other->store, &config, &err));
	other->tables.session.close(session);
	bk_close(other);
}

static void levels_are_remembered(void **state)
{
	store_use(BK_DURABLE_NONE);
	store_leave();
	set_option("node-levels", "2");
	store_open(BK_DURABLE_NONE);
	gives(session_try(BK_DURABLE_NONE), BK_INVALID);
	s = NULL;
	assert_contains(err.message, "node-levels=1");
}

/* ---- Files cut and removed ----------------------------------------------------------- */

static void expect_doc(const char *id, const char *doc)
{
	struct bk_node node;

	ok(t->node.get(&node, s, bk_slice_str(id), BK_WANT_DOC, &err));
	if (!bk_slice_eq(node.doc, bk_slice_str(doc)))
		fail_msg("'%.*s', not '%s'", (int)node.doc.len, (const char *)node.doc.data, doc);
}

static void append_text(const char *id, const char *text)
{
	ok(t->node.append(s, bk_slice_str(id), bk_slice_str(text), NULL, 0, &err));
}

/* An append cut at every byte: the node is as before, and takes another. */
static void torn_tails_are_cut(void **state)
{
	char path[600];
	struct stat before, after;

	store_use(BK_DURABLE_NONE);
	ok(put("a", "", "one", BK_PUT_CREATE, NULL, 0));
	only_file(path, sizeof(path), in_store("main/nodes"));
	assert_int_equal(stat(path, &before), 0);
	append_text("a", "two");
	assert_int_equal(stat(path, &after), 0);
	for (off_t cut = before.st_size + 1; cut < after.st_size; cut++) {
		assert_int_equal(truncate(path, cut), 0);
		expect_doc("a", "one");
		append_text("a", "two");
		expect_doc("a", "onetwo");
		assert_int_equal(truncate(path, before.st_size), 0);
		append_text("a", "two");
	}
	store_leave();
	assert_int_equal(truncate(path, after.st_size - 1), 0);
	store_use(BK_DURABLE_NONE);
	append_text("a", "!");
	expect_doc("a", "one!");
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	char c;

	assert_int_equal(pread(fd, &c, 1, at), 1);
	c ^= 4;
	assert_int_equal(pwrite(fd, &c, 1, at), 1);
	close(fd);
}

/* A bit turned over anywhere in what was acknowledged is told, not served. */
static void damage_is_told(void **state)
{
	struct bk_node node;
	char path[600];
	struct stat st;

	store_use(BK_DURABLE_NONE);
	ok(put("a", "", "one", BK_PUT_CREATE, NULL, 0));
	append_text("a", "two");
	append_text("a", "three");
	only_file(path, sizeof(path), in_store("main/nodes"));
	assert_int_equal(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size - 30; at++) {
		flip(path, at);
		gives(t->node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, &err), BK_CORRUPT);
		assert_contains(err.message, "does not check out");
		flip(path, at);
	}
	expect_doc("a", "onetwothree");
}

static void fill(void)
{
	struct bk_link links[] = {link_to("r", "root"), link_to("q", "root"), link_to("r", "x")};

	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	for (int i = 0; i < 30; i++) {
		char id[8];

		snprintf(id, sizeof(id), "n%d", i);
		ok(put(id, "root", id, BK_PUT_CREATE, links, 3));
		ok(t->node.append(s, bk_slice_str(id), bk_slice_str("+"), links, 3, &err));
	}
	ok(t->node.remove(s, bk_slice_str("n7"), &err));
	write_binary("k", "v");
}

static void expect_filled(void)
{
	struct bk_slice id;

	assert_int_equal(count_hits("root", BK_CHILDREN, ""), 29);
	assert_int_equal(count_hits("root", BK_IN, "r"), 29);
	assert_int_equal(count_hits("root", BK_IN, ""), 58);
	assert_int_equal(count_hits("n8", BK_OUT, ""), 2);
	assert_int_equal(count_hits("n7", BK_OUT, ""), 0);
	ok(t->node.find(&id, s, bk_slice_str("/p/n8"), &err));
	gives(t->node.find(&id, s, bk_slice_str("/p/n7"), &err), BK_NOT_FOUND);
	expect_doc("n8", "n8+");
	gives(t->node.remove(s, bk_slice_str("root"), &err), BK_IN_USE);
	gives(put("n8", "root", "", BK_PUT_CREATE, NULL, 0), BK_EXISTS);
}

static void the_index_is_built_anew(void **state)
{
	store_use(BK_DURABLE_NONE);
	fill();
	expect_filled();
	store_leave();
	ok(bk_fs_remove_tree(in_store("main/index"), &err));
	assert_int_equal(mkdir(in_store("main/index"), 0777), 0);
	store_use(BK_DURABLE_NONE);
	expect_filled();
}

/* As a power cut leaves it: in use, on an earlier start of the machine, its lists not to be
 * believed; a node's file empty, since its bytes never reached the disk. */
static void a_power_cut(void **state)
{
	char path[600];
	DIR *dir;
	struct dirent *e;
	int fd;

	store_use(BK_DURABLE_NONE);
	fill();
	store_leave();
	fd = open(in_store("main/index/control"), O_RDWR);
	assert_true(pwrite(fd, "\2\0\0\0\0\0\0\0", 8, 8) == 8); /* in use, not synced */
	assert_true(pwrite(fd, "00000000-another-start", 22, 40) == 22);
	close(fd);
	dir = opendir(in_store("main/index"));
	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", in_store("main/index"), e->d_name);
		if (strncmp(e->d_name, "table", 5) == 0)
			assert_int_equal(truncate(path, 4096), 0);
	}
	closedir(dir);
	mkdir(in_store("main/nodes/ff"), 0777);
	file_write(in_store("main/nodes/ff/ffffffffffffffffffffffffffffffff"), "");
	file_write(in_store("main/tmp/0-1"), "half");
	store_use(BK_DURABLE_NONE);
	expect_filled();
	assert_int_equal(access(in_store("main/nodes/ff/ffffffffffffffffffffffffffffffff"), F_OK),
			 -1);
	assert_int_equal(count_files(in_store("main/lost")), 1);
	assert_int_equal(count_files(in_store("main/tmp")), 0);
}

/* Descriptors do not grow with what is stored. */
static void descriptors_are_bounded(void **state)
{
	char fds[64];
	size_t before, after;

	snprintf(fds, sizeof(fds), "/proc/%ld/fd", (long)getpid());
	store_use(BK_DURABLE_NONE);
	before = count_files(fds);
	fill();
	after = count_files(fds);
	assert_int_equal(after, before);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(nodes_are_readable_files),
		CASE(binaries_lie_under_their_keys),
		CASE(keys_come_back),
		CASE(somebody_elses_folder),
		CASE(another_backends_folder),
		CASE(a_file_in_the_way),
		CASE(guests_are_not_removed),
		CASE(folders_that_were_there_stay),
		CASE(what_is_half_gone_goes),
		CASE(spaces_share_a_folder),
		CASE(a_space_is_no_path),
		CASE(one_user_at_a_time),
		CASE(levels_are_remembered),
		CASE(torn_tails_are_cut),
		CASE(damage_is_told),
		CASE(the_index_is_built_anew),
		CASE(a_power_cut),
		CASE(descriptors_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
