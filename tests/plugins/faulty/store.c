/*
 * store.c - options, the store and its mark, sessions.
 *
 * The one invariant: the mark is a symbolic link that leads nowhere: it comes into being with its
 * text in it, so that there is never half of one.
 */
#include "sound.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

const struct bk_option snd_options[] = {
	BK_OPTION_STR(struct snd_options, path, "path", NULL, "folder that the store lives in",
		      .flags = BK_OPTF_FOLDER | BK_OPTF_REQUIRED),
	BK_OPTION_END,
};

bk_status snd_store_open(struct bk_store **out, const struct bk_host *host,
			 const struct bk_store_config *config, const void *opts,
			 struct bk_error *err)
{
	const struct snd_options *o = opts;
	struct bk_store *store = calloc(1, sizeof(*store));
	size_t len = strlen(o->path) + strlen(config->space) + 2;

	if (!store || !(store->dir = malloc(len)) || !(store->root = strdup(o->path)))
		abort();
	snprintf(store->dir, len, "%s/%s", o->path, config->space);
	store->config = config;
	store->log_fd = -1;
	*out = store;
	return BK_OK;
}

void snd_store_close(struct bk_store *store)
{
	snd_unload(store);
	free(store->root);
	free(store->dir);
	free(store);
}

bk_status snd_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
		       struct bk_limits *limits, struct bk_error *err)
{
	*native = SND_FEATURES;
	*emulated = 0;
	limits->sessions_max = 0;
	limits->id_max = limits->path_max = limits->rel_max = limits->key_max = SND_NAME_MAX;
	limits->doc_max = limits->binary_max = SND_DATA_MAX;
	return BK_OK;
}

/* ---- Mark ---------------------------------------------------------------------------------------
 */

enum place { ABSENT, EMPTY, OURS, FOREIGN, FAILED };

static enum place empty_or_foreign(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	enum place place = EMPTY;

	if (!d)
		return FAILED;
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			place = FOREIGN;
	}
	closedir(d);
	return place;
}

static enum place look(const struct bk_store *store)
{
	char path[4200], text[256];
	struct stat sb;
	ssize_t n;

	if (lstat(store->dir, &sb) != 0)
		return errno == ENOENT ? ABSENT : FAILED;
	if (!S_ISDIR(sb.st_mode))
		return FOREIGN;
	snprintf(path, sizeof(path), "%s/mark", store->dir);
	n = readlink(path, text, sizeof(text) - 1);
	if (n >= 0) {
		text[n] = '\0';
		return strcmp(text, store->config->mark) == 0 || store->no_mark_check ? OURS
										      : FOREIGN;
	}
	if (errno != ENOENT && errno != EINVAL)
		return FAILED;
	return store->no_mark_check ? OURS : empty_or_foreign(store->dir);
}

static bk_status foreign(const struct bk_store *store, struct bk_error *err)
{
	return bk_fail(err, BK_FOREIGN, 0, "%s does not bear the mark '%s'", store->dir,
		       store->config->mark);
}

bk_status snd_make(struct bk_store *store, struct bk_error *err)
{
	char path[4200];
	int fd;

	switch (look(store)) {
	case FAILED:
		return snd_io(err, "look at", store->dir);
	case FOREIGN:
		return foreign(store, err);
	case ABSENT:
		if (mkdir(store->dir, 0755) != 0)
			return snd_io(err, "make", store->dir);
		break;
	default:
		break;
	}
	snprintf(path, sizeof(path), "%s/mark", store->dir);
	if (symlink(store->config->mark, path) != 0 && errno != EEXIST)
		return snd_io(err, "make", path);
	snprintf(path, sizeof(path), "%s/log", store->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return snd_io(err, "make", path);
	close(fd);
	return BK_OK;
}

bk_status snd_clear(struct bk_store *store, struct bk_error *err)
{
	bk_status st;

	switch (look(store)) {
	case FAILED:
		return snd_io(err, "look at", store->dir);
	case FOREIGN:
		return foreign(store, err);
	case ABSENT:
	case EMPTY:
		return bk_fail(err, BK_NOT_FOUND, 0, "%s is not made", store->dir);
	default:
		break;
	}
	st = snd_make(store, err); /* after half of one */
	snd_unload(store);
	if (st == BK_OK) {
		char path[4200];

		snprintf(path, sizeof(path), "%s/log", store->dir);
		if (truncate(path, 0) != 0)
			st = snd_io(err, "empty", path);
	}
	store->log_bytes = 0;
	store->commits++;
	return st;
}

bk_status snd_unmake(struct bk_store *store, struct bk_error *err)
{
	char path[4200];

	switch (look(store)) {
	case FAILED:
		return snd_io(err, "look at", store->dir);
	case FOREIGN:
		return foreign(store, err);
	case ABSENT:
		return BK_OK;
	default:
		break;
	}
	snd_unload(store);
	store->log_bytes = 0;
	snprintf(path, sizeof(path), "%s/log", store->dir);
	if (unlink(path) != 0 && errno != ENOENT)
		return snd_io(err, "remove", path);
	snprintf(path, sizeof(path), "%s/mark", store->dir);
	if (unlink(path) != 0 && errno != ENOENT)
		return snd_io(err, "remove", path);
	if (rmdir(store->dir) != 0)
		return snd_io(err, "remove", store->dir);
	return BK_OK;
}

bk_status snd_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
		      struct bk_error *err)
{
	struct stat sb;
	char path[4200];

	snprintf(path, sizeof(path), "%s/log", store->dir);
	if (what & BK_INSPECT_IDENTITY)
		sink->put_str(sink->ctx, "server.product", "bakeoff test store");
	if ((what & BK_INSPECT_SIZE) && stat(path, &sb) == 0)
		sink->put_u64(sink->ctx, "storage.bytes", (uint64_t)sb.st_size, "bytes", 0);
	if (what & BK_INSPECT_COUNTERS)
		sink->put_u64(sink->ctx, "commits", store->commits, "count", 0);
	return BK_OK;
}

bk_status snd_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err)
{
	return BK_OK;
}

bk_status snd_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err)
{
	snd_unload(store); /* the next session reads the log again */
	*reached = BK_CHILL_DROPPED;
	return BK_OK;
}

/* ---- Session
 * --------------------------------------------------------------------------------------- */

bk_status snd_session_open(struct bk_session **out, struct bk_store *store,
			   const struct bk_session_config *config, struct bk_error *err)
{
	struct bk_session *s;
	bk_status st;

	if (config->durability > store->config->durability)
		return bk_fail(err, BK_INVALID, 0, "more durability than the store was opened for");
	st = snd_load(store, err);
	if (st != BK_OK)
		return st;
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->store = store;
	s->durability = config->durability;
	*out = s;
	return BK_OK;
}

void snd_session_close(struct bk_session *s)
{
	snd_views_lapse(s);
	snd_cursor_close(&s->cursor);
	snd_abort(&s->writer);
	snd_read_close(&s->reader);
	snd_state_free(&s->state);
	free(s->changes.data);
	free(s->held);
	free(s->links);
	free(s->cursor.hits);
	free(s->cursor.bytes.data);
	free(s->writer.key.data);
	free(s->writer.bytes.data);
	free(s);
}

void snd_counters(struct bk_session *s, const struct bk_sink *sink)
{
	sink->put_u64(sink->ctx, "requests", s->requests, "count", 0);
}
