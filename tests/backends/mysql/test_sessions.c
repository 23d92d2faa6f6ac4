/*
 * test_sessions.c - sessions that lose their server or meet each other; what memory and the log
 * cost.
 */
#include "my.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct bk_slice nothing = {NULL, 0};

static void kill_all(void)
{
	while (atoi(sql(admin, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE "
			       "ID<>CONNECTION_ID() AND USER='admin' AND COMMAND<>'Killed'"))) {
		int id = atoi(sql(admin, "SELECT MAX(ID) FROM information_schema.PROCESSLIST WHERE "
					 "ID<>CONNECTION_ID() AND USER='admin'"));
		char text[40];

		snprintf(text, sizeof(text), "KILL %d", id);
		sql_errno(admin, text);
	}
}

/* ---- A server that goes away ------------------------------------------------- */

static void gone_in_mid_run(void **state)
{
	struct bk_layered *l = store_made("gone", NULL);
	struct bk_session *s = session(l, 0);
	uint32_t isolation = 0;
	struct bk_node node;

	put(l, s, "a", "", "1");
	kill_all();
	wants(BK_UNAVAILABLE, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	says("20"); /* 2006 or 2013 */
	assert_false(last_err.flags & BK_ERR_OUTCOME_UNKNOWN);
	wants(BK_UNAVAILABLE, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	l->tables.session.close(s);

	s = session(l, 0);
	put(l, s, "before", "", "1");
	kill_all();
	wants(BK_UNAVAILABLE, try_put(l, s, "b", "", nothing, BK_PUT_CREATE));
	assert_true(last_err.flags & BK_ERR_OUTCOME_UNKNOWN);
	l->tables.session.close(s);

	s = session(l, 0);
	ok(l->tables.txn.begin(s, &isolation, 0, E));
	put(l, s, "c", "", "1");
	kill_all();
	wants(BK_UNAVAILABLE, l->tables.txn.commit(s, E));
	assert_true(last_err.flags & BK_ERR_OUTCOME_UNKNOWN);
	l->tables.session.close(s);

	s = session(l, 0);
	isolation = 0;
	ok(l->tables.txn.begin(s, &isolation, 0, E));
	kill_all();
	wants(BK_UNAVAILABLE, try_put(l, s, "d", "", nothing, BK_PUT_CREATE));
	assert_false(last_err.flags &
		     BK_ERR_OUTCOME_UNKNOWN); /* it is undone: nothing was committed */
	l->tables.session.close(s);

	s = session(l, 0); /* a new one works; the store's own connection comes back too */
	ok(l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	wants(BK_NOT_FOUND, l->tables.node.get(&node, s, bk_slice_str("c"), BK_WANT_DOC, E));
	l->tables.session.close(s);
	ok(l->tables.store.clear(l->store, E));
	store_done(l);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The whole server stops: the time limit ends the call all the same. */
static void a_server_that_hangs(void **state)
{
	struct bk_layered *l = store_made("hang", NULL);
	struct bk_session *s = session(l, 300 * UINT64_C(1000000));
	char path[500];
	struct bk_node node;
	double start;
	FILE *f;
	int pid = 0;

	snprintf(path, sizeof(path), "%s/pid", getenv("MYSQL_TEST_FOLDER"));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	put(l, s, "a", "", "1");
	assert_int_equal(kill(pid, SIGSTOP), 0);
	start = seconds();
	wants(BK_TIMEOUT, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	assert_true(seconds() - start < 10);
	kill(pid, SIGCONT);
	l->tables.session.close(s);
	store_done(l);
}

/* ---- Sessions that meet -------------------------------------------------------- */

struct rival {
	struct bk_layered *l;
	struct bk_error err;
	bk_status status;
	pthread_barrier_t both;
};

static void *rival_main(void *arg)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .worker = 1};
	struct bk_node x = {.id = bk_slice_str("x"), .path = bk_slice_str("x")};
	struct bk_node y = {.id = bk_slice_str("y"), .path = bk_slice_str("y")};
	struct bk_error ignored = bk_error_init();
	struct rival *r = arg;
	struct bk_session *s;
	uint32_t isolation = 0;

	r->err = bk_error_init();
	r->l->tables.session.open(&s, r->l->store, &config, &r->err);
	r->l->tables.txn.begin(s, &isolation, 0, &r->err);
	r->l->tables.node.put(s, &y, BK_PUT_REPLACE, &r->err);
	pthread_barrier_wait(&r->both);
	r->status = r->l->tables.node.put(s, &x, BK_PUT_REPLACE, &r->err);
	if (r->status == BK_OK)
		r->status = r->l->tables.txn.commit(s, &r->err);
	else
		r->l->tables.txn.rollback(s, &ignored);
	r->l->tables.session.close(s);
	return NULL;
}

static void deadlock(void **state)
{
	struct bk_layered *l = store_made("deadlock", NULL);
	struct bk_session *s = session(l, 0);
	struct bk_error mine = bk_error_init();
	struct rival r = {.l = l};
	uint32_t isolation = 0;
	struct bk_node node;
	pthread_t thread;
	bk_status st;

	put(l, s, "x", "", "1");
	put(l, s, "y", "", "1");
	pthread_barrier_init(&r.both, NULL, 2);
	pthread_create(&thread, NULL, rival_main, &r);
	ok(l->tables.txn.begin(s, &isolation, 0, E));
	ok(try_put(l, s, "x", "", bk_slice_str("2"), BK_PUT_REPLACE));
	pthread_barrier_wait(&r.both);
	st = try_put(l, s, "y", "", bk_slice_str("2"), BK_PUT_REPLACE);
	mine = last_err;
	if (st == BK_OK) {
		ok(l->tables.txn.commit(s, E));
	} else {
		/* Nothing runs on its own after the server has undone the transaction. */
		wants(BK_CONFLICT, try_put(l, s, "z", "", nothing, BK_PUT_CREATE));
		wants(BK_CONFLICT, l->tables.node.get(&node, s, bk_slice_str("x"), 0, E));
		ok(l->tables.txn.rollback(s, E));
		wants(BK_NOT_FOUND, l->tables.node.get(&node, s, bk_slice_str("z"), 0, E));
	}
	pthread_join(thread, NULL);
	assert_true((st == BK_OK) != (r.status == BK_OK));
	last_err = st == BK_OK ? r.err : mine;
	assert_int_equal(last_err.status, BK_CONFLICT);
	assert_string_equal(last_err.sqlstate, "40001");
	assert_int_equal(last_err.vendor_code, 1213);
	assert_true(last_err.flags & BK_ERR_RETRY);
	pthread_barrier_destroy(&r.both);
	l->tables.session.close(s);
	store_done(l);
}

static void lock_wait(void **state)
{
	struct bk_layered *l = store_made("waiting", NULL);
	struct bk_session *a, *b;
	uint32_t isolation = 0;

	sql(admin, "SET GLOBAL innodb_lock_wait_timeout=1");
	a = session(l, 0);
	b = session(l, 0);
	sql(admin, "SET GLOBAL innodb_lock_wait_timeout=50");
	put(l, a, "x", "", "1");
	ok(l->tables.txn.begin(a, &isolation, 0, E));
	ok(try_put(l, a, "x", "", bk_slice_str("2"), BK_PUT_REPLACE));
	wants(BK_CONFLICT, try_put(l, b, "x", "", bk_slice_str("3"), BK_PUT_REPLACE));
	assert_int_equal(last_err.vendor_code, 1205);
	assert_true(last_err.flags & BK_ERR_RETRY);
	ok(l->tables.txn.commit(a, E));
	ok(try_put(l, b, "x", "", bk_slice_str("3"), BK_PUT_REPLACE));
	l->tables.session.close(a);
	l->tables.session.close(b);
	store_done(l);
}

static void isolation_levels(void **state)
{
	struct bk_layered *l = store_made("levels", NULL);
	struct bk_session *a = session(l, 0), *b = session(l, 0);
	uint32_t wanted, level;
	struct bk_node node;

	put(l, a, "x", "", "1");
	for (wanted = 0; wanted <= BK_ISO_SERIALIZABLE; wanted++) {
		level = wanted;
		ok(l->tables.txn.begin(a, &level, 0, E));
		assert_true(level >= wanted && level >= BK_ISO_READ_COMMITTED);
		ok(l->tables.node.get(&node, a, bk_slice_str("x"), BK_WANT_DOC, E));
		if (level == BK_ISO_READ_COMMITTED || level == BK_ISO_SNAPSHOT) {
			ok(try_put(l, b, "x", "", bk_slice_str("2"), BK_PUT_REPLACE));
			ok(l->tables.node.get(&node, a, bk_slice_str("x"), BK_WANT_DOC, E));
			assert_memory_equal(node.doc.data,
					    level == BK_ISO_READ_COMMITTED ? "2" : "1", 1);
			ok(try_put(l, b, "x", "", bk_slice_str("1"), BK_PUT_REPLACE));
		}
		if (level == BK_ISO_SNAPSHOT)
			wants(BK_CONFLICT,
			      try_put(l, a, "x", "", bk_slice_str("3"), BK_PUT_REPLACE));
		ok(l->tables.txn.rollback(a, E));
	}
	l->tables.session.close(a);
	l->tables.session.close(b);
	store_done(l);
}

/* ---- Writers ------------------------------------------------------------------- */

/* A put in between is there at once, for everybody, whatever becomes of the writer. */
static void a_writer_gives_way(void **state)
{
	struct bk_layered *l = store_made("writer", NULL);
	struct bk_session *s = session(l, 0), *other = session(l, 0);
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	static char block[3000000];
	struct bk_writer *w;
	struct bk_node node;
	int i;

	ok(l->tables.binary.write_open(&w, s, bk_slice_str("key"), BK_SIZE_UNKNOWN, BK_PUT_CREATE,
				       E));
	for (i = 0; i < 4; i++)
		ok(l->tables.binary.write(w, block, sizeof(block), E));
	put(l, s, "between", "", "1");
	ok(l->tables.node.get(&node, other, bk_slice_str("between"), BK_WANT_DOC, E));
	wants(BK_NOT_FOUND, l->tables.binary.stat(other, bk_slice_str("key"), &info, E));
	/* What somebody else's upload has put there so far is not swept away. */
	ok(l->tables.store.make(l->store, E));
	assert_string_not_equal(sql(admin, "SELECT COUNT(*) FROM writer_chunk"), "0");
	l->tables.binary.abort(w);
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM writer_chunk"), "0");
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM writer_upload"), "0");
	ok(l->tables.node.get(&node, s, bk_slice_str("between"), BK_WANT_DOC, E));

	ok(l->tables.binary.write_open(&w, s, bk_slice_str("key"), BK_SIZE_UNKNOWN, BK_PUT_CREATE,
				       E));
	for (i = 0; i < 3; i++) {
		ok(l->tables.binary.write(w, block, sizeof(block), E));
		wants(BK_EXISTS, try_put(l, s, "between", "", nothing, BK_PUT_CREATE));
	}
	ok(l->tables.binary.finish(w, &info, E));
	ok(l->tables.binary.stat(other, bk_slice_str("key"), &info, E));
	assert_int_equal(info.size_bytes, 3 * sizeof(block));
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM writer_upload"), "0");
	l->tables.session.close(s);
	l->tables.session.close(other);
	store_done(l);
}

/* An upload whose session is gone leaves nothing behind the next make(). */
static void orphans_are_swept(void **state)
{
	struct bk_layered *l = store_made("orphan", NULL);
	struct bk_session *s = session(l, 0);
	static char block[3000000];
	struct bk_writer *w;
	int i;

	ok(l->tables.binary.write_open(&w, s, bk_slice_str("key"), BK_SIZE_UNKNOWN, BK_PUT_CREATE,
				       E));
	for (i = 0; i < 3; i++)
		ok(l->tables.binary.write(w, block, sizeof(block), E));
	assert_string_not_equal(sql(admin, "SELECT COUNT(*) FROM orphan_chunk"), "0");
	kill_all();
	l->tables.binary.abort(w);
	l->tables.session.close(s);
	ok(l->tables.store.make(l->store, E));
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM orphan_chunk"), "0");
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM orphan_upload"), "0");
	store_done(l);
}

/* ---- Costs --------------------------------------------------------------------- */

static uint64_t redo_bytes(void)
{
	if (mysql_query(admin, "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'"))
		fail_msg("%s", mysql_error(admin));
	{
		MYSQL_RES *r = mysql_store_result(admin);
		uint64_t v = strtoull(mysql_fetch_row(r)[1], NULL, 10);

		mysql_free_result(r);
		return v;
	}
}

/* 200 appends of 100 bytes to 1 MB: what is written is not the document. */
static void append_does_not_rewrite(void **state)
{
	struct bk_layered *l = store_made("append", NULL);
	struct bk_session *s = session(l, 0);
	static char doc[1000000], tail[100];
	struct bk_node node;
	uint64_t before;
	int i, rows;

	for (i = 0; i < 1000000; i++)
		doc[i] = (char)('a' + i % 26);
	ok(try_put(l, s, "n", "", bk_slice_of(doc, sizeof(doc)), BK_PUT_CREATE));
	before = redo_bytes();
	for (i = 0; i < 200; i++) {
		memset(tail, 'A' + i % 26, sizeof(tail));
		ok(l->tables.node.append(s, bk_slice_str("n"), bk_slice_of(tail, sizeof(tail)),
					 NULL, 0, E));
	}
	assert_true(redo_bytes() - before < 1000000);
	/* Most of them have been joined. */
	rows = atoi(sql(admin, "SELECT COUNT(*) FROM append_segment"));
	assert_true(rows >= 3 && rows <= 70);
	ok(l->tables.node.get(&node, s, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_int_equal(node.doc.len, 1000000 + 200 * sizeof(tail));
	assert_memory_equal(node.doc.data, doc, 1000000);
	for (i = 0; i < 200; i++)
		assert_int_equal(((const char *)node.doc.data)[1000000 + 100 * i], 'A' + i % 26);
	l->tables.session.close(s);
	store_done(l);
}

/* Links that stay are not written again. */
static void replace_writes_the_difference(void **state)
{
	static struct bk_link links[2000];
	static char targets[2000][32];
	struct bk_layered *l = store_made("differ", NULL);
	struct bk_session *s = session(l, 0);
	struct bk_node node = {.id = bk_slice_str("n"),
			       .path = bk_slice_str("n"),
			       .links = links,
			       .link_count = 1999};
	uint64_t before;
	int i;

	for (i = 0; i < 2000; i++) {
		snprintf(targets[i], sizeof(targets[i]), "target-%d", i);
		links[i].rel = bk_slice_str("http://example.org/relation");
		links[i].target = bk_slice_str(targets[i]);
	}
	ok(l->tables.node.put(s, &node, BK_PUT_CREATE, E));
	before = redo_bytes();
	node.link_count = 2000;
	ok(l->tables.node.put(s, &node, BK_PUT_REPLACE, E));
	assert_true(redo_bytes() - before < 20000);
	assert_string_equal(sql(admin, "SELECT COUNT(*) FROM differ_link"), "2000");
	l->tables.session.close(s);
	store_done(l);
}

/* Hits of over 300 bytes, along children and links, in one step and in two: none is held. */
static void walks_do_not_grow(void **state)
{
	struct bk_layered *l = store_made("large", NULL);
	struct bk_session *s = session(l, 0);

	large_make(l, s);
	large_walk_children(l, s); /* what the client library keeps anyway */
	assert_true(large_walks_grow_kib(l, s) < 8192);
	l->tables.session.close(s);
	store_done(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gone_in_mid_run),
		cmocka_unit_test(a_server_that_hangs),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(lock_wait),
		cmocka_unit_test(isolation_levels),
		cmocka_unit_test(a_writer_gives_way),
		cmocka_unit_test(orphans_are_swept),
		cmocka_unit_test(append_does_not_rewrite),
		cmocka_unit_test(replace_writes_the_difference),
		cmocka_unit_test(walks_do_not_grow),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
