/*
 * load.c - one shared object: examined, opened, checked, copied.
 *
 * The one invariant: no code of the file runs before its ELF extents have been checked, and none
 * of its tables is called before all of them have been.
 */
#include "plugin/check.h"
#include "plugin/elf.h"
#include "plugin/ops.h"
#include "plugin/plugin.h"

#include <bakeoff/backend_util.h>

#include <dlfcn.h>
#include <stdlib.h>

/* dlopen() searches the library path for a name without a slash; a path is meant here. */
static char *load_path(const char *path)
{
	char *copy;

	if (strchr(path, '/'))
		return strdup(path);
	copy = malloc(strlen(path) + 3);
	if (copy)
		sprintf(copy, "./%s", path);
	return copy;
}

static bk_status load_entry(const struct bk_backend **raw, struct bk_plugin *plugin,
			    struct bk_error *err)
{
	bk_backend_entry entry;
	void *symbol;

	plugin->dl = dlopen(plugin->path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin->dl) {
		const char *why = dlerror();
		size_t n = strlen(plugin->path);

		/* the message names the file first; ours does already */
		if (why && strncmp(why, plugin->path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
			why += n + 2;
		return bk_fail(err, BK_INVALID, 0,
			       "%s: cannot be loaded: %s; install the library that it needs or "
			       "build it again",
			       plugin->path, why ? why : "unknown reason");
	}
	symbol = dlsym(plugin->dl, BK_ENTRY_NAME);
	if (!symbol)
		return bk_fail(err, BK_INVALID, 0, "%s: not a backend: it exports no symbol %s",
			       plugin->path, BK_ENTRY_NAME);
	memcpy(&entry, &symbol, sizeof(entry)); /* ISO C has no cast from object to function */
	*raw = entry();
	return BK_OK;
}

bk_status bk_plugin_load(struct bk_plugin **out, const char *path, struct bk_error *err)
{
	struct bk_plugin *plugin = calloc(1, sizeof(*plugin));
	const struct bk_backend *raw = NULL;
	bk_status st;

	if (!plugin || !(plugin->path = load_path(path))) {
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
		goto failed;
	}
	if ((st = bk_elf_check(plugin->path, err)) != BK_OK ||
	    (st = load_entry(&raw, plugin, err)) != BK_OK ||
	    (st = bk_check_head(&plugin->desc, raw, plugin->path, err)) != BK_OK ||
	    (st = bk_check_identity(&plugin->desc, plugin->path, err)) != BK_OK ||
	    (st = bk_check_tables(&plugin->tables, &plugin->desc, plugin->path, err)) != BK_OK ||
	    (st = bk_check_options(&plugin->desc, plugin->path, err)) != BK_OK ||
	    (st = bk_check_service(&plugin->desc, plugin->path, err)) != BK_OK)
		goto failed;
	bk_ops_fill(&plugin->tables);
	*out = plugin;
	return BK_OK;
failed:
	bk_plugin_free(plugin);
	return st;
}

void bk_plugin_free(struct bk_plugin *plugin)
{
	if (!plugin)
		return;
	/* no dlclose(): client libraries leave threads and exit handlers behind */
	free(plugin->path);
	free(plugin);
}
