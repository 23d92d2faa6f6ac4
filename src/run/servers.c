/*
 * servers.c - the private servers behind a run's variants.
 */
#include "run/stores.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct bk_store_half *half_at(struct bk_variant_stores *stores, size_t i)
{
	return i ? &stores->binaries : &stores->nodes;
}

static bool has_word(const char *line, size_t len, const char *const *words)
{
	for (; *words; words++) {
		if (memmem(line, len, *words, strlen(*words)))
			return true;
	}
	return false;
}

/* The line in which a server says what ails it: the first of the grave ones, for others follow from
 * it; else the last error, else the last line.  *len: without the newline. */
static const char *telling_line(size_t *len, const char *log)
{
	static const char *const grave[] = {"PANIC",    "FATAL",    "No space",
					    "no space", "IO Error", NULL};
	static const char *const errors[] = {"ERROR", "rror:", NULL};
	const char *line, *end, *best = log;
	bool told = false;

	for (line = log; *line; line = *end ? end + 1 : end) {
		end = line + strcspn(line, "\n");
		if (has_word(line, (size_t)(end - line), grave)) {
			best = line;
			break;
		}
		if (has_word(line, (size_t)(end - line), errors)) {
			best = line;
			told = true;
		} else if (end > line && !told) {
			best = line;
		}
	}
	*len = strcspn(best, "\n");
	return best;
}

/* What the server itself said is worth more than what its client noticed. */
static void add_log(struct bk_error *err, struct bk_service_run *run)
{
	struct bk_error why = *err;
	size_t len;
	const char *line = telling_line(&len, bk_service_log(run));

	if (len)
		bk_fail(err, why.status, why.vendor_code, "%s; its log: %.*s", why.message,
			len > 300 ? 300 : (int)len, line);
	memcpy(err->sqlstate, why.sqlstate, sizeof(err->sqlstate));
}

static void begin(struct bk_store_half *half, const char *folder, struct bk_service_config *config)
{
	struct bk_error err = bk_error_init();

	config->data = folder;
	if (bk_service_begin(&half->server, half->plugin, half->options, config, &err) < 0) {
		half->server = NULL;
		half->server_error = err;
	}
}

static void await(struct bk_store_half *half)
{
	struct bk_error err = bk_error_init();

	if (bk_service_await(half->server, &err) >= 0)
		return;
	add_log(&err, half->server);
	half->server_error = err;
	bk_service_stop(half->server);
	half->server = NULL;
}

void bk_variant_stores_serve(struct bk_variant_stores *stores, size_t count, const char *folder,
			     uint32_t durability, const struct bk_matrix *matrix,
			     const int *interrupted, void (*note)(void *ctx, const char *line),
			     void *note_ctx)
{
	char purpose[100];
	struct bk_service_config config = {
		.profile = BK_PROFILE_BENCH,
		.durability = durability,
		.purpose = purpose,
		.interrupted = interrupted,
		.note = note,
		.note_ctx = note_ctx,
	};
	size_t i, h;

	snprintf(purpose, sizeof(purpose), "run %s", matrix->name);
	for (i = 0; i < count; i++) {
		char *own = bk_fs_join(folder, stores[i].variant->name);

		for (h = 0; h < 2 && own; h++) {
			struct bk_store_half *half = half_at(&stores[i], h);

			if (half->plugin && bk_service_wanted(half->plugin, half->options))
				begin(half, own, &config);
		}
		free(own);
	}
	for (i = 0; i < count; i++) {
		for (h = 0; h < 2; h++) {
			if (half_at(&stores[i], h)->server)
				await(half_at(&stores[i], h));
		}
	}
}

static bk_status start_again(struct bk_service_run *run, bool *restarted, struct bk_error *err)
{
	bk_status st = bk_service_restart(run, err);

	if (st < 0)
		add_log(err, run);
	else
		*restarted = true;
	return st;
}

bk_status bk_variant_stores_revive(bool *restarted, struct bk_variant_stores *stores,
				   struct bk_error *err)
{
	struct bk_error how = bk_error_init();
	bk_status st = BK_OK;
	size_t h;

	*restarted = false;
	for (h = 0; h < 2 && st >= 0; h++) {
		struct bk_service_run *run = half_at(stores, h)->server;

		if (run && bk_service_died(run, &how))
			st = start_again(run, restarted, err);
	}
	return st;
}

void bk_variant_stores_explain(struct bk_variant_stores *stores, struct bk_error *err)
{
	size_t h;

	for (h = 0; h < 2 && err->status == BK_UNAVAILABLE; h++) {
		if (half_at(stores, h)->server)
			add_log(err, half_at(stores, h)->server);
	}
}

bk_status bk_variant_stores_restart(bool *restarted, struct bk_variant_stores *stores,
				    struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t h;

	*restarted = false;
	for (h = 0; h < 2 && st >= 0; h++) {
		struct bk_service_run *run = half_at(stores, h)->server;

		if (run)
			st = start_again(run, restarted, err);
	}
	return st;
}

void bk_variant_stores_stop(struct bk_variant_stores *stores)
{
	size_t h;

	for (h = 0; h < 2; h++)
		bk_service_ask_stop(half_at(stores, h)->server);
	for (h = 0; h < 2; h++) {
		bk_service_stop(half_at(stores, h)->server);
		half_at(stores, h)->server = NULL;
	}
}
