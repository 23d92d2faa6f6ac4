/*
 * group_crash.c - kill -9 at durability `process`: nothing acknowledged is lost, nothing is half
 * there.
 *
 * The one invariant: what each plan checks follows from `acked` alone; the step after the last
 * acknowledged one may have happened whole or not at all.
 */
#include "conform/crashes.h"
#include "util/buf.h"

#include <stdlib.h>

static struct bk_node made(struct bk_box *b, unsigned round, unsigned i, unsigned part)
{
	struct bk_node node = bk_node_named(b, "r%u-%u-%u", round, i, part);

	node.doc = bk_test_bytes(&b->arena, i * 31 + part, (i * 97 + part * 13) % 3000);
	bk_node_link(b, &node, bk_arena_printf(&b->arena, "r>hub s>t%u", i));
	return node;
}

static bool there(struct bk_box *b, const struct bk_node *node)
{
	struct bk_node got;
	bk_status st;

	ANY(b->t, st, b->ops->node.get(&got, b->s, node->id, 0, E));
	CHECK(b->t, st == BK_OK || st == BK_NOT_FOUND, "get: %s", bk_test_status_name(st));
	return st == BK_OK;
}

static void hub(struct bk_box *b, unsigned round)
{
	if (round == 0)
		TARGETS(b, "hub top");
}

/* ---- Single puts ----------------------------------------------------------------------------- */

static bk_status put_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	struct bk_node node = made(b, round, i, 0);

	node.parent = bk_id_named(b, "top");
	return b->ops->node.put(b->s, &node, BK_PUT_CREATE, err);
}

/* Nodes, children and in-links tell the same story. */
static void put_check(struct bk_box *b, unsigned round, unsigned acked)
{
	struct bk_step steps[2] = {bk_children(), bk_in("r")};
	const char *prefix = bk_arena_printf(&b->arena, "r%u-", round);
	struct bk_hits hits;
	unsigned i, count, k;
	size_t h;

	for (i = 0; i <= acked; i++) {
		struct bk_node node = made(b, round, i, 0);

		node.parent = bk_id_named(b, "top");
		if (i < acked || there(b, &node))
			SAME(b, &node);
		else
			GONE(b, &node);
	}
	{
		struct bk_node last = made(b, round, acked, 0),
			       never = made(b, round, acked + 1, 0);

		count = acked + there(b, &last);
		GONE(b, &never);
	}
	for (k = 0; k < 2; k++) {
		unsigned found = 0;

		WALK(b, &hits, bk_id_named(b, k ? "hub" : "top"), &steps[k], 1, BK_WANT_PATH, 100);
		for (h = 0; h < hits.count; h++)
			found += strncmp((const char *)hits.at[h].path.data + 1, prefix,
					 strlen(prefix)) == 0;
		CHECK(b->t, found == count, "%u nodes are there and a walk by %s reaches %u", count,
		      k ? "links" : "children", found);
	}
}

static void crash_put(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {hub, put_step, put_check, 2000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

/* ---- Several at once
 * -------------------------------------------------------------------------------- */

#define PARTS 5

static void group_check(struct bk_box *b, unsigned round, unsigned acked, bool atomic)
{
	unsigned i, part;

	for (i = 0; i <= acked; i++) {
		unsigned found = 0;
		bool gap = false;

		for (part = 0; part < PARTS; part++) {
			struct bk_node node = made(b, round, i, part);

			if (i < acked || there(b, &node)) {
				SAME(b, &node);
				CHECK(b->t, !gap, "part %u of step %u is there, one before is not",
				      part, i);
				found++;
			} else {
				gap = true;
			}
		}
		CHECK(b->t, !atomic || found == 0 || found == PARTS,
		      "%u of %u nodes of one commit are there", found, PARTS);
	}
}

static bk_status txn_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	uint32_t isolation = 0;
	bk_status st = b->ops->txn.begin(b->s, &isolation, 0, err);
	unsigned part;

	for (part = 0; st == BK_OK && part < PARTS; part++) {
		struct bk_node node = made(b, round, i, part);

		st = b->ops->node.put(b->s, &node, BK_PUT_CREATE, err);
	}
	return st == BK_OK ? b->ops->txn.commit(b->s, err) : st;
}

static void txn_check(struct bk_box *b, unsigned round, unsigned acked)
{
	group_check(b, round, acked, true);
}

static void crash_txn(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {hub, txn_step, txn_check, 1000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

static bk_status batch_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	struct bk_node nodes[PARTS];
	unsigned part;

	for (part = 0; part < PARTS; part++)
		nodes[part] = made(b, round, i, part);
	return b->ops->node.put_many(b->s, nodes, PARTS, BK_PUT_CREATE, err);
}

static void batch_check(struct bk_box *b, unsigned round, unsigned acked)
{
	group_check(b, round, acked, b->t->own & BK_F_BATCH_ATOMIC);
}

static void crash_batch(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {hub, batch_step, batch_check, 1000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

/* ---- One node over and over
 * --------------------------------------------------------------------------- */

static void one_node(struct bk_box *b, unsigned round)
{
	struct bk_node node = bk_node_named(b, "one%u", round);

	CREATE(b, &node);
}

static struct bk_node value(struct bk_box *b, unsigned round, unsigned i)
{
	struct bk_node node = bk_node_named(b, "one%u", round);

	node.doc = bk_test_bytes(&b->arena, i, 100 + i % 7 * 4000);
	bk_node_link(b, &node, bk_arena_printf(&b->arena, "r>t%u s>t%u", i, i % 3));
	return node;
}

static bk_status replace_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	struct bk_node node = value(b, round, i);

	return b->ops->node.put(b->s, &node, BK_PUT_REPLACE, err);
}

static void replace_check(struct bk_box *b, unsigned round, unsigned acked)
{
	struct bk_node old = value(b, round, acked - 1), new = value(b, round, acked), got;

	GET(b, BK_OK, &got, old.id, BK_WANT_ALL);
	if (bk_slice_eq(got.doc, new.doc))
		SAME(b, &new);
	else
		SAME(b, &old);
}

static void crash_replace(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {one_node, replace_step, replace_check, 2000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

static size_t tail_bytes(unsigned i)
{
	return 1 + i * 53 % 700;
}

static bk_status append_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	struct bk_node links = bk_node_named(b, "none");

	bk_node_link(b, &links, bk_arena_printf(&b->arena, "r>t%u", i));
	return b->ops->node.append(b->s, bk_id_named(b, "one%u", round),
				   bk_test_bytes(&b->arena, i, tail_bytes(i)), links.links, 1, err);
}

static void append_check(struct bk_box *b, unsigned round, unsigned acked)
{
	struct bk_node node = bk_node_named(b, "one%u", round), got;
	size_t bytes = 0, more = tail_bytes(acked);
	struct bk_buf doc = BK_BUF_INIT, links = BK_BUF_INIT;
	unsigned i, n = acked;

	for (i = 0; i < acked; i++)
		bytes += tail_bytes(i);
	GET(b, BK_OK, &got, node.id, BK_WANT_DOC);
	CHECK(b->t, got.doc.len == bytes || got.doc.len == bytes + more,
	      "%zu bytes after %u acknowledged appends, should be %zu, or %zu with one more",
	      got.doc.len, acked, bytes, bytes + more);
	n += got.doc.len != bytes;
	for (i = 0; i < n; i++) {
		struct bk_slice tail = bk_test_bytes(&b->arena, i, tail_bytes(i));

		bk_buf_put(&doc, tail.data, tail.len);
		bk_buf_putf(&links, "r>t%u ", i);
	}
	node.doc = bk_slice_of(doc.data, doc.len);
	bk_node_link(b, &node, bk_buf_str(&links));
	SAME(b, &node);
	bk_buf_free(&doc);
	bk_buf_free(&links);
}

static void crash_append(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {one_node, append_step, append_check, 2000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

/* ---- Remove
 * ------------------------------------------------------------------------------------------ */

#define DOOMED 300

static void doomed_prepare(struct bk_box *b, unsigned round)
{
	struct bk_node nodes[DOOMED];
	unsigned i;

	hub(b, round);
	for (i = 0; i < DOOMED; i++) {
		nodes[i] = made(b, round, i, 0);
		nodes[i].parent = bk_id_named(b, "top");
	}
	PUT_MANY(b, BK_OK, UINT64_MAX, nodes, DOOMED, BK_PUT_CREATE);
}

static bk_status remove_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	return b->ops->node.remove(b->s, made(b, round, i, 0).id, err);
}

static void remove_check(struct bk_box *b, unsigned round, unsigned acked)
{
	unsigned i;

	for (i = 0; i < DOOMED; i++) {
		struct bk_node node = made(b, round, i, 0);

		node.parent = bk_id_named(b, "top");
		if (i < acked || (i == acked && !there(b, &node)))
			GONE(b, &node);
		else
			SAME(b, &node);
	}
}

static void crash_remove(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {doomed_prepare, remove_step, remove_check,
						  DOOMED - 10};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

/* ---- Binaries
 * ---------------------------------------------------------------------------------------- */

static uint64_t blob_bytes(unsigned i)
{
	return (i * 7919u) % 200000;
}

static struct bk_slice blob_key(struct bk_box *b, unsigned round, unsigned i)
{
	return bk_test_printf(&b->arena, "r%u/%u", round, i);
}

static bk_status blob_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w = NULL;
	char chunk[30000];
	uint64_t at = 0, size = blob_bytes(i);
	bk_status st =
		b->ops->binary.write_open(&w, b->s, blob_key(b, round, i),
					  i % 2 ? size : BK_SIZE_UNKNOWN, BK_PUT_UPSERT, err);

	while (st == BK_OK && at < size) {
		size_t n = size - at < sizeof(chunk) ? (size_t)(size - at) : sizeof(chunk);

		bk_content_fill(chunk, i, at, n);
		st = b->ops->binary.write(w, chunk, n, err);
		at += n;
		if (st != BK_OK)
			b->ops->binary.abort(w);
	}
	return st == BK_OK ? b->ops->binary.finish(w, &info, err) : st;
}

static void blob_check(struct bk_box *b, unsigned round, unsigned acked)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	unsigned i;

	for (i = 0; i <= acked; i++) {
		struct bk_slice key = blob_key(b, round, i);
		struct bk_error err = bk_error_init();

		if (i < acked || b->ops->binary.stat(b->s, key, &info, &err) == BK_OK)
			BINARY(b, key, i, blob_bytes(i));
		else
			NO_BINARY(b, key);
	}
	NO_BINARY(b, blob_key(b, round, acked + 1));
}

static void crash_binary(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {NULL, blob_step, blob_check, 1000};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

/* ---- In the midst of housekeeping
 * ----------------------------------------------------------------------- */

static bk_status settle_step(struct bk_box *b, unsigned round, unsigned i, struct bk_error *err)
{
	bk_status st = put_step(b, round, i, err);

	if (st == BK_OK && i % 4 == 3) {
		st = b->l->tables.store.settle(b->l->store, 200000000, err);
		st = st == BK_TIMEOUT ? BK_OK : st;
	}
	return st;
}

static void crash_settle(struct bk_test *t)
{
	static const struct bk_crash_plan plan = {hub, settle_step, put_check, 400};

	bk_test_crash(t, &plan, BK_DURABLE_PROCESS);
}

#define NODE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_NODES                                 \
	}

static const struct bk_case cases[] = {
	NODE("put", crash_put,
	     "puts that were acknowledged outlive a kill, links and children too"),
	NODE("batch", crash_batch, "batches that were acknowledged outlive a kill"),
	{"txn", "transactions outlive a kill whole, or are not there", crash_txn,
	 .needs = BK_F_NODES, .own = BK_F_TXN},
	NODE("replace", crash_replace, "after a kill a node is as before or after, never between"),
	NODE("append", crash_append, "after a kill a document has whole tails only"),
	NODE("remove", crash_remove, "what was removed stays away after a kill"),
	{"binary", "binaries that were finished outlive a kill, others are not there", crash_binary,
	 .needs = BK_F_BINARIES},
	{"settle", "a kill in the midst of settling loses nothing", crash_settle,
	 .needs = BK_F_NODES, .own = BK_F_SETTLE},
	{.name = NULL},
};

const struct bk_group bk_group_crash = {"crash", cases};
