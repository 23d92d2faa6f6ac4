/*
 * page.h - a listing by prefix, page by page, and what both backends make of one.
 *
 * The one invariant: keys stand in a page as the server gave them, in its order; a page that could
 * not be got leaves `next` where it was.
 */
#ifndef BK_S3_PAGE_H
#define BK_S3_PAGE_H

#include "buf.h"

#include <bakeoff/backend.h>

struct s3_item {                         /* places in the page's text */
	size_t key, key_len, id, id_len; /* id: of a version or an upload, where those are listed */
	uint64_t size_bytes;
};

struct s3_page { /* starts as all zero */
	struct s3_buf text;
	struct s3_item *items;
	size_t count, cap;
	struct s3_buf next; /* where the next page begins, as the server wants to be told */
	bool begun, more;   /* a page was fetched; there is another */
	bool failed;        /* out of memory */
};

void s3_page_start(struct s3_page *page); /* the next page is the first */
void s3_page_empty(struct s3_page *page); /* before one is read */
void s3_page_add(struct s3_page *page, const struct s3_item *item);
void s3_page_put(struct s3_page *page, const char *key, uint64_t size_bytes);
bool s3_page_failed(const struct s3_page *page);
void s3_page_free(struct s3_page *page);

static inline struct bk_slice s3_page_key(const struct s3_page *page, size_t i)
{
	return bk_slice_of(page->text.data + page->items[i].key, page->items[i].key_len);
}

/* ---- What is made of pages; `own_doors` gets them (own.h) ---------------------------------- */

struct own_doors;

struct s3_cursor { /* starts as all zero */
	struct s3_page page;
	size_t at; /* of the page */
	struct s3_buf keys;
	bool open;
};

bk_status s3_cursor_open(struct s3_cursor *c, const char *backend, struct bk_error *err);
/* As list_next of the binaries; pages of `most`. */
bk_status s3_cursor_next(struct s3_cursor *c, const struct own_doors *d, unsigned most,
			 struct bk_slice *keys, uint64_t *sizes_bytes, size_t cap, size_t *n,
			 struct bk_error *err);
void s3_cursor_free(struct s3_cursor *c);

/* Count, bytes and sizes of a store's binaries.  Listing stops after so many pages, and says so. */
bk_status s3_sizes_tell(const struct own_doors *d, const struct bk_sink *sink,
			struct bk_error *err);

#endif
