/*
 * own.h - whose is what: the mark of a store, the mark of a bucket, the claim to one being made.
 * bk-s3 and bk-s3-libs3 are both built with it; `doors` are how each of them reaches its server.
 *
 *   SPACE/.bakeoff      the store's owner mark: first line the mark, second the backend
 *   [PREFIX/].bakeoff   bakeoff may live in this bucket (below PREFIX/).  Written by make() when it
 *                       has created the bucket ("made-bucket"), or put there by the bucket's owner
 *   bucket BUCKET-claim exists while BUCKET is being created or removed: a bucket without a mark is
 *                       then our own half-made one.  Creation is the only thing that is atomic here
 *   tags of a bucket    it is a place
 *
 * The one invariant: a bucket that exists and tells none of this is somebody else's.
 */
#ifndef BK_S3_OWN_H
#define BK_S3_OWN_H

#include "page.h"
#include "site.h"

#define OWN_MARK ".bakeoff"

enum own_found { OWN_THERE, OWN_NO_OBJECT, OWN_NO_BUCKET };

/* Each answers OK or fills *err; what is not there is an answer, not an error. */
struct own_doors {
	void *ctx;
	const struct s3_site *site;
	/* An object of the site's bucket; `what` begins an error text. */
	bk_status (*read)(void *ctx, const char *what, enum own_found *found, struct s3_buf *text,
			  const char *key, struct bk_error *err);
	bk_status (*write)(void *ctx, const char *key, const char *text, struct bk_error *err);
	bk_status (*remove)(void *ctx, const char *key, struct bk_error *err);
	/* The next page of the keys that begin with `prefix`, at most `most` of them. */
	bk_status (*page)(void *ctx, struct s3_page *page, const char *bucket, const char *prefix,
			  unsigned most, struct bk_error *err);
	/* All that is below the site's space goes, but for the object `keep` (NULL: nothing). */
	bk_status (*purge)(void *ctx, const char *keep, struct bk_error *err);
	/* *refused: the name is another's, or these keys may not.  Fine when it is ours already. */
	bk_status (*bucket_make)(void *ctx, bool *refused, const char *name, struct bk_error *err);
	/* Fine when it is gone. */
	bk_status (*bucket_remove)(void *ctx, const char *name, struct bk_error *err);
	bk_status (*bucket_exists)(void *ctx, bool *out, const char *name, struct bk_error *err);
	bool (*is_place)(void *ctx, const char *bucket); /* NULL: it cannot tell */
	/* Once the store is made: does the server keep what is offered?  NULL: nothing to ask. */
	bk_status (*settle)(void *ctx, struct bk_error *err);
	/* Appends the binary's key in an object's: its length; 0: it is the mark. */
	size_t (*own_key)(struct s3_buf *out, const struct s3_site *site, struct bk_slice full);
};

enum own_owner {
	OWN_ABSENT, /* there is no bucket */
	OWN_FREE,   /* the bucket is ours to use, and nothing is below the prefix */
	OWN_OURS,   /* the store is made */
	OWN_FOREIGN /* `why` says how that shows */
};

struct own_look {
	enum own_owner owner;
	bool half_made; /* a claim of ours is there */
	char why[300];
};

bk_status own_look(struct own_look *out, const struct own_doors *d, struct bk_error *err);
bk_status own_foreign(const struct own_doors *d, const char *what, const struct own_look *look,
		      struct bk_error *err);
/* How many of at most `most` keys begin with `prefix`, and the first of them. */
bk_status own_first(size_t *count, struct s3_buf *key, const struct own_doors *d,
		    const char *bucket, const char *prefix, unsigned most, struct bk_error *err);
/* A session may open only on a store that is made, and ours. */
bk_status own_session(const struct own_doors *d, struct bk_error *err);

/* "PREFIX/.bakeoff", the caller's to free. */
char *own_mark_key(const char *prefix);
bk_status own_mark_read(const struct own_doors *d, const char *what, enum own_found *found,
			struct s3_buf *text, const char *prefix, struct bk_error *err);

/* ---- life.c: the store's make, clear and unmake -------------------------------------------- */

bk_status own_make(const struct own_doors *d, struct bk_error *err);
bk_status own_clear(const struct own_doors *d, struct bk_error *err);
bk_status own_unmake(const struct own_doors *d, struct bk_error *err);

/* ---- Claims -------------------------------------------------------------------------------- */

bk_status own_claim(const struct own_doors *d, const char *bucket, struct bk_error *err);
void own_unclaim(const struct own_doors *d, const char *bucket);
/* `why`: what the creation failed with; the claim stays while the bucket may have come about. */
void own_unclaim_failed(const struct own_doors *d, const char *bucket, const struct bk_error *why);
bool own_is_claimed(const struct own_doors *d, const char *bucket);

#endif
