/*
 * The check layer: each breach of the contract is caught.  Those of the backend, made on purpose by
 * the one in here, are answered INTERNAL; those of the harness end the process, so they are made in
 * a child.
 */
#include "unit.h"

#include "layer/layer.h"
#include "plugin/ops.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A backend that breaks the contract in one way at a time -------------- */

enum fault {
	NONE,
	POSITIVE_STATUS, /* of get, find, put: every operation that ends the same way */
	NO_STATUS,
	ERR_NOT_FILLED,
	ERR_OTHER_STATUS,
	ERR_TWO_LINES,
	ERR_TOUCHED,
	OUT_ON_FAILURE,
	OTHER_NODE,
	PATH_NOT_WANTED,
	PATH_MISSING,
	NULL_VIEW,
	NO_VERSION,
	VIEW_CHANGED,
	DONE_ZERO,
	DONE_TOO_MANY,
	ITEM_MISSING,
	HANDLE_MISSING,
	HANDLE_ON_FAILURE,
	HITS_ZERO,
	HITS_TOO_MANY,
	HIT_EMPTY,
	HIT_WITHOUT_REL,
	CURSOR_VIEW_CHANGED,
	WRITTEN_COUNT,
	DECLARED_IGNORED,
	INFO_TOO_LONG,
	READ_TOO_LITTLE,
	READ_TOO_MUCH,
	OFFSET_BEYOND,
	ISOLATION_WEAKER,
	COMMIT_WITH_CURSOR,
	COMMIT_WITHOUT_BEGIN,
	SINK_NAME,
	SINK_UNIT,
	SINK_END,
};

#define ALL                                                                                        \
	(BK_F_NODES | BK_F_CAS | BK_F_TXN | BK_F_GET_MANY | BK_F_PUT_MANY | BK_F_BINARIES |        \
	 BK_F_APPEND | BK_F_WALK)

struct bk_cursor {
	int unused;
};
struct bk_writer {
	uint64_t written;
};
struct bk_reader {
	size_t left;
};
struct bk_store {
	enum fault fault;
};
struct bk_session {
	struct bk_store *store;
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
	bool in_txn;
	char id[8], rel[4];
};

static bk_status absent(struct bk_error *err, enum fault fault)
{
	bk_fail(err, BK_NOT_FOUND, 0, "not here");
	if (fault == ERR_OTHER_STATUS)
		err->status = BK_IO;
	if (fault == ERR_TWO_LINES)
		strcpy(err->message, "one\ntwo");
	return BK_NOT_FOUND;
}

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s = calloc(1, sizeof(*s));

	s->store = store;
	strcpy(s->id, "a");
	strcpy(s->rel, "r");
	*out = s;
	return BK_OK;
}

static void bad_session_close(struct bk_session *s)
{
	free(s);
}

static bk_status bad_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	enum fault fault = s->store->fault;

	switch (fault) {
	case POSITIVE_STATUS:
		return BK_END;
	case NO_STATUS:
		return -99;
	case ERR_NOT_FILLED:
		return BK_NOT_FOUND;
	case ERR_OTHER_STATUS:
	case ERR_TWO_LINES:
		return absent(err, fault);
	case OUT_ON_FAILURE:
		memset(out, 0, sizeof(*out));
		return absent(err, fault);
	case ERR_TOUCHED:
		err->vendor_code = 1;
		break;
	default:
		break;
	}
	if (!bk_slice_eq(id, bk_slice_str("a")))
		return absent(err, fault);
	memset(out, 0, sizeof(*out));
	s->id[0] = fault == OTHER_NODE ? 'b' : 'a';
	out->id = bk_slice_of(s->id, 1);
	out->version = fault == NO_VERSION ? 0 : 7;
	if ((want & BK_WANT_PATH && fault != PATH_MISSING) || fault == PATH_NOT_WANTED)
		out->path = bk_slice_of(s->id, 1);
	if (want & BK_WANT_DOC)
		out->doc = bk_slice_of(fault == NULL_VIEW ? NULL : "doc", 3);
	return BK_OK;
}

static bk_status bad_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
			      const struct bk_slice *ids, size_t n, uint32_t want,
			      struct bk_error *err)
{
	memset(out, 0, n * sizeof(*out));
	*done = s->store->fault == DONE_ZERO ? 0 : s->store->fault == DONE_TOO_MANY ? n + 1 : n;
	return BK_OK;
}

static bk_status bad_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
			  struct bk_error *err)
{
	if (s->store->fault == CURSOR_VIEW_CHANGED)
		s->rel[0]++; /* what the cursor has lent */
	*id_out = bk_slice_of(s->id, 1);
	return BK_OK;
}

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	return s->store->fault == POSITIVE_STATUS ? BK_END : BK_OK;
}

static bk_status bad_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      uint32_t mode, struct bk_error *err)
{
	bk_fail(err, BK_EXISTS, 0, "taken");
	if (s->store->fault != ITEM_MISSING)
		err->item = 0;
	return BK_EXISTS;
}

static bk_status bad_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			       const struct bk_step *steps, size_t n_steps, uint32_t want,
			       struct bk_error *err)
{
	if (s->store->fault == HANDLE_MISSING)
		return BK_OK;
	*out = &s->cursor;
	if (s->store->fault == HANDLE_ON_FAILURE)
		return bk_fail(err, BK_IO, 0, "broken");
	return BK_OK;
}

static struct bk_session *of_cursor(struct bk_cursor *c)
{
	return (struct bk_session *)(void *)((char *)c - offsetof(struct bk_session, cursor));
}

static bk_status bad_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			       struct bk_error *err)
{
	struct bk_session *s = of_cursor(c);
	enum fault fault = s->store->fault;

	if (fault == VIEW_CHANGED)
		s->id[0]++; /* what find has lent */
	memset(out, 0, sizeof(*out));
	out->id = bk_slice_of(s->rel, fault == HIT_EMPTY ? 0 : 1);
	if (fault != HIT_WITHOUT_REL)
		out->rel = bk_slice_of(s->rel, 1);
	*n = fault == HITS_ZERO ? 0 : fault == HITS_TOO_MANY ? cap + 1 : 1;
	return BK_OK;
}

static void bad_walk_close(struct bk_cursor *c)
{
}

static bk_status bad_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
				uint64_t size_bytes, uint32_t mode, struct bk_error *err)
{
	s->writer.written = 0;
	*out = &s->writer;
	return BK_OK;
}

static struct bk_session *of_writer(struct bk_writer *w)
{
	return (struct bk_session *)(void *)((char *)w - offsetof(struct bk_session, writer));
}

static bk_status bad_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err)
{
	w->written += len;
	return BK_OK;
}

static bk_status bad_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err)
{
	struct bk_session *s = of_writer(w);

	info->size_bytes = w->written + (s->store->fault == WRITTEN_COUNT);
	if (s->store->fault == INFO_TOO_LONG)
		memset((char *)info + info->struct_size, 0, 4);
	return BK_OK;
}

static void bad_abort(struct bk_writer *w)
{
}

static bk_status bad_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			       uint64_t offset, uint64_t len, struct bk_binary_info *info,
			       struct bk_error *err)
{
	s->reader.left = s->store->fault == READ_TOO_LITTLE ? 5 : 10;
	if (s->store->fault == READ_TOO_MUCH)
		s->reader.left = 11;
	info->size_bytes = 10;
	*out = &s->reader;
	return BK_OK;
}

static bk_status bad_read(struct bk_reader *r, void *buf, size_t cap, size_t *n,
			  struct bk_error *err)
{
	if (!r->left)
		return BK_END;
	*n = r->left < cap ? r->left : cap;
	memset(buf, 'x', *n);
	r->left -= *n;
	return BK_OK;
}

static void bad_read_close(struct bk_reader *r)
{
}

static bk_status bad_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
			   struct bk_error *err)
{
	if (s->in_txn)
		return bk_fail(err, BK_STATE, 0, "in one");
	if (s->store->fault == ISOLATION_WEAKER || !*isolation)
		*isolation = BK_ISO_READ_COMMITTED;
	s->in_txn = true;
	return BK_OK;
}

static bk_status bad_commit(struct bk_session *s, struct bk_error *err)
{
	s->in_txn = false;
	return BK_OK;
}

static bk_status bad_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	sink->put_u64(sink->ctx, store->fault == SINK_NAME ? "Storage Bytes" : "storage.bytes", 1,
		      store->fault == SINK_UNIT ? "furlongs" : "bytes", 0);
	if (store->fault == SINK_END)
		sink->begin(sink->ctx, "table", "node");
	return BK_OK;
}

static void bad_store_close(struct bk_store *store)
{
	free(store);
}

static bk_status bad_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	*reached = BK_CHILL_DROPPED;
	return BK_OK;
}

static struct bk_layered checked(enum fault fault)
{
	struct bk_error err = bk_error_init();
	struct bk_layered io;

	memset(&io, 0, sizeof(io));
	io.tables.store.close = bad_store_close;
	io.tables.store.inspect = bad_inspect;
	io.tables.store.chill = bad_chill;
	io.tables.session.open = bad_session_open;
	io.tables.session.close = bad_session_close;
	io.tables.txn.begin = bad_begin;
	io.tables.txn.commit = bad_commit;
	io.tables.node.get = bad_get;
	io.tables.node.get_many = bad_get_many;
	io.tables.node.find = bad_find;
	io.tables.node.put = bad_put;
	io.tables.node.put_many = bad_put_many;
	io.tables.node.walk_open = bad_walk_open;
	io.tables.node.walk_next = bad_walk_next;
	io.tables.node.walk_close = bad_walk_close;
	io.tables.binary.write_open = bad_write_open;
	io.tables.binary.write = bad_write;
	io.tables.binary.finish = bad_finish;
	io.tables.binary.abort = bad_abort;
	io.tables.binary.read_open = bad_read_open;
	io.tables.binary.read = bad_read;
	io.tables.binary.read_close = bad_read_close;
	bk_ops_fill(&io.tables);
	io.store = calloc(1, sizeof(*io.store));
	io.store->fault = fault;
	io.threads = BK_THREADS_SINGLE;
	io.native = ALL;
	assert_int_equal(bk_layer_check(&io, &err), BK_OK);
	return io;
}

static struct bk_session *session(struct bk_layered *io)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct bk_session *s = NULL;

	if (io->tables.session.open(&s, io->store, &config, &err))
		fail_msg("%s", err.message);
	return s;
}

/* ---- Breaches by the backend ---------------------------------------------- */

static const struct bk_slice a = {"a", 1};

static bk_status do_get(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_node node;

	return t->node.get(&node, s, a, BK_WANT_DOC, err);
}

static bk_status do_get_path(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_node node;

	return t->node.get(&node, s, a, BK_WANT_PATH, err);
}

static bk_status do_find(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_slice id;

	return t->node.find(&id, s, a, err);
}

static bk_status do_get_many(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_node node[2];
	const struct bk_slice ids[2] = {{"a", 1}, {"b", 1}};
	size_t done;

	return t->node.get_many(node, &done, s, ids, 2, 0, err);
}

static bk_status do_put(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_node node = {.id = a, .path = a};

	return t->node.put(s, &node, BK_PUT_CREATE, err);
}

static bk_status do_put_many(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_node node = {.id = a, .path = a};

	return t->node.put_many(s, &node, 1, BK_PUT_CREATE, err);
}

static bk_status do_walk(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	const struct bk_step step = {{NULL, 0}, BK_OUT, 0};
	struct bk_cursor *c;
	struct bk_hit hits[4];
	size_t n;
	bk_status st = t->node.walk_open(&c, s, a, &step, 1, 0, err);

	if (st)
		return st;
	st = t->node.walk_next(c, hits, 4, &n, err);
	t->node.walk_close(c);
	return st;
}

/* Two calls on the session, and two on its cursor, with one of the other between. */
static bk_status do_share_buffers(const struct bk_tables *t, struct bk_session *s,
				  struct bk_error *err)
{
	const struct bk_step step = {{NULL, 0}, BK_OUT, 0};
	struct bk_cursor *c;
	struct bk_hit hit;
	struct bk_slice id;
	size_t n;
	bk_status st = t->node.walk_open(&c, s, a, &step, 1, 0, err);

	if (!st)
		st = t->node.find(&id, s, a, err);
	if (!st)
		st = t->node.walk_next(c, &hit, 1, &n, err);
	if (!st)
		st = t->node.find(&id, s, a, err);
	if (!st)
		st = t->node.walk_next(c, &hit, 1, &n, err);
	t->node.walk_close(c);
	return st;
}

static bk_status do_write(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;
	bk_status st = t->binary.write_open(&w, s, a, 4, BK_PUT_UPSERT, err);

	if (!st)
		st = t->binary.write(w, "wxyz", 4, err);
	return st ? st : t->binary.finish(w, &info, err);
}

static bk_status do_write_short(const struct bk_tables *t, struct bk_session *s,
				struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;
	bk_status st = t->binary.write_open(&w, s, a, 5, BK_PUT_UPSERT, err);

	if (!st)
		st = t->binary.write(w, "wxyz", 4, err);
	return st ? st : t->binary.finish(w, &info, err);
}

static bk_status read_from(const struct bk_tables *t, struct bk_session *s, uint64_t offset,
			   struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *r;
	char buf[64];
	size_t n;
	bk_status st = t->binary.read_open(&r, s, a, offset, UINT64_MAX, &info, err);

	if (st)
		return st;
	while ((st = t->binary.read(r, buf, sizeof(buf), &n, err)) == BK_OK)
		;
	t->binary.read_close(r);
	return st == BK_END ? BK_OK : st;
}

static bk_status do_read(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	return read_from(t, s, 0, err);
}

static bk_status do_read_beyond(const struct bk_tables *t, struct bk_session *s,
				struct bk_error *err)
{
	return read_from(t, s, 11, err);
}

static bk_status do_begin(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	uint32_t isolation = BK_ISO_SNAPSHOT;

	return t->txn.begin(s, &isolation, 0, err);
}

static bk_status do_commit(const struct bk_tables *t, struct bk_session *s, struct bk_error *err)
{
	return t->txn.commit(s, err);
}

static bk_status do_commit_with_cursor(const struct bk_tables *t, struct bk_session *s,
				       struct bk_error *err)
{
	const struct bk_step step = {{NULL, 0}, BK_CHILDREN, 0};
	struct bk_cursor *c;
	uint32_t isolation = 0;
	bk_status st = t->txn.begin(s, &isolation, 0, err);

	if (!st)
		st = t->node.walk_open(&c, s, a, &step, 1, 0, err);
	if (st)
		return st;
	st = t->txn.commit(s, err);
	t->node.walk_close(c);
	return st;
}

static const struct {
	enum fault fault;
	bk_status (*act)(const struct bk_tables *t, struct bk_session *s, struct bk_error *err);
	const char *says;
} backend_cases[] = {
	{POSITIVE_STATUS, do_get, "node.get breaks the contract: it answers 1"},
	{POSITIVE_STATUS, do_put, "node.put breaks the contract: it answers 1"},
	{NO_STATUS, do_get, "it answers -99, which is no status"},
	{ERR_NOT_FILLED, do_get, "err->status is not the status"},
	{ERR_OTHER_STATUS, do_get, "err->status is not the status"},
	{ERR_TWO_LINES, do_get, "err->message is not one line"},
	{ERR_TOUCHED, do_get, "has written to *err"},
	{OUT_ON_FAILURE, do_get, "has written the node"},
	{OTHER_NODE, do_get, "another node than was asked for"},
	{PATH_NOT_WANTED, do_get, "was not wanted and is there"},
	{PATH_MISSING, do_get_path, "was wanted and is empty"},
	{NULL_VIEW, do_get, "a view is NULL with a length"},
	{NO_VERSION, do_get, "versions are kept and a node has none"},
	{VIEW_CHANGED, do_share_buffers, "changed before this call, the next on its session"},
	{CURSOR_VIEW_CHANGED, do_share_buffers, "changed before this call, the next on its cursor"},
	{DONE_ZERO, do_get_many, "done is 0 of 2"},
	{DONE_TOO_MANY, do_get_many, "done is 3 of 2"},
	{ITEM_MISSING, do_put_many, "without err->item"},
	{HANDLE_MISSING, do_walk, "OK without a handle"},
	{HANDLE_ON_FAILURE, do_walk, "has written a handle"},
	{HITS_ZERO, do_walk, "n = 0 of 4"},
	{HITS_TOO_MANY, do_walk, "n = 5 of 4"},
	{HIT_EMPTY, do_walk, "a hit has an empty id"},
	{HIT_WITHOUT_REL, do_walk, "lacks its relation"},
	{WRITTEN_COUNT, do_write, "info->size_bytes is 5, and 4 were written"},
	{DECLARED_IGNORED, do_write_short, "5 bytes were declared and 4 written"},
	{INFO_TOO_LONG, do_write, "beyond info->struct_size"},
	{READ_TOO_LITTLE, do_read, "it ends 5 bytes before the end"},
	{READ_TOO_MUCH, do_read, "more bytes than there are"},
	{OFFSET_BEYOND, do_read_beyond, "an offset beyond the end"},
	{ISOLATION_WEAKER, do_begin, "isolation 3 was wanted, and 1 is in force"},
	{COMMIT_WITH_CURSOR, do_commit_with_cursor, "not STATE, though a cursor"},
	{COMMIT_WITHOUT_BEGIN, do_commit, "not STATE, though no transaction"},
};

static void backend_breaches_are_answered(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(backend_cases) / sizeof(*backend_cases); i++) {
		struct bk_layered io = checked(backend_cases[i].fault);
		struct bk_session *s = session(&io);
		struct bk_error err = bk_error_init();
		bk_status st;

		st = backend_cases[i].act(&io.tables, s, &err);
		if (st != BK_INTERNAL)
			fail_msg("case %zu ('%s'): answered %d", i, backend_cases[i].says, st);
		assert_contains(err.message, backend_cases[i].says);
		io.tables.session.close(s);
		io.tables.store.close(io.store);
	}
}

static void no_fault_no_answer(void **state)
{
	struct bk_layered io = checked(NONE);
	struct bk_session *s = session(&io);
	struct bk_error err = bk_error_init();

	assert_int_equal(do_get(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_get_path(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_find(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_get_many(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_put(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_put_many(&io.tables, s, &err), BK_EXISTS);
	assert_int_equal(do_walk(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_share_buffers(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_write(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_read(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_begin(&io.tables, s, &err), BK_OK);
	assert_int_equal(do_commit(&io.tables, s, &err), BK_OK);
	io.tables.session.close(s);
	io.tables.store.close(io.store);
}

static void ignore_u64(void *ctx, const char *name, uint64_t value, const char *unit,
		       uint32_t flags)
{
}

static void ignore_begin(void *ctx, const char *kind, const char *name)
{
}

static void a_store_that_describes_itself_wrongly(void **state)
{
	static const struct {
		enum fault fault;
		const char *says;
	} cases[] = {
		{SINK_NAME, "the name 'Storage Bytes' is not dotted lower case"},
		{SINK_UNIT, "the unit 'furlongs' is none of"},
		{SINK_END, "begin without end"},
	};
	const struct bk_sink nowhere = {
		.struct_size = sizeof(nowhere), .put_u64 = ignore_u64, .begin = ignore_begin};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bk_layered io = checked(cases[i].fault);
		struct bk_error err = bk_error_init();

		assert_int_equal(io.tables.store.inspect(io.store, BK_INSPECT_SIZE, &nowhere, &err),
				 BK_INTERNAL);
		assert_contains(err.message, cases[i].says);
		io.tables.store.close(io.store);
	}
}

/* ---- Breaches by the harness ----------------------------------------------- */

static void use_after_close(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	io->tables.session.close(s);
	do_get(&io->tables, s, err);
}

struct elsewhere {
	const struct bk_tables *tables;
	struct bk_session *s;
};

static void *get_elsewhere(void *ctx)
{
	struct elsewhere *e = ctx;
	struct bk_error err = bk_error_init();

	do_get(e->tables, e->s, &err);
	return NULL;
}

static void use_on_another_thread(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct elsewhere e = {&io->tables, s};
	pthread_t thread;

	pthread_create(&thread, NULL, get_elsewhere, &e);
	pthread_join(thread, NULL);
}

static const struct bk_step one_step = {{NULL, 0}, BK_OUT, 0};

static void two_cursors(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c;

	io->tables.node.walk_open(&c, s, a, &one_step, 1, 0, err);
	io->tables.node.walk_open(&c, s, a, &one_step, 1, 0, err);
}

static void cursor_after_close(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c;
	struct bk_hit hit;
	size_t n;

	io->tables.node.walk_open(&c, s, a, &one_step, 1, 0, err);
	io->tables.node.walk_close(c);
	io->tables.node.walk_next(c, &hit, 1, &n, err);
}

static void two_writers(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_writer *w;

	io->tables.binary.write_open(&w, s, a, 1, BK_PUT_UPSERT, err);
	io->tables.binary.write_open(&w, s, a, 1, BK_PUT_UPSERT, err);
}

static void writer_after_finish(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;

	io->tables.binary.write_open(&w, s, a, 0, BK_PUT_UPSERT, err);
	io->tables.binary.finish(w, &info, err);
	io->tables.binary.abort(w);
}

static void two_readers(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *r;

	io->tables.binary.read_open(&r, s, a, 0, UINT64_MAX, &info, err);
	io->tables.binary.read_open(&r, s, a, 0, UINT64_MAX, &info, err);
}

static void close_with_a_cursor(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_cursor *c;

	io->tables.node.walk_open(&c, s, a, &one_step, 1, 0, err);
	io->tables.session.close(s);
}

static void close_store_with_a_session(struct bk_layered *io, struct bk_session *s,
				       struct bk_error *err)
{
	io->tables.store.close(io->store);
}

static void chill_with_a_session(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	uint32_t reached;

	io->tables.store.chill(io->store, &reached, err);
}

static void a_second_session_of_one(struct bk_layered *io, struct bk_session *s,
				    struct bk_error *err)
{
	session(io);
}

static void null_slice(struct bk_layered *io, struct bk_session *s, struct bk_error *err)
{
	struct bk_slice id;

	io->tables.node.find(&id, s, bk_slice_of(NULL, 3), err);
}

static const struct {
	void (*act)(struct bk_layered *io, struct bk_session *s, struct bk_error *err);
	const char *says;
} harness_cases[] = {
	{use_after_close, "node.get: called on a session that is closed"},
	{use_on_another_thread, "node.get: called on another thread"},
	{two_cursors, "node.walk_open: the session has a cursor open"},
	{cursor_after_close, "node.walk_next: called on a cursor that is closed"},
	{two_writers, "binary.write_open: the session has a writer open"},
	{writer_after_finish, "binary.abort: called on a writer that is finished"},
	{two_readers, "binary.read_open: the session has a reader open"},
	{close_with_a_cursor, "session.close: a cursor, reader or writer of the session is open"},
	{close_store_with_a_session, "store.close: a session is open"},
	{chill_with_a_session, "store.chill: a session is open"},
	{a_second_session_of_one, "session.open: a session is open, and the backend takes one"},
	{null_slice, "node.find: the path is NULL, with a length of 3"},
};

/* What the child writes before it ends, and how it ends. */
static int in_a_child(char *text, size_t cap, size_t i)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		struct bk_error err = bk_error_init();
		struct bk_layered io = checked(NONE);

		signal(SIGABRT, SIG_DFL);
		dup2(fds[1], STDERR_FILENO);
		harness_cases[i].act(&io, session(&io), &err);
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], text + len, cap - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void harness_breaches_end_the_process(void **state)
{
	char text[4096];
	size_t i;
	int status;

	for (i = 0; i < sizeof(harness_cases) / sizeof(*harness_cases); i++) {
		status = in_a_child(text, sizeof(text), i);
		assert_contains(text, harness_cases[i].says);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
			fail_msg("case %zu ('%s') did not abort", i, harness_cases[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_fault_no_answer),
		cmocka_unit_test(backend_breaches_are_answered),
		cmocka_unit_test(a_store_that_describes_itself_wrongly),
		cmocka_unit_test(harness_breaches_end_the_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
