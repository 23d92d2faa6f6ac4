/*
 * build.c - making a template: a server of its own, furnished, stopped cleanly, its data kept.
 *
 * The one invariant: a template is built like any server, by a keeper; one that is interrupted
 * leaves what any interrupted start leaves: nothing.
 */
#include "service/keeper.h"
#include "service/run.h"
#include "service/template.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <unistd.h>

static bool bld_has_places(const struct bk_service_run *run)
{
	return (run->plugin->desc.native | run->plugin->desc.emulated) & BK_F_PLACES;
}

bk_status bk_run_furnish(struct bk_service_run *run, struct bk_error *err)
{
	const char *database = bk_values_get(&run->values, "database");
	const char *const *schema = run->config.schema;
	bool places = bld_has_places(run);
	const char *target = places ? BK_SCHEMA_PLACE : database;
	bk_status st = BK_OK;

	if (!schema || !*schema)
		return places ? bk_run_make_place(run, database, NULL, err) : BK_OK;
	/* With places the schema goes into one of its own, from which reset clones again. */
	if (places)
		st = bk_run_make_place(run, BK_SCHEMA_PLACE, NULL, err);
	if (st == BK_OK)
		st = bk_load_schema(run->service, &run->programs, &run->values, run->mask, target,
				    schema, err);
	if (st == BK_OK && places)
		st = bk_run_make_place(run, database, BK_SCHEMA_PLACE, err);
	return st;
}

/* The server that becomes the template: throw-away settings, nobody connects. */
static bk_status bld_build(const struct bk_service_run *run, const char *key, struct bk_error *err)
{
	struct bk_service_config config = run->config;
	struct bk_service_run *build = NULL;
	struct bk_options *options = NULL;
	bk_status st;

	config.profile = BK_PROFILE_TEST;
	config.durability = BK_DURABLE_NONE;
	config.tcp = config.spare = false;
	config.data = NULL;
	config.purpose = "making a template";
	st = bk_options_copy(&options, run->options, err);
	if (st == BK_OK)
		st = bk_run_new(&build, run->plugin, options, &config, err);
	if (st == BK_OK) {
		build->key = strdup(key);
		st = build->key ? bk_run_launch(build, err)
				: bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	if (st == BK_OK)
		st = bk_service_await(build, err);
	if (st == BK_OK)
		st = bk_run_ask(build, "save", err);
	bk_service_stop(build);
	bk_options_free(options);
	return st;
}

bk_status bk_run_template(struct bk_service_run *run, struct bk_error *err)
{
	char key[BK_TEMPLATE_KEY_MAX], line[256];
	int lock;
	bk_status st = bk_template_key(key, run, run->config.schema, err);

	if (st != BK_OK)
		return st;
	run->key = strdup(key);
	if (!run->key)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	run->template = bk_template_find(run, key);
	if (run->template)
		return BK_OK;
	st = bk_template_lock(&lock, run, key, err);
	if (st != BK_OK)
		return st;
	run->template = bk_template_find(run, key); /* another one built it meanwhile */
	if (!run->template) {
		snprintf(line, sizeof(line),
			 "%s: making the template for new servers, once for this version%s",
			 run->plugin->desc.name,
			 run->config.schema && *run->config.schema ? " and schema" : "");
		if (run->config.note)
			run->config.note(run->config.note_ctx, line);
		st = bld_build(run, key, err);
		if (st == BK_OK)
			run->template = bk_template_find(run, key);
		if (st == BK_OK && !run->template)
			st = bk_fail(err, BK_INTERNAL, 0,
				     "the template %s was made and cannot be used", key);
	}
	close(lock);
	run->deadline_ns = bk_service_now_ns() +
			   (run->config.timeout_ns ? run->config.timeout_ns : BK_SERVICE_TIMEOUT);
	return st;
}
