/*
 * n_binaries.c - ingest of N binaries, each with its nodes and its digest; then all or a sample are
 * read back and compared.
 */
#include "scenario/binaries_job.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- Before the clock ---------------------------------------------------------------- */

static bk_status make_parent(const struct bk_binaries_job *job, struct bk_error *err)
{
	struct bk_repo_session session;
	struct bk_ingest *parent = NULL;
	bk_status st;

	st = bk_repo_session_open(&session, job->env->repo, 0, job->env->durability, err);
	if (st < 0)
		return st;
	st = bk_ingest_open(&parent, &session, &job->hierarchy, 0, err);
	if (st >= 0)
		st = bk_ingest_put(parent, NULL, BK_BINARIES_PARENT, bk_slice_of("", 0), NULL, 0,
				   err);
	if (st >= 0)
		st = bk_ingest_flush(parent, err);
	bk_ingest_close(parent);
	bk_repo_session_close(&session);
	return st;
}

/* ---- Timed ----------------------------------------------------------------------------- */

static bk_status ingest(struct bk_binaries_job *job, struct bk_outcome *out, struct bk_error *err)
{
	struct bk_load_result r;
	double seconds;
	bk_status st;

	st = bk_binaries_ingest(&r, job, err);
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

/* ---- Verified -------------------------------------------------------------------------- */

/* Each binary that was to be looked at is there, whole, under the digest that its node names. */
static bk_status read_back(struct bk_binaries_job *job, struct bk_outcome *out,
			   struct bk_error *err)
{
	struct bk_histogram *first = bk_histogram_new();
	struct bk_load_result r;
	bk_status st;

	job->step = bk_case_is(job->env->c, "verify", "sample") ? SAMPLE_EVERY : 1;
	st = first ? bk_binaries_read(&r, first, job, err)
		   : bk_fail(err, BK_NOMEM, 0, "out of memory for histograms");
	if (st >= 0) {
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
	bk_histogram_free(first);
	return st;
}

/* Binaries in the store against objects that name one: the rest are orphans. */
static bk_status count_binaries(struct bk_binaries_job *job, struct bk_outcome *out,
				struct bk_error *err)
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

/* ---- The scenario ---------------------------------------------------------------------- */

static bk_status trial(const struct bk_env *env, struct bk_outcome *out, struct bk_error *err)
{
	struct bk_binaries_job job = {.digests = -1, .env = env};
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
	st = bk_binaries_job_init(&job, err);
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
	bk_binaries_job_free(&job);
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
