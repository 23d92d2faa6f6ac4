/*
 * bench_postgresql.c - the `postgresql` backend against what PostgreSQL's own means reach on the
 * same server and the same table: pgbench for reads, COPY for a load; and native against document
 * access.
 *
 * Without a server in the environment the program starts itself again under `bakeoff exec
 * postgresql`. Ratios are backend / bare, of turns that follow each other; the median counts.
 */
#include "bench.h"

#include "layer/layer.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdlib.h>

#define NODES   100000
#define BATCH   1000
#define DOC     512
#define TURNS   7
#define SECONDS 2
#define MEMBERS 10000

static const struct bk_slice nothing = {NULL, 0};

/* ---- the server ------------------------------------------------------------------------- */

static void open_store(struct bench_store *b)
{
	static char host[512], port[64], user[128], database[128];
	const char *sets[] = {host, port, user, database, NULL};

	snprintf(host, sizeof(host), "host=%s", getenv("PGHOST"));
	snprintf(port, sizeof(port), "port=%s", getenv("PGPORT"));
	snprintf(user, sizeof(user), "user=%s", getenv("PGUSER"));
	snprintf(database, sizeof(database), "database=%s", getenv("PGDATABASE"));
	bench_open(b, "postgresql", BK_DURABLE_NONE, sets);
}

/* Tables of the space are found by name here as they are by the backend. */
static PGconn *bare_open(void)
{
	PGconn *c = PQconnectdb("");
	PGresult *res;

	if (PQstatus(c) != CONNECTION_OK)
		bench_die("%s", PQerrorMessage(c));
	res = PQexec(
		c, "SELECT set_config('search_path', quote_ident(nspname), false) FROM pg_namespace"
		   " WHERE nspname LIKE 'bakeoff\\_%'");
	if (PQntuples(res) != 1)
		bench_die("not exactly one space of bakeoff in this database");
	PQclear(res);
	return c;
}

static void bare_say(PGconn *c, const char *sql)
{
	PGresult *res = PQexec(c, sql);

	if (PQresultStatus(res) != PGRES_COMMAND_OK && PQresultStatus(res) != PGRES_TUPLES_OK)
		bench_die("%s: %s", sql, PQerrorMessage(c));
	PQclear(res);
}

/* ---- reads: pgbench -M prepared on the same row ----------------------------------------- */

static struct bk_slice number(char out[16], unsigned i)
{
	return bk_slice_of(out, (size_t)snprintf(out, 16, "%u", i));
}

static void fill(struct bench_store *b)
{
	PGconn *c = bare_open();

	bare_say(c, "TRUNCATE node, link, segment");
	bare_say(c,
		 "INSERT INTO node (size, id, doc, path) SELECT 512, g::text::bytea,"
		 " (SELECT string_agg(decode(md5(x::text || g), 'hex'), '') FROM"
		 " generate_series(1, 32) x), ('/' || g)::bytea FROM generate_series(1, 100000) g");
	bare_say(c, "VACUUM ANALYZE node");
	PQfinish(c);
}

struct reader {
	struct bench_store *b;
	unsigned worker;
	double per_second;
};

static void *read_main(void *arg)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_error err = bk_error_init();
	struct reader *r = arg;
	const struct bk_tables *t = &r->b->io->tables;
	struct bk_session *s;
	struct bk_node node;
	struct bk_rng rng;
	double start, now;
	unsigned n = 0, i;
	char id[16];

	config.worker = r->worker;
	bk_rng_init(&rng, r->worker + 1);
	bench_check(t->session.open(&s, r->b->io->store, &config, &err), "session", &err);
	start = now = bench_now_ns();
	while (now - start < SECONDS * 1e9) {
		for (i = 0; i < 20; i++, n++)
			bench_check(
				t->node.get(&node, s,
					    number(id, 1 + (unsigned)(bk_rng_u64(&rng) % NODES)),
					    BK_WANT_DOC, &err),
				"get", &err);
		now = bench_now_ns();
	}
	r->per_second = n / ((now - start) / 1e9);
	t->session.close(s);
	return NULL;
}

static double reads(struct bench_store *b, unsigned sessions)
{
	struct reader readers[8];
	pthread_t threads[8];
	double sum = 0;
	unsigned i;

	for (i = 0; i < sessions; i++) {
		readers[i] = (struct reader){.b = b, .worker = i};
		if (pthread_create(&threads[i], NULL, read_main, &readers[i]))
			bench_die("cannot start a thread");
	}
	for (i = 0; i < sessions; i++) {
		pthread_join(threads[i], NULL);
		sum += readers[i].per_second;
	}
	return sum;
}

static double pgbench(const char *schema, unsigned sessions)
{
	char folder[4096], script[4200], command[5000], line[512];
	double tps = 0;
	FILE *f;

	bench_folder(folder, sizeof(folder));
	snprintf(script, sizeof(script), "%s/get.sql", folder);
	f = fopen(script, "w");
	if (!f)
		bench_die("cannot write %s", script);
	fprintf(f, "\\set r random(1, %d)\nSELECT version, segs, doc FROM %s.node WHERE id = :r;\n",
		NODES, schema);
	fclose(f);
	snprintf(command, sizeof(command),
		 "PATH=\"$PATH:$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)\" pgbench -n"
		 " -M prepared -f '%s' -T %d -c %u -j %u 2>/dev/null",
		 script, SECONDS, sessions, sessions);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "tps = %lf", &tps);
	if (!f || pclose(f) != 0 || tps <= 0)
		bench_die("pgbench did not run; it comes with the server's packages");
	bench_remove(folder);
	return tps;
}

static double get_ratio(unsigned sessions)
{
	struct bench_store b;
	double ratios[TURNS];
	char schema[64];
	PGresult *res;
	PGconn *c;
	int i;

	open_store(&b);
	fill(&b);
	c = bare_open();
	res = PQexec(c, "SELECT current_schema()");
	snprintf(schema, sizeof(schema), "%s", PQgetvalue(res, 0, 0));
	PQclear(res);
	PQfinish(c);
	for (i = 0; i < TURNS; i++) {
		double bare = pgbench(schema, sessions);

		ratios[i] = reads(&b, sessions) / bare;
	}
	bench_close(&b);
	return bench_median(ratios, TURNS);
}

static double get_1_ratio(void)
{
	return get_ratio(1);
}

static double get_4_ratio(void)
{
	return get_ratio(4);
}

/* ---- load: COPY of the same rows into the same tables
 * --------------------------------------------- */

static struct load {
	struct bk_node nodes[NODES];
	struct bk_link links[NODES];
	char ids[NODES][40], paths[NODES][64];
	char doc[DOC];
} * load;

static void load_make(void)
{
	struct bk_rng rng;
	size_t i;

	load = calloc(1, sizeof(*load));
	if (!load)
		bench_die("out of memory");
	bk_rng_init(&rng, 1);
	bk_rng_fill(&rng, load->doc, DOC);
	for (i = 0; i < NODES; i++) {
		snprintf(load->ids[i], sizeof(load->ids[i]), "%016llx-%08zx",
			 (unsigned long long)bk_rng_u64(&rng), i);
		memcpy(load->paths[i], "/rest/", 6);
		memcpy(load->paths[i] + 6, load->ids[i], sizeof(load->ids[i]));
		load->links[i].rel = bk_slice_str("http://pcdm.org/models#memberOf");
		load->links[i].target = bk_slice_str(load->ids[i / 2]);
		load->nodes[i] =
			(struct bk_node){.id = bk_slice_str(load->ids[i]),
					 .parent = i ? bk_slice_str(load->ids[0]) : nothing,
					 .path = bk_slice_str(load->paths[i]),
					 .doc = bk_slice_of(load->doc, DOC),
					 .links = &load->links[i],
					 .link_count = 1};
	}
}

static double put_many_s(struct bench_store *b)
{
	struct bk_error err = bk_error_init();
	const struct bk_tables *t = &b->io->tables;
	struct bk_session *s = bench_session(b, BK_DURABLE_NONE);
	uint32_t isolation = 0;
	double start;
	size_t i;

	bench_check(t->store.clear(b->io->store, &err), "clear", &err);
	start = bench_now_ns();
	bench_check(t->txn.begin(s, &isolation, BK_TXN_DEFER, &err), "begin", &err);
	for (i = 0; i < NODES; i += BATCH)
		bench_check(t->node.put_many(s, &load->nodes[i], BATCH, BK_PUT_CREATE, &err),
			    "put_many", &err);
	bench_check(t->txn.commit(s, &err), "commit", &err);
	start = (bench_now_ns() - start) / 1e9;
	t->session.close(s);
	return start;
}

struct copy {
	PGconn *c;
	char data[1 << 17];
	size_t len;
};

static void copy_bytes(struct copy *to, const void *data, size_t len)
{
	memcpy(to->data + to->len, data, len);
	to->len += len;
}

static void copy_value(struct copy *to, struct bk_slice v)
{
	uint32_t len = htonl(v.len ? (uint32_t)v.len : UINT32_MAX); /* empty: NULL */

	copy_bytes(to, &len, 4);
	copy_bytes(to, v.data, v.len);
}

static void copy_fields(struct copy *to, uint16_t n)
{
	uint16_t fields = htons(n);

	if (to->len > sizeof(to->data) / 2) {
		if (PQputCopyData(to->c, to->data, (int)to->len) != 1)
			bench_die("COPY: %s", PQerrorMessage(to->c));
		to->len = 0;
	}
	copy_bytes(to, &fields, 2);
}

static void copy_begin(struct copy *to, const char *sql)
{
	static const char head[19] = "PGCOPY\n\377\r\n";
	PGresult *res = PQexec(to->c, sql);

	if (PQresultStatus(res) != PGRES_COPY_IN)
		bench_die("%s: %s", sql, PQerrorMessage(to->c));
	PQclear(res);
	to->len = 0;
	copy_bytes(to, head, sizeof(head));
}

static void copy_end(struct copy *to)
{
	PGresult *res;

	copy_fields(to, UINT16_MAX);
	if (PQputCopyData(to->c, to->data, (int)to->len) != 1 || PQputCopyEnd(to->c, NULL) != 1)
		bench_die("COPY: %s", PQerrorMessage(to->c));
	while ((res = PQgetResult(to->c)) != NULL) {
		if (PQresultStatus(res) != PGRES_COMMAND_OK)
			bench_die("COPY: %s", PQerrorMessage(to->c));
		PQclear(res);
	}
}

static double copy_s(struct bench_store *b)
{
	static const unsigned char size[8] = {0, 0, 0, 0, 0, 0, DOC >> 8, DOC & 0xff};
	static struct copy to;
	double start;
	size_t i;

	to.c = bare_open();
	bare_say(to.c, "TRUNCATE node, link, segment");
	start = bench_now_ns();
	bare_say(to.c, "BEGIN");
	copy_begin(&to, "COPY node (size, id, path, doc, parent) FROM STDIN BINARY");
	for (i = 0; i < NODES; i++) {
		copy_fields(&to, 5);
		copy_value(&to, bk_slice_of(size, 8));
		copy_value(&to, load->nodes[i].id);
		copy_value(&to, load->nodes[i].path);
		copy_value(&to, load->nodes[i].doc);
		copy_value(&to, load->nodes[i].parent);
	}
	copy_end(&to);
	copy_begin(&to, "COPY link (source, rel, target) FROM STDIN BINARY");
	for (i = 0; i < NODES; i++) {
		copy_fields(&to, 3);
		copy_value(&to, load->nodes[i].id);
		copy_value(&to, load->links[i].rel);
		copy_value(&to, load->links[i].target);
	}
	copy_end(&to);
	bare_say(to.c, "COMMIT");
	start = (bench_now_ns() - start) / 1e9;
	PQfinish(to.c);
	return start;
}

static double put_many_ratio(void)
{
	double ratios[5];
	struct bench_store b;
	size_t i;

	open_store(&b);
	load_make();
	put_many_s(&b); /* the first one makes the files grow */
	for (i = 0; i < 5; i++) {
		double bare = copy_s(&b);

		ratios[i] = bare / put_many_s(&b);
	}
	free(load);
	bench_close(&b);
	return bench_median(ratios, 5);
}

/* ---- members of a collection: one walk against a read for each proxy and each target
 * ---------------- */

static const char proxy_for[] = "http://www.openarchives.org/ore/terms/proxyFor";
static const char resource[] = "http://www.w3.org/ns/ldp#membershipResource";

static void put_one(const struct bk_tables *t, struct bk_session *s, const char *id,
		    const char *parent, const struct bk_link *link)
{
	struct bk_error err = bk_error_init();
	struct bk_node node = {.id = bk_slice_str(id),
			       .parent = bk_slice_str(parent),
			       .path = bk_slice_str(id),
			       .links = link,
			       .link_count = link ? 1 : 0};

	bench_check(t->node.put(s, &node, BK_PUT_CREATE, &err), "put", &err);
}

static void members_make(struct bench_store *b, struct bk_session *s)
{
	const struct bk_tables *t = &b->io->tables;
	struct bk_link to = {bk_slice_str(resource), bk_slice_str("collection")};
	struct bk_error err = bk_error_init();
	uint32_t isolation = 0;
	size_t i, k;

	put_one(t, s, "collection", "", NULL);
	put_one(t, s, "members", "", &to);
	for (i = 0; i < MEMBERS; i++) {
		struct bk_node *object = &load->nodes[i], *proxy = &load->nodes[MEMBERS + i];

		object->parent = nothing;
		object->link_count = 0;
		proxy->parent = bk_slice_str("members");
		load->links[MEMBERS + i] = (struct bk_link){bk_slice_str(proxy_for), object->id};
	}
	bench_check(t->txn.begin(s, &isolation, BK_TXN_DEFER, &err), "begin", &err);
	for (k = 0; k < 2 * MEMBERS; k += BATCH)
		bench_check(t->node.put_many(s, &load->nodes[k], BATCH, BK_PUT_CREATE, &err),
			    "put_many", &err);
	bench_check(t->txn.commit(s, &err), "commit", &err);
	bench_check(t->store.settle(b->io->store, UINT64_C(60000000000), &err), "settle", &err);
}

static double native_s(const struct bk_tables *t, struct bk_session *s)
{
	struct bk_step steps[3] = {{bk_slice_str(resource), BK_IN, 0},
				   {nothing, BK_CHILDREN, 0},
				   {bk_slice_str(proxy_for), BK_OUT, 0}};
	struct bk_error err = bk_error_init();
	double start = bench_now_ns();
	struct bk_hit hits[1000];
	struct bk_cursor *c;
	size_t n, all = 0;

	bench_check(
		t->node.walk_open(&c, s, bk_slice_str("collection"), steps, 3, BK_WANT_PATH, &err),
		"walk", &err);
	while (t->node.walk_next(c, hits, 1000, &n, &err) == BK_OK)
		all += n;
	t->node.walk_close(c);
	if (all != MEMBERS)
		bench_die("%zu members instead of %d", all, MEMBERS);
	return (bench_now_ns() - start) / 1e9;
}

static double document_s(const struct bk_tables *t, struct bk_session *s)
{
	struct bk_error err = bk_error_init();
	double start = bench_now_ns();
	struct bk_node node;
	char target[40];
	size_t i;

	for (i = MEMBERS; i < 2 * MEMBERS; i++) {
		bench_check(t->node.get(&node, s, load->nodes[i].id,
					BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
			    "get", &err);
		memcpy(target, node.links[0].target.data, node.links[0].target.len);
		bench_check(t->node.get(&node, s, bk_slice_of(target, node.links[0].target.len),
					BK_WANT_PATH | BK_WANT_DOC | BK_WANT_LINKS, &err),
			    "get", &err);
	}
	return (bench_now_ns() - start) / 1e9;
}

static double members_ratio(void)
{
	struct bench_store b;
	struct bk_session *s;
	double ratios[5];
	size_t i;

	open_store(&b);
	load_make();
	s = bench_session(&b, BK_DURABLE_NONE);
	members_make(&b, s);
	native_s(&b.io->tables, s);
	for (i = 0; i < 5; i++) {
		double document = document_s(&b.io->tables, s);

		ratios[i] = document / native_s(&b.io->tables, s);
	}
	b.io->tables.session.close(s);
	free(load);
	bench_close(&b);
	return bench_median(ratios, 5);
}

static const struct bench list[] = {
	{"postgresql_get_1_ratio", 0.95, true, get_1_ratio},
	{"postgresql_get_4_ratio", 0.95, true, get_4_ratio},
	{"postgresql_put_many_ratio", 0.7, true, put_many_ratio},
	/* 50 and more where waking an idle processor dominates a round trip, 9 or 10 where not. */
	{"postgresql_members_ratio", 8, true, members_ratio},
};

int main(int argc, char **argv)
{
	if (!getenv("PGHOST") && !(argc == 2 && strcmp(argv[1], "--list") == 0))
		bench_exec("postgresql", argc, argv);
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
