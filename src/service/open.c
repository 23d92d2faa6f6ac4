/*
 * open.c - the store behind a server: opened to see that it works, and to make places in it.
 */
#include "service/run.h"

#include "plugin/host.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define OPN_PAUSE_NS 5000000 /* doubled up to sixteen times that */

static bk_status opn_reach(struct bk_options *options, const struct bk_service *service,
			   const struct bk_values *values, uint32_t mask, struct bk_error *err)
{
	const struct bk_setting *reach = service->reach;
	bk_status st = BK_OK;
	char *text;
	size_t i;

	for (i = 0; st == BK_OK && reach && reach[i].key; i++) {
		if (!bk_setting_counts(reach, i, mask))
			continue;
		st = bk_expand_new(&text, reach[i].value, values, 0, err);
		if (st != BK_OK)
			break;
		st = bk_options_set(options, reach[i].key, text, BK_FROM_HARNESS, err);
		free(text);
	}
	return st;
}

/* The options that reach its server, as an admin or not; the caller's to free. */
static bk_status opn_options(struct bk_options **out, const struct bk_service_run *run, bool admin,
			     struct bk_error *err)
{
	struct bk_options *options;
	bk_status st = bk_options_copy(&options, run->options, err);

	if (st != BK_OK)
		return st;
	st = opn_reach(options, run->service, &run->values, run->mask | (admin ? BK_WHEN_ADMIN : 0),
		       err);
	if (st != BK_OK) {
		bk_options_free(options);
		return st;
	}
	*out = options;
	return BK_OK;
}

bk_status bk_run_open(struct bk_store **out, const struct bk_plugin *plugin,
		      const struct bk_options *options, uint32_t durability, const char *mark,
		      struct bk_store_config *config, struct bk_error *err)
{
	config->struct_size = sizeof(*config);
	config->durability = durability;
	config->space = "main";
	config->mark = mark;
	return plugin->tables.store.open(out, &bk_host_stderr, config, bk_options_data(options),
					 err);
}

/* Waiting does not help against these. */
static bool opn_is_final(bk_status st)
{
	return st == BK_INVALID || st == BK_UNSUPPORTED || st == BK_AUTH || st == BK_NOMEM;
}

bk_status bk_run_await_open(struct bk_service_run *run, const struct bk_options *options,
			    struct bk_error *err)
{
	struct timespec pause = {0, OPN_PAUSE_NS};
	struct bk_store_config config;
	struct bk_store *store;
	bk_status st;

	for (;;) {
		st = bk_run_open(&store, run->plugin, options, run->config.durability,
				 BK_SERVICE_NAME, &config, err);
		if (st == BK_OK) {
			run->plugin->tables.store.close(store);
			return BK_OK;
		}
		if (bk_service_died(run, err))
			return err->status;
		if (run->config.interrupted && *run->config.interrupted)
			return bk_fail(err, BK_CANCELLED, 0, "interrupted");
		if (opn_is_final(st) || bk_service_now_ns() >= run->deadline_ns)
			return st;
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < 16 * OPN_PAUSE_NS)
			pause.tv_nsec *= 2;
	}
}

static struct bk_slice opn_value(const struct bk_service_run *run, const char *name)
{
	return bk_slice_str(bk_values_get(&run->values, name));
}

/* As the one who makes and drops places. */
static bk_status opn_admin(struct bk_store **out, struct bk_options **options,
			   struct bk_service_run *run, struct bk_store_config *config,
			   struct bk_error *err)
{
	bk_status st = opn_options(options, run, true, err);

	if (st == BK_OK)
		st = bk_run_await_open(run, *options, err);
	if (st == BK_OK)
		st = bk_run_open(out, run->plugin, *options, run->config.durability,
				 BK_SERVICE_NAME, config, err);
	if (st != BK_OK) {
		bk_options_free(*options);
		*options = NULL;
	}
	return st;
}

bk_status bk_run_make_place(struct bk_service_run *run, const char *name, const char *from,
			    struct bk_error *err)
{
	const struct bk_plugin *plugin = run->plugin;
	struct bk_options *options = NULL;
	struct bk_store_config config;
	struct bk_store *admin;
	bk_status st = opn_admin(&admin, &options, run, &config, err);

	if (st != BK_OK)
		return st;
	st = plugin->tables.place.create(admin, bk_slice_str(name), bk_slice_str(BK_SERVICE_NAME),
					 opn_value(run, "user"), opn_value(run, "password"),
					 bk_slice_str(from ? from : ""), err);
	plugin->tables.store.close(admin);
	bk_options_free(options);
	return st;
}

bk_status bk_service_await(struct bk_service_run *run, struct bk_error *err)
{
	const struct bk_option *folder;
	bk_status st = bk_run_answer(run, err);

	if (st != BK_OK)
		return st;
	if (!run->service) {
		folder = bk_options_flagged(run->options, BK_OPTF_FOLDER);
		st = bk_options_set(run->options, folder->name, bk_service_folder(run),
				    BK_FROM_HARNESS, err);
		run->up = st == BK_OK;
		return st;
	}
	if (!run->template)
		st = bk_run_furnish(run, err);
	if (st == BK_OK)
		st = opn_reach(run->options, run->service, &run->values, run->mask, err);
	if (st == BK_OK)
		st = bk_run_await_open(run, run->options, err);
	run->up = st == BK_OK;
	return st;
}

bk_status bk_service_start(struct bk_service_run **out, const struct bk_plugin *plugin,
			   struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err)
{
	struct bk_service_run *run;
	bk_status st = bk_service_begin(&run, plugin, options, config, err);

	if (st != BK_OK)
		return st;
	st = bk_service_await(run, err);
	if (st != BK_OK) {
		bk_service_stop(run);
		return st;
	}
	*out = run;
	return BK_OK;
}
