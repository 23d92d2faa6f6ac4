/*
 * open.c - a backend opened, with its layers.
 *
 * The one invariant: what a backend may keep (host, config, the strings in it) lives in the same
 * block as the handle, so it outlives the store.
 */
#include "layer/open.h"

#include "plugin/host.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

#define SPACE_MAX 24u

struct opened {
	struct bk_layered io; /* what the caller holds */
	struct bk_store_config config;
	char space[SPACE_MAX + 1];
	char *mark;
};

static bk_status check_arguments(const char *space, uint32_t durability, struct bk_error *err)
{
	size_t len = strlen(space);

	if (len == 0 || len > SPACE_MAX ||
	    space[strspn(space, "abcdefghijklmnopqrstuvwxyz0123456789_")])
		return bk_fail(err, BK_INVALID, 0, "the space '%.40s' is not 1 to %u of [a-z0-9_]",
			       space, SPACE_MAX);
	if (durability > BK_DURABLE_MACHINE)
		return bk_fail(err, BK_INVALID, 0, "no such durability: %u", durability);
	return BK_OK;
}

/* The features in force against those of the descriptor: a defect of the backend is named here,
 * once, and not met later in the middle of a run. */
static bk_status ask_features(struct bk_layered *io, const struct bk_plugin *plugin,
			      struct bk_error *err)
{
	const struct bk_backend *d = &plugin->desc;
	uint64_t all;
	bk_status st;

	io->limits.struct_size = sizeof(io->limits);
	st = io->tables.store.features(io->store, &io->native, &io->emulated, &io->limits, err);
	if (st < 0)
		return st;
	all = io->native | io->emulated;
	if (io->native & io->emulated)
		return bk_fail(err, BK_INTERNAL, 0,
			       "backend '%s' says of one feature that it is native and emulated "
			       "(bits 0x%llx)",
			       d->name, (unsigned long long)(io->native & io->emulated));
	if (all & ~(d->native | d->emulated))
		return bk_fail(err, BK_INTERNAL, 0,
			       "backend '%s' has features in force that it does not declare (bits "
			       "0x%llx)",
			       d->name, (unsigned long long)(all & ~(d->native | d->emulated)));
	return BK_OK;
}

static bk_status stack(struct bk_layered *io, uint32_t flags, struct bk_error *err)
{
	bk_status st = BK_OK;

	if (io->threads == BK_THREADS_SERIAL)
		st = bk_layer_lock(io, err);
	if (!st && !(flags & BK_OPEN_RAW))
		st = bk_layer_loop(io, err);
	if (!st && (flags & BK_OPEN_CHECK))
		st = bk_layer_check(io, err);
	return st;
}

bk_status bk_open(struct bk_layered **out, const struct bk_plugin *plugin,
		  const struct bk_options *options, const char *space, const char *mark,
		  uint32_t durability, uint32_t flags, struct bk_error *err)
{
	struct opened *o;
	bk_status st;

	space = space ? space : "main";
	st = check_arguments(space, durability, err);
	if (st)
		return st;
	o = calloc(1, sizeof(*o));
	if (o)
		o->mark = strdup(mark ? mark : BK_MARK_DEFAULT);
	if (!o || !o->mark) {
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
		goto failed;
	}
	memcpy(o->space, space, strlen(space) + 1);
	o->config.struct_size = sizeof(o->config);
	o->config.durability = durability;
	o->config.space = o->space;
	o->config.mark = o->mark;
	o->io.tables = plugin->tables;
	o->io.threads = plugin->desc.threads;
	st = plugin->tables.store.open(&o->io.store, &bk_host_stderr, &o->config,
				       bk_options_data(options), err);
	if (st < 0)
		goto failed;
	st = ask_features(&o->io, plugin, err);
	if (!st)
		st = stack(&o->io, flags, err);
	if (st)
		goto close;
	*out = &o->io;
	return BK_OK;
close:
	o->io.tables.store.close(o->io.store);
failed:
	if (o)
		free(o->mark);
	free(o);
	return st;
}

void bk_close(struct bk_layered *opened)
{
	struct opened *o = (struct opened *)opened; /* io is its first member */

	if (!o)
		return;
	o->io.tables.store.close(o->io.store);
	free(o->mark);
	free(o);
}
