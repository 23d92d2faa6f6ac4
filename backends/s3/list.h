/*
 * list.h - pages of what a bucket holds: objects, their versions, uploads that nobody ended.
 *
 * The one invariant: a key comes out as it was put in; the server is asked to encode it, because
 * XML cannot carry every byte that a key may have.
 */
#ifndef BK_S3_LIST_H
#define BK_S3_LIST_H

#include "http.h"
#include "s3-common/page.h"

enum s3_list_kind { S3_LIST_OBJECTS, S3_LIST_VERSIONS, S3_LIST_UPLOADS };

struct s3_listing { /* starts as all zero; one page at a time */
	struct s3_page page;
	enum s3_list_kind kind;
	struct s3_buf next_id; /* where the next page begins: page.next, and this */
	/* while a page is read */
	bool encoded;
	struct s3_item item;
};

/* Forget where it was: the next page is the first. */
void s3_listing_start(struct s3_listing *l, enum s3_list_kind kind);
/* The next page of what begins with `prefix`, at most `page` of them. */
bk_status s3_listing_page(struct s3_listing *l, struct s3_transfer *t, struct s3_link *link,
			  const char *bucket, const char *prefix, uint64_t page,
			  struct bk_error *err);
void s3_listing_free(struct s3_listing *l);

/* The same for objects, as a page of its own. */
bk_status s3_page_next(struct s3_page *page, struct s3_transfer *t, struct s3_link *link,
		       const char *bucket, const char *prefix, uint64_t most, struct bk_error *err);

/* Delete what begins with `prefix`, versions and unfinished uploads too, save the object `keep`
 * (NULL: nothing is spared). */
bk_status s3_purge(struct s3_transfer *t, struct s3_link *link, const char *bucket,
		   const char *prefix, const char *keep, struct bk_error *err);

#endif
