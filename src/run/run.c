/*
 * run.c - a matrix from the first round to the last.
 */
#include "run/session.h"

#include "host/host.h"
#include "run/secrets.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bk_run_message(struct bk_run_state *s, const char *fmt, ...)
{
	const struct bk_run_events *events = s->config->events;
	char text[700];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (events && events->message)
		events->message(events->ctx, text);
}

/* ---- Before anything is written ------------------------------------------------------- */

/* A --set without a name that no store took: a slip of the pen, not a wish. */
static bk_status check_taken(const struct bk_half *half, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < half->option_count; i++) {
		const struct bk_pair_text *o = &half->options[i];

		if (o->known && !*o->known)
			return bk_fail(err, BK_INVALID, 0,
				       "--set: no backend of this run has an option '%s'; `bakeoff "
				       "backends NAME` lists them",
				       o->name);
	}
	return BK_OK;
}

bk_status bk_run_check(struct bk_matrix *matrix, struct bk_error *err)
{
	struct bk_variant_stores stores;
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; i < matrix->variant_count; i++) {
		st = bk_variant_stores_init(&stores, &matrix->variants[i], err);
		if (st < 0)
			return st;
		bk_variant_stores_free(&stores);
	}
	for (i = 0; i < matrix->variant_count && st >= 0; i++) {
		st = check_taken(&matrix->variants[i].nodes, err);
		if (st >= 0)
			st = check_taken(&matrix->variants[i].binaries, err);
	}
	return st;
}

/* The folder, or the nearest one above it that is there.  The caller's to free; NULL: no memory */
static char *nearest_folder(const char *path)
{
	char *at = strdup(path), *slash;

	while (at && access(at, F_OK) < 0 && errno == ENOENT) {
		for (slash = at + strlen(at); slash > at && slash[-1] == '/'; slash--)
			slash[-1] = '\0';
		slash = strrchr(at, '/');
		if (!slash) {
			free(at);
			return strdup(".");
		}
		slash[slash == at] = '\0';
	}
	return at;
}

bk_status bk_run_check_data(const struct bk_matrix *matrix, struct bk_error *err)
{
	char *folder = nearest_folder(matrix->data);
	struct bk_mount mount;
	bk_status st = BK_OK;

	if (!folder)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (!*matrix->data)
		st = bk_fail(err, BK_INVALID, 0, "the data folder has no name");
	else if (!bk_fs_is_folder(folder))
		st = bk_fail(err, BK_INVALID, ENOTDIR, "the data folder %s cannot be: %s is %s",
			     matrix->data, folder,
			     access(folder, F_OK) == 0 ? "no folder" : strerror(errno));
	else if (access(folder, W_OK | X_OK) < 0)
		st = bk_fail(err, BK_INVALID, errno, "cannot write to the folder %s: %s", folder,
			     strerror(errno));
	else if (bk_host_mount(&mount, folder),
		 strcmp(mount.type, "tmpfs") == 0 && !matrix->data_named)
		st = bk_fail(
			err, BK_INVALID, 0,
			"the data folder %s is on tmpfs: nothing measured there is durable; name "
			"another with data: (or that one, to say that it is meant)",
			matrix->data);
	free(folder);
	return st;
}

/* ---- Folders ------------------------------------------------------------------------------ */

static bk_status place_variants(struct bk_run_state *s, struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	s->stores = calloc(s->m->variant_count, sizeof(*s->stores));
	s->described = calloc(s->m->variant_count, sizeof(*s->described));
	s->cells = calloc(s->m->cell_count, sizeof(*s->cells));
	s->guarded = calloc(s->m->cell_count, sizeof(*s->guarded));
	if (!s->stores || !s->described || !s->cells || !s->guarded)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the run");
	for (i = 0; i < s->m->variant_count && st >= 0; i++) {
		char *folder = bk_fs_join(s->folder, s->m->variants[i].name);

		st = bk_variant_stores_init(&s->stores[i], &s->m->variants[i], err);
		if (st >= 0)
			st = folder ? bk_fs_mkdirs(folder, 0700, err)
				    : bk_fail(err, BK_NOMEM, 0, "out of memory");
		if (st >= 0)
			st = bk_variant_stores_place(&s->stores[i], folder, err);
		free(folder);
	}
	return st;
}

/* ---- The run -------------------------------------------------------------------------------- */

static bk_status begin(struct bk_run_state *s, struct bk_error *err)
{
	struct bk_wakeup wakeup = bk_host_wakeup();
	char *host = bk_host_describe(s->folder, &wakeup);
	char *text = bk_matrix_text_without_secrets(s->m, s->stores);
	struct bk_run_row row = {
		.matrix_name = s->m->name,
		.matrix_path = s->m->file.path,
		.matrix_text = text,
		.note = s->config->note,
		.version = BAKEOFF_VERSION,
		.host_json = host,
		.reference = s->m->reference,
		.durability = bk_durability_name(s->m->durability),
		.seed = s->m->seed,
		.rounds = s->m->rounds,
	};
	const struct bk_run_events *events = s->config->events;
	bk_status st;

	st = host && text ? bk_results_run_begin(&s->run, s->config->results, &row, err)
			  : bk_fail(err, BK_NOMEM, 0, "out of memory");
	free(host);
	free(text);
	if (st < 0)
		return st;
	s->summary->run = s->run;
	bk_run_folder_note(s);
	if (events && events->began)
		events->began(events->ctx, s->run, s->m,
			      (uint32_t)(s->m->rounds * s->m->cell_count));
	return BK_OK;
}

static bk_status run_rounds(struct bk_run_state *s, struct bk_error *err)
{
	bk_status st = BK_OK;
	uint32_t round;
	size_t i;

	for (round = 1; round <= s->m->rounds && st >= 0; round++) {
		for (i = 0; i < s->order.per_round && st >= 0; i++) {
			if (__atomic_load_n(s->config->interrupted, __ATOMIC_RELAXED))
				return bk_fail(err, BK_CANCELLED, 0, "interrupted");
			st = bk_trial_run(s, s->order.cells[(round - 1) * s->order.per_round + i],
					  round, err);
		}
	}
	return st;
}

static void finish(struct bk_run_state *s, bk_status st)
{
	struct bk_error err = bk_error_init();
	size_t i;

	bk_datasets_close(s);
	for (i = 0; s->stores && i < s->m->variant_count; i++)
		bk_variant_stores_stop(&s->stores[i]);
	if (s->config->keep && s->folder) {
		snprintf(s->summary->data, sizeof(s->summary->data), "%s", s->folder);
		bk_run_folder_keep(s);
	} else {
		bk_run_folder_remove(s);
	}
	if (s->run && bk_results_run_end(s->config->results, s->run,
					 st >= 0                   ? "done"
					 : s->summary->interrupted ? "interrupted"
								   : "failed",
					 &err) < 0)
		bk_run_message(s, "%s", err.message);
	for (i = 0; s->stores && i < s->m->variant_count; i++)
		bk_variant_stores_free(&s->stores[i]);
	bk_order_free(&s->order);
	free(s->stores);
	free(s->described);
	free(s->cells);
	free(s->guarded);
	free(s->folder);
}

static void note(void *ctx, const char *line)
{
	bk_run_message(ctx, "%s", line);
}

/* Whatever forks comes before there is any thread: the servers' keepers, the ping-pong. */
bk_status bk_run(struct bk_run_summary *out, const struct bk_run_config *config,
		 struct bk_error *err)
{
	struct bk_run_state s = {.config = config, .m = config->matrix, .summary = out};
	bk_status st;

	memset(out, 0, sizeof(*out));
	st = bk_run_folder_make(&s, err);
	if (st >= 0)
		st = place_variants(&s, err);
	if (st >= 0)
		st = bk_order_make(&s.order, s.m, err);
	if (st >= 0)
		st = bk_datasets_plan(&s, err);
	if (st >= 0)
		bk_variant_stores_serve(s.stores, s.m->variant_count, s.folder, s.m->durability,
					s.m, config->interrupted, note, &s);
	if (st >= 0)
		st = begin(&s, err);
	if (st >= 0)
		st = bk_monitor_start(&s.monitor, config, err);
	if (st >= 0)
		st = run_rounds(&s, err);
	bk_monitor_stop(&s.monitor);
	out->interrupted = st == BK_CANCELLED;
	finish(&s, st);
	return out->interrupted ? BK_OK : st;
}
