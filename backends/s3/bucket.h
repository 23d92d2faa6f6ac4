/*
 * bucket.h - whole buckets, through the control thread's link.
 */
#ifndef BK_S3_BUCKET_H
#define BK_S3_BUCKET_H

#include "http.h"
#include "s3-common/own.h"

struct s3_hand { /* what the control thread works with */
	struct s3_link *link;
	struct s3_transfer *t;
};

bk_status s3_bucket_create(struct s3_hand hand, const char *name, struct bk_error *err);
/* Fine when it is gone. */
bk_status s3_bucket_delete(struct s3_hand hand, const char *name, struct bk_error *err);
bk_status s3_bucket_exists(bool *out, struct s3_hand hand, const char *name, struct bk_error *err);
/* The value of one of a bucket's tags; NOT_FOUND: it has no such tag. */
bk_status s3_bucket_tag(char *out, size_t cap, struct s3_hand hand, const char *name,
			const char *tag, struct bk_error *err);
#define S3_TAG_MARK    "bakeoff-mark"
#define S3_TAG_PLACE   "bakeoff-place"
#define S3_TAG_CREATED "bakeoff-created"

struct own_doors s3_doors(struct s3_hand *hand); /* lives as long as *hand */

#endif
