/*
 * test_sessions.c - sessions that lose their server or meet each other; what memory and the log
 * cost.
 */
#include "pg.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct bk_layered *made(const char *space, const char *const *sets)
{
	struct bk_layered *l = pg_store(space, sets, BK_DURABLE_NONE);

	ok(l->tables.store.unmake(l->store, E));
	ok(l->tables.store.make(l->store, E));
	return l;
}

static void done(struct bk_layered *l)
{
	ok(l->tables.store.unmake(l->store, E));
	pg_store_close(l);
}

static void terminate_all(void)
{
	sql(admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		   " WHERE application_name = 'bakeoff' AND pid <> pg_backend_pid()");
	while (strcmp(sql(admin, "SELECT count(*) FROM pg_stat_activity"
				 " WHERE application_name = 'bakeoff'"),
		      "0") != 0)
		;
}

/* ---- a server that goes away ------------------------------------------------------------ */

static void gone_in_mid_run(void **state)
{
	struct bk_layered *l = made("gone", NULL);
	struct bk_session *s = session(l, 0);
	uint32_t isolation = 0;
	struct bk_node node;
	bk_status st;

	put(l, s, "a", "", "1");
	terminate_all();
	wants(BK_UNAVAILABLE, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	says("57P01");
	wants(BK_UNAVAILABLE, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	l->tables.session.close(s);

	s = session(l, 0);
	terminate_all();
	st = try_put(l, s, "b", "", bk_slice_str("1"), BK_PUT_CREATE);
	wants(BK_UNAVAILABLE, st);
	assert_true(last_err.flags & BK_ERR_OUTCOME_UNKNOWN);
	l->tables.session.close(s);

	s = session(l, 0);
	ok(l->tables.txn.begin(s, &isolation, 0, E));
	put(l, s, "c", "", "1");
	terminate_all();
	wants(BK_UNAVAILABLE, l->tables.txn.commit(s, E));
	assert_true(last_err.flags & BK_ERR_OUTCOME_UNKNOWN);
	l->tables.session.close(s);

	s = session(l, 0); /* a new one works; the store's own connection comes back too */
	ok(l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	wants(BK_NOT_FOUND, l->tables.node.get(&node, s, bk_slice_str("c"), BK_WANT_DOC, E));
	l->tables.session.close(s);
	ok(l->tables.store.clear(l->store, E));
	done(l);
}

/* Only a server on this machine, whose processes we may stop. */
static void a_server_that_hangs(void **state)
{
	struct bk_layered *l = made("hang", NULL);
	struct bk_session *s = session(l, 300 * UINT64_C(1000000));
	struct timespec begin, end;
	struct bk_node node;
	double seconds;
	pid_t pid;

	put(l, s, "a", "", "1");
	pid = atoi(sql(admin,
		       "SELECT pid FROM pg_stat_activity WHERE application_name = 'bakeoff'"
		       " AND query LIKE 'WITH%%INSERT INTO node%%' OR query LIKE 'INSERT INTO"
		       " node%%' LIMIT 1"));
	assert_true(pid > 1);
	if (kill(pid, SIGSTOP) != 0)
		fail_msg("cannot stop process %d of the server", (int)pid);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	wants(BK_TIMEOUT, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	clock_gettime(CLOCK_MONOTONIC, &end);
	kill(pid, SIGCONT);
	seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
	assert_true(seconds < 5);
	wants(BK_UNAVAILABLE, l->tables.node.get(&node, s, bk_slice_str("a"), BK_WANT_DOC, E));
	l->tables.session.close(s);
	done(l);
}

/* ---- sessions that meet ----------------------------------------------------------------- */

static void serialization_failure(void **state)
{
	struct bk_layered *l = made("serial", NULL);
	struct bk_session *a = session(l, 0), *b = session(l, 0);
	uint32_t isolation = BK_ISO_REPEATABLE_READ;
	struct bk_node node;

	put(l, a, "n", "", "1");
	ok(l->tables.txn.begin(a, &isolation, 0, E));
	assert_int_equal(isolation, BK_ISO_SNAPSHOT);
	ok(l->tables.node.get(&node, a, bk_slice_str("n"), BK_WANT_DOC, E));
	ok(try_put(l, b, "n", "", bk_slice_str("2"), BK_PUT_REPLACE));
	wants(BK_CONFLICT, try_put(l, a, "n", "", bk_slice_str("3"), BK_PUT_REPLACE));
	assert_string_equal(last_err.sqlstate, "40001");
	assert_true(last_err.flags & BK_ERR_RETRY);
	/* The server has given it up: the same answer until the end. */
	wants(BK_CONFLICT, l->tables.node.get(&node, a, bk_slice_str("n"), BK_WANT_DOC, E));
	wants(BK_CONFLICT, l->tables.txn.commit(a, E));
	ok(l->tables.node.get(&node, a, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_memory_equal(node.doc.data, "2", 1);
	l->tables.session.close(a);
	l->tables.session.close(b);
	done(l);
}

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
		r->l->tables.txn.rollback(s, &(struct bk_error){.struct_size = sizeof(r->err)});
	r->l->tables.session.close(s);
	return NULL;
}

static void deadlock(void **state)
{
	struct bk_layered *l = made("deadlock", NULL);
	struct bk_session *s = session(l, 0);
	struct rival r = {.l = l};
	const struct bk_error *lost;
	uint32_t isolation = 0;
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
	if (st == BK_OK)
		ok(l->tables.txn.commit(s, E));
	else
		assert_int_equal(last_err.status, st);
	lost = st == BK_OK ? &r.err : E;
	last_err = *lost;
	pthread_join(thread, NULL);
	lost = st == BK_OK ? &r.err : &last_err;
	assert_true((st == BK_OK) != (r.status == BK_OK));
	assert_int_equal(st == BK_OK ? r.status : st, BK_CONFLICT);
	assert_string_equal(lost->sqlstate, "40P01");
	assert_true(lost->flags & BK_ERR_RETRY);
	pthread_barrier_destroy(&r.both);
	l->tables.session.close(s);
	done(l);
}

/* ---- a writer with company -------------------------------------------------------------- */

static void a_writer_gives_way(const char *option)
{
	const char *sets[] = {option, NULL};
	struct bk_layered *l = made("writer", sets);
	struct bk_session *s = session(l, 0), *other = session(l, 0);
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	static char block[300000];
	struct bk_writer *w;
	struct bk_node node;
	int i;

	/* A put in between is there at once, for everybody, whatever becomes of the writer. */
	ok(l->tables.binary.write_open(&w, s, bk_slice_str("key"), BK_SIZE_UNKNOWN, BK_PUT_CREATE,
				       E));
	for (i = 0; i < 4; i++)
		ok(l->tables.binary.write(w, block, sizeof(block), E));
	put(l, s, "between", "", "1");
	ok(l->tables.node.get(&node, other, bk_slice_str("between"), BK_WANT_DOC, E));
	wants(BK_NOT_FOUND, l->tables.binary.stat(other, bk_slice_str("key"), &info, E));
	for (i = 0; i < 4; i++)
		ok(l->tables.binary.write(w, block, sizeof(block), E));
	l->tables.binary.abort(w);
	wants(BK_NOT_FOUND, l->tables.binary.stat(s, bk_slice_str("key"), &info, E));
	ok(l->tables.node.get(&node, s, bk_slice_str("between"), BK_WANT_DOC, E));
	if (strcmp(option, "binaries=bytea") == 0)
		assert_string_equal(sql(admin, "SELECT count(*) FROM bakeoff_writer.chunk"), "0");
	else
		assert_string_equal(sql(admin, "SELECT count(*) FROM pg_largeobject_metadata"),
				    "0");

	ok(l->tables.binary.write_open(&w, s, bk_slice_str("key"), BK_SIZE_UNKNOWN, BK_PUT_CREATE,
				       E));
	for (i = 0; i < 3; i++) {
		ok(l->tables.binary.write(w, block, sizeof(block), E));
		wants(BK_EXISTS, try_put(l, s, "between", "", bk_slice_str("1"), BK_PUT_CREATE));
	}
	ok(l->tables.binary.finish(w, &info, E));
	ok(l->tables.binary.stat(other, bk_slice_str("key"), &info, E));
	assert_int_equal(info.size_bytes, 3 * sizeof(block));
	l->tables.session.close(s);
	l->tables.session.close(other);
	done(l);
	assert_string_equal(sql(admin, "SELECT count(*) FROM pg_largeobject_metadata"), "0");
}

static void writer_gives_way_bytea(void **state)
{
	a_writer_gives_way("binaries=bytea");
}

static void writer_gives_way_large_object(void **state)
{
	a_writer_gives_way("binaries=large-object");
}

/* ---- costs
 * --------------------------------------------------------------------------------------- */

static uint64_t log_bytes(void)
{
	return strtoull(sql(admin, "SELECT (pg_current_wal_insert_lsn() - '0/0')::int8"), NULL, 10);
}

/* 200 appends of 100 bytes to 1 MB: what is written is not the document. */
static void append_does_not_rewrite(void **state)
{
	struct bk_layered *l = made("append", NULL);
	struct bk_session *s = session(l, 0);
	static char doc[1000001], tail[100];
	struct bk_node node;
	uint64_t before;
	int i;

	for (i = 0; i < 1000000; i++)
		doc[i] = (char)('a' + rand() % 26);
	memset(tail, 'z', sizeof(tail));
	put(l, s, "n", "", doc);
	sql(admin, "CHECKPOINT");
	before = log_bytes();
	for (i = 0; i < 200; i++)
		ok(l->tables.node.append(s, bk_slice_str("n"), bk_slice_of(tail, sizeof(tail)),
					 NULL, 0, E));
	assert_true(log_bytes() - before < 1000000);
	ok(l->tables.node.get(&node, s, bk_slice_str("n"), BK_WANT_DOC, E));
	assert_int_equal(node.doc.len, 1000000 + 200 * sizeof(tail));
	assert_memory_equal(node.doc.data, doc, 1000000);
	assert_memory_equal((const char *)node.doc.data + 1000000, tail, sizeof(tail));
	l->tables.session.close(s);
	done(l);
}

/* Hits of over 300 bytes, along children and links, in one step and in two: none is held. */
static void walks_do_not_grow(void **state)
{
	struct bk_layered *l = made("large", NULL);
	struct bk_session *s = session(l, 0);
	long grown_kib;

	large_make(l, s);
	grown_kib = large_walks_grow_kib(l, s);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep what is freed */
	assert_true(grown_kib < 16 * 1024);
#else
	(void)grown_kib;
#endif
	l->tables.session.close(s);
	done(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gone_in_mid_run),
		cmocka_unit_test(a_server_that_hangs),
		cmocka_unit_test(serialization_failure),
		cmocka_unit_test(deadlock),
		cmocka_unit_test(writer_gives_way_bytea),
		cmocka_unit_test(writer_gives_way_large_object),
		cmocka_unit_test(append_does_not_rewrite),
		cmocka_unit_test(walks_do_not_grow),
	};

	return cmocka_run_group_tests(tests, pg_group_setup, pg_group_teardown);
}
