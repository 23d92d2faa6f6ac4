/*
 * own.h - whose is what: the mark of a store, the mark of a bucket, the claim to one being made.
 *
 * Three objects and a tag tell:
 *   SPACE/.bakeoff      the store's owner mark: first line the mark, second the backend
 *   [PREFIX/].bakeoff   bakeoff may live in this bucket (below PREFIX/).  Written by make() when it
 *                       has created the bucket ("made-bucket"), or put there by the bucket's owner
 *   bucket BUCKET-claim exists while BUCKET is being created or removed: a bucket without a mark is
 *                       then our own half-made one.  Creation is the only thing that is atomic here
 *   tags of a bucket    it is a place (place.c)
 *
 * The one invariant: a bucket that exists and tells none of this is somebody else's.
 */
#ifndef BK_S3_OWN_H
#define BK_S3_OWN_H

#include "http.h"

/* One who owns, looks or makes: the control thread's transfer and link. */
struct s3_hand {
	struct s3_link *link;
	struct s3_transfer *t;
};

enum s3_owner {
	S3_NO_BUCKET,
	S3_FREE,   /* the bucket is ours to use, and nothing is below the prefix */
	S3_OURS,   /* the store is made */
	S3_FOREIGN /* `why` says how that shows */
};

struct s3_look {
	enum s3_owner owner;
	bool half_made; /* a claim of ours is there */
	char why[300];
};

bk_status s3_look(struct s3_look *out, struct s3_hand hand, struct bk_error *err);
bk_status s3_foreign(const struct s3_config *config, const char *what, const struct s3_look *look,
		     struct bk_error *err);

/* A bucket with nothing in it but the mark of the bucket. */
bk_status s3_bucket_make(struct s3_hand hand, struct bk_error *err);
/* The rest of that, where it was cut short. */
bk_status s3_bucket_adopt(struct s3_hand hand, struct bk_error *err);
/* The bucket goes if bakeoff has made it and nothing but its mark is in it.  Else nothing. */
bk_status s3_bucket_unmake(struct s3_hand hand, struct bk_error *err);

bk_status s3_mark_write(struct s3_hand hand, struct bk_error *err);

/* ---- Parts of these, for places too */

bk_status s3_bucket_create(struct s3_hand hand, const char *name, struct bk_error *err);
bk_status s3_bucket_delete(struct s3_hand hand, const char *name, struct bk_error *err);
bk_status s3_bucket_exists(bool *out, struct s3_hand hand, const char *name, struct bk_error *err);
bk_status s3_bucket_is_empty(bool *out, struct s3_hand hand, const char *name,
			     struct bk_error *err);
bk_status s3_claim(struct s3_hand hand, const char *name, struct bk_error *err);
void s3_unclaim(struct s3_hand hand, const char *name);
bool s3_is_claimed(struct s3_hand hand, const char *name);
/* The value of one of a bucket's tags; NOT_FOUND: it has no such tag. */
bk_status s3_bucket_tag(char *out, size_t cap, struct s3_hand hand, const char *name,
			const char *tag, struct bk_error *err);
#define S3_TAG_MARK    "bakeoff-mark"
#define S3_TAG_PLACE   "bakeoff-place"
#define S3_TAG_CREATED "bakeoff-created"

#endif
