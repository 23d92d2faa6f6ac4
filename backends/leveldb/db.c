/*
 * db.c - the database handle: LevelDB's options, opening and closing, and the store's own entry.
 *
 * The handle changes only on the control thread, or once under the mutex when the first session
 * opens.  Opening writes one small entry, the epoch: versions never come twice, not even when a
 * node is removed and made again after the program has been restarted.
 */
#include "data.h"
#include "store.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LAYOUT     1u
#define EPOCH_BITS 40

static bool make_engine_opts(struct bk_store *store)
{
	const struct ldb_options *o = store->opts;
	leveldb_options_t *e = leveldb_options_create();

	store->engine_opts = e;
	if (!e)
		return false;
	leveldb_options_set_paranoid_checks(e, o->paranoid_checks);
	leveldb_options_set_write_buffer_size(e, o->write_buffer);
	leveldb_options_set_max_open_files(e, (int)o->open_files);
	leveldb_options_set_block_size(e, o->block_size);
	leveldb_options_set_max_file_size(e, o->file_size);
	leveldb_options_set_compression(e, (int)o->compression);
	store->cache = leveldb_cache_create_lru(o->block_cache);
	leveldb_options_set_cache(e, store->cache);
	if (o->bloom_bits) {
		store->bloom = leveldb_filterpolicy_create_bloom((int)o->bloom_bits);
		leveldb_options_set_filter_policy(e, store->bloom);
	}
	return true;
}

static void free_engine_opts(struct bk_store *store)
{
	if (store->engine_opts)
		leveldb_options_destroy(store->engine_opts);
	if (store->cache)
		leveldb_cache_destroy(store->cache);
	if (store->bloom)
		leveldb_filterpolicy_destroy(store->bloom);
	store->engine_opts = NULL;
	store->cache = NULL;
	store->bloom = NULL;
}

static void close_engine(struct bk_store *store)
{
	if (store->db)
		leveldb_close(store->db);
	store->db = NULL;
	free_engine_opts(store);
}

static void close_all(struct bk_store *store)
{
	close_engine(store);
	if (store->mark_fd >= 0)
		close(store->mark_fd);
	store->mark_fd = -1;
}

bool ldb_db_is_open(struct bk_store *store)
{
	bool open;

	pthread_mutex_lock(&store->mutex);
	open = store->db != NULL;
	pthread_mutex_unlock(&store->mutex);
	return open;
}

void ldb_db_close(struct bk_store *store)
{
	pthread_mutex_lock(&store->mutex);
	close_all(store);
	pthread_mutex_unlock(&store->mutex);
}

/* Entry "m": layout, epoch.  The epoch goes up each time. */
static bk_status raise_epoch(struct bk_store *store, bool *empty, struct bk_error *err)
{
	static const char key[] = {LDB_KEY_STORE};
	leveldb_readoptions_t *ro = leveldb_readoptions_create();
	leveldb_writeoptions_t *wo = leveldb_writeoptions_create();
	leveldb_iterator_t *it = NULL;
	char *text = NULL, *value;
	uint64_t entry[2] = {LAYOUT, 0};
	bk_status status = BK_OK;
	size_t len;

	value = leveldb_get(store->db, ro, key, 1, &len, &text);
	if (value && len == sizeof(entry))
		memcpy(entry, value, sizeof(entry));
	else if (value)
		status = bk_fail(err, BK_CORRUPT, 0, "%s: the store's own entry is damaged",
				 store->db_folder);
	if (status == BK_OK && entry[0] != LAYOUT)
		status = bk_fail(err, BK_UNSUPPORTED, 0,
				 "%s has layout %llu; this backend knows layout %u only",
				 store->db_folder, (unsigned long long)entry[0], LAYOUT);
	if (status == BK_OK && !text) {
		if (entry[1] < store->epoch)
			entry[1] = store->epoch;
		store->epoch = ++entry[1];
		atomic_store(&store->versions, 1);
		leveldb_put(store->db, wo, key, 1, (const char *)entry, sizeof(entry), &text);
	}
	if (status == BK_OK && !text) {
		it = leveldb_create_iterator(store->db, ro);
		leveldb_iter_seek_to_first(it);
		if (leveldb_iter_valid(it))
			leveldb_iter_next(it);
		*empty = !leveldb_iter_valid(it);
		leveldb_iter_get_error(it, &text);
		leveldb_iter_destroy(it);
	}
	if (text)
		status = ldb_error(err, text, "open", store->db_folder);
	leveldb_free(value);
	leveldb_readoptions_destroy(ro);
	leveldb_writeoptions_destroy(wo);
	return status;
}

static bk_status open_engine(struct bk_store *store, bool create, bool keep_filter,
			     struct bk_error *err)
{
	bk_status status;
	bool empty = false;
	char *text = NULL;

	if (!make_engine_opts(store))
		return ldb_nomem(err);
	leveldb_options_set_create_if_missing(store->engine_opts, create);
	store->db = leveldb_open(store->engine_opts, store->db_folder, &text);
	status = text ? ldb_error(err, text, "open", store->db_folder)
		      : raise_epoch(store, &empty, err);
	if (status != BK_OK) {
		close_engine(store);
		return status;
	}
	if (!keep_filter)
		ldb_absent_restart(&store->absent, empty);
	atomic_store(&store->failed, false);
	atomic_fetch_add(&store->removals, 1); /* what sessions believe of parents has lapsed */
	return BK_OK;
}

bool ldb_has_current(const struct bk_store *store)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/CURRENT", store->db_folder);
	return access(path, F_OK) == 0 || errno != ENOENT;
}

static bk_status open_locked(struct bk_store *store, bool create, struct bk_error *err)
{
	enum ldb_place place;
	bk_status status;

	if (store->db)
		return BK_OK;
	status = ldb_folder_look(&place, store, err);
	if (status == BK_OK)
		status = ldb_folder_check_files(store, err);
	if (status != BK_OK)
		return status;
	if (place != LDB_PLACE_OURS || (!create && !ldb_has_current(store)))
		return bk_fail(err, BK_NOT_FOUND, 0, "there is no store in %s yet; make it first",
			       store->folder);
	status = ldb_folder_lock(&store->mark_fd, store, err);
	if (status == BK_OK)
		status = open_engine(store, create, false, err);
	if (status != BK_OK)
		close_all(store);
	return status;
}

bk_status ldb_db_open(struct bk_store *store, bool create, struct bk_error *err)
{
	bk_status status;

	pthread_mutex_lock(&store->mutex);
	status = open_locked(store, create, err);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

bk_status ldb_db_reopen(struct bk_store *store, struct bk_error *err)
{
	bk_status status = BK_OK;

	pthread_mutex_lock(&store->mutex);
	if (store->db) {
		close_engine(store);
		status = open_engine(store, false, !atomic_load(&store->failed), err);
		if (status != BK_OK)
			close_all(store);
	}
	pthread_mutex_unlock(&store->mutex);
	return status;
}

/* The mark's lock is kept from before the first file goes until the caller closes the store or
 * opens the next database. */
bk_status ldb_db_destroy(struct bk_store *store, bool again, struct bk_error *err)
{
	leveldb_options_t *opts = NULL;
	bk_status status = BK_OK;
	char *text = NULL;

	pthread_mutex_lock(&store->mutex);
	if (store->mark_fd < 0)
		status = ldb_folder_lock(&store->mark_fd, store, err);
	if (status == BK_OK) {
		close_engine(store);
		opts = leveldb_options_create();
		leveldb_destroy_db(opts, store->db_folder, &text);
		leveldb_options_destroy(opts);
		if (text)
			status = ldb_error(err, text, "remove", store->db_folder);
	}
	if (status == BK_OK && again)
		status = open_engine(store, true, false, err);
	if (status != BK_OK || !again)
		close_all(store);
	pthread_mutex_unlock(&store->mutex);
	return status;
}

uint64_t ldb_version_next(struct bk_store *store)
{
	return store->epoch << EPOCH_BITS |
	       atomic_fetch_add_explicit(&store->versions, 1, memory_order_relaxed);
}
