/*
 * session.c - see session.h.
 */
#include "session.h"

#include <stdio.h>

#define LARGE 60000

struct bk_error last_err;

void test_wants(bk_status got, bk_status want, const char *what, const char *file, int line)
{
	if (got == want)
		return;
	print_error("%s: wanted %d, got %d: %s\n", what, want, got,
		    got < 0 ? last_err.message : "");
	_fail(file, line);
}

struct bk_session *session(struct bk_layered *l, uint64_t timeout_ns)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .timeout_ns = timeout_ns};
	struct bk_session *s;

	ok(l->tables.session.open(&s, l->store, &config, E));
	return s;
}

bk_status try_put(struct bk_layered *l, struct bk_session *s, const char *id, const char *parent,
		  struct bk_slice doc, uint32_t mode)
{
	struct bk_node node = {.id = bk_slice_str(id),
			       .parent = bk_slice_str(parent),
			       .path = bk_slice_str(id),
			       .doc = doc};

	return l->tables.node.put(s, &node, mode, E);
}

void put(struct bk_layered *l, struct bk_session *s, const char *id, const char *parent,
	 const char *doc)
{
	ok(try_put(l, s, id, parent, bk_slice_str(doc), BK_PUT_CREATE));
}

/* ---- A large collection ----------------------------------------------------------- */

void large_make(struct bk_layered *l, struct bk_session *s)
{
	enum { BATCH = 1000 };
	static char names[BATCH][320];
	static struct bk_node nodes[BATCH];
	struct bk_link link = {bk_slice_str("in"), bk_slice_str("top")};
	uint32_t isolation = 0;
	int i, k;

	ok(l->tables.txn.begin(s, &isolation, BK_TXN_DEFER, E));
	put(l, s, "top", "", "1");
	for (i = 0; i < LARGE; i += BATCH) {
		for (k = 0; k < BATCH; k++) {
			snprintf(names[k], sizeof(names[k]), "/%0300d", i + k);
			nodes[k] = (struct bk_node){.id = bk_slice_str(names[k]),
						    .parent = bk_slice_str("top"),
						    .path = bk_slice_str(names[k]),
						    .links = &link,
						    .link_count = 1};
		}
		ok(l->tables.node.put_many(s, nodes, BATCH, BK_PUT_CREATE, E));
	}
	ok(l->tables.txn.commit(s, E));
}

static void walk(struct bk_layered *l, struct bk_session *s, const struct bk_step *steps, size_t n)
{
	struct bk_hit hits[500];
	struct bk_cursor *c;
	size_t got, all = 0;

	ok(l->tables.node.walk_open(&c, s, bk_slice_str("top"), steps, n, BK_WANT_PATH, E));
	while (l->tables.node.walk_next(c, hits, 500, &got, E) == BK_OK)
		all += got;
	l->tables.node.walk_close(c);
	assert_int_equal(all, LARGE);
}

void large_walk_children(struct bk_layered *l, struct bk_session *s)
{
	struct bk_step children = {bk_slice_of(NULL, 0), BK_CHILDREN, 0};

	walk(l, s, &children, 1);
}

static long resident_peak_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmHWM: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

long large_walks_grow_kib(struct bk_layered *l, struct bk_session *s)
{
	struct bk_step in = {bk_slice_str("in"), BK_IN, 0};
	struct bk_step back[2] = {in, {bk_slice_str("in"), BK_OUT, 0}};
	long before = resident_peak_kib();

	large_walk_children(l, s);
	walk(l, s, &in, 1);
	walk(l, s, back, 2);
	return resident_peak_kib() - before;
}
