/*
 * open.h - from a plugin and option values to an open store with its layers: the one way in which
 * run, conform, inspect and exec reach a store.
 */
#ifndef BK_LAYER_OPEN_H
#define BK_LAYER_OPEN_H

#include "layer/layer.h"
#include "plugin/options.h"

#define BK_OPEN_CHECK (1u << 0) /* put the check layer on top */
#define BK_OPEN_RAW   (1u << 1) /* no loop layer: absent features stay UNSUPPORTED */

#define BK_MARK_DEFAULT "bakeoff"

/* Opens, asks for features, stacks: backend, lock (SERIAL only), loop, check.
 * `plugin` and `options` outlive it.  space NULL: "main"; mark NULL: BK_MARK_DEFAULT.
 * Close with bk_close(). [control] */
bk_status bk_open(struct bk_layered **out, const struct bk_plugin *plugin,
		  const struct bk_options *options, const char *space, const char *mark,
		  uint32_t durability, uint32_t flags, struct bk_error *err);
void bk_close(struct bk_layered *opened);

#endif
