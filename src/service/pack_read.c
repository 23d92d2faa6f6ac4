/*
 * pack_read.c - opening a pack.  Everything in it is looked at before it is believed: a cache may
 * have been cut short, or written by another version.
 */
#include "service/pack.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bk_status pkr_read(int fd, void *out, uint64_t len, uint64_t at)
{
	char *to = out;

	while (len > 0) {
		ssize_t n = pread(fd, to, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return BK_INVALID;
		to += n;
		at += (uint64_t)n;
		len -= (uint64_t)n;
	}
	return BK_OK;
}

/* Relative, and below the tree: no part of it is empty, "." or "..". */
static bool pkr_name_is_good(const char *name)
{
	while (*name) {
		size_t len = strcspn(name, "/");

		if (len == 0 || (len == 1 && name[0] == '.') ||
		    (len == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += len;
		if (*name == '/' && *++name == '\0')
			return false;
	}
	return true;
}

/* In order, within the file; their sum is what it has in the pack. */
static bool pkr_extents_are_good(const struct bk_pack_entry *e, uint64_t end)
{
	uint64_t at = 0, sum = 0;
	uint32_t i;

	if (e->data_at > end)
		return false;
	for (i = 0; i < e->extent_count; i++) {
		const struct bk_pack_extent *x = &e->extents[i];

		if (x->at < at || x->at > e->size || x->len > e->size - x->at)
			return false;
		at = x->at + x->len;
		sum += x->len;
	}
	if (e->kind == BK_PACK_LINK)
		sum = e->size;
	return sum <= end - e->data_at;
}

/* The entry at `at` of the index; 0: it is not a good one; else where the next is. */
static uint64_t pkr_entry(struct bk_pack_entry *out, const char *index, uint64_t len, uint64_t at,
			  uint64_t data_end)
{
	struct bk_pack_raw raw;
	uint64_t extents, left = len - at;

	if (left < sizeof(raw))
		return 0;
	memcpy(&raw, index + at, sizeof(raw));
	left -= sizeof(raw);
	extents = raw.extent_count * (uint64_t)sizeof(struct bk_pack_extent);
	if (extents > left || raw.name_len >= left - extents)
		return 0;
	at += sizeof(raw);
	*out = (struct bk_pack_entry){
		.name = index + at + extents,
		/* aligned: everything in the index is a multiple of 8 */
		.extents = (const struct bk_pack_extent *)(const void *)(index + at),
		.size = raw.size,
		.data_at = raw.data_at,
		.extent_count = raw.extent_count,
		.kind = raw.kind,
		.mode = raw.mode & 07777,
	};
	if (strnlen(out->name, raw.name_len + 1) != raw.name_len || !pkr_name_is_good(out->name) ||
	    raw.kind < BK_PACK_FOLDER || raw.kind > BK_PACK_LINK || raw.size > INT64_MAX ||
	    !pkr_extents_are_good(out, data_end))
		return 0;
	at += extents + raw.name_len + 1;
	return (at + 7) & ~UINT64_C(7);
}

/* A file or link lies right in the folder that it comes after.  So none is reached by way of a link
 * that the pack itself brings. */
static bool pkr_is_in(const char *name, const char *folder)
{
	size_t len = strlen(folder);

	if (len > 0) {
		if (strncmp(name, folder, len) != 0 || name[len] != '/')
			return false;
		name += len + 1;
	}
	return strchr(name, '/') == NULL;
}

static bk_status pkr_index(struct bk_pack *pack, const struct bk_pack_head *head)
{
	const char *folder = "";
	uint64_t at = 0;
	size_t i;

	for (i = 0; i < head->count; i++) {
		struct bk_pack_entry *e = &pack->entries[i];

		at = at <= head->index_len
			     ? pkr_entry(e, pack->index, head->index_len, at, head->index_at)
			     : 0;
		/* The first, and it alone, is the tree's own folder. */
		if (at == 0 || (i == 0) != (e->name[0] == '\0') ||
		    (i == 0 && e->kind != BK_PACK_FOLDER))
			return BK_INVALID;
		if (e->kind == BK_PACK_FOLDER) {
			pack->folders[pack->folder_count++] = i;
			folder = e->name;
		} else if (!pkr_is_in(e->name, folder)) {
			return BK_INVALID;
		}
	}
	pack->count = head->count;
	pack->data_end = head->index_at;
	pack->folders[pack->folder_count] = pack->count;
	return BK_OK;
}

bk_status bk_pack_open(struct bk_pack *out, const char *path, struct bk_error *err)
{
	struct bk_pack_head head;
	struct stat sb;
	bk_status st;

	memset(out, 0, sizeof(*out));
	/* a FIFO of that name is not waited for */
	out->fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (out->fd < 0 || fstat(out->fd, &sb) != 0)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot open %s: %s", path,
			       strerror(errno));
	st = S_ISREG(sb.st_mode) ? pkr_read(out->fd, &head, sizeof(head), 0) : BK_INVALID;
	if (st == BK_OK && (memcmp(head.magic, BK_PACK_MAGIC, sizeof(head.magic)) != 0 ||
			    head.index_at < sizeof(head) || head.index_at > (uint64_t)sb.st_size ||
			    head.index_len != (uint64_t)sb.st_size - head.index_at ||
			    head.index_len > BK_PACK_INDEX_MAX || head.count == 0 ||
			    head.count > head.index_len / sizeof(struct bk_pack_raw)))
		st = BK_INVALID;
	if (st == BK_OK) {
		out->index = malloc(head.index_len);
		out->entries = calloc(head.count, sizeof(*out->entries));
		out->folders = calloc(head.count + 1, sizeof(*out->folders));
		if (!out->index || !out->entries || !out->folders)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		st = pkr_read(out->fd, out->index, head.index_len, head.index_at);
	}
	if (st == BK_OK)
		st = pkr_index(out, &head);
	if (st != BK_OK)
		bk_fail(err, BK_INVALID, 0, "%s is not a template, or not all of one", path);
	return st;
}

void bk_pack_close(struct bk_pack *pack)
{
	if (pack->fd >= 0)
		close(pack->fd);
	free(pack->index);
	free(pack->entries);
	free(pack->folders);
	memset(pack, 0, sizeof(*pack));
	pack->fd = -1;
}
