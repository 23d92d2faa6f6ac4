/*
 * bench_leveldb.c - what the leveldb backend costs over LevelDB itself: the same entries written in
 * the same batches, and the same keys read from the same files, by a bare loop on LevelDB's C
 * interface.
 *
 * The bare loop has its entries ready in memory: they are read back from a store that the backend
 * has loaded, so they are the same bytes by construction.  It checks nothing, encodes nothing.
 */
#include "bench.h"

#include "layer/open.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <leveldb/c.h>
#include <stdlib.h>

#define NODES     40000
#define ID_BYTES  17
#define DOC_BYTES 300
#define PER_NODE  5 /* entry, path, place among the children, link, and the link's other end */
#define PAIRS     7
#define READS     40000

struct entry {
	struct bk_slice key, value;
};

struct data {
	char ids[NODES][ID_BYTES + 1], paths[NODES][64];
	char docs[NODES][DOC_BYTES];
	struct bk_link links[NODES];
	struct bk_node nodes[NODES];
	struct entry entries[NODES * PER_NODE];
	uint32_t order[READS];
};

static struct data *d;

static const struct bk_node root = {.id = {"root", 4}, .path = {"/root", 5}};

static void make_data(void)
{
	struct bk_rng rng;
	size_t i;

	if (d)
		return;
	d = calloc(1, sizeof(*d));
	if (!d)
		bench_die("out of memory");
	bk_rng_init(&rng, 7);
	for (i = 0; i < NODES; i++) {
		struct bk_node *n = &d->nodes[i];

		unsigned long long number = bk_rng_u64(&rng);

		snprintf(d->ids[i], sizeof(d->ids[i]), "n%016llx", number);
		snprintf(d->paths[i], sizeof(d->paths[i]), "/rest/members/n%016llx", number);
		bk_rng_fill(&rng, d->docs[i], DOC_BYTES);
		n->id = bk_slice_of(d->ids[i], ID_BYTES);
		n->parent = root.id;
		n->path = bk_slice_str(d->paths[i]);
		n->doc = bk_slice_of(d->docs[i], DOC_BYTES);
		n->links = &d->links[i];
		n->link_count = 1;
	}
	for (i = 0; i < NODES; i++) {
		d->links[i].rel = bk_slice_str("proxyFor");
		d->links[i].target = d->nodes[bk_rng_below(&rng, NODES)].id;
	}
	for (i = 0; i < READS; i++)
		d->order[i] = (uint32_t)bk_rng_below(&rng, NODES);
}

/* ---- LevelDB itself ------------------------------------------------------------------ */

struct bare {
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_readoptions_t *ro;
	leveldb_writeoptions_t *wo;
};

static void bare_check(char *text)
{
	if (text)
		bench_die("LevelDB: %s", text);
}

static void bare_open(struct bare *b, const char *folder)
{
	char *text = NULL;

	b->options = leveldb_options_create();
	b->ro = leveldb_readoptions_create();
	b->wo = leveldb_writeoptions_create();
	leveldb_options_set_create_if_missing(b->options, 1);
	b->db = leveldb_open(b->options, folder, &text);
	bare_check(text);
}

static void bare_close(struct bare *b)
{
	leveldb_close(b->db);
	leveldb_options_destroy(b->options);
	leveldb_readoptions_destroy(b->ro);
	leveldb_writeoptions_destroy(b->wo);
}

/* Whose entry is it?  All ids have one length, which makes that easy. */
static struct bk_slice owner(struct bk_slice key, struct bk_slice value)
{
	const char *k = key.data;

	switch (k[0]) {
	case 'p':
		return value;
	case 'o':
		return bk_slice_of(k + 3, ID_BYTES);
	default:
		return bk_slice_of(k + key.len - ID_BYTES, ID_BYTES);
	}
}

static int by_id(const void *a, const void *b)
{
	const struct bk_node *const *x = a, *const *y = b;

	return bk_slice_cmp((*x)->id, (*y)->id);
}

static struct bk_slice copy(const void *data, size_t len)
{
	char *p = malloc(len + 1);

	if (!p)
		bench_die("out of memory");
	memcpy(p, data, len);
	return bk_slice_of(p, len);
}

/* The entries of a loaded store, node by node, in the order in which the backend writes them. */
static void read_entries(const char *folder)
{
	static const char tags[] = "npcoi";
	static const struct bk_node *sorted[NODES];
	struct bk_node wanted, *key = &wanted;
	leveldb_iterator_t *it;
	struct bare b;
	size_t i, seen = 0;

	for (i = 0; i < NODES; i++)
		sorted[i] = &d->nodes[i];
	qsort(sorted, NODES, sizeof(*sorted), by_id);
	bare_open(&b, folder);
	it = leveldb_create_iterator(b.db, b.ro);
	for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) {
		const struct bk_node **hit;
		struct bk_slice k, v;
		const char *tag;

		k.data = leveldb_iter_key(it, &k.len);
		v.data = leveldb_iter_value(it, &v.len);
		tag = strchr(tags, *(const char *)k.data);
		if (!tag || k.len <= ID_BYTES)
			continue;
		wanted.id = owner(k, v);
		hit = bsearch(&key, sorted, NODES, sizeof(*sorted), by_id);
		if (!hit)
			continue;
		i = (size_t)(*hit - d->nodes) * PER_NODE + (size_t)(tag - tags);
		d->entries[i].key = copy(k.data, k.len);
		d->entries[i].value = copy(v.data, v.len);
		seen++;
	}
	leveldb_iter_destroy(it);
	bare_close(&b);
	if (seen != NODES * PER_NODE)
		bench_die("%zu entries of %d: the key layout has changed, and this with it", seen,
			  NODES * PER_NODE);
}

static double bare_put(size_t batch)
{
	char folder[4096], *text = NULL;
	leveldb_writebatch_t *wb = leveldb_writebatch_create();
	struct bare b;
	double start, took;
	size_t i, j;

	bench_folder(folder, sizeof(folder));
	bare_open(&b, folder);
	start = bench_now_ns();
	for (i = 0; i < NODES; i += batch) {
		for (j = i * PER_NODE; j < (i + batch) * PER_NODE; j++)
			leveldb_writebatch_put(wb, d->entries[j].key.data, d->entries[j].key.len,
					       d->entries[j].value.data, d->entries[j].value.len);
		leveldb_write(b.db, b.wo, wb, &text);
		bare_check(text);
		leveldb_writebatch_clear(wb);
	}
	took = bench_now_ns() - start;
	bare_close(&b);
	leveldb_writebatch_destroy(wb);
	bench_remove(folder);
	return took;
}

static double bare_get(const char *folder)
{
	char key[1 + ID_BYTES] = "n", *text = NULL;
	struct bare b;
	double start = 0;
	size_t i, len;
	int pass;

	bare_open(&b, folder);
	for (pass = 0; pass < 2; pass++) { /* the first one warms up */
		start = bench_now_ns();
		for (i = 0; i < READS; i++) {
			char *value;

			memcpy(key + 1, d->ids[d->order[i]], ID_BYTES);
			value = leveldb_get(b.db, b.ro, key, sizeof(key), &len, &text);
			if (!value)
				bench_die("LevelDB: an id is not there");
			leveldb_free(value);
		}
	}
	start = bench_now_ns() - start;
	bare_close(&b);
	return start;
}

/* ---- The backend --------------------------------------------------------------------- */

static double backend_put(struct bench_store *b, size_t batch)
{
	const struct bk_tables *t = &b->io->tables;
	struct bk_error err = bk_error_init();
	struct bk_session *s;
	bk_status st = BK_OK;
	double start, took;
	size_t i;

	bench_check(t->store.clear(b->io->store, &err), "clear", &err);
	s = bench_session(b, BK_DURABLE_NONE);
	bench_check(t->node.put(s, &root, BK_PUT_CREATE, &err), "put", &err);
	start = bench_now_ns();
	for (i = 0; i < NODES && st == BK_OK; i += batch) {
		if (batch == 1)
			st = t->node.put(s, &d->nodes[i], BK_PUT_CREATE, &err);
		else
			st = t->node.put_many(s, d->nodes + i, batch, BK_PUT_CREATE, &err);
	}
	took = bench_now_ns() - start;
	bench_check(st, "put", &err);
	t->session.close(s);
	return took;
}

static double backend_get(struct bench_store *b)
{
	const struct bk_tables *t = &b->io->tables;
	struct bk_error err = bk_error_init();
	struct bk_session *s = bench_session(b, BK_DURABLE_NONE);
	struct bk_node node;
	double start = 0;
	size_t i;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		start = bench_now_ns();
		for (i = 0; i < READS; i++)
			bench_check(t->node.get(&node, s,
						bk_slice_of(d->ids[d->order[i]], ID_BYTES),
						BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
				    "get", &err);
	}
	start = bench_now_ns() - start;
	t->session.close(s);
	return start;
}

static void db_folder(char *out, size_t cap, const struct bench_store *b)
{
	if ((size_t)snprintf(out, cap, "%s/main/db", b->folder) >= cap)
		bench_die("the folder's name is too long");
}

/* The store is closed while LevelDB itself has its files open. */
static void reopen(struct bench_store *b)
{
	struct bk_error err = bk_error_init();

	bench_check(bk_open(&b->io, b->plugin, b->options, NULL, NULL, BK_DURABLE_NONE, BK_OPEN_RAW,
			    &err),
		    "open", &err);
}

static void open_loaded(struct bench_store *b, char *db, size_t cap)
{
	make_data();
	bench_open(b, "leveldb", BK_DURABLE_NONE, NULL);
	backend_put(b, 1000);
	bk_close(b->io);
	b->io = NULL;
	db_folder(db, cap, b);
	if (!d->entries[0].key.data)
		read_entries(db);
}

/* Emptied at once, so that the compaction that a load leaves behind does not run into the other. */
static double backend_put_alone(struct bench_store *b, size_t batch)
{
	struct bk_error err = bk_error_init();
	double took = backend_put(b, batch);

	bench_check(b->io->tables.store.clear(b->io->store, &err), "clear", &err);
	return took;
}

static double put_ratio(size_t batch)
{
	char db[4200];
	double ratio[PAIRS];
	struct bench_store b;
	int i;

	open_loaded(&b, db, sizeof(db));
	reopen(&b);
	for (i = 0; i < PAIRS; i++) {
		double ours = i % 2 ? backend_put_alone(&b, batch) : 0, bare = bare_put(batch);

		if (ours == 0)
			ours = backend_put_alone(&b, batch);
		ratio[i] = bare / ours;
	}
	bench_close(&b);
	return bench_median(ratio, PAIRS);
}

static double put_one_ratio(void)
{
	return put_ratio(1);
}

static double put_many_ratio(void)
{
	return put_ratio(1000);
}

static double get_ratio(void)
{
	char db[4200];
	double ratio[PAIRS];
	struct bench_store b;
	int i;

	open_loaded(&b, db, sizeof(db));
	for (i = 0; i < PAIRS; i++) {
		double bare = bare_get(db), ours;

		reopen(&b);
		ours = backend_get(&b);
		bk_close(b.io);
		ratio[i] = bare / ours;
	}
	reopen(&b);
	bench_close(&b);
	return bench_median(ratio, PAIRS);
}

static const struct bench list[] = {
	{"leveldb_get_ratio", 0.95, true, get_ratio},
	{"leveldb_put_ratio", 0.95, true, put_one_ratio},
	{"leveldb_put_many_ratio", 0.95, true, put_many_ratio},
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
