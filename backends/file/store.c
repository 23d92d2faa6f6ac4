/*
 * store.c - the store opened and closed, and its table; what uses it enters it first (enter.c).
 */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void store_free(struct bk_store *store)
{
	if (!store)
		return;
	for (unsigned i = 0; i < FILE_STRIPES; i++)
		pthread_mutex_destroy(&store->stripes[i]);
	pthread_rwlock_destroy(&store->swap);
	pthread_rwlock_destroy(&store->gate);
	pthread_mutex_destroy(&store->mutex);
	free(store->root);
	free(store->dir);
	free(store);
}

static bk_status store_open(struct bk_store **out, const struct bk_host *host,
			    const struct bk_store_config *config, const void *opts,
			    struct bk_error *err)
{
	const struct file_options *o = opts;
	size_t len = strlen(o->path);
	pthread_rwlockattr_t writer_first;
	struct bk_store *store;
	struct stat st;

	if (len == 0)
		return bk_fail(err, BK_INVALID, 0, "option 'path' is empty; it names a folder");
	while (len > 1 && o->path[len - 1] == '/')
		len--;
	store = calloc(1, sizeof(*store));
	if (!store)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a store");
	store->host = host;
	store->opts = o;
	store->space = config->space;
	store->mark = config->mark;
	store->durability = config->durability;
	store->dirfd = store->lockfd = -1;
	pthread_mutex_init(&store->mutex, NULL);
	pthread_rwlock_init(&store->swap, NULL);
	/* Who shuts the gate must not wait for ever behind those who pass. */
	pthread_rwlockattr_init(&writer_first);
	pthread_rwlockattr_setkind_np(&writer_first, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&store->gate, &writer_first);
	pthread_rwlockattr_destroy(&writer_first);
	for (unsigned i = 0; i < FILE_STRIPES; i++)
		pthread_mutex_init(&store->stripes[i], NULL);
	if (asprintf(&store->root, "%.*s", (int)len, o->path) < 0)
		store->root = NULL;
	if (!store->root || asprintf(&store->dir, "%s/%s", store->root, store->space) < 0) {
		store->dir = NULL;
		store_free(store);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a store");
	}
	/* Reach the target: a folder that cannot be looked at is told now. */
	if (stat(store->root, &st) < 0 && errno != ENOENT) {
		bk_status status = file_fail(err, errno, "reach", store->root, NULL);

		store_free(store);
		return status;
	}
	*out = store;
	return BK_OK;
}

static void store_close(struct bk_store *store)
{
	file_store_leave(store);
	store_free(store);
}

static bk_status store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				struct bk_limits *limits, struct bk_error *err)
{
	*native = FILE_FEATURES;
	*emulated = 0;
	limits->sessions_max = FILE_SESSIONS;
	limits->id_max = FILE_ID_MAX;
	limits->path_max = FILE_PATH_MAX;
	limits->rel_max = FILE_REL_MAX;
	limits->key_max = FILE_KEY_MAX;
	limits->doc_max = FILE_DOC_MAX;
	limits->binary_max = INT64_MAX;
	return BK_OK;
}

/* ---- Quiet --------------------------------------------------------------------------- */

static bk_status store_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	bk_status status;

	pthread_mutex_lock(&store->mutex);
	status = file_store_enter(store, err);
	if (status == BK_OK)
		status = file_compact(store, err);
	uint32_t lax = status == BK_OK ? atomic_load(&store->control->head->lax) : 0;
	/* What the kernel has yet to write would be paid for by whoever is measured next. */
	if (status == BK_OK && store->opts->flush) {
		atomic_store(&store->control->head->lax, 0);
		if (syncfs(store->dirfd) < 0) {
			atomic_store(&store->control->head->lax, lax);
			status =
				file_fail(err, errno, "flush the file system of", store->dir, NULL);
		}
	}
	file_store_leave(store);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* Nothing is mapped or kept while no session is open. */
static bk_status store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	*reached = BK_CHILL_DROPPED;
	return BK_OK;
}

const struct bk_store_ops file_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = store_open,
	.close = store_close,
	.features = store_features,
	.make = file_store_make,
	.clear = file_store_clear,
	.unmake = file_store_unmake,
	.inspect = file_store_inspect,
	.settle = store_settle,
	.chill = store_chill,
};
