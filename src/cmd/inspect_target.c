/*
 * inspect_target.c - folders recognised by their mark, or by the backend that can describe them.
 *
 * The one invariant: nothing is changed; a store is opened, asked and closed.
 */
#include "cmd/inspect_target.h"

#include "cmd/inspect_mark.h"
#include "cmd/set.h"
#include "service/service.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>

static bk_status target_nomem(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}

void bk_inspect_target_free(struct bk_inspect_target *target)
{
	if (!target)
		return;
	bk_tree_free(&target->tree);
	bk_options_free(target->options);
	bk_plugin_free(target->plugin);
	free(target->folder);
	free(target->space);
	free(target->mark);
	memset(target, 0, sizeof(*target));
}

/* ---- asking ------------------------------------------------------------------------- */

static bk_status target_options(struct bk_inspect_target *target, const char *url,
				const struct bk_cmd_args *args, struct bk_error *err)
{
	const char *name = target->plugin->desc.name;
	const struct bk_option *entry;
	bk_status st = bk_options_new(&target->options, &target->plugin->desc, err);

	if (st == BK_OK && target->folder) {
		entry = bk_options_flagged(target->options, BK_OPTF_FOLDER);
		if (!entry)
			return bk_fail(err, BK_INVALID, 0, "backend '%s' keeps nothing in a folder",
				       name);
		st = bk_options_set(target->options, entry->name, target->folder, BK_FROM_HARNESS,
				    err);
	}
	if (st == BK_OK && url) {
		entry = bk_options_flagged(target->options, BK_OPTF_URL);
		st = entry ? bk_options_set(target->options, entry->name, url, BK_FROM_USER, err)
			   : bk_fail(err, BK_INVALID, 0, "backend '%s' takes no URL", name);
	}
	if (st == BK_OK)
		st = bk_cmd_apply_set(target->options, name, args, err);
	if (st == BK_OK)
		st = bk_options_check(target->options, err);
	return st;
}

/* Opens target->plugin with target->options and fills the tree. */
static bk_status target_ask_open(struct bk_inspect_target *target, struct bk_error *err)
{
	struct bk_layered *opened = NULL;
	bk_status st = bk_open(&opened, target->plugin, target->options, target->space,
			       target->mark, BK_DURABLE_NONE, BK_OPEN_RAW, err);
	if (st != BK_OK)
		return st;
	target->native = opened->native;
	target->emulated = opened->emulated;
	bk_tree_free(&target->tree);
	bk_tree_init(&target->tree);
	st = opened->tables.store.inspect(
		opened->store, BK_INSPECT_IDENTITY | BK_INSPECT_SIZE | BK_INSPECT_COUNTERS,
		&target->tree.sink, err);
	bk_close(opened);
	return st;
}

/* The same with options by what is known of the place. */
static bk_status target_ask(struct bk_inspect_target *target, const char *url,
			    const struct bk_cmd_args *args, struct bk_error *err)
{
	bk_status st;

	bk_options_free(target->options);
	target->options = NULL;
	st = target_options(target, url, args, err);
	return st == BK_OK ? target_ask_open(target, err) : st;
}

/* ---- folders -------------------------------------------------------------------------- */

static bool target_set(char **field, char *value)
{
	free(*field);
	*field = value;
	return value != NULL;
}

static bk_status target_place(struct bk_inspect_target *target, const char *folder,
			      const char *space, struct bk_error *err)
{
	bool ok = target_set(&target->folder, strdup(folder));

	target_set(&target->space, NULL);
	if (space)
		ok = ok && target_set(&target->space, strdup(space));
	return ok ? BK_OK : target_nomem(err);
}

/* A store's own folder is SPACE within the folder that the option names. */
static bk_status target_place_above(struct bk_inspect_target *target, const char *folder,
				    struct bk_error *err)
{
	char *whole = realpath(folder, NULL), *slash;
	bk_status st;

	if (!whole)
		return bk_fail(err, bk_fs_status(errno), errno, "%s: %s", folder, strerror(errno));
	slash = strrchr(whole, '/');
	*slash = '\0';
	st = target_place(target, slash == whole ? "/" : whole, slash + 1, err);
	free(whole);
	return st;
}

/* As a store's own folder, then as the one that the option names; the first answer is the one that
 * is told. */
static bk_status target_ask_either(struct bk_inspect_target *target, const char *folder,
				   const struct bk_cmd_args *args, struct bk_error *err)
{
	struct bk_error second = bk_error_init();
	bk_status st = target_place_above(target, folder, err);

	if (st == BK_OK)
		st = target_ask(target, NULL, args, err);
	if (st == BK_OK || target_place(target, folder, NULL, &second) != BK_OK)
		return st;
	return target_ask(target, NULL, args, &second) == BK_OK ? BK_OK : st;
}

/* Without a mark: the first backend that finds something of its own there. */
static bk_status target_try_all(struct bk_inspect_target *target, const char *folder,
				const struct bk_cmd_args *args, struct bk_error *err)
{
	struct bk_plugin_list list;
	bk_status st = bk_plugin_list_load(&list, err);
	size_t i;

	if (st != BK_OK)
		return st;
	st = BK_NOT_FOUND;
	for (i = 0; st != BK_OK && i < list.count; i++) {
		struct bk_plugin *plugin = list.entries[i].plugin;
		const struct bk_option *o = plugin ? plugin->desc.options : NULL;

		while (o && o->name && !(o->flags & BK_OPTF_FOLDER))
			o++;
		if (!o || !o->name)
			continue;
		bk_plugin_free(target->plugin);
		target->plugin = plugin;
		list.entries[i].plugin = NULL; /* the target's now */
		st = target_ask_either(target, folder, args, err);
	}
	bk_plugin_list_free(&list);
	if (st != BK_OK)
		return bk_fail(err, BK_NOT_FOUND, 0,
			       "%s: no backend knows it: it bears no mark of bakeoff and holds "
			       "nothing that one could read; --backend NAME says whose it is",
			       folder);
	return BK_OK;
}

static bk_status target_folder(struct bk_inspect_target *target, const char *folder,
			       const char *backend, const struct bk_cmd_args *args,
			       struct bk_error *err)
{
	struct bk_inspect_mark found = {NULL, NULL, NULL};
	bk_status st = bk_inspect_mark_find(&found, folder, err);

	if (st != BK_OK && st != BK_NOT_FOUND)
		return st;
	if (!backend && !found.backend)
		return target_try_all(target, folder, args, err);
	/* a mark is a stranger's word: by name only, a path in it would have its code loaded */
	st = backend ? bk_plugin_given(&target->plugin, backend, err)
		     : bk_plugin_find(&target->plugin, found.backend, err);
	target->mark = found.mark;
	found.mark = NULL;
	if (st == BK_OK && found.space) {
		st = target_place(target, folder, found.space, err);
		if (st == BK_OK)
			st = target_ask(target, NULL, args, err);
	} else if (st == BK_OK) {
		st = target_ask_either(target, folder, args, err);
	}
	bk_inspect_mark_free(&found);
	return st;
}

/* ---- servers ---------------------------------------------------------------------------- */

static bk_status target_url(struct bk_inspect_target *target, const char *url,
			    const struct bk_cmd_args *args, struct bk_error *err)
{
	size_t len = (size_t)(strstr(url, "://") - url), i, k;
	struct bk_plugin_list list;
	bk_status st = bk_plugin_list_load(&list, err);

	if (st != BK_OK)
		return st;
	for (i = 0; i < list.count && !target->plugin; i++) {
		struct bk_plugin *plugin = list.entries[i].plugin;
		const char *const *schemes = plugin ? plugin->desc.schemes : NULL;

		for (k = 0; schemes && schemes[k]; k++) {
			if (strlen(schemes[k]) != len || strncmp(schemes[k], url, len) != 0)
				continue;
			target->plugin = plugin;
			list.entries[i].plugin = NULL; /* the target's now */
			break;
		}
	}
	bk_plugin_list_free(&list);
	if (!target->plugin)
		return bk_fail(err, BK_INVALID, 0, "no backend takes URLs of '%.*s://'",
			       len > 40 ? 40 : (int)len, url);
	return target_ask(target, url, args, err);
}

/* ---- what bakeoff provisioned ----------------------------------------------------------- */

static bk_status target_id(struct bk_inspect_target *target, const char *id,
			   const struct bk_cmd_args *args, struct bk_error *err)
{
	bk_status st = bk_service_reach(&target->plugin, &target->options, id, false, err);

	if (st == BK_OK)
		st = bk_cmd_apply_set(target->options, target->plugin->desc.name, args, err);
	return st == BK_OK ? target_ask_open(target, err) : st;
}

bk_status bk_inspect_target(struct bk_inspect_target *target, const char *operand,
			    const char *backend, const struct bk_cmd_args *args,
			    struct bk_error *err)
{
	bk_status st;

	if (operand && strstr(operand, "://") && !backend)
		return target_url(target, operand, args, err);
	if (operand && bk_fs_is_folder(operand))
		return target_folder(target, operand, backend, args, err);
	if (operand && !backend && bk_service_is_id(operand))
		return target_id(target, operand, args, err);
	if (operand && (backend || (strchr(operand, '/') && !strstr(operand, ".so"))))
		return bk_fail(err, BK_NOT_FOUND, 0, "%s is not a folder", operand);
	st = bk_plugin_given(&target->plugin, backend ? backend : operand, err);
	return st == BK_OK ? target_ask(target, NULL, args, err) : st;
}
