/*
 * The leveldb backend: documents and links that outgrow a node's entry, versions, spaces, marks,
 * and inspect from outside.
 */
#include "leveldb.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* Bytes that this process has passed to write(), the log and the tables of LevelDB included. */
static unsigned long long bytes_written(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	unsigned long long n = 0;
	char line[128];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "wchar: %llu", &n);
	fclose(f);
	return n;
}

/* 10,000 properties, one by one: what is written grows with their number, not with its square. */
static void append_is_not_quadratic(void **state)
{
	struct ldb_test *t = *state;
	const struct bk_link link = {bk_slice_str("rel"), bk_slice_str("somewhere")};
	unsigned long long written[2], before;
	char tail[80];
	struct bk_node node;
	int i, half;

	ldb_begin(t);
	OK(ldb_put(t, t->s, "n", NULL, "", BK_PUT_CREATE));
	for (half = 0; half < 2; half++) {
		before = bytes_written();
		for (i = half * 5000; i < half * 5000 + 5000; i++) {
			snprintf(tail, sizeof(tail), "%-60d\n", i);
			OK(t->t->node.append(t->s, bk_slice_str("n"), bk_slice_str(tail), &link, 1,
					     &t->err));
		}
		written[half] = bytes_written() - before;
	}
	assert_true(written[0] < 5000 * 1200); /* the log, a table, a compaction */
	assert_true(written[1] < 5000 * 2400);
	OK(t->t->node.get(&node, t->s, bk_slice_str("n"), BK_WANT_DOC | BK_WANT_LINKS, &t->err));
	assert_int_equal(node.doc.len, 10000 * 61);
	assert_int_equal(node.link_count, 1);
	for (i = 0; i < 10000; i++)
		assert_int_equal(atoi((const char *)node.doc.data + i * 61), i);
}

/* Through all forms of a document and of a set of links, forth and back; get and get_many agree. */
static void every_form(void **state)
{
	static const size_t sizes[] = {0, 10, 1000, 16384, 16385, 300000, 5000000, 1025, 1};
	static const size_t counts[] = {0, 1, 30, 400, 3000, 2, 100, 0, 500};
	struct ldb_test *t = *state;
	struct bk_node node = ldb_node("n", NULL), got, many[2];
	struct bk_slice ids[2] = {node.id, bk_slice_str("missing")};
	struct bk_link *links = calloc(3000, sizeof(*links));
	char *doc = malloc(5000001), *names = malloc(3000 * 16);
	size_t i, form, done;

	ldb_begin(t);
	for (i = 0; i < 5000001; i++)
		doc[i] = (char)(i * i >> 3);
	for (i = 0; i < 3000; i++) {
		snprintf(names + i * 16, 16, "t%zu", i);
		links[i].rel = bk_slice_str(i % 3 ? "odd" : "a-longer-relation");
		links[i].target = bk_slice_str(names + i * 16);
	}
	for (form = 0; form < sizeof(sizes) / sizeof(sizes[0]); form++) {
		struct bk_link more = {bk_slice_str("more"), bk_slice_str("x")};

		node.doc = bk_slice_of(doc, sizes[form]);
		node.links = links;
		node.link_count = counts[form];
		OK(t->t->node.put(t->s, &node, BK_PUT_UPSERT, &t->err));
		OK(t->t->node.append(t->s, node.id, bk_slice_of(doc + sizes[form], 1), &more, 1,
				     &t->err));
		OK(t->t->node.get(&got, t->s, node.id, BK_WANT_DOC | BK_WANT_LINKS, &t->err));
		assert_int_equal(got.doc.len, sizes[form] + 1);
		assert_memory_equal(got.doc.data, doc, sizes[form] + 1);
		assert_int_equal(got.link_count, counts[form] + 1);
		OK(t->t->node.get_many(many, &done, t->s, ids, 2,
				       BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &t->err));
		assert_int_equal(done, 2);
		assert_int_equal(many[0].doc.len, sizes[form] + 1);
		assert_memory_equal(many[0].doc.data, doc, sizes[form] + 1);
		assert_int_equal(many[0].link_count, counts[form] + 1);
		assert_true(bk_slice_eq(many[0].path, node.path));
		assert_int_equal(many[1].id.len, 0);
	}
	OK(t->t->node.remove(t->s, node.id, &t->err));
	free(links);
	free(doc);
	free(names);
}

static uint64_t version_of(struct ldb_test *t, const char *id)
{
	struct bk_node node;

	OK(t->t->node.get(&node, t->s, bk_slice_str(id), 0, &t->err));
	return node.version;
}

/* A version never comes twice: not after a removal, not after the program was started again. */
static void versions_are_never_reused(void **state)
{
	struct ldb_test *t = *state;
	struct bk_node node = ldb_node("n", NULL);
	uint64_t seen[6];
	int i, j;

	for (i = 0; i < 6; i++) {
		ldb_begin(t);
		OK(t->t->node.put(t->s, &node, BK_PUT_CREATE, &t->err));
		seen[i] = version_of(t, "n");
		for (j = 0; j < i; j++)
			assert_int_not_equal(seen[i], seen[j]);
		if (i > 0) {
			node.version = seen[i - 1];
			GIVES(CONFLICT, t->t->node.put(t->s, &node, BK_PUT_REPLACE, &t->err));
			node.version = 0;
		}
		OK(t->t->node.remove(t->s, node.id, &t->err));
		ldb_end(t);
	}
}

static bool exists(const struct ldb_test *t, const char *below)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s%s", t->folder, below);
	return lstat(path, &st) == 0;
}

/* The folder above goes with the last store for which it was made, and only if it was made. */
static void folders_come_and_go(void **state)
{
	struct ldb_test *t = *state;
	struct bk_layered *a, *b;
	char deep[512];

	snprintf(deep, sizeof(deep), "%s/deep", t->folder);
	OK(bk_options_set(t->options, "path", deep, BK_FROM_USER, &t->err));
	OK(bk_open(&a, t->plugin, t->options, "a", NULL, 0, 0, &t->err));
	OK(bk_open(&b, t->plugin, t->options, "b", NULL, 0, 0, &t->err));
	assert_false(exists(t, "/deep"));
	OK(a->tables.store.make(a->store, &t->err));
	OK(b->tables.store.make(b->store, &t->err));
	assert_true(exists(t, "/deep/a/.bakeoff"));
	OK(a->tables.store.unmake(a->store, &t->err));
	assert_true(exists(t, "/deep/b/.bakeoff"));
	OK(b->tables.store.unmake(b->store, &t->err));
	assert_false(exists(t, "/deep"));
	bk_close(a);
	bk_close(b);
	OK(bk_options_set(t->options, "path", t->folder, BK_FROM_USER, &t->err));
	OK(bk_open(&a, t->plugin, t->options, "a", NULL, 0, 0, &t->err));
	OK(a->tables.store.make(a->store, &t->err));
	OK(a->tables.store.unmake(a->store, &t->err));
	assert_true(exists(t, ""));
	bk_close(a);
}

/* Somebody's file in the store's own folder: the store goes, the file and the mark stay. */
static void unmake_leaves_what_is_not_ours(void **state)
{
	struct ldb_test *t = *state;
	char path[512];
	FILE *f;

	ldb_begin(t);
	ldb_end(t);
	snprintf(path, sizeof(path), "%s/main/notes.txt", t->folder);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("mine\n", f);
	fclose(f);
	OK(ldb_open(&t->io, t));
	GIVES(FOREIGN, t->io->tables.store.unmake(t->io->store, &t->err));
	assert_contains(t->err.message, "'notes.txt'");
	assert_true(exists(t, "/main/notes.txt"));
	assert_true(exists(t, "/main/.bakeoff"));
	assert_int_equal(unlink(path), 0);
	OK(t->io->tables.store.unmake(t->io->store, &t->err));
	assert_false(exists(t, "/main"));
	bk_close(t->io);
	t->io = NULL;
}

/* ---- One folder, two who want it ---------------------------------------------------- */

static void one_store_at_a_time(void **state)
{
	const struct bk_session_config config = {.struct_size = sizeof(config)};
	struct ldb_test *t = *state;
	struct bk_layered *second;
	struct bk_session *s;
	char pid[64];
	int status;
	pid_t child;

	ldb_begin(t);
	OK(ldb_open(&second, t));
	GIVES(UNAVAILABLE, second->tables.session.open(&s, second->store, &config, &t->err));
	assert_contains(t->err.message, "another store of this process");
	assert_true(t->err.flags & BK_ERR_RETRY);
	bk_close(second);
	OK(ldb_put(t, t->s, "n", NULL, "still there", BK_PUT_CREATE));

	snprintf(pid, sizeof(pid), "is open in process %d", (int)getpid());
	child = fork();
	if (child == 0) {
		OK(ldb_open(&second, t));
		GIVES(UNAVAILABLE,
		      second->tables.session.open(&s, second->store, &config, &t->err));
		assert_contains(t->err.message, pid);
		GIVES(UNAVAILABLE, second->tables.store.clear(second->store, &t->err));
		GIVES(UNAVAILABLE, second->tables.store.unmake(second->store, &t->err));
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	ldb_has_doc(t, "n", "still there");
}

/* ---- inspect ------------------------------------------------------------------------- */

struct told {
	char kind[32], name[32];
	uint64_t tables, levels_files, nodes;
	bool flagged;
};

static void told_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	struct told *told = ctx;

	if (strcmp(name, "storage.tables") == 0)
		told->tables = value;
	if (strcmp(name, "nodes.count") == 0)
		told->nodes = value;
	if (strcmp(told->kind, "level") == 0 && strcmp(name, "files") == 0)
		told->levels_files += value;
}

static void told_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
}

static void told_str(void *ctx, const char *name, const char *value)
{
}

static void told_begin(void *ctx, const char *kind, const char *name)
{
	struct told *told = ctx;

	snprintf(told->kind, sizeof(told->kind), "%s", kind);
}

static void told_end(void *ctx)
{
	struct told *told = ctx;

	told->kind[0] = '\0';
}

static void told_flag(void *ctx, const char *code, const char *text)
{
	struct told *told = ctx;

	told->flagged = true;
}

static struct told inspect(struct ldb_test *t, struct bk_layered *io)
{
	struct told told = {{0}, {0}, 0, 0, 0, false};
	struct bk_sink sink = {.struct_size = sizeof(sink),
			       .ctx = &told,
			       .put_u64 = told_u64,
			       .put_f64 = told_f64,
			       .put_str = told_str,
			       .begin = told_begin,
			       .end = told_end,
			       .flag = told_flag};

	OK(io->tables.store.inspect(io->store,
				    BK_INSPECT_IDENTITY | BK_INSPECT_SIZE | BK_INSPECT_COUNTERS,
				    &sink, &t->err));
	return told;
}

/* Names and sizes in the database's folder, added up. */
static unsigned long long folder_sum(const struct ldb_test *t)
{
	char path[512];
	unsigned long long sum = 0;
	struct dirent *e;
	struct stat st;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/main/db", t->folder);
	dir = opendir(path);
	assert_non_null(dir);
	while ((e = readdir(dir))) {
		assert_int_equal(fstatat(dirfd(dir), e->d_name, &st, 0), 0);
		sum += (unsigned long long)st.st_ino * 31 + (unsigned long long)st.st_size +
		       (S_ISDIR(st.st_mode) ? 0 : (unsigned long long)st.st_mtim.tv_nsec);
	}
	closedir(dir);
	return sum;
}

/* The levels by the MANIFEST are the levels that LevelDB itself tells, and reading them changes
 * nothing, whether the store is open elsewhere or not. */
static void inspect_from_outside(void **state)
{
	struct ldb_test *t = *state;
	struct bk_layered *outside;
	struct told open, closed;
	unsigned long long before;
	char id[32], doc[4000];
	int i;

	OK(bk_options_set(t->options, "write-buffer", "64KiB", BK_FROM_USER, &t->err));
	OK(bk_options_set(t->options, "compression", "none", BK_FROM_USER, &t->err));
	ldb_begin(t);
	memset(doc, 'd', sizeof(doc));
	doc[sizeof(doc) - 1] = '\0';
	for (i = 0; i < 3000; i++) {
		snprintf(id, sizeof(id), "node-%d", i * 7919 % 3000);
		OK(ldb_put(t, t->s, id, NULL, doc, BK_PUT_CREATE));
	}
	OK(t->t->store.settle(t->io->store, UINT64_C(60000000000), &t->err));
	open = inspect(t, t->io);
	assert_int_equal(open.nodes, 3000);
	assert_true(open.levels_files > 3);
	before = folder_sum(t);
	OK(ldb_open(&outside, t));
	closed = inspect(t, outside);
	assert_int_equal(closed.levels_files, open.levels_files);
	assert_int_equal(closed.tables, open.tables);
	assert_false(closed.flagged);
	assert_true(folder_sum(t) == before);
	OK(ldb_put(t, t->s, "more", NULL, "", BK_PUT_CREATE)); /* and its lock is still held */
	ldb_end(t);
	before = folder_sum(t);
	closed = inspect(t, outside);
	assert_int_equal(closed.levels_files, open.levels_files);
	assert_true(folder_sum(t) == before);
	bk_close(outside);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(append_is_not_quadratic, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(every_form, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(versions_are_never_reused, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(folders_come_and_go, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(unmake_leaves_what_is_not_ours, ldb_setup,
						ldb_teardown),
		cmocka_unit_test_setup_teardown(one_store_at_a_time, ldb_setup, ldb_teardown),
		cmocka_unit_test_setup_teardown(inspect_from_outside, ldb_setup, ldb_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
