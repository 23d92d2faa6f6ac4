/*
 * binaries_job.c - the workers of an ingest of binaries, which write them and read them back.
 *
 * What is timed is the store's work: names, keys and digests are made before the clock, contents
 * by stamping a block in place.
 */
#include "scenario/binaries_job.h"

#include "util/clock.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bk_binaries_worker {
	struct bk_binaries_job *job;
	struct bk_repo_session session;
	struct bk_ingest *ingest;
	struct bk_content content;
	struct bk_staging staging;
	struct bk_histogram *first_byte; /* reading back only */
	unsigned char *buf;
	struct bk_buf path;
	uint64_t binary; /* under way */
};

/* ---- Digests ----------------------------------------------------------------------- */

static bk_status make_digests(struct bk_binaries_job *job, struct bk_error *err)
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

/* ---- One binary -------------------------------------------------------------------- */

static const void *content_fn(void *ctx, uint64_t offset, size_t *len)
{
	struct bk_binaries_worker *w = ctx;

	if (*len > BK_CONTENT_CHUNK)
		*len = BK_CONTENT_CHUNK;
	return bk_content_chunk(&w->content, w->binary, offset);
}

struct described {
	struct bk_object object;
	char name[BK_NAME_LEN + 1], title[64], digest[BK_SHA256_HEX]; /* back it */
};

static bk_status describe(struct described *d, const struct bk_binaries_job *job, uint64_t i,
			  struct bk_error *err)
{
	if (pread(job->digests, d->digest, sizeof(d->digest), (off_t)(i * sizeof(d->digest))) !=
	    sizeof(d->digest))
		return bk_fail(err, BK_IO, errno, "cannot read the digests back: %s",
			       strerror(errno));
	bk_name_make(d->name, job->env->data_seed, "binary", i);
	bk_loading_title(d->title, "Binary", i);
	d->object = (struct bk_object){
		.parent = BK_BINARIES_PARENT,
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
	struct bk_binaries_worker *w = state;
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
	struct bk_binaries_worker *w = ctx;
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
	struct bk_binaries_worker *w = state;
	struct described d;
	uint64_t first_ns;
	bk_status st = describe(&d, w->job, k * w->job->step, err);

	if (st < 0)
		return st;
	w->binary = k * w->job->step;
	bk_ingest_path(&w->path, &w->job->hierarchy, BK_BINARIES_PARENT, d.name);
	st = bk_object_read(&w->session, &d.object, bk_slice_of(w->path.data, w->path.len), w->buf,
			    BK_CONTENT_CHUNK, same_content, w, &first_ns, err);
	if (st >= 0)
		bk_histogram_record(w->first_byte, first_ns);
	return st;
}

/* ---- Workers ----------------------------------------------------------------------- */

static void worker_stop(void *state)
{
	struct bk_binaries_worker *w = state;

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
	struct bk_binaries_worker *w = state;

	bk_repo_session_meter(&w->session);
}

static bk_status worker_start(void *ctx, uint32_t number, void **state, struct bk_error *err)
{
	struct bk_binaries_job *job = ctx;
	struct bk_binaries_worker *w = &job->workers[number];
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

static bk_status run(struct bk_load_result *r, struct bk_binaries_job *job, uint64_t total,
		     bool metered, bk_status (*op)(void *, uint64_t, struct bk_error *),
		     struct bk_error *err)
{
	struct bk_load_plan plan = {
		.workers = (uint32_t)bk_case_u64(job->env->c, "threads"),
		.total = total,
		.ctx = job,
		.start = worker_start,
		.op = op,
		.finish = worker_finish,
		.stop = worker_stop,
		.begin = metered ? job->env->meter_begin : NULL,
		.end = metered ? job->env->meter_end : NULL,
		.host = job->env->host,
		.retries = 10,
		.failures_max = 100,
		.stop_flag = job->env->stop,
		.progress = job->env->progress,
	};

	__atomic_store_n(job->env->progress, 0, __ATOMIC_RELAXED);
	__atomic_store_n(job->env->progress_total, total, __ATOMIC_RELAXED);
	return bk_load_run(r, &plan, err);
}

bk_status bk_binaries_job_init(struct bk_binaries_job *job, struct bk_error *err)
{
	job->workers = calloc((size_t)bk_case_u64(job->env->c, "threads"), sizeof(*job->workers));
	return job->workers ? make_digests(job, err)
			    : bk_fail(err, BK_NOMEM, 0, "out of memory for the workers");
}

void bk_binaries_job_free(struct bk_binaries_job *job)
{
	free(job->workers);
	if (job->digests >= 0)
		close(job->digests);
}

bk_status bk_binaries_ingest(struct bk_load_result *r, struct bk_binaries_job *job,
			     struct bk_error *err)
{
	return run(r, job, job->n, true, ingest_one, err);
}

bk_status bk_binaries_read(struct bk_load_result *r, struct bk_histogram *first,
			   struct bk_binaries_job *job, struct bk_error *err)
{
	uint32_t threads = (uint32_t)bk_case_u64(job->env->c, "threads"), i;
	bk_status st = BK_OK;

	for (i = 0; i < threads && st >= 0; i++) {
		job->workers[i].first_byte = bk_histogram_new();
		if (!job->workers[i].first_byte)
			st = bk_fail(err, BK_NOMEM, 0, "out of memory for histograms");
	}
	if (st >= 0)
		st = run(r, job, (job->n + job->step - 1) / job->step, false, read_one, err);
	for (i = 0; i < threads; i++) {
		if (st >= 0)
			bk_histogram_merge(first, job->workers[i].first_byte);
		bk_histogram_free(job->workers[i].first_byte);
	}
	return st;
}
