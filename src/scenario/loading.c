/*
 * loading.c - the frame around a data set's objects: session, progress, rate.
 */
#include "scenario/reading.h"

#include "repo/document.h"
#include "repo/vocab.h"
#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_OBJECTS 1000u

struct bk_hierarchy bk_case_hierarchy(const struct bk_case *c)
{
	struct bk_hierarchy h = {0, 0};
	struct bk_error err = bk_error_init();

	bk_hierarchy_parse(&h, bk_case_text(c, "hierarchy"), &err);
	return h;
}

bk_status bk_loading_begin(struct bk_loading *l, const struct bk_env *env, uint64_t objects,
			   struct bk_error *err)
{
	struct bk_hierarchy h = {0, 0};
	bk_status st;

	memset(l, 0, sizeof(*l));
	l->env = env;
	l->single = bk_case_is(env->c, "load", "single");
	if (bk_case_find(env->c, "hierarchy"))
		h = bk_case_hierarchy(env->c);
	st = bk_repo_session_open(&l->session, env->repo, 0,
				  l->single ? env->durability : BK_DURABLE_NONE, err);
	if (st < 0)
		return st;
	st = bk_ingest_open(&l->ingest, &l->session, &h, l->single ? 0 : BK_INGEST_BATCH, err);
	if (st >= 0 && l->single) {
		l->windows = calloc((size_t)(objects / WINDOW_OBJECTS) + 1, sizeof(double));
		if (!l->windows)
			st = bk_fail(err, BK_NOMEM, 0, "out of memory for loading");
	}
	if (st < 0) {
		bk_ingest_close(l->ingest);
		bk_repo_session_close(&l->session);
		return st;
	}
	__atomic_store_n(env->progress_total, objects, __ATOMIC_RELAXED);
	l->start_ns = l->window_start_ns = bk_clock_ns();
	return BK_OK;
}

void bk_loading_title(char out[64], const char *title, uint64_t i)
{
	snprintf(out, 64, "%s %" PRIu64, title, i);
}

bk_status bk_loading_put(struct bk_loading *l, const char *parent, const char *name,
			 const char *type, const char *title, const struct bk_ingest_link *links,
			 size_t link_count, struct bk_error *err)
{
	struct bk_buf *doc = &l->doc;

	bk_buf_reset(doc);
	bk_doc_puts(doc, BK_DOC_TYPE, "", type);
	if (title)
		bk_doc_puts(doc, BK_DOC_LITERAL, BK_TITLE, title);
	return bk_ingest_put(l->ingest, parent, name, bk_slice_of(doc->data, doc->len), links,
			     link_count, err);
}

bk_status bk_loading_post(const char **path_out, struct bk_loading *l, const char *parent,
			  const char *type, uint64_t i, const char *title,
			  const struct bk_ingest_link *links, size_t link_count,
			  struct bk_error *err)
{
	struct bk_buf *doc = &l->doc;
	char name[BK_NAME_LEN + 1], text[64];

	bk_name_make(name, l->env->data_seed, type, i);
	bk_buf_reset(doc);
	bk_doc_puts(doc, BK_DOC_TYPE, "", type);
	if (title) {
		bk_loading_title(text, title, i);
		bk_doc_puts(doc, BK_DOC_LITERAL, BK_TITLE, text);
	}
	return bk_ingest_post(path_out, l->ingest, parent, name, bk_slice_of(doc->data, doc->len),
			      links, link_count, err);
}

bk_status bk_loading_post_named(struct bk_buf *path, struct bk_loading *l, const char *parent,
				const char *type, uint64_t i, const char *title,
				struct bk_error *err)
{
	const char *posted;
	bk_status st = bk_loading_post(&posted, l, parent, type, i, title, NULL, 0, err);

	if (st < 0)
		return st;
	bk_buf_reset(path);
	bk_buf_puts(path, posted);
	return path->failed ? bk_fail(err, BK_NOMEM, 0, "out of memory for a path") : BK_OK;
}

bk_status bk_loading_object(struct bk_loading *l, struct bk_error *err)
{
	bk_status st = bk_ingest_end_object(l->ingest, err);

	if (st < 0)
		return st;
	l->objects++;
	__atomic_store_n(l->env->progress, l->objects, __ATOMIC_RELAXED);
	if (l->windows && l->objects % WINDOW_OBJECTS == 0) {
		uint64_t now = bk_clock_ns();

		l->windows[l->window_count++] = (double)(now - l->window_start_ns) / 1e9;
		l->window_start_ns = now;
	}
	if (__atomic_load_n(l->env->stop, __ATOMIC_RELAXED))
		return bk_fail(err, BK_CANCELLED, 0, "loading was stopped");
	return BK_OK;
}

bk_status bk_loading_end(struct bk_loading *l, bk_status st, struct bk_outcome *out,
			 struct bk_error *err)
{
	if (st >= 0)
		st = bk_ingest_flush(l->ingest, err);
	if (st >= 0 && l->single) {
		double seconds = (double)(bk_clock_ns() - l->start_ns) / 1e9;

		bk_outcome_metric(out, "load.objects_per_s", "1/s", (double)l->objects / seconds);
		bk_outcome_series(out, "load.seconds_per_1000", "s", l->windows, l->window_count);
	}
	bk_ingest_close(l->ingest);
	bk_repo_session_close(&l->session);
	free(l->windows);
	bk_buf_free(&l->doc);
	return st;
}
