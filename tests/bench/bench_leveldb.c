/*
 * bench_leveldb.c - get and put through the `leveldb` backend, against a loop on LevelDB's C API
 * that writes the same keys and values in the same batches, and reads the same keys.
 *
 * What the backend writes and reads is not written down here a second time: leveldb_write() and
 * leveldb_get() of this program come before the library's, and in a first, untimed pass they note
 * what they are called with.  The bare loop replays that.  Both databases have LevelDB's own
 * defaults, which are the backend's.
 *
 * The ratio is bare time / backend time.  Gets are compared in turns of 1000, loads as wholes in
 * pairs; the median counts.
 */
#include "bench.h"

#include "layer/layer.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <dlfcn.h>
#include <leveldb/c.h>
#include <stdlib.h>

#define NODES 60000
#define TURN  1000
#define TURNS (NODES / TURN)
#define PAIRS 15
#define DOC   500 /* bytes */

/* ---- Noting calls ------------------------------------------------------------ */

struct piece {
	size_t at, len; /* into the tape's bytes */
};

struct entry {
	struct piece key, value;
	bool removes;
};

struct tape {
	bool on;
	char *bytes;
	size_t len, cap;
	struct entry *entries;
	size_t entry_count, entry_cap;
	size_t *ends; /* of each batch, in entries */
	size_t batch_count, batch_cap;
};

/* The one place where the calls that are noted and the program meet. */
static struct tape tape;

static void *room(void *list, size_t *cap, size_t need, size_t size)
{
	if (need <= *cap)
		return list;
	*cap = need * 2 + 1024;
	list = realloc(list, *cap * size);
	if (!list)
		bench_die("out of memory");
	return list;
}

static struct piece note(const char *data, size_t len)
{
	struct piece p = {tape.len, len};

	tape.bytes = room(tape.bytes, &tape.cap, tape.len + len, 1);
	memcpy(tape.bytes + tape.len, data, len);
	tape.len += len;
	return p;
}

static void note_entry(const char *key, size_t key_len, const char *value, size_t value_len,
		       bool removes)
{
	struct entry *e;

	tape.entries = room(tape.entries, &tape.entry_cap, tape.entry_count + 1, sizeof(*e));
	e = &tape.entries[tape.entry_count++];
	e->key = note(key, key_len);
	e->value = note(value, value_len);
	e->removes = removes;
}

static void note_put(void *ctx, const char *key, size_t key_len, const char *value,
		     size_t value_len)
{
	note_entry(key, key_len, value, value_len, false);
}

static void note_delete(void *ctx, const char *key, size_t key_len)
{
	note_entry(key, key_len, "", 0, true);
}

static void note_end(void)
{
	tape.ends = room(tape.ends, &tape.batch_cap, tape.batch_count + 1, sizeof(*tape.ends));
	tape.ends[tape.batch_count++] = tape.entry_count;
}

static void tape_start(void)
{
	tape.len = tape.entry_count = tape.batch_count = 0;
	tape.on = true;
}

static void tape_stop(void)
{
	tape.on = false;
	if (!tape.batch_count || tape.batch_count % TURNS)
		bench_die("%zu batches do not come in %d turns", tape.batch_count, TURNS);
}

typedef void write_fn(leveldb_t *, const leveldb_writeoptions_t *, leveldb_writebatch_t *, char **);
typedef char *get_fn(leveldb_t *, const leveldb_readoptions_t *, const char *, size_t, size_t *,
		     char **);

static struct {
	write_fn *write;
	get_fn *get;
} real;

static void real_find(void)
{
	void *write = dlsym(RTLD_NEXT, "leveldb_write"), *get = dlsym(RTLD_NEXT, "leveldb_get");

	if (!write || !get)
		bench_die("the LevelDB library lacks leveldb_write or leveldb_get");
	memcpy(&real.write, &write, sizeof(write));
	memcpy(&real.get, &get, sizeof(get));
}

void leveldb_write(leveldb_t *db, const leveldb_writeoptions_t *wo, leveldb_writebatch_t *batch,
		   char **err)
{
	if (tape.on) {
		leveldb_writebatch_iterate(batch, NULL, note_put, note_delete);
		note_end();
	}
	real.write(db, wo, batch, err);
}

char *leveldb_get(leveldb_t *db, const leveldb_readoptions_t *ro, const char *key, size_t key_len,
		  size_t *len, char **err)
{
	if (tape.on)
		note_entry(key, key_len, "", 0, false);
	return real.get(db, ro, key, key_len, len, err);
}

/* ---- Nodes --------------------------------------------------------------------- */

struct nodes {
	struct bk_node list[TURN];
	struct bk_link links[TURN];
	char ids[TURN][48], paths[TURN][80], docs[TURN][DOC], targets[TURN][48];
};

/* Ids in no order, as random identifiers are. */
static void id_of(char out[48], unsigned number)
{
	uint64_t x = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	snprintf(out, 48, "%016llx-%08x", (unsigned long long)(x ^ x >> 31), number);
}

static void nodes_make(struct nodes *n, unsigned first)
{
	struct bk_rng rng;
	unsigned i;

	bk_rng_init(&rng, first);
	for (i = 0; i < TURN; i++) {
		id_of(n->ids[i], first + i);
		id_of(n->targets[i], (first + i) / 2);
		snprintf(n->paths[i], sizeof(n->paths[i]), "/rest/collection/%s", n->ids[i]);
		bk_rng_fill(&rng, n->docs[i], DOC);
		n->links[i].rel = bk_slice_str("memberOf");
		n->links[i].target = bk_slice_str(n->targets[i]);
		n->list[i].id = bk_slice_str(n->ids[i]);
		n->list[i].parent = bk_slice_str(first + i ? "root" : "");
		n->list[i].path = bk_slice_str(n->paths[i]);
		n->list[i].doc = bk_slice_of(n->docs[i], DOC);
		n->list[i].links = &n->links[i];
		n->list[i].link_count = 1;
		n->list[i].version = 0;
	}
	if (first == 0)
		n->list[0].id = bk_slice_str("root");
}

/* ---- Through the backend ---------------------------------------------------------- */

static double put_turn(const struct bk_tables *t, struct bk_session *s, const struct nodes *n,
		       bool many)
{
	struct bk_error err = bk_error_init();
	double start = bench_now_ns();
	int i;

	if (many) {
		bench_check(t->node.put_many(s, n->list, TURN, BK_PUT_CREATE, &err), "put_many",
			    &err);
		return bench_now_ns() - start;
	}
	for (i = 0; i < TURN; i++)
		bench_check(t->node.put(s, &n->list[i], BK_PUT_CREATE, &err), "put", &err);
	return bench_now_ns() - start;
}

static double get_turn(const struct bk_tables *t, struct bk_session *s, const struct bk_slice *ids)
{
	struct bk_error err = bk_error_init();
	double start = bench_now_ns();
	struct bk_node node;
	int i;

	for (i = 0; i < TURN; i++)
		bench_check(t->node.get(&node, s, ids[i],
					BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
			    "get", &err);
	return bench_now_ns() - start;
}

/* ---- The bare loop ------------------------------------------------------------------ */

struct bare {
	char folder[4096];
	leveldb_t *db;
	leveldb_options_t *options;
	leveldb_writeoptions_t *wo;
	leveldb_readoptions_t *ro;
	leveldb_writebatch_t *batch;
};

static void no_error(const char *what, const char *text)
{
	if (text)
		bench_die("%s: %s", what, text);
}

static void bare_open(struct bare *b)
{
	char *text = NULL;

	bench_folder(b->folder, sizeof(b->folder));
	b->options = leveldb_options_create();
	leveldb_options_set_create_if_missing(b->options, 1);
	leveldb_options_set_compression(b->options, leveldb_snappy_compression);
	b->db = leveldb_open(b->options, b->folder, &text);
	no_error("open", text);
	b->wo = leveldb_writeoptions_create();
	b->ro = leveldb_readoptions_create();
	b->batch = leveldb_writebatch_create();
}

static void bare_close(struct bare *b)
{
	leveldb_writebatch_destroy(b->batch);
	leveldb_readoptions_destroy(b->ro);
	leveldb_writeoptions_destroy(b->wo);
	leveldb_close(b->db);
	leveldb_options_destroy(b->options);
	bench_remove(b->folder);
}

/* Batches [first, last) of the tape. */
static double bare_puts(struct bare *b, size_t first, size_t last)
{
	double start = bench_now_ns();
	size_t e = first ? tape.ends[first - 1] : 0;
	const struct entry *entry;
	char *text = NULL;

	for (; first < last; first++) {
		leveldb_writebatch_clear(b->batch);
		for (; e < tape.ends[first]; e++) {
			entry = &tape.entries[e];
			if (entry->removes)
				leveldb_writebatch_delete(b->batch, tape.bytes + entry->key.at,
							  entry->key.len);
			else
				leveldb_writebatch_put(b->batch, tape.bytes + entry->key.at,
						       entry->key.len, tape.bytes + entry->value.at,
						       entry->value.len);
		}
		leveldb_write(b->db, b->wo, b->batch, &text);
		no_error("write", text);
	}
	return bench_now_ns() - start;
}

static double bare_gets(struct bare *b, size_t first, size_t last)
{
	double start = bench_now_ns();
	char *text = NULL, *value;
	size_t len;

	for (; first < last; first++) {
		value = leveldb_get(b->db, b->ro, tape.bytes + tape.entries[first].key.at,
				    tape.entries[first].key.len, &len, &text);
		no_error("get", text);
		if (!value)
			bench_die("get: not there");
		leveldb_free(value);
	}
	return bench_now_ns() - start;
}

/* ---- Measures ------------------------------------------------------------------------ */

/* All nodes through the backend into an empty store, which stays. */
static double load_backend(struct bench_store *store, struct bk_session **s, struct nodes *n,
			   bool many)
{
	static const char *const sets[] = {"settle=compact", NULL};
	double took = 0;
	unsigned i;

	bench_open(store, "leveldb", BK_DURABLE_NONE, sets);
	*s = bench_session(store, BK_DURABLE_NONE);
	for (i = 0; i < TURNS; i++) {
		nodes_make(n, i * TURN);
		took += put_turn(&store->io->tables, *s, n, many);
	}
	return took;
}

/* The tape into an empty database, which stays. */
static double load_bare(struct bare *bare, struct nodes *n)
{
	size_t batches = tape.batch_count / TURNS;
	double took = 0;
	unsigned i;

	bare_open(bare);
	for (i = 0; i < TURNS; i++) {
		nodes_make(n, i * TURN); /* for the same pauses as on the other side */
		took += bare_puts(bare, i * batches, (i + 1) * batches);
	}
	return took;
}

static void close_backend(struct bench_store *store, struct bk_session *s)
{
	store->io->tables.session.close(s);
	bench_close(store);
}

static double put_ratio(bool many)
{
	struct nodes *n = malloc(sizeof(*n));
	struct bench_store store;
	struct bk_session *s;
	struct bare bare;
	double ratios[PAIRS], through = 0, alone = 0;
	unsigned i, k;

	real_find();
	tape_start();
	load_backend(&store, &s, n, many);
	tape_stop();
	close_backend(&store, s);
	for (i = 0; i < PAIRS; i++) {
		for (k = 0; k < 2; k++) { /* each alone: compaction goes on behind a load */
			if ((i + k) % 2) {
				alone = load_bare(&bare, n);
				bare_close(&bare);
			} else {
				through = load_backend(&store, &s, n, many);
				close_backend(&store, s);
			}
		}
		ratios[i] = alone / through;
	}
	free(n);
	return bench_median(ratios, PAIRS);
}

static double one_put_ratio(void)
{
	return put_ratio(false);
}

static double many_puts_ratio(void)
{
	return put_ratio(true);
}

/* Ids to get: any, in any order. */
static struct bk_slice *draw_ids(void)
{
	struct bk_slice *ids = malloc(NODES * sizeof(*ids));
	char(*texts)[48] = malloc(NODES * sizeof(*texts));
	struct bk_rng rng;
	unsigned i;

	bk_rng_init(&rng, 1);
	for (i = 0; i < NODES; i++) {
		id_of(texts[i], 1 + (unsigned)bk_rng_below(&rng, NODES - 1));
		ids[i] = bk_slice_str(texts[i]);
	}
	return ids;
}

/* One shape on both sides: everything compacted, nothing under way. */
static void compact(struct bench_store *store, struct bare *bare)
{
	struct bk_error err = bk_error_init();

	bench_check(store->io->tables.store.settle(store->io->store, 60000000000u, &err), "settle",
		    &err);
	leveldb_compact_range(bare->db, NULL, 0, NULL, 0);
}

static double get_ratio(void)
{
	struct nodes *n = malloc(sizeof(*n));
	struct bk_slice *ids = draw_ids();
	struct bench_store store;
	struct bk_session *s;
	struct bare bare;
	double ratios[TURNS], through = 0, alone = 0;
	unsigned i, k;

	real_find();
	tape_start();
	load_backend(&store, &s, n, true);
	tape_stop();
	load_bare(&bare, n);
	compact(&store, &bare);
	tape_start();
	for (i = 0; i < TURNS; i++)
		get_turn(&store.io->tables, s, ids + i * TURN);
	tape.on = false;
	if (tape.entry_count != NODES)
		bench_die("%zu lookups for %d nodes", tape.entry_count, NODES);
	bare_gets(&bare, 0, NODES);
	for (i = 0; i < TURNS; i++) {
		for (k = 0; k < 2; k++) {
			if ((i + k) % 2)
				alone = bare_gets(&bare, i * TURN, (i + 1) * TURN);
			else
				through = get_turn(&store.io->tables, s, ids + i * TURN);
		}
		ratios[i] = alone / through;
	}
	bare_close(&bare);
	close_backend(&store, s);
	free((void *)ids[0].data);
	free(ids);
	free(n);
	return bench_median(ratios, TURNS);
}

static const struct bench list[] = {
	{"leveldb_get_ratio", 0.95, true, get_ratio},
	{"leveldb_put_ratio", 0.95, true, one_put_ratio},
	{"leveldb_put_many_ratio", 0.95, true, many_puts_ratio},
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
