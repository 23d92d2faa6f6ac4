/*
 * Fault: all spaces are one.
 */
#include "sound.h"
#include <stdlib.h>
#include <sys/stat.h>

static bk_status bad_open(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err)
{
	bk_status st = snd_store_open(out, host, config, opts, err);
	char *dir;

	if (st != BK_OK)
		return st;
	dir = malloc(strlen((*out)->root) + sizeof("/all"));
	if (!dir)
		abort();
	sprintf(dir, "%s/all", (*out)->root);
	free((*out)->dir);
	(*out)->dir = dir;
	return BK_OK;
}

/* What another store has written is seen. */
static bk_status look_again(struct bk_session *s, struct bk_error *err)
{
	struct stat sb;

	if (s->in_txn || fstat(s->store->log_fd, &sb) != 0 ||
	    (uint64_t)sb.st_size == s->store->log_bytes)
		return BK_OK;
	snd_views_lapse(s);
	snd_unload(s->store);
	return snd_load(s->store, err);
}

static bk_status bad_get(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			 uint32_t want, struct bk_error *err)
{
	bk_status st = look_again(s, err);

	return st == BK_OK ? snd_get(out, s, id, want, err) : st;
}

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	bk_status st = look_again(s, err);

	return st == BK_OK ? snd_put(s, node, mode, err) : st;
}

SND_BACKEND("bad-space", "fault: all spaces are one", SND_STORE(.open = bad_open), SND_SESSION(),
	    SND_TXN(), SND_NODE(.get = bad_get, .put = bad_put), SND_BINARY());
