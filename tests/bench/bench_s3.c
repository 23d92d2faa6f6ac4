/*
 * bench_s3.c - objects of 1 MB through the `s3` backend, put and got by 1 and by 4 workers, against
 * a bare loop on libcurl with the same signatures, against parallel curl, and against `s3-libs3`;
 * all of it in turns, on one private server.
 *
 * A ratio is the other's time / the backend's: 1 is as fast, more is faster.  What a turn has put
 * is removed before the next, untimed.  Objects a second and the clients' processor time per GB go
 * to standard error beside it.
 */
#include "bench.h"

#include "layer/open.h"
#include "service/service.h"
#include "sigv4.h"

#include <bakeoff/backend_util.h>

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BYTES       ((size_t)1000000)
#define TURN        5 /* objects a worker and turn */
#define TURNS       61
#define WORKERS_MAX 4
#define READ_BYTES  ((size_t)1 << 20) /* as the harness reads */

enum how { BACKEND, LIBS3, BARE, CURL_TOOL, HOWS };
static const char *const how_names[HOWS] = {"s3", "s3-libs3", "bare libcurl", "curl"};

struct target { /* the server, by what reaches it */
	char url[64], host[64], access_key[128], secret_key[128];
	char set[4][160];
};

struct worker {
	struct target *target;
	unsigned number;
	const char *data;
	struct bk_layered *io[2]; /* BACKEND, LIBS3 */
	struct bk_session *s[2];
	CURL *easy;
	struct s3_signer signer;
	struct s3_buf text;
	size_t at;
	char *room;
	/* of the turn */
	enum how how;
	unsigned turn;
	bool put;
};

/* Another key each turn, and the same for both sides: which shard of the index and which group of
 * the server an object falls into is a matter of its name. */
static void key_of(char out[32], const struct worker *w, unsigned i)
{
	snprintf(out, 32, "t%u-w%u-%u", w->turn, w->number, i);
}

/* ---- Through a backend ---------------------------------------------------- */

static void backend_put(struct worker *w, const char *key)
{
	const struct bk_binary_ops *b = &w->io[w->how]->tables.binary;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_error err = bk_error_init();
	struct bk_writer *writer;

	bench_check(
		b->write_open(&writer, w->s[w->how], bk_slice_str(key), BYTES, BK_PUT_UPSERT, &err),
		"write_open", &err);
	bench_check(b->write(writer, w->data, BYTES, &err), "write", &err);
	bench_check(b->finish(writer, &info, &err), "finish", &err);
}

static void backend_get(struct worker *w, const char *key)
{
	const struct bk_binary_ops *b = &w->io[w->how]->tables.binary;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_error err = bk_error_init();
	struct bk_reader *reader;
	size_t n, total = 0;
	bk_status st;

	bench_check(b->read_open(&reader, w->s[w->how], bk_slice_str(key), 0, BK_SIZE_UNKNOWN,
				 &info, &err),
		    "read_open", &err);
	while ((st = b->read(reader, w->room, READ_BYTES, &n, &err)) == BK_OK)
		total += n;
	bench_check(st, "read", &err);
	b->read_close(reader);
	if (total != BYTES)
		bench_die("%zu bytes were read", total);
}

/* ---- A bare loop ------------------------------------------------------------ */

static size_t bare_give(char *to, size_t size, size_t n, void *ctx)
{
	struct worker *w = ctx;
	size_t most = size * n, left = BYTES - w->at;

	most = most < left ? most : left;
	memcpy(to, w->data + w->at, most);
	w->at += most;
	return most;
}

static size_t bare_take(char *data, size_t size, size_t n, void *ctx)
{
	struct worker *w = ctx;
	size_t len = size * n;

	if (len > READ_BYTES - w->at)
		return 0;
	memcpy(w->room + w->at, data, len);
	w->at += len;
	return len;
}

/* URL and headers of a signed request, one "name: value" a call of `line`. */
static void sign(struct worker *w, const char *method, const char *key, char url[160],
		 void (*line)(void *ctx, const char *text), void *ctx)
{
	struct s3_buf authorization = {0};
	char hash[S3_HASH_HEX], path[96], date[20], text[512];
	struct s3_header h[3];
	time_t now = time(NULL);
	struct tm tm;

	snprintf(path, sizeof(path), "/bench-s3/main/%s", key); /* where the backend puts it */
	snprintf(url, 160, "%s%s", w->target->url, path);
	gmtime_r(&now, &tm);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm);
	if (strcmp(method, "PUT") == 0)
		s3_sha256_hex(hash, &w->signer, w->data, BYTES);
	else
		snprintf(hash, sizeof(hash), "%s", s3_hash_of_nothing);
	h[0] = (struct s3_header){"host", w->target->host};
	h[1] = (struct s3_header){"x-amz-content-sha256", hash};
	h[2] = (struct s3_header){"x-amz-date", date};
	s3_sign(&authorization, &w->signer, method, path, "", h, 3, hash, date);
	snprintf(text, sizeof(text), "x-amz-content-sha256: %s", hash);
	line(ctx, text);
	snprintf(text, sizeof(text), "x-amz-date: %s", date);
	line(ctx, text);
	snprintf(text, sizeof(text), "Authorization: %s", authorization.data);
	line(ctx, text);
	line(ctx, "Expect:");
	s3_buf_free(&authorization);
}

static void to_slist(void *ctx, const char *text)
{
	struct curl_slist **list = ctx;

	*list = curl_slist_append(*list, text);
}

static void bare(struct worker *w, const char *method, const char *key)
{
	bool put = strcmp(method, "PUT") == 0;
	struct curl_slist *list = NULL;
	char url[160];
	CURLcode code;
	long status = 0;

	sign(w, method, key, url, to_slist, &list);
	w->at = 0;
	curl_easy_setopt(w->easy, CURLOPT_UPLOAD, put ? 1L : 0L);
	if (!put)
		curl_easy_setopt(w->easy, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(w->easy, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(w->easy, CURLOPT_URL, url);
	curl_easy_setopt(w->easy, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(w->easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)(put ? BYTES : 0));
	code = curl_easy_perform(w->easy);
	curl_easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK || status >= 300)
		bench_die("bare %s: %s, status %ld", method, curl_easy_strerror(code), status);
	if (strcmp(method, "GET") == 0 && w->at != BYTES)
		bench_die("%zu bytes were read", w->at);
	curl_slist_free_all(list);
}

static void bare_init(struct worker *w)
{
	w->easy = curl_easy_init();
	if (!s3_signer_init(&w->signer, w->target->access_key, w->target->secret_key, "us-east-1"))
		bench_die("no digests");
	curl_easy_setopt(w->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(w->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(w->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(w->easy, CURLOPT_BUFFERSIZE, 128L * 1024);
	curl_easy_setopt(w->easy, CURLOPT_UPLOAD_BUFFERSIZE, 128L * 1024);
	curl_easy_setopt(w->easy, CURLOPT_READFUNCTION, bare_give);
	curl_easy_setopt(w->easy, CURLOPT_READDATA, w);
	curl_easy_setopt(w->easy, CURLOPT_WRITEFUNCTION, bare_take);
	curl_easy_setopt(w->easy, CURLOPT_WRITEDATA, w);
}

/* ---- A turn ----------------------------------------------------------------- */

static void *turn_of(void *arg)
{
	struct worker *w = arg;
	char key[32];
	unsigned i;

	for (i = 0; i < TURN; i++) {
		key_of(key, w, i);
		if (w->how == BARE)
			bare(w, w->put ? "PUT" : "GET", key);
		else if (w->put)
			backend_put(w, key);
		else
			backend_get(w, key);
	}
	return NULL;
}

static void to_config(void *ctx, const char *text)
{
	fprintf(ctx, "header = \"%s\"\n", text);
}

/* One curl process for all objects of the turn, as many at once as there are workers; what it must
 * not tell its neighbours comes on its standard input. */
static void curl_turn(struct worker *w, unsigned workers, const char *file)
{
	char url[160], key[32], command[96];
	unsigned i, k;
	FILE *f;

	if (workers > 1)
		snprintf(command, sizeof(command), "curl -Z --parallel-max %u -K - 2>/dev/null",
			 workers);
	else
		snprintf(command, sizeof(command), "curl -K - 2>/dev/null");
	f = popen(command, "w");
	if (!f)
		bench_die("cannot run curl");
	for (k = 0; k < workers; k++) {
		for (i = 0; i < TURN; i++) {
			key_of(key, &w[k], i);
			if (i || k)
				fprintf(f, "next\n");
			sign(&w[k], w->put ? "PUT" : "GET", key, url, to_config, f);
			fprintf(f, "url = \"%s\"\noutput = \"/dev/null\"\nfail\n", url);
			if (w->put)
				fprintf(f, "upload-file = \"%s\"\n", file);
		}
	}
	if (pclose(f) != 0)
		bench_die("curl failed");
}

static double cpu_s(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double turn(struct worker *w, unsigned workers, enum how how, bool put, const char *file,
		   double *cpu)
{
	int who = how == CURL_TOOL ? RUSAGE_CHILDREN : RUSAGE_SELF;
	double took, start = bench_now_ns(), used = cpu_s(who);
	pthread_t threads[WORKERS_MAX];
	unsigned k;

	for (k = 0; k < workers; k++) {
		w[k].how = how;
		w[k].put = put;
	}
	if (how == CURL_TOOL) {
		curl_turn(w, workers, file);
	} else {
		for (k = 1; k < workers; k++) {
			if (pthread_create(&threads[k], NULL, turn_of, &w[k]) != 0)
				bench_die("cannot start a thread");
		}
		turn_of(&w[0]);
		for (k = 1; k < workers; k++)
			pthread_join(threads[k], NULL);
	}
	took = bench_now_ns() - start;
	*cpu += cpu_s(who) - used;
	return took;
}

static void remove_all(struct worker *w, unsigned workers, enum how how)
{
	struct bk_error err = bk_error_init();
	char key[32];
	unsigned i, k;

	for (k = 0; k < workers; k++) {
		for (i = 0; i < TURN; i++) {
			key_of(key, &w[k], i);
			if (how == BARE || how == CURL_TOOL)
				bare(&w[k], "DELETE", key);
			else
				bench_check(w[k].io[how]->tables.binary.remove(
						    w[k].s[how], bk_slice_str(key), &err),
					    "remove", &err);
		}
	}
}

/* ---- The server -------------------------------------------------------------- */

static struct bk_service_run *server(struct target *t)
{
	static const char *const names[2] = {"access_key", "secret_key"};
	struct bk_service_config config = {.profile = BK_PROFILE_TEST, .purpose = "bench"};
	struct bk_error err = bk_error_init();
	struct bk_service_run *run;
	struct bk_options *options;
	struct bk_plugin *plugin;

	bench_check(bk_plugin_find(&plugin, "s3", &err), "s3", &err);
	bench_check(bk_options_new(&options, &plugin->desc, &err), "s3", &err);
	bench_check(bk_service_start(&run, plugin, options, &config, &err), "server", &err);
	snprintf(t->host, sizeof(t->host), "%.40s:%.10s", bk_service_value(run, "host"),
		 bk_service_value(run, "port"));
	snprintf(t->url, sizeof(t->url), "http://%.50s", t->host);
	snprintf(t->access_key, sizeof(t->access_key), "%s", bk_service_value(run, names[0]));
	snprintf(t->secret_key, sizeof(t->secret_key), "%s", bk_service_value(run, names[1]));
	snprintf(t->set[0], sizeof(t->set[0]), "endpoint=%s", t->url);
	snprintf(t->set[1], sizeof(t->set[1]), "access-key=%.128s", t->access_key);
	snprintf(t->set[2], sizeof(t->set[2]), "secret-key=%.128s", t->secret_key);
	return run;
}

/* `more`: another option, or NULL */
static void open_backend(struct bench_store *store, struct target *t, const char *name,
			 const char *bucket, const char *more)
{
	const char *sets[] = {t->set[0], t->set[1], t->set[2], t->set[3], more, NULL};

	snprintf(t->set[3], sizeof(t->set[3]), "bucket=%s", bucket);
	bench_open(store, name, BK_DURABLE_NONE, sets);
}

static void workers_init(struct worker *w, struct target *t, struct bench_store *stores,
			 const char *data)
{
	unsigned k, i;

	for (k = 0; k < WORKERS_MAX; k++) {
		w[k] = (struct worker){.target = t, .number = k, .data = data};
		w[k].room = malloc(READ_BYTES);
		for (i = 0; i < 2; i++) {
			w[k].io[i] = stores[i].io;
			w[k].s[i] =
				stores[i].io ? bench_session(&stores[i], BK_DURABLE_NONE) : NULL;
		}
		bare_init(&w[k]);
	}
}

static void workers_free(struct worker *w)
{
	unsigned k, i;

	for (k = 0; k < WORKERS_MAX; k++) {
		for (i = 0; i < 2; i++) {
			if (w[k].s[i])
				w[k].io[i]->tables.session.close(w[k].s[i]);
		}
		curl_easy_cleanup(w[k].easy);
		s3_signer_free(&w[k].signer);
		free(w[k].room);
	}
}

/* ---- Measures ------------------------------------------------------------------ */

static double compare(struct worker *w, unsigned workers, enum how other, bool put,
		      const char *file)
{
	double ratios[TURNS], rate[2][TURNS], cpu[2] = {0, 0}, took[2];
	enum how hows[2] = {BACKEND, other};
	double gb = (double)TURNS * workers * TURN * BYTES / 1e9;
	unsigned i, k, side;

	for (i = 0; i < TURNS; i++) {
		for (k = 0; k < workers; k++)
			w[k].turn = i;
		for (k = 0; k < 2; k++) { /* who comes first alternates */
			double ignored = 0;

			side = (i + k) % 2;
			if (!put)
				turn(w, workers, hows[side] == CURL_TOOL ? BARE : hows[side], true,
				     file, &ignored);
			took[side] = turn(w, workers, hows[side], put, file, &cpu[side]);
			rate[side][i] = workers * TURN * 1e9 / took[side];
			remove_all(w, workers, hows[side]);
		}
		ratios[i] = took[1] / took[0];
	}
	for (side = 0; side < 2; side++)
		fprintf(stderr, "# %s of 1 MB, %u worker%s, %s: %.0f a second, CPU %.2f s/GB\n",
			put ? "put" : "get", workers, workers > 1 ? "s" : "", how_names[hows[side]],
			bench_median(rate[side], TURNS), cpu[side] / gb);
	return bench_median(ratios, TURNS);
}

static double measure(unsigned workers, enum how other, bool put)
{
	struct target t;
	struct bk_service_run *run = server(&t);
	struct bench_store stores[2] = {{0}, {0}};
	struct worker w[WORKERS_MAX];
	char file[] = "/tmp/bench-s3.XXXXXX", *data = malloc(BYTES);
	int fd = mkstemp(file);
	double value;
	size_t i;

	for (i = 0; i < BYTES; i++)
		data[i] = (char)(i * 2654435761u >> 24);
	if (fd < 0 || write(fd, data, BYTES) != (ssize_t)BYTES)
		bench_die("cannot write %s", file);
	close(fd);
	/* libs3 signs no payload: beside it s3 does not either, or SHA-256 is what is compared */
	open_backend(&stores[0], &t, "s3", "bench-s3",
		     other == LIBS3 ? "payload-signing=no" : NULL);
	if (other == LIBS3)
		open_backend(&stores[1], &t, "s3-libs3", "bench-libs3", NULL);
	workers_init(w, &t, stores, data);
	value = compare(w, workers, other, put, file);
	workers_free(w);
	bench_close(&stores[0]);
	if (other == LIBS3)
		bench_close(&stores[1]);
	bk_service_stop(run);
	unlink(file);
	free(data);
	return value;
}

#define MEASURE(name, workers, other, put)                                                         \
	static double name(void)                                                                   \
	{                                                                                          \
		return measure(workers, other, put);                                               \
	}
MEASURE(put_1, 1, BARE, true)
MEASURE(put_4, 4, BARE, true)
MEASURE(get_1, 1, BARE, false)
MEASURE(get_4, 4, BARE, false)
MEASURE(put_1_curl, 1, CURL_TOOL, true)
MEASURE(put_4_curl, 4, CURL_TOOL, true)
MEASURE(get_1_curl, 1, CURL_TOOL, false)
MEASURE(get_4_curl, 4, CURL_TOOL, false)
MEASURE(put_1_libs3, 1, LIBS3, true)
MEASURE(put_4_libs3, 4, LIBS3, true)
MEASURE(get_1_libs3, 1, LIBS3, false)
MEASURE(get_4_libs3, 4, LIBS3, false)

static const struct bench list[] = {
	{"s3_put_1_ratio", 0.95, true, put_1},
	{"s3_put_4_ratio", 0.95, true, put_4},
	{"s3_get_1_ratio", 0.95, true, get_1},
	{"s3_get_4_ratio", 0.95, true, get_4},
	{"s3_put_1_curl_ratio", 1, true, put_1_curl},
	{"s3_put_4_curl_ratio", 1, true, put_4_curl},
	{"s3_get_1_curl_ratio", 1, true, get_1_curl},
	{"s3_get_4_curl_ratio", 1, true, get_4_curl},
	{"s3_put_1_libs3_ratio", 0.95, true, put_1_libs3},
	{"s3_put_4_libs3_ratio", 0.95, true, put_4_libs3},
	{"s3_get_1_libs3_ratio", 0.95, true, get_1_libs3},
	{"s3_get_4_libs3_ratio", 0.95, true, get_4_libs3},
};

int main(int argc, char **argv)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
	bk_options_read_environment();
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
