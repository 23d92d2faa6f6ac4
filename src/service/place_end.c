/*
 * place_end.c - places on a server: made and dropped one by one, brought back, torn down.
 *
 * The one invariant: of a server that is not ours only what bears our mark is touched; the backend
 * looks for it itself before its first destructive step.
 */
#include "service/place.h"

#include "service/proc.h"
#include "service/run.h"
#include "service/state.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <signal.h>
#include <unistd.h>

#define PLC_SCHEMA "_schema" /* after the name: the place that reset clones */

bk_status bk_place_open(struct bk_store **admin, const struct bk_plugin *plugin,
			const struct bk_options *options, const char *mark,
			struct bk_store_config *config, struct bk_error *err)
{
	if (!((plugin->desc.native | plugin->desc.emulated) & BK_F_PLACES))
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "backend '%s' cannot make a database of its own on a server",
			       plugin->desc.name);
	return bk_run_open(admin, plugin, options, BK_DURABLE_NONE, mark, config, err);
}

bk_status bk_place_create(const struct bk_plugin *plugin, struct bk_store *admin, const char *name,
			  const char *mark, const char *user, const char *password,
			  const char *from, struct bk_error *err)
{
	return plugin->tables.place.create(admin, bk_slice_str(name), bk_slice_str(mark),
					   bk_slice_str(user), bk_slice_str(password),
					   bk_slice_str(from), err);
}

/* Fine when it is not there. */
static bk_status plc_drop(const struct bk_plugin *plugin, struct bk_store *admin, const char *name,
			  const char *mark, struct bk_error *err)
{
	bk_status st =
		plugin->tables.place.drop(admin, bk_slice_str(name), bk_slice_str(mark), err);

	return st == BK_NOT_FOUND ? BK_OK : st;
}

void bk_place_schema_name(char out[64], const char *name)
{
	snprintf(out, 64, "%.48s" PLC_SCHEMA, name);
}

static void plc_end_watcher(const json_t *state)
{
	const json_t *keeper = json_object_get(state, "keeper");
	pid_t pid = (pid_t)bk_state_u64(keeper, "pid");
	int fd = pid == getpid() ? -1 : bk_proc_open(pid, bk_state_u64(keeper, "start"));

	if (fd >= 0) {
		bk_proc_signal(fd, SIGTERM);
		close(fd);
	}
}

bk_status bk_place_teardown(const char *id, const char *folder, const json_t *state,
			    struct bk_error *err)
{
	const json_t *values = json_object_get(state, "values");
	const char *mark = bk_state_text(state, "mark");
	struct bk_store_config config;
	struct bk_options *options = NULL;
	struct bk_plugin *plugin = NULL;
	struct bk_store *admin;
	char schema[64];
	bk_status st = bk_service_reach(&plugin, &options, id, true, err);

	if (st == BK_OK)
		st = bk_place_open(&admin, plugin, options, mark, &config, err);
	if (st == BK_OK) {
		bk_place_schema_name(schema, bk_state_text(values, "database"));
		if (json_is_true(json_object_get(state, "schema")))
			st = plc_drop(plugin, admin, schema, mark, err);
		if (st == BK_OK)
			st = plc_drop(plugin, admin, bk_state_text(values, "database"), mark, err);
		plugin->tables.store.close(admin);
	}
	if (st == BK_OK)
		plc_end_watcher(state);
	if (st == BK_OK)
		st = bk_fs_remove_tree(folder, err);
	bk_options_free(options);
	bk_plugin_free(plugin);
	return st;
}

bk_status bk_place_reset(const struct bk_plugin *plugin, const struct bk_options *options,
			 const json_t *state, struct bk_error *err)
{
	const json_t *values = json_object_get(state, "values");
	bool existing = json_is_true(json_object_get(state, "existing"));
	bool with_schema = json_is_true(json_object_get(state, "schema"));
	const char *name = bk_state_text(values, "database");
	const char *mark = existing ? bk_state_text(state, "mark") : BK_SERVICE_NAME;
	struct bk_store_config config;
	struct bk_store *admin;
	char schema[64];
	bk_status st = bk_place_open(&admin, plugin, options, mark, &config, err);

	if (st != BK_OK)
		return st;
	bk_place_schema_name(schema, name);
	st = plc_drop(plugin, admin, name, mark, err);
	if (st == BK_OK)
		st = bk_place_create(plugin, admin, name, mark, bk_state_text(values, "user"),
				     bk_state_text(values, "password"), with_schema ? schema : "",
				     err);
	plugin->tables.store.close(admin);
	return st;
}
