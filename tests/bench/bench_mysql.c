/*
 * bench_mysql.c - the `mysql` backend against what else there is on the same server: node get
 * against sysbench's point selects, with 1 and 4 sessions; put_many of 100,000 nodes with a link
 * each against a script of multi-row inserts into the same tables; a collection of 10,000 members
 * read by one walk against node by node.
 *
 * Without a server in the environment the program starts itself again under `bakeoff exec mysql`.
 *
 * The ratio is how much quicker the backend is (members: the walk).  Sides take turns.
 */
#include "bench.h"

#include "layer/layer.h"
#include "plugin/options.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <mysql.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS    20000
#define DOC     120 /* sysbench's column c */
#define SLICE_S 1.0
#define PAIRS   11
#define LOAD    100000
#define BATCH   1000
#define MEMBERS 10000

static void open_store(struct bench_store *b)
{
	char set[1200];
	const char *sets[2] = {set, NULL};

	snprintf(set, sizeof(set), "url=%s", getenv("BAKEOFF_MYSQL_URL"));
	bench_open(b, "mysql", BK_DURABLE_NONE, sets);
}

/* The bare side reaches the server by the variables that exec sets. */
static MYSQL *bare_connect(void)
{
	const char *socket = getenv("BAKEOFF_MYSQL_SOCKET");
	MYSQL *conn = mysql_init(NULL);

	if (!conn || !mysql_real_connect(conn, "localhost", getenv("BAKEOFF_MYSQL_USER"),
					 getenv("BAKEOFF_MYSQL_PASSWORD"),
					 getenv("BAKEOFF_MYSQL_DATABASE"), 0, socket, 0))
		bench_die("bare connection: %s", conn ? mysql_error(conn) : "out of memory");
	return conn;
}

static void bare(MYSQL *conn, const char *sql)
{
	if (mysql_query(conn, sql))
		bench_die("%.60s: %s", sql, mysql_error(conn));
}

/* ---- Nodes ------------------------------------------------------------------------------------
 */

struct rows {
	char id[LOAD][24], path[LOAD][40], doc[LOAD][DOC];
	struct bk_node node[LOAD];
	struct bk_link link[LOAD];
};

/* Random ids, as the repository layer's are. */
static struct rows *make_rows(size_t n, bool links)
{
	struct rows *r = calloc(1, sizeof(*r));
	struct bk_rng rng;
	size_t i, k;

	if (!r)
		bench_die("out of memory");
	bk_rng_init(&rng, 7);
	for (i = 0; i < n; i++) {
		snprintf(r->id[i], sizeof(r->id[i]), "%016llx",
			 (unsigned long long)bk_rng_u64(&rng));
		snprintf(r->path[i], sizeof(r->path[i]), "/collection/member-%08zu", i);
		for (k = 0; k < DOC; k++)
			r->doc[i][k] = (char)('a' + bk_rng_below(&rng, 26));
		r->node[i].id = bk_slice_str(r->id[i]);
		r->node[i].path = bk_slice_str(r->path[i]);
		r->node[i].doc = bk_slice_of(r->doc[i], DOC);
		r->link[i].rel = bk_slice_str("http://example.org/member");
		r->link[i].target = bk_slice_str(r->id[i / 2]);
		r->node[i].links = links ? &r->link[i] : NULL;
		r->node[i].link_count = links;
	}
	return r;
}

static void load_rows(struct bench_store *b, struct bk_session *s, const struct rows *r, size_t n)
{
	struct bk_error err = bk_error_init();
	uint32_t isolation = 0;
	size_t i;

	bench_check(b->io->tables.txn.begin(s, &isolation, BK_TXN_DEFER, &err), "begin", &err);
	for (i = 0; i < n; i += BATCH)
		bench_check(b->io->tables.node.put_many(s, r->node + i, BATCH, BK_PUT_CREATE, &err),
			    "put_many", &err);
	bench_check(b->io->tables.txn.commit(s, &err), "commit", &err);
}

/* ---- get ------------------------------------------------------------------------ */

struct reader { /* through the backend, or with the client library alone */
	struct bench_store *b;
	struct bk_session *s;
	MYSQL *conn;
	MYSQL_STMT *stmt;
	const struct rows *rows;
	struct bk_rng rng;
	uint64_t done;
};

static void *read_slice(void *arg)
{
	struct reader *r = arg;
	double end = bench_now_ns() + SLICE_S * 1e9;
	struct bk_error err = bk_error_init();
	struct bk_node node;

	while (bench_now_ns() < end) {
		size_t i = (size_t)bk_rng_below(&r->rng, ROWS);

		bench_check(r->b->io->tables.node.get(&node, r->s, r->rows->node[i].id, BK_WANT_DOC,
						      &err),
			    "get", &err);
		if (node.doc.len != DOC)
			bench_die("get: a document of %zu bytes", node.doc.len);
		r->done++;
	}
	return NULL;
}

static double rate_of(struct reader *readers, size_t n, void *(*slice)(void *))
{
	pthread_t threads[4];
	uint64_t done = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		readers[i].done = 0;
		if (pthread_create(&threads[i], NULL, slice, &readers[i]))
			bench_die("no thread");
	}
	for (i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		done += readers[i].done;
	}
	return (double)done / SLICE_S;
}

/* A configuration file, so that the password stands in no argument list. */
static void write_config(char *path, size_t cap)
{
	FILE *f;
	int fd;

	snprintf(path, cap, "%s", "/tmp/bench-sysbench.XXXXXX");
	fd = mkstemp(path); /* 0600 */
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		bench_die("cannot write %s", path);
	fprintf(f,
		"db-driver=mysql\nmysql-socket=%s\nmysql-user=%s\nmysql-password=%s\n"
		"mysql-db=%s\ntables=1\ntable-size=%d\nrand-type=uniform\ntime=%d\n",
		getenv("BAKEOFF_MYSQL_SOCKET"), getenv("BAKEOFF_MYSQL_USER"),
		getenv("BAKEOFF_MYSQL_PASSWORD"), getenv("BAKEOFF_MYSQL_DATABASE"), ROWS,
		(int)SLICE_S);
	fclose(f);
}

/* `script`: one of sysbench's own tests, or the path of ours. */
static double sysbench(const char *script, const char *verb, size_t threads)
{
	char command[1024], line[512], config[64];
	double rate = 0;
	FILE *f;

	write_config(config, sizeof(config));
	snprintf(command, sizeof(command), "sysbench --config-file=%s --threads=%zu '%s' %s 2>&1",
		 config, threads, script, verb);
	f = popen(command, "r");
	if (!f)
		bench_die("cannot run sysbench");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " queries: %*d (%lf per sec.)", &rate) == 1)
			continue;
	}
	remove(config);
	if (pclose(f))
		bench_die("sysbench %s failed; is it installed?", verb);
	return rate;
}

static void table_of_nodes(char *out, size_t cap)
{
	MYSQL *conn = bare_connect();
	MYSQL_RES *res;
	MYSQL_ROW row;

	bare(conn, "SELECT table_name FROM information_schema.tables WHERE table_schema="
		   "DATABASE() AND table_name LIKE '%\\_node'");
	res = mysql_store_result(conn);
	row = res ? mysql_fetch_row(res) : NULL;
	if (!row)
		bench_die("the table of nodes is not there");
	snprintf(out, cap, "%s", row[0]);
	mysql_free_result(res);
	mysql_close(conn);
}

/* The same row by the same index, asked for with the client library alone. */
static void bare_prepare(struct reader *r)
{
	char sql[300];

	r->conn = bare_connect();
	snprintf(sql, sizeof(sql), "SELECT version,segs,doc FROM `%s` WHERE id=?",
		 getenv("BENCH_TABLE"));
	r->stmt = mysql_stmt_init(r->conn);
	if (!r->stmt || mysql_stmt_prepare(r->stmt, sql, strlen(sql)))
		bench_die("%s: %s", sql, mysql_error(r->conn));
}

static void *bare_slice(void *arg)
{
	struct reader *r = arg;
	double end = bench_now_ns() + SLICE_S * 1e9;
	uint64_t version, segs;
	char doc[DOC + 1];
	unsigned long len;
	MYSQL_BIND in = {.buffer_type = MYSQL_TYPE_STRING}, out[3];

	memset(out, 0, sizeof(out));
	out[0] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &version};
	out[1] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &segs};
	out[2] = (MYSQL_BIND){.buffer_type = MYSQL_TYPE_BLOB,
			      .buffer = doc,
			      .buffer_length = sizeof(doc),
			      .length = &len};
	while (bench_now_ns() < end) {
		struct bk_slice id = r->rows->node[bk_rng_below(&r->rng, ROWS)].id;

		in.buffer = (void *)(uintptr_t)id.data;
		in.buffer_length = (unsigned long)id.len;
		if (mysql_stmt_bind_param(r->stmt, &in) || mysql_stmt_execute(r->stmt) ||
		    mysql_stmt_bind_result(r->stmt, out) || mysql_stmt_fetch(r->stmt) ||
		    len != DOC || mysql_stmt_fetch(r->stmt) != MYSQL_NO_DATA)
			bench_die("bare get: %s", mysql_stmt_error(r->stmt));
		mysql_stmt_free_result(r->stmt);
		r->done++;
	}
	return NULL;
}

enum rival {
	STOCK, /* sysbench's oltp_point_select: its own table, a number for the key */
	EQUAL, /* sysbench with a script that selects what get selects, from the backend's table */
	BARE,  /* the client library alone, same statement */
};

struct turn {
	enum rival rival;
	struct reader *readers;
	size_t n;
};

static double our_rate(const struct turn *turn)
{
	struct bench_store b;
	double rate;
	size_t i;

	open_store(&b);
	for (i = 0; i < turn->n; i++) {
		turn->readers[i].b = &b;
		turn->readers[i].s = bench_session(&b, BK_DURABLE_NONE);
	}
	rate = rate_of(turn->readers, turn->n, read_slice);
	for (i = 0; i < turn->n; i++)
		b.io->tables.session.close(turn->readers[i].s);
	return rate; /* without bench_close(), which removes the store: others come after */
}

static double bare_rate(const struct turn *turn)
{
	double rate;
	size_t i;

	for (i = 0; i < turn->n; i++)
		bare_prepare(&turn->readers[i]);
	rate = rate_of(turn->readers, turn->n, bare_slice);
	for (i = 0; i < turn->n; i++) {
		mysql_stmt_close(turn->readers[i].stmt);
		mysql_close(turn->readers[i].conn);
	}
	return rate;
}

/* A process of its own for each turn, with connections of its own, as sysbench has: where the
 * scheduler puts threads that are new, here and in the server, is worth a factor of two on few
 * processors, and stays so for as long as they live. */
static double apart(double (*rate)(const struct turn *), const struct turn *turn)
{
	double result = 0;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds) != 0 || (pid = fork()) < 0)
		bench_die("no process");
	if (pid == 0) {
		result = rate(turn);
		_exit(write(fds[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
	}
	close(fds[1]);
	if (read(fds[0], &result, sizeof(result)) != sizeof(result) ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		bench_die("a turn failed");
	close(fds[0]);
	return result;
}

static double their_rate(const struct turn *turn)
{
	if (turn->rival == BARE)
		return apart(bare_rate, turn);
	return sysbench(turn->rival == STOCK ? "oltp_point_select"
					     : BENCH_SOURCE "/point_select.lua",
			"run", turn->n);
}

static double measure_get(size_t n, enum rival rival)
{
	static const char *const names[] = {"sysbench, own table", "sysbench, equal row", "bare"};
	struct rows *rows = make_rows(ROWS, false);
	struct reader readers[4];
	struct turn turn = {rival, readers, n};
	struct bk_session *s;
	double ratios[PAIRS];
	struct bench_store b;
	char table[128];
	size_t i, who;

	memset(readers, 0, sizeof(readers));
	for (i = 0; i < n; i++) {
		readers[i].rows = rows;
		bk_rng_init(&readers[i].rng, i);
	}
	open_store(&b);
	s = bench_session(&b, BK_DURABLE_NONE);
	load_rows(&b, s, rows, ROWS);
	b.io->tables.session.close(s);
	if (rival == STOCK)
		sysbench("oltp_point_select", "prepare", 1);
	table_of_nodes(table, sizeof(table));
	setenv("BENCH_TABLE", table, 1);
	apart(our_rate, &turn);
	their_rate(&turn);
	for (i = 0; i < PAIRS; i++) {
		double ours = 0, theirs = 0;

		for (who = 0; who < 2; who++) { /* who is first changes */
			if (who == i % 2)
				theirs = their_rate(&turn);
			else
				ours = apart(our_rate, &turn);
		}
		ratios[i] = ours / theirs;
		if (getenv("BENCH_VERBOSE"))
			fprintf(stderr, "%zu: %s %.0f/s, backend %.0f/s\n", n, names[rival], theirs,
				ours);
	}
	if (rival == STOCK)
		sysbench("oltp_point_select", "cleanup", 1);
	bench_close(&b);
	free(rows);
	return bench_median(ratios, PAIRS);
}

static double measure_get_equal_1(void)
{
	return measure_get(1, EQUAL);
}

static double measure_get_equal_4(void)
{
	return measure_get(4, EQUAL);
}

static double measure_get_stock_1(void)
{
	return measure_get(1, STOCK);
}

static double measure_get_stock_4(void)
{
	return measure_get(4, STOCK);
}

static double measure_get_bare_1(void)
{
	return measure_get(1, BARE);
}

static double measure_get_bare_4(void)
{
	return measure_get(4, BARE);
}

/* ---- put_many ------------------------------------------------------------------- */

/* What a script holds: statements of BATCH rows, nodes and links by turns, spelt before the clock.
 */
static char **make_script(const struct rows *r)
{
	char **texts = calloc(LOAD / BATCH * 2 + 1, sizeof(*texts));
	size_t t = 0, i, k;

	for (i = 0; texts && i < LOAD; i += BATCH) {
		char *nodes = malloc(BATCH * 300 + 200), *links = malloc(BATCH * 120 + 200), *p, *q;

		if (!nodes || !links)
			bench_die("out of memory");
		p = nodes + sprintf(nodes, "INSERT INTO bench_node (n,parent,version,segs,id,path,"
					   "doc) VALUES ");
		q = links + sprintf(links, "INSERT INTO bench_link (src,rel,target) VALUES ");
		for (k = i; k < i + BATCH; k++) {
			p += sprintf(p, "%s(%zu,NULL,1,0,'%s','%s','%.*s')", k > i ? "," : "",
				     k + 1, r->id[k], r->path[k], DOC, r->doc[k]);
			q += sprintf(q, "%s(%zu,'%s','%s')", k > i ? "," : "", k + 1,
				     (const char *)r->link[k].rel.data,
				     (const char *)r->link[k].target.data);
		}
		texts[t++] = nodes;
		texts[t++] = links;
	}
	return texts;
}

static double run_script(MYSQL *conn, char **texts)
{
	double start;
	size_t i;

	bare(conn, "DROP TABLE IF EXISTS bench_link, bench_node");
	bare(conn, "CREATE TABLE bench_node LIKE main_node");
	bare(conn, "CREATE TABLE bench_link LIKE main_link");
	/* LIKE leaves foreign keys out: the script's tables have the store's. */
	bare(conn, "ALTER TABLE bench_node ADD FOREIGN KEY (parent) REFERENCES bench_node (n)");
	bare(conn, "ALTER TABLE bench_link ADD FOREIGN KEY (src) REFERENCES bench_node (n) "
		   "ON DELETE CASCADE");
	start = bench_now_ns();
	bare(conn, "START TRANSACTION");
	for (i = 0; texts[i]; i++)
		bare(conn, texts[i]);
	bare(conn, "COMMIT");
	return bench_now_ns() - start;
}

static double run_load(struct bench_store *b, struct bk_session *s, const struct rows *rows)
{
	struct bk_error err = bk_error_init();
	double start;

	bench_check(b->io->tables.store.clear(b->io->store, &err), "clear", &err);
	start = bench_now_ns();
	load_rows(b, s, rows, LOAD);
	return bench_now_ns() - start;
}

static double measure_put(void)
{
	struct rows *rows = make_rows(LOAD, true);
	char **texts = make_script(rows);
	double ratios[PAIRS];
	struct bench_store b;
	struct bk_session *s;
	MYSQL *conn;
	size_t i;

	open_store(&b);
	s = bench_session(&b, BK_DURABLE_NONE);
	conn = bare_connect();
	for (i = 0; i < PAIRS; i++) {
		double script, backend;

		if (i % 2) {
			backend = run_load(&b, s, rows);
			script = run_script(conn, texts);
		} else {
			script = run_script(conn, texts);
			backend = run_load(&b, s, rows);
		}
		ratios[i] = script / backend;
		if (getenv("BENCH_VERBOSE"))
			fprintf(stderr, "script %.0f ms, backend %.0f ms\n", script / 1e6,
				backend / 1e6);
	}
	bare(conn, "DROP TABLE bench_link, bench_node");
	mysql_close(conn);
	b.io->tables.session.close(s);
	bench_close(&b);
	for (i = 0; texts[i]; i++)
		free(texts[i]);
	free(texts);
	free(rows);
	return bench_median(ratios, PAIRS);
}

/* ---- Members -------------------------------------------------------------------- */

/* collection <- membershipResource - container, its children (proxies), -> proxyFor - objects. */
static void load_members(struct bench_store *b, struct bk_session *s)
{
	struct bk_node *nodes = calloc(BATCH, sizeof(*nodes));
	char(*text)[4][64] = calloc(BATCH, sizeof(*text));
	struct bk_error err = bk_error_init();
	struct bk_link member = {bk_slice_str("membershipResource"), bk_slice_str("collection")};
	struct bk_link *links = calloc(BATCH, sizeof(*links));
	struct bk_node top[2] = {{.id = bk_slice_str("collection"), .path = bk_slice_str("/c")},
				 {.id = bk_slice_str("container"),
				  .parent = bk_slice_str("collection"),
				  .path = bk_slice_str("/c/members"),
				  .links = &member,
				  .link_count = 1}};
	size_t i, k;
	int proxies;

	if (!nodes || !text || !links)
		bench_die("out of memory");
	bench_check(b->io->tables.node.put_many(s, top, 2, BK_PUT_CREATE, &err), "put", &err);
	for (proxies = 0; proxies < 2; proxies++) {
		for (i = 0; i < MEMBERS; i += BATCH) {
			for (k = 0; k < BATCH; k++) {
				struct bk_node *n = &nodes[k];

				memset(n, 0, sizeof(*n));
				snprintf(text[k][0], 64, "%s-%zx", proxies ? "proxy" : "object",
					 (i + k) * 2654435761u % 4294967296u);
				snprintf(text[k][1], 64, "/%s/%zu", proxies ? "c/members" : "o",
					 i + k);
				snprintf(text[k][2], 64, "object-%zx",
					 (i + k) * 2654435761u % 4294967296u);
				snprintf(text[k][3], 64, "a title of number %zu, in some words",
					 i + k);
				n->id = bk_slice_str(text[k][0]);
				n->path = bk_slice_str(text[k][1]);
				n->doc = bk_slice_str(text[k][3]);
				n->parent = bk_slice_str(proxies ? "container" : "");
				links[k].rel = bk_slice_str("proxyFor");
				links[k].target = bk_slice_str(text[k][2]);
				n->links = proxies ? &links[k] : NULL;
				n->link_count = (size_t)proxies;
			}
			bench_check(
				b->io->tables.node.put_many(s, nodes, BATCH, BK_PUT_CREATE, &err),
				"put_many", &err);
		}
	}
	free(nodes);
	free(text);
	free(links);
}

static size_t walk(struct bench_store *b, struct bk_session *s, const struct bk_step *steps,
		   size_t n_steps, struct bk_hit *hits, size_t max)
{
	const struct bk_node_ops *ops = &b->io->tables.node;
	struct bk_error err = bk_error_init();
	struct bk_cursor *c;
	size_t n, all = 0;
	bk_status st;

	bench_check(ops->walk_open(&c, s, bk_slice_str("collection"), steps, n_steps, BK_WANT_PATH,
				   &err),
		    "walk", &err);
	while ((st = ops->walk_next(c, hits, max, &n, &err)) == BK_OK)
		all += n;
	bench_check(st, "walk", &err);
	ops->walk_close(c);
	return all;
}

static double measure_members(void)
{
	struct bk_step steps[3] = {{bk_slice_str("membershipResource"), BK_IN, 0},
				   {bk_slice_str(""), BK_CHILDREN, 0},
				   {bk_slice_str("proxyFor"), BK_OUT, 0}};
	struct bk_hit *hits = calloc(1000, sizeof(*hits));
	double native[PAIRS], document[PAIRS];
	struct bk_error err = bk_error_init();
	struct bench_store b;
	struct bk_session *s;
	char id[64];
	size_t i, k;
	int proxies;

	open_store(&b);
	s = bench_session(&b, BK_DURABLE_NONE);
	load_members(&b, s);
	bench_check(b.io->tables.store.settle(b.io->store, UINT64_C(10000000000), &err), "settle",
		    &err);
	if (walk(&b, s, steps, 3, hits, 1000) != MEMBERS)
		bench_die("the walk does not reach %d members", MEMBERS);
	for (i = 0; i < PAIRS; i++) {
		double start = bench_now_ns();

		walk(&b, s, steps, 3, hits, 1000);
		native[i] = bench_now_ns() - start;
		start = bench_now_ns();
		for (k = 0; k < MEMBERS; k++) {
			for (proxies = 0; proxies < 2; proxies++) {
				struct bk_node node;

				snprintf(id, sizeof(id), "%s-%zx", proxies ? "proxy" : "object",
					 k * 2654435761u % 4294967296u);
				bench_check(b.io->tables.node.get(&node, s, bk_slice_str(id),
								  BK_WANT_DOC | BK_WANT_PATH, &err),
					    "get", &err);
			}
		}
		document[i] = bench_now_ns() - start;
	}
	b.io->tables.session.close(s);
	bench_close(&b);
	free(hits);
	if (getenv("BENCH_VERBOSE"))
		fprintf(stderr, "walk %.1f ms, node by node %.0f ms\n",
			bench_median(native, PAIRS) / 1e6, bench_median(document, PAIRS) / 1e6);
	return bench_median(document, PAIRS) / bench_median(native, PAIRS);
}

static const struct bench list[] = {
	{"mysql_get_1_equal_ratio", 0.95, true, measure_get_equal_1},
	{"mysql_get_4_equal_ratio", 0.95, true, measure_get_equal_4},
	{"mysql_get_1_stock_ratio", 0.95, true, measure_get_stock_1},
	{"mysql_get_4_stock_ratio", 0.95, true, measure_get_stock_4},
	{"mysql_get_1_bare_ratio", 0.95, true, measure_get_bare_1},
	{"mysql_get_4_bare_ratio", 0.95, true, measure_get_bare_4},
	{"mysql_put_many_ratio", 1.0, true, measure_put},
	{"mysql_members_ratio", 40, true, measure_members},
};

int main(int argc, char **argv)
{
	if (!getenv("BAKEOFF_MYSQL_URL") && !(argc == 2 && strcmp(argv[1], "--list") == 0))
		bench_exec("mysql", argc, argv);
	return bench_main(argc, argv, list, sizeof(list) / sizeof(list[0]));
}
