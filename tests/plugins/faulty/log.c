/*
 * log.c - the log: one record a commit, with its length and a checksum before it.
 *
 * The one invariant: a record that is not whole is the last one, and is cut off when it is met.
 */
#include "sound.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
	uint64_t len, sum;
};

bk_status snd_io(struct bk_error *err, const char *what, const char *path)
{
	int e = errno;
	bk_status st = e == ENOSPC || e == EDQUOT  ? BK_NO_SPACE
		       : e == EACCES || e == EPERM ? BK_AUTH
						   : BK_IO;

	return bk_fail(err, st, e, "cannot %s %s: %s", what, path, strerror(e));
}

static uint64_t sum_of(const char *p, size_t len)
{
	uint64_t h = 1469598103934665603u;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ (unsigned char)p[i]) * 1099511628211u;
	return h;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static bool take(const char **at, const char *end, struct bk_slice *out)
{
	uint64_t len;

	if ((size_t)(end - *at) < sizeof(len))
		return false;
	memcpy(&len, *at, sizeof(len));
	*at += sizeof(len);
	if ((size_t)(end - *at) < len)
		return false;
	*out = bk_slice_of(*at, (size_t)len);
	*at += len;
	return true;
}

/* One change: kind, then a removed id, or a whole node. */
static bool replay_change(struct bk_store *store, const char **at, const char *end)
{
	struct bk_link *links;
	struct bk_node node;
	struct bk_slice kind, count;
	uint64_t n, i;
	char k;

	memset(&node, 0, sizeof(node));
	if (!take(at, end, &kind) || kind.len != 1 || !take(at, end, &node.id))
		return false;
	k = *(const char *)kind.data;
	if (k == 'r' || k == 'R') {
		snd_unset(&store->state, node.id, k == 'R');
		return true;
	}
	if (!take(at, end, &node.parent) || !take(at, end, &node.path) ||
	    !take(at, end, &node.doc) || !take(at, end, &count) || count.len != sizeof(n))
		return false;
	memcpy(&n, count.data, sizeof(n));
	if (n > (uint64_t)(end - *at))
		return false;
	links = calloc((size_t)n + 1, sizeof(*links));
	for (i = 0; links && i < n; i++) {
		if (!take(at, end, &links[i].rel) || !take(at, end, &links[i].target)) {
			free(links);
			return false;
		}
	}
	node.links = links;
	node.link_count = (size_t)n;
	snd_set(&store->state, snd_record_new(&node, k == 'S', ++store->version));
	free(links);
	return true;
}

static bk_status replay(struct bk_store *store, const char *bytes, uint64_t len,
			struct bk_error *err)
{
	struct head head;
	uint64_t at = 0;

	while (len - at >= sizeof(head)) {
		const char *from = bytes + at + sizeof(head), *end;

		memcpy(&head, bytes + at, sizeof(head));
		if (head.len > len - at - sizeof(head))
			break;
		end = from + head.len;
		if (sum_of(from, (size_t)head.len) != head.sum)
			return bk_fail(err, BK_CORRUPT, 0, "%s/log: damaged at byte %llu",
				       store->dir, (unsigned long long)at);
		while (from < end) {
			if (!replay_change(store, &from, end))
				return bk_fail(err, BK_CORRUPT, 0, "%s/log: nonsense at byte %llu",
					       store->dir, (unsigned long long)at);
		}
		at += sizeof(head) + head.len;
	}
	store->log_bytes = at;
	if (at < len && ftruncate(store->log_fd, (off_t)at) != 0)
		return snd_io(err, "cut", store->dir);
	return BK_OK;
}

static bk_status read_log(struct bk_store *store, struct bk_error *err)
{
	struct stat sb;
	char *bytes;
	bk_status st;

	if (fstat(store->log_fd, &sb) != 0)
		return snd_io(err, "stat the log in", store->dir);
	bytes = malloc((size_t)sb.st_size + 1);
	if (!bytes)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (pread(store->log_fd, bytes, (size_t)sb.st_size, 0) != sb.st_size)
		st = snd_io(err, "read the log in", store->dir);
	else
		st = replay(store, bytes, (uint64_t)sb.st_size, err);
	free(bytes);
	return st;
}

bk_status snd_load(struct bk_store *store, struct bk_error *err)
{
	char path[4200];
	bk_status st;

	if (store->log_fd >= 0)
		return BK_OK;
	snprintf(path, sizeof(path), "%s/log", store->dir);
	store->log_fd = open(path, O_RDWR | O_CLOEXEC);
	if (store->log_fd < 0)
		return errno == ENOENT ? bk_fail(err, BK_NOT_FOUND, 0, "%s is not made", store->dir)
				       : snd_io(err, "open", path);
	st = read_log(store, err);
	if (st != BK_OK)
		snd_unload(store);
	return st;
}

void snd_unload(struct bk_store *store)
{
	if (store->log_fd >= 0)
		close(store->log_fd);
	store->log_fd = -1;
	snd_state_free(&store->state);
}

/* ---- Writing ----------------------------------------------------------------------------------
 */

bk_status snd_log(struct bk_store *store, const struct snd_buf *changes, uint32_t durability,
		  struct bk_error *err)
{
	struct head head = {changes->len, sum_of(changes->data, changes->len)};
	struct snd_buf record = {NULL, 0, 0};
	size_t done = 0;
	bk_status st = BK_OK;

	if (changes->len == 0)
		return BK_OK;
	snd_buf_put(&record, &head, sizeof(head));
	snd_buf_put(&record, changes->data, changes->len);
	while (st == BK_OK && done < record.len) {
		ssize_t n = pwrite(store->log_fd, record.data + done, record.len - done,
				   (off_t)(store->log_bytes + done));

		if (n < 0 && errno != EINTR)
			st = snd_io(err, "write the log in", store->dir);
		done += n > 0 ? (size_t)n : 0;
	}
	if (st == BK_OK && durability == BK_DURABLE_MACHINE && fdatasync(store->log_fd) != 0)
		st = snd_io(err, "sync the log in", store->dir);
	if (st == BK_OK)
		store->log_bytes += record.len;
	else if (ftruncate(store->log_fd, (off_t)store->log_bytes) != 0)
		err->flags |= BK_ERR_OUTCOME_UNKNOWN;
	free(record.data);
	return st;
}
