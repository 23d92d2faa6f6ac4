/*
 * plugin.h - a backend's shared object, loaded, checked and copied.
 *
 * After bk_plugin_load() every operation of every table can be called: what the backend does not
 * offer is a stub that answers UNSUPPORTED.  Nothing tests a table entry for NULL later.
 * A shared object is never unloaded.
 */
#ifndef BK_PLUGIN_PLUGIN_H
#define BK_PLUGIN_PLUGIN_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <stddef.h>

/* The harness's own copies of a backend's tables (or a layer's), complete. */
struct bk_tables {
	struct bk_store_ops store;
	struct bk_session_ops session;
	struct bk_txn_ops txn;
	struct bk_node_ops node;
	struct bk_binary_ops binary;
	struct bk_place_ops place;
};

/* A member that came after the first version of the service's table. */
#define BK_SERVICE_MEMBER(service, name)                                                           \
	((service)->struct_size >= offsetof(struct bk_service, name) + sizeof((service)->name)     \
		 ? (service)->name                                                                 \
		 : NULL)

struct bk_plugin {
	struct bk_backend desc;  /* copy; zero beyond what the backend's struct_size covers */
	struct bk_tables tables; /* complete; desc's own table pointers are not to be called */
	char *path;              /* of the shared object, owned */
	void *dl;
};

/* Load one shared object by path.  *out is owned by the caller: bk_plugin_free().
 * Each reason to refuse has a message of its own: file, what was found, what was expected. */
bk_status bk_plugin_load(struct bk_plugin **out, const char *path, struct bk_error *err);
void bk_plugin_free(struct bk_plugin *plugin); /* the shared object stays mapped */

/* Load by name from the search path: $BAKEOFF_BACKENDS (folders, colon-separated), then
 * backends/ beside the program (build tree), then the installed folder.  An unknown name gets the
 * nearest known one as a suggestion. */
bk_status bk_plugin_find(struct bk_plugin **out, const char *name, struct bk_error *err);

/* As bk_plugin_find(), but takes a path too: what holds a slash or ends in ".so".  For arguments of
 * the command line only; files that are passed around name backends. */
bk_status bk_plugin_given(struct bk_plugin **out, const char *name_or_path, struct bk_error *err);

/* The search path, in order, whether or not the folders exist; NULL after the last.  NULL when out
 * of memory. */
char **bk_plugin_folders(void);
void bk_plugin_folders_free(char **folders);

/* Every bk-*.so on the search path, loaded or refused; a name found twice counts where it is
 * found first. */
struct bk_plugin_entry {
	char *name; /* from the file name */
	char *path;
	struct bk_plugin *plugin; /* NULL when refused */
	struct bk_error refusal;  /* why, when refused */
};
struct bk_plugin_list {
	struct bk_plugin_entry *entries; /* sorted by name */
	size_t count;
};
bk_status bk_plugin_list_load(struct bk_plugin_list *out, struct bk_error *err);
void bk_plugin_list_free(struct bk_plugin_list *list);

/* The feature bits by name, for reports: "txn", "get-many", ...; NULL after the last. */
struct bk_feature {
	uint64_t bit;
	const char *name;
	const char *meaning; /* one line */
};
extern const struct bk_feature bk_features[];

#endif
