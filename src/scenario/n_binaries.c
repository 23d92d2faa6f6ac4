/*
 * n_binaries.c - ingest of N binaries, each with its nodes and its digest; then all or a sample are
 * read back and compared.
 *
 * What is timed is the store's work: names, keys and digests are made before the clock, contents
 * by stamping a block in place.
 */
#include "scenario/content.h"
#include "scenario/reading.h"

#include "load/load.h"
#include "repo/object.h"
#include "util/clock.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARENT       "binaries"
#define SAMPLE_EVERY 10u

static const char *const protocol_choices[] = {"direct", "staged", NULL};
static const char *const key_choices[] = {"default", "id", "digest", NULL};
static const char *const verify_choices[] = {"all", "sample", NULL};

static const struct bk_param param_protocol = {
	.name = "ingest_protocol",
	.help = "direct: streamed once; staged: hashed to a local file, looked for, then streamed",
	.def = "direct",
	.choices = protocol_choices,
	.type = BK_PARAM_CHOICE,
};
static const struct bk_param param_key = {
	.name = "binary_key",
	.help = "id or digest of the content; default: id with direct, digest with staged",
	.def = "default",
	.choices = key_choices,
	.type = BK_PARAM_CHOICE,
};
static const struct bk_param param_verify = {
	.name = "verify",
	.help = "read back all binaries, or every tenth, and compare each byte",
	.def = "all",
	.choices = verify_choices,
	.type = BK_PARAM_CHOICE,
};

struct job { /* shared by the workers */
	const struct bk_env *env;
	struct bk_hierarchy hierarchy;
	uint64_t n, size;
	uint64_t step; /* binary of operation k: k * step */
	bool inlined, key_is_digest;
	enum bk_protocol protocol;
	int digests; /* a file, for there may be many: BK_SHA256_HEX bytes each, in order */
	struct worker *workers;
};

struct worker {
	struct job *job;
	struct bk_repo_session session;
	struct bk_ingest *ingest;
	struct bk_content content;
	struct bk_staging staging;
	struct bk_histogram *first_byte; /* reading back only */
	unsigned char *buf;
	struct bk_buf path;
	uint64_t binary; /* under way */
};

static const void *content_fn(void *ctx, uint64_t offset, size_t *len)
{
	struct worker *w = ctx;

	if (*len > BK_CONTENT_CHUNK)
		*len = BK_CONTENT_CHUNK;
	return bk_content_chunk(&w->content, w->binary, offset);
}

struct described {
	struct bk_object object;
	char name[BK_NAME_LEN + 1], title[64], digest[BK_SHA256_HEX]; /* back it */
};

static bk_status describe(struct described *d, const struct job *job, uint64_t i,
			  struct bk_error *err)
{
	if (pread(job->digests, d->digest, sizeof(d->digest), (off_t)(i * sizeof(d->digest))) !=
	    sizeof(d->digest))
		return bk_fail(err, BK_IO, errno, "cannot read the digests back: %s",
			       strerror(errno));
	bk_name_make(d->name, job->env->data_seed, "binary", i);
	bk_loading_title(d->title, "Binary", i);
	d->object = (struct bk_object){
		.parent = PARENT,
		.name = d->name,
		.title = d->title,
		.sha256 = d->digest,
		.key = job->key_is_digest ? d->digest : d->name,
		.size_bytes = job->size,
		.inlined = job->inlined,
	};
	return BK_OK;
}

static bk_status ingest_one(void *state, uint64_t i, struct bk_error *err)
{
	struct worker *w = state;
	struct described d;
	bk_status st = describe(&d, w->job, i, err);

	if (st < 0)
		return st;
	w->binary = i;
	return bk_object_ingest(w->ingest, &w->session, &d.object, content_fn, w, w->job->protocol,
				&w->staging, err);
}

static bool same_content(void *ctx, uint64_t offset, const void *data, size_t len)
{
	struct worker *w = ctx;
	const char *p = data;

	while (len) {
		uint64_t base = offset / BK_CONTENT_CHUNK * BK_CONTENT_CHUNK;
		size_t within = (size_t)(offset - base), n = BK_CONTENT_CHUNK - within;

		if (n > len)
			n = len;
		if (memcmp(p, bk_content_chunk(&w->content, w->binary, base) + within, n) != 0)
			return false;
		p += n;
		len -= n;
		offset += n;
	}
	return true;
}

static bk_status read_one(void *state, uint64_t k, struct bk_error *err)
{
	struct worker *w = state;
	struct described d;
	uint64_t first_ns;
	bk_status st = describe(&d, w->job, k * w->job->step, err);

	if (st < 0)
		return st;
	w->binary = k * w->job->step;
	bk_ingest_path(&w->path, &w->job->hierarchy, PARENT, d.name);
	st = bk_object_read(&w->session, &d.object, bk_slice_of(w->path.data, w->path.len), w->buf,
			    BK_CONTENT_CHUNK, same_content, w, &first_ns, err);
	if (st >= 0)
		bk_histogram_record(w->first_byte, first_ns);
	return st;
}

static void worker_stop(void *state)
{
	struct worker *w = state;

	bk_ingest_close(w->ingest);
	bk_repo_session_close(&w->session);
	bk_content_free(&w->content);
	bk_buf_free(&w->path);
	free(w->buf);
	w->ingest = NULL;
	w->buf = NULL;
}

static void worker_finish(void *state)
{
	struct worker *w = state;

	bk_repo_session_meter(&w->session);
}

static bk_status worker_start(void *ctx, uint32_t number, void **state, struct bk_error *err)
{
	struct job *job = ctx;
	struct worker *w = &job->workers[number];
	bk_status st;

	w->job = job;
	w->staging = (struct bk_staging){.folder = job->env->scratch, .worker = number};
	w->buf = malloc(BK_CONTENT_CHUNK);
	if (!bk_content_init(&w->content, job->env->data_seed) || !w->buf)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for a worker's buffers");
	else
		st = bk_repo_session_open(&w->session, job->env->repo, number, job->env->durability,
					  err);
	if (st >= 0)
		st = bk_ingest_open(&w->ingest, &w->session, &job->hierarchy, 0, err);
	if (st < 0)
		worker_stop(w);
	else
		bk_repo_session_meter(&w->session);
	*state = w;
	return st;
}

static bk_status make_digests(struct job *job, struct bk_error *err)
{
	char *path = bk_fs_join(job->env->scratch, "digests.XXXXXX");
	struct bk_content content = {0};
	char digest[BK_SHA256_HEX];
	bk_status st = BK_OK;
	bool failed;
	FILE *f = NULL;
	uint64_t i;

	job->digests = path ? mkostemp(path, O_CLOEXEC) : -1;
	if (job->digests >= 0) {
		unlink(path);
		f = fdopen(dup(job->digests), "w");
	}
	free(path);
	if (!f)
		return bk_fail(err, bk_fs_status(errno), errno,
			       "cannot make a file for digests in %s: %s", job->env->scratch,
			       strerror(errno));
	if (!bk_content_init(&content, job->env->data_seed))
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for a block of content");
	for (i = 0; i < job->n && st >= 0; i++) {
		st = bk_content_sha256(digest, &content, i, job->size, err);
		fwrite(digest, sizeof(digest), 1, f);
		if (__atomic_load_n(job->env->stop, __ATOMIC_RELAXED))
			st = bk_fail(err, BK_CANCELLED, 0, "the ingest was stopped");
	}
	bk_content_free(&content);
	failed = ferror(f);
	failed |= fclose(f) != 0;
	if (failed && st >= 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot keep the digests in %s: %s",
			     job->env->scratch, strerror(errno));
	return st;
}

static bk_status make_parent(const struct job *job, struct bk_error *err)
{
	struct bk_repo_session session;
	struct bk_ingest *parent = NULL;
	bk_status st;

	st = bk_repo_session_open(&session, job->env->repo, 0, job->env->durability, err);
	if (st < 0)
		return st;
	st = bk_ingest_open(&parent, &session, &job->hierarchy, 0, err);
	if (st >= 0)
		st = bk_ingest_put(parent, NULL, PARENT, bk_slice_of("", 0), NULL, 0, err);
	if (st >= 0)
		st = bk_ingest_flush(parent, err);
	bk_ingest_close(parent);
	bk_repo_session_close(&session);
	return st;
}

static void begin_metering(void *ctx)
{
	const struct job *job = ctx;

	job->env->meter_begin(job->env->host);
}

static void end_metering(void *ctx)
{
	const struct job *job = ctx;

	job->env->meter_end(job->env->host);
}

static bk_status run(struct bk_load_result *r, struct job *job, uint64_t total, bool metered,
		     bk_status (*op)(void *, uint64_t, struct bk_error *), struct bk_error *err)
{
	struct bk_load_plan plan = {
		.workers = (uint32_t)bk_case_u64(job->env->c, "threads"),
		.total = total,
		.ctx = job,
		.start = worker_start,
		.op = op,
		.finish = worker_finish,
		.stop = worker_stop,
		.begin = metered ? begin_metering : NULL,
		.end = metered ? end_metering : NULL,
		.retries = 10,
		.failures_max = 100,
		.stop_flag = job->env->stop,
		.progress = job->env->progress,
	};

	__atomic_store_n(job->env->progress, 0, __ATOMIC_RELAXED);
	__atomic_store_n(job->env->progress_total, total, __ATOMIC_RELAXED);
	return bk_load_run(r, &plan, err);
}

static bk_status ingest(struct job *job, struct bk_outcome *out, struct bk_error *err)
{
	struct bk_load_result r;
	double seconds;
	bk_status st;

	st = run(&r, job, job->n, true, ingest_one, err);
	if (st < 0)
		return st;
	job->env->meter_report(job->env->host, out, (double)r.done * (double)job->size, 1);
	if (bk_outcome_find(out, "requests") && r.done)
		bk_outcome_metric(out, "requests_per_object", "count",
				  bk_outcome_find(out, "requests")->value / (double)r.done);
	seconds = (double)r.last_done_ns / 1e9;
	bk_outcome_load(out, &r);
	if (r.done) {
		bk_outcome_metric(out, "throughput", "MB/s",
				  (double)r.done * (double)job->size / 1e6 / seconds);
		bk_outcome_metric(out, "objects_per_s", "1/s", (double)r.done / seconds);
		bk_outcome_latency(out, "latency", r.latency);
	}
	if (job->inlined)
		bk_outcome_metric(out, "inlined", "count", (double)r.done);
	if (r.stopped)
		st = bk_fail(err, BK_CANCELLED, 0, "the ingest was stopped");
	else if (r.failed) {
		*err = r.first_error;
		st = err->status;
	}
	bk_load_result_free(&r);
	return st;
}

/* Each binary that was to be looked at is there, whole, under the digest that its node names. */
static bk_status read_back(struct job *job, struct bk_outcome *out, struct bk_error *err)
{
	uint32_t threads = (uint32_t)bk_case_u64(job->env->c, "threads"), i;
	struct bk_histogram *first = bk_histogram_new();
	struct bk_load_result r;
	bk_status st = BK_OK;

	job->step = bk_case_is(job->env->c, "verify", "sample") ? SAMPLE_EVERY : 1;
	for (i = 0; i < threads && first; i++) {
		job->workers[i].first_byte = bk_histogram_new();
		if (!job->workers[i].first_byte)
			break;
	}
	if (!first || i < threads)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory for histograms");
	else
		st = run(&r, job, (job->n + job->step - 1) / job->step, false, read_one, err);
	if (st >= 0) {
		for (i = 0; i < threads; i++)
			bk_histogram_merge(first, job->workers[i].first_byte);
		bk_outcome_latency(out, "first_byte", first);
		bk_outcome_latency(out, "read_latency", r.latency);
		if (r.stopped)
			st = bk_fail(err, BK_CANCELLED, 0, "reading back was stopped");
		else if (r.failed) {
			*err = r.first_error;
			st = err->status;
		}
		bk_load_result_free(&r);
	}
	for (i = 0; i < threads; i++)
		bk_histogram_free(job->workers[i].first_byte);
	bk_histogram_free(first);
	return st;
}

/* Binaries in the store against objects that name one: the rest are orphans. */
static bk_status count_binaries(struct job *job, struct bk_outcome *out, struct bk_error *err)
{
	const struct bk_layered *store = job->env->repo->binaries;
	uint64_t expected = job->inlined ? 0 : job->n, found = 0;
	struct bk_repo_session session;
	struct bk_slice keys[256];
	uint64_t sizes[256];
	struct bk_cursor *cursor;
	bk_status st;
	size_t n;

	st = bk_repo_session_open(&session, job->env->repo, 0, BK_DURABLE_NONE, err);
	if (st < 0)
		return st;
	st = store->tables.binary.list_open(&cursor, session.binaries, err);
	if (st >= 0) {
		while ((st = store->tables.binary.list_next(cursor, keys, sizes, 256, &n, err)) ==
		       BK_OK)
			found += n;
		store->tables.binary.list_close(cursor);
	}
	bk_repo_session_close(&session);
	if (st < 0)
		return st;
	bk_outcome_metric(out, "orphans", "count",
			  found > expected ? (double)(found - expected) : 0.0);
	if (found < expected)
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: %" PRIu64 " binaries are listed where %" PRIu64
			       " were stored",
			       found, expected);
	return BK_OK;
}

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	struct job job = {.digests = -1, .env = env};
	bool discards = bk_repo_has(env->repo->nodes, BK_F_DISCARDS) ||
			bk_repo_has(env->repo->binaries, BK_F_DISCARDS);
	bk_status st;

	job.hierarchy = bk_case_hierarchy(env->c);
	job.n = bk_case_u64(env->c, "n");
	job.size = bk_case_u64(env->c, "size");
	job.inlined = job.size < bk_case_u64(env->c, "inline_threshold");
	job.protocol = (enum bk_protocol)bk_case_u64(env->c, "ingest_protocol");
	job.key_is_digest = bk_case_is(env->c, "binary_key", "default")
				    ? job.protocol == BK_PROTOCOL_STAGED
				    : bk_case_is(env->c, "binary_key", "digest");
	job.workers = calloc((size_t)bk_case_u64(env->c, "threads"), sizeof(*job.workers));
	st = job.workers ? make_digests(&job, err)
			 : bk_fail(err, BK_NOMEM, 0, "out of memory for the workers");
	if (st >= 0)
		st = make_parent(&job, err);
	if (st >= 0)
		st = ingest(&job, out, err);
	if (st >= 0 && !discards)
		st = read_back(&job, out, err);
	if (st >= 0 && !discards)
		st = count_binaries(&job, out, err);
	if (discards)
		snprintf(out->note, sizeof(out->note), "the store keeps nothing; not verified");
	free(job.workers);
	if (job.digests >= 0)
		close(job.digests);
	return st;
}

static uint64_t bytes(const struct bk_case *c)
{
	return bk_case_u64(c, "n") * (bk_case_u64(c, "size") + 600);
}

static const struct bk_param *const params[] = {&bk_param_n,
						&bk_param_size,
						&bk_param_threads,
						&param_protocol,
						&param_key,
						&bk_param_inline_threshold,
						&bk_param_hierarchy_flat,
						&param_verify,
						NULL};

static const char *const shown[] = {"objects_per_s",
				    "latency.p50",
				    "latency.p99",
				    "first_byte.p50",
				    "cpu_per_gb",
				    "write_amplification",
				    "requests_per_object",
				    "requests.retried",
				    "retried",
				    NULL};

const struct bk_scenario bk_scenario_n_binaries = {
	.name = "n-binaries",
	.summary = "ingest many binaries",
	.details =
		"Set-up: nothing; the stores are emptied before each trial.  Contents cannot be "
		"compressed and are unique; their digests are made before the clock.\n"
		"Timed: ingest of n binaries of `size` bytes by `threads` workers: the binary, then "
		"its object and the object's child `content` (size, SHA-256, key, MIME type).  "
		"Smaller than inline_threshold, the content stays inside the node.\n"
		"Verified: all binaries or a sample are read back, byte for byte, with the digest in "
		"their node; listing must find each; what listing finds beyond them are orphans.",
	.params = params,
	.primary = "throughput",
	.shown = shown,
	.binaries = true,
	.writes = true,
	.bytes = bytes,
	.trial = trial,
};
