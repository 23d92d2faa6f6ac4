/*
 * inspect_target.h - whose folder is this?  From an operand to an open store.
 */
#ifndef BK_CMD_INSPECT_TARGET_H
#define BK_CMD_INSPECT_TARGET_H

#include "cmd/cmd.h"
#include "layer/open.h"
#include "plugin/tree.h"

struct bk_inspect_target {
	struct bk_plugin *plugin;
	struct bk_options *options;
	char *folder;              /* for the backend's folder option; NULL: no folder */
	char *space;               /* NULL: the default */
	char *mark;                /* NULL: the default */
	uint64_t native, emulated; /* features in force with these options */
	struct bk_tree tree;
};

/* Finds the backend, opens the store, lets it describe itself into target->tree and closes it.
 * `operand` may be NULL when `backend` is not.  The target is to be freed in any case. */
bk_status bk_inspect_target(struct bk_inspect_target *target, const char *operand,
			    const char *backend, const struct bk_cmd_args *args,
			    struct bk_error *err);
void bk_inspect_target_free(struct bk_inspect_target *target);

#endif
