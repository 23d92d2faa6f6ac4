/*
 * store.c - the store's life: open touches nothing; make() or the first session opens the files.
 */
#include "store.h"

#include <stdlib.h>

static void free_store(struct bk_store *store)
{
	if (!store)
		return;
	ldb_absent_free(&store->absent);
	ldb_stripes_free(store);
	pthread_mutex_destroy(&store->mutex);
	free(store->folder);
	free(store->db_folder);
	free(store);
}

static bk_status ldb_store_open(struct bk_store **out, const struct bk_host *host,
				const struct bk_store_config *config, const void *opts,
				struct bk_error *err)
{
	const struct ldb_options *o = opts;
	struct bk_store *store;
	size_t len;

	if (!o->path || !o->path[0])
		return bk_fail(err, BK_INVALID, 0, "option 'path' is empty; name a folder");
	store = calloc(1, sizeof(*store));
	if (!store)
		return ldb_nomem(err);
	store->host = host;
	store->config = config;
	store->opts = o;
	store->mark_fd = -1;
	pthread_mutex_init(&store->mutex, NULL);
	len = strlen(o->path) + strlen(config->space) + 8;
	store->folder = malloc(len);
	store->db_folder = malloc(len);
	if (!ldb_absent_init(&store->absent, o->absent_filter) || !ldb_stripes_init(store) ||
	    !store->folder || !store->db_folder) {
		free_store(store);
		return ldb_nomem(err);
	}
	snprintf(store->folder, len, "%s/%s", o->path, config->space);
	snprintf(store->db_folder, len, "%s/%s/db", o->path, config->space);
	*out = store;
	return BK_OK;
}

static void ldb_store_close(struct bk_store *store)
{
	if (!store)
		return;
	ldb_db_close(store);
	free_store(store);
}

static bk_status ldb_store_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				    struct bk_limits *limits, struct bk_error *err)
{
	*native = LDB_NATIVE;
	*emulated = LDB_EMULATED;
	limits->sessions_max = 0;
	limits->id_max = LDB_NAME_MAX;
	limits->path_max = LDB_NAME_MAX;
	limits->rel_max = LDB_NAME_MAX;
	limits->key_max = 0;
	limits->doc_max = LDB_DOC_MAX;
	limits->binary_max = 0;
	return BK_OK;
}

static bk_status unpinned(struct bk_store *store, const char *what, struct bk_error *err)
{
	if (atomic_load(&store->pinned) == 0)
		return BK_OK;
	return bk_fail(err, BK_STATE, 0, "cannot %s while a cursor or a transaction is open", what);
}

static bk_status ldb_store_make(struct bk_store *store, struct bk_error *err)
{
	bk_status status = ldb_folder_make(store, err);

	return status == BK_OK ? ldb_db_open(store, true, err) : status;
}

static bk_status ldb_store_clear(struct bk_store *store, struct bk_error *err)
{
	enum ldb_place place;
	bk_status status = unpinned(store, "clear the store", err);

	if (status == BK_OK)
		status = ldb_folder_look(&place, store, err);
	if (status != BK_OK)
		return status;
	if (place != LDB_PLACE_OURS)
		return bk_fail(err, BK_NOT_FOUND, 0, "there is no store in %s yet; make it first",
			       store->folder);
	return ldb_db_destroy(store, true, err);
}

static bk_status ldb_store_unmake(struct bk_store *store, struct bk_error *err)
{
	enum ldb_place place;
	bk_status status = unpinned(store, "remove the store", err);

	if (status == BK_OK)
		status = ldb_folder_look(&place, store, err);
	if (status == BK_OK && place == LDB_PLACE_OURS)
		status = ldb_db_destroy(store, false, err);
	return status == BK_OK ? ldb_folder_unmake(store, err) : status;
}

static bk_status ldb_store_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	bk_status status = unpinned(store, "reopen the store", err);

	if (status == BK_OK)
		status = ldb_db_reopen(store, err);
	if (status == BK_OK)
		*reached = BK_CHILL_DROPPED;
	return status;
}

const struct bk_store_ops ldb_store_ops = {
	.struct_size = sizeof(struct bk_store_ops),
	.open = ldb_store_open,
	.close = ldb_store_close,
	.features = ldb_store_features,
	.make = ldb_store_make,
	.clear = ldb_store_clear,
	.unmake = ldb_store_unmake,
	.inspect = ldb_store_inspect,
	.settle = ldb_store_settle,
	.chill = ldb_store_chill,
};
