/*
 * pack.h - a folder in one file: what a template is kept in, and its copies are unpacked from.
 *
 * A thousand small files cost most in being opened, one by one; from one file their bytes come a
 * quarter of a megabyte at a time, and a cold one is read in order.
 *
 * The layout is that of the machine that wrote it (byte order, no compression): head, bytes of all
 * files, index.  The folders come one after the other, each followed by its files, whose bytes lie
 * next to each other.  Blocks of zeros are left out.
 *
 * The one invariant: a pack that bk_pack_open() takes is complete, and no name or number in it
 * leads out of it.
 */
#ifndef BK_SERVICE_PACK_H
#define BK_SERVICE_PACK_H

#include <bakeoff/backend.h>

#include <sys/types.h>

struct bk_pack_extent { /* of a file: where it has bytes; between them are holes */
	uint64_t at, len;
};

enum bk_pack_kind { BK_PACK_FOLDER = 1, BK_PACK_FILE, BK_PACK_LINK };

struct bk_pack_entry {
	const char *name; /* its path in the tree; "" is the tree's own folder, the first entry */
	const struct bk_pack_extent *extents;
	uint64_t size, data_at; /* a link's data are what it points to */
	uint32_t extent_count;
	enum bk_pack_kind kind;
	mode_t mode;
};

struct bk_pack {
	int fd;
	char *index;
	struct bk_pack_entry *entries;
	size_t count;
	size_t *folders; /* numbers of the entries that are folders, and `count` */
	size_t folder_count;
	uint64_t data_end; /* where the bytes of the last file end */
};

/* `path` must not exist.  Files and bytes (as their sizes say) are counted. */
bk_status bk_pack_write(const char *path, const char *folder, uint64_t *files, uint64_t *bytes,
			struct bk_error *err);

/* INVALID when it is not a pack, or not all of one.  bk_pack_close() also after a failure. */
bk_status bk_pack_open(struct bk_pack *out, const char *path, struct bk_error *err);
void bk_pack_close(struct bk_pack *pack);

/* ---- The file, for pack.c and pack_read.c */
#define BK_PACK_MAGIC     "bkpack1"
#define BK_PACK_INDEX_MAX (UINT64_C(1) << 30) /* some ten million files */
struct bk_pack_head {
	char magic[8];
	uint64_t index_at, index_len, count;
};
struct bk_pack_raw { /* in the index: followed by its extents, and its name to a multiple of 8 */
	uint32_t kind, mode, name_len, extent_count;
	uint64_t size, data_at;
};

#endif
