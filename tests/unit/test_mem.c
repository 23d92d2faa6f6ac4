/*
 * The oracle against something simpler still: arrays, linear search, whole copies for transactions.
 * Seeded random operations; every status, and again and again all that can be read, must agree.
 */
#include "unit.h"

#include "layer/open.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define SEEDS 12
#define STEPS 1500
#define IDS   10 /* few, so that operations meet */
#define PATHS 14
#define RELS  2
#define KEYS  4
#define DOC   48
#define NONE  (-1)

struct model_node {
	bool there;
	int parent, path; /* NONE: no parent */
	size_t doc_len;
	char doc[DOC];
	bool links[RELS][IDS];
};

struct model {
	struct model_node nodes[IDS];
	int sizes[KEYS]; /* of binaries; NONE: not there.  The content follows from key and size */
};

static struct bk_error err;
static struct bk_plugin *plugin;
static struct bk_options *options;
static struct bk_layered *io;
static const struct bk_tables *t;
static struct bk_session *s;
static struct bk_rng rng;
static struct model committed, now;
static bool in_txn;

static const char *const ids[IDS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "a long id"};
static const char *const rels[RELS] = {"has", "next"};
static const char *const keys[KEYS] = {"k", "k/1", "k/2", "other"};

/* ---- Small helpers -------------------------------------------------------- */

static int below(int n)
{
	return (int)bk_rng_below(&rng, (uint64_t)n);
}

static int id_index(struct bk_slice id)
{
	int i;

	for (i = 0; i < IDS; i++) {
		if (bk_slice_eq(id, bk_slice_str(ids[i])))
			return i;
	}
	fail_msg("an id that nobody has stored");
	return NONE;
}

static const char *path_text(int path)
{
	static const char *const texts[PATHS] = {"/0", "/1", "/2", "/3",  "/4",  "/5",  "/6",
						 "/7", "/8", "/9", "/10", "/11", "/12", "/13"};

	return texts[path];
}

/* ---- The model ------------------------------------------------------------- */

struct request {
	int id, parent, path;
	uint64_t version;
	bool right_version;
	size_t doc_len;
	char doc[DOC / 4];
	bool links[RELS][IDS];
	struct bk_link list[RELS * IDS];
	struct bk_node node;
};

static bk_status model_put(struct model *m, const struct request *r, uint32_t mode)
{
	struct model_node *n = &m->nodes[r->id];
	int i;

	if (n->there) {
		if (mode == BK_PUT_CREATE)
			return BK_EXISTS;
		if (r->version && !r->right_version)
			return BK_CONFLICT;
		if (n->parent != r->parent || n->path != r->path)
			return BK_INVALID;
	} else {
		if (mode == BK_PUT_REPLACE)
			return BK_NOT_FOUND;
		for (i = 0; i < IDS; i++) {
			if (m->nodes[i].there && m->nodes[i].path == r->path)
				return BK_EXISTS;
		}
		if (r->parent != NONE && !m->nodes[r->parent].there)
			return BK_NOT_FOUND;
	}
	n->there = true;
	n->parent = r->parent;
	n->path = r->path;
	n->doc_len = r->doc_len;
	memcpy(n->doc, r->doc, r->doc_len);
	memcpy(n->links, r->links, sizeof(n->links));
	return BK_OK;
}

static bool model_has_children(const struct model *m, int id)
{
	int i;

	for (i = 0; i < IDS; i++) {
		if (m->nodes[i].there && m->nodes[i].parent == id)
			return true;
	}
	return false;
}

/* hits[node][relation]: how many ways lead there; the relation of children is RELS. */
typedef int hits_table[IDS][RELS + 1];

static void model_step(hits_table out, const struct model *m, const int *from, int dir, int rel)
{
	int a, b, r;

	memset(out, 0, sizeof(hits_table));
	for (a = 0; a < IDS; a++) {
		for (b = 0; b < IDS; b++) {
			if (!m->nodes[a].there || !m->nodes[b].there)
				continue;
			if (dir == BK_CHILDREN && m->nodes[b].parent == a)
				out[b][RELS] += from[a];
			for (r = 0; r < RELS; r++) {
				if (rel != NONE && rel != r)
					continue;
				if (dir == BK_OUT && m->nodes[a].links[r][b])
					out[b][r] += from[a];
				if (dir == BK_IN && m->nodes[b].links[r][a])
					out[b][r] += from[a];
			}
		}
	}
}

/* ---- Reading everything ------------------------------------------------------ */

static void compare_node(int i, uint32_t want)
{
	const struct model_node *m = &now.nodes[i];
	struct bk_node n;
	bk_status st = t->node.get(&n, s, bk_slice_str(ids[i]), want, &err);
	size_t links = 0, k;
	int r, b;

	assert_int_equal(st, m->there ? BK_OK : BK_NOT_FOUND);
	if (!m->there)
		return;
	if (want & BK_WANT_PATH) {
		assert_true(bk_slice_eq(n.path, bk_slice_str(path_text(m->path))));
		assert_true(bk_slice_eq(n.parent, m->parent == NONE
							  ? bk_slice_of(NULL, 0)
							  : bk_slice_str(ids[m->parent])));
	}
	if (want & BK_WANT_DOC)
		assert_true(bk_slice_eq(n.doc, bk_slice_of(m->doc, m->doc_len)));
	if (!(want & BK_WANT_LINKS))
		return;
	for (r = 0; r < RELS; r++) {
		for (b = 0; b < IDS; b++)
			links += m->links[r][b];
	}
	assert_int_equal(n.link_count, links);
	for (k = 0; k < n.link_count; k++) {
		r = bk_slice_eq(n.links[k].rel, bk_slice_str(rels[0])) ? 0 : 1;
		assert_true(m->links[r][id_index(n.links[k].target)]);
	}
}

static void compare_walk(int start, const struct bk_step *steps, const int *rel, size_t n_steps)
{
	int from[IDS] = {0}, a, r;
	hits_table want = {{0}}, got = {{0}};
	struct bk_cursor *c;
	struct bk_hit hits[3];
	size_t n, i, k;
	bk_status st;

	from[start] = now.nodes[start].there;
	for (k = 0; k < n_steps; k++) {
		model_step(want, &now, from, (int)steps[k].dir, rel[k]);
		for (a = 0; a < IDS; a++) {
			for (from[a] = 0, r = 0; r <= RELS; r++)
				from[a] += want[a][r];
		}
	}
	st = t->node.walk_open(&c, s, bk_slice_str(ids[start]), steps, n_steps, BK_WANT_PATH, &err);
	assert_int_equal(st, BK_OK);
	while ((st = t->node.walk_next(c, hits, 3, &n, &err)) == BK_OK) {
		for (i = 0; i < n; i++) {
			a = id_index(hits[i].id);
			r = !hits[i].rel.len                                  ? RELS
			    : bk_slice_eq(hits[i].rel, bk_slice_str(rels[0])) ? 0
									      : 1;
			got[a][r]++;
			assert_true(bk_slice_eq(hits[i].path,
						bk_slice_str(path_text(now.nodes[a].path))));
		}
	}
	assert_int_equal(st, BK_END);
	t->node.walk_close(c);
	assert_memory_equal(want, got, sizeof(want));
}

static void compare_walks(int start)
{
	struct bk_step steps[3];
	int rel[3], k, n = 1 + below(3);

	for (k = 0; k < n; k++) {
		rel[k] = below(RELS + 1) - 1;
		steps[k].dir = BK_CHILDREN + (uint32_t)below(3);
		steps[k].rel = rel[k] == NONE ? bk_slice_of(NULL, 0) : bk_slice_str(rels[rel[k]]);
		steps[k].reserved = 0;
	}
	compare_walk(start, steps, rel, (size_t)n);
}

static void fill_content(unsigned char *out, int key, int size)
{
	int i;

	for (i = 0; i < size; i++)
		out[i] = (unsigned char)(i * 7 + key + size);
}

static void compare_binary(int k)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	unsigned char want[4096], got[64];
	int size = now.sizes[k], offset = size > 0 ? below(size + 1) : 0, at = offset;
	int len = below(4096), end = offset + len < size ? offset + len : size;
	struct bk_reader *r;
	size_t n;
	bk_status st = t->binary.stat(s, bk_slice_str(keys[k]), &info, &err);

	assert_int_equal(st, size == NONE ? BK_NOT_FOUND : BK_OK);
	st = t->binary.read_open(&r, s, bk_slice_str(keys[k]), (uint64_t)offset, (uint64_t)len,
				 &info, &err);
	assert_int_equal(st, size == NONE ? BK_NOT_FOUND : BK_OK);
	if (size == NONE)
		return;
	assert_int_equal(info.size_bytes, size);
	fill_content(want, k, size);
	while ((st = t->binary.read(r, got, sizeof(got), &n, &err)) == BK_OK) {
		assert_memory_equal(got, want + at, n);
		at += (int)n;
	}
	assert_int_equal(st, BK_END);
	assert_int_equal(at, end);
	t->binary.read_close(r);
}

static void compare_list(void)
{
	struct bk_cursor *c;
	struct bk_slice key[2];
	uint64_t sizes[2];
	int seen = 0, there = 0, k;
	size_t n, i;

	for (k = 0; k < KEYS; k++)
		there += now.sizes[k] != NONE;
	assert_int_equal(t->binary.list_open(&c, s, &err), BK_OK);
	while (t->binary.list_next(c, key, sizes, 2, &n, &err) == BK_OK) {
		for (i = 0; i < n; i++, seen++) {
			for (k = 0; k < KEYS; k++) {
				if (bk_slice_eq(key[i], bk_slice_str(keys[k])))
					assert_int_equal(sizes[i], now.sizes[k]);
			}
		}
	}
	t->binary.list_close(c);
	assert_int_equal(seen, there);
}

static void compare_many(void)
{
	struct bk_slice list[IDS];
	struct bk_node out[IDS];
	size_t done;
	int i;

	for (i = 0; i < IDS; i++)
		list[i] = bk_slice_str(ids[i]);
	assert_int_equal(t->node.get_many(out, &done, s, list, IDS, BK_WANT_DOC, &err), BK_OK);
	assert_int_equal(done, IDS);
	for (i = 0; i < IDS; i++) {
		assert_int_equal(out[i].id.len != 0, now.nodes[i].there);
		if (now.nodes[i].there)
			assert_int_equal(out[i].doc.len, now.nodes[i].doc_len);
	}
}

static void compare_all(void)
{
	struct bk_slice id;
	int i, owner, path;
	bk_status st;

	for (i = 0; i < IDS; i++) {
		compare_node(i, (uint32_t)below(8));
		compare_walks(i);
	}
	for (path = 0; path < PATHS; path++) {
		for (owner = NONE, i = 0; i < IDS; i++) {
			if (now.nodes[i].there && now.nodes[i].path == path)
				owner = i;
		}
		st = t->node.find(&id, s, bk_slice_str(path_text(path)), &err);
		assert_int_equal(st, owner == NONE ? BK_NOT_FOUND : BK_OK);
		if (!st)
			assert_int_equal(id_index(id), owner);
	}
	for (i = 0; i < KEYS; i++)
		compare_binary(i);
	compare_list();
	compare_many();
}

/* ---- Changing ----------------------------------------------------------------- */

static void request_make(struct request *r)
{
	const struct model_node *old;
	struct bk_node seen;
	size_t n = 0, i;
	int rel, b;

	memset(r, 0, sizeof(*r));
	r->id = below(IDS);
	r->parent = below(IDS + 3);
	r->parent = r->parent >= IDS ? NONE : r->parent;
	r->path = below(PATHS);
	old = &now.nodes[r->id];
	if (old->there && below(4)) { /* mostly what may be replaced */
		r->parent = old->parent;
		r->path = old->path;
	}
	r->doc_len = (size_t)below(sizeof(r->doc));
	for (i = 0; i < r->doc_len; i++)
		r->doc[i] = (char)('a' + below(26));
	for (i = (size_t)below(5); i > 0; i--) { /* with duplicates now and then */
		rel = below(RELS);
		b = below(IDS);
		r->links[rel][b] = true;
		r->list[n].rel = bk_slice_str(rels[rel]);
		r->list[n++].target = bk_slice_str(ids[b]);
	}
	if (below(3) == 0 && old->there &&
	    t->node.get(&seen, s, bk_slice_str(ids[r->id]), 0, &err) == BK_OK) {
		r->right_version = below(2);
		r->version = seen.version + (r->right_version ? 0 : 1000000);
	}
	r->node.id = bk_slice_str(ids[r->id]);
	r->node.parent = r->parent == NONE ? bk_slice_of(NULL, 0) : bk_slice_str(ids[r->parent]);
	r->node.path = bk_slice_str(path_text(r->path));
	r->node.doc = bk_slice_of(r->doc, r->doc_len);
	r->node.links = r->list;
	r->node.link_count = n;
	r->node.version = r->version;
}

static void do_put(void)
{
	uint32_t mode = BK_PUT_CREATE + (uint32_t)below(3);
	struct request r;

	request_make(&r);
	assert_int_equal(t->node.put(s, &r.node, mode, &err), model_put(&now, &r, mode));
}

static void do_put_many(void)
{
	static struct request r[6];
	struct bk_node nodes[6];
	struct model after = now;
	uint32_t mode = BK_PUT_CREATE + (uint32_t)below(3);
	int n = 1 + below(6), i, failed = NONE;
	bk_status want = BK_OK;

	for (i = 0; i < n; i++) {
		request_make(&r[i]);
		r[i].version = r[i].node.version = 0; /* the batch itself changes versions */
		r[i].node.links = r[i].list;
		nodes[i] = r[i].node;
		if (!want) {
			want = model_put(&after, &r[i], mode);
			failed = want ? i : NONE;
		}
	}
	assert_int_equal(t->node.put_many(s, nodes, (size_t)n, mode, &err), want);
	if (want)
		assert_int_equal(err.item, failed);
	else
		now = after;
}

static void do_append(void)
{
	struct request r;
	struct model_node *n;
	bk_status want;
	int rel, b;

	request_make(&r);
	n = &now.nodes[r.id];
	want = n->there ? BK_OK : BK_NOT_FOUND;
	if (n->doc_len + r.doc_len > DOC)
		return;
	assert_int_equal(t->node.append(s, r.node.id, r.node.doc, r.list, r.node.link_count, &err),
			 want);
	if (want)
		return;
	memcpy(n->doc + n->doc_len, r.doc, r.doc_len);
	n->doc_len += r.doc_len;
	for (rel = 0; rel < RELS; rel++) {
		for (b = 0; b < IDS; b++)
			n->links[rel][b] |= r.links[rel][b];
	}
}

static void do_remove(void)
{
	int i = below(IDS);
	bk_status want = !now.nodes[i].there           ? BK_NOT_FOUND
			 : model_has_children(&now, i) ? BK_IN_USE
						       : BK_OK;

	assert_int_equal(t->node.remove(s, bk_slice_str(ids[i]), &err), want);
	if (!want)
		now.nodes[i].there = false;
}

static void do_binary(void)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	int k = below(KEYS), size = below(4096), declared = below(4) ? size : size + 1;
	uint32_t mode = below(2) ? BK_PUT_CREATE : BK_PUT_UPSERT;
	unsigned char content[4096];
	bk_status want = declared != size                                ? BK_INVALID
			 : mode == BK_PUT_CREATE && now.sizes[k] != NONE ? BK_EXISTS
									 : BK_OK;
	struct bk_writer *w;
	int half = size / 2;

	if (below(3) == 0) {
		want = now.sizes[k] == NONE ? BK_NOT_FOUND : BK_OK;
		assert_int_equal(t->binary.remove(s, bk_slice_str(keys[k]), &err), want);
		now.sizes[k] = NONE;
		return;
	}
	fill_content(content, k, size);
	assert_int_equal(t->binary.write_open(&w, s, bk_slice_str(keys[k]),
					      below(2) && declared == size ? BK_SIZE_UNKNOWN
									   : (uint64_t)declared,
					      mode, &err),
			 BK_OK);
	assert_int_equal(t->binary.write(w, content, (size_t)half, &err), BK_OK);
	if (below(8) == 0) {
		t->binary.abort(w);
		return;
	}
	assert_int_equal(t->binary.write(w, content + half, (size_t)(size - half), &err), BK_OK);
	assert_int_equal(t->binary.finish(w, &info, &err), want);
	if (!want)
		now.sizes[k] = size;
}

static void do_txn(void)
{
	uint32_t isolation = below(2) ? 0 : BK_ISO_SERIALIZABLE;

	if (!in_txn) {
		assert_int_equal(t->txn.begin(s, &isolation, 0, &err), BK_OK);
	} else if (below(3)) {
		assert_int_equal(t->txn.commit(s, &err), BK_OK);
	} else {
		assert_int_equal(t->txn.rollback(s, &err), BK_OK);
		now = committed;
	}
	in_txn = !in_txn;
}

static void do_step(void)
{
	switch (below(9)) {
	case 0:
	case 1:
	case 2:
		do_put();
		break;
	case 3:
		do_put_many();
		break;
	case 4:
		do_append();
		break;
	case 5:
		do_remove();
		break;
	case 6:
		do_binary();
		break;
	case 7:
		compare_all();
		break;
	default:
		if (below(3) == 0)
			do_txn();
	}
	if (!in_txn)
		committed = now;
}

static void start(uint64_t seed)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	int k;

	bk_rng_init(&rng, seed);
	memset(&now, 0, sizeof(now));
	for (k = 0; k < KEYS; k++)
		now.sizes[k] = NONE;
	committed = now;
	in_txn = false;
	if (bk_open(&io, plugin, options, NULL, NULL, 0, BK_OPEN_CHECK, &err))
		fail_msg("%s", err.message);
	t = &io->tables;
	assert_int_equal(t->store.make(io->store, &err), BK_OK);
	assert_int_equal(t->session.open(&s, io->store, &config, &err), BK_OK);
}

static void agrees_with_the_model(void **state)
{
	uint64_t seed;
	int step;

	for (seed = 1; seed <= SEEDS; seed++) {
		print_message("seed %d\n", (int)seed);
		start(seed);
		for (step = 0; step < STEPS; step++)
			do_step();
		compare_all();
		t->session.close(s);
		bk_close(io);
	}
}

static int setup(void **state)
{
	err = bk_error_init();
	if (bk_plugin_find(&plugin, "mem", &err) || bk_options_new(&options, &plugin->desc, &err))
		fail_msg("%s", err.message);
	return 0;
}

static int teardown(void **state)
{
	bk_options_free(options);
	bk_plugin_free(plugin);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(agrees_with_the_model, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
