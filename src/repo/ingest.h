/*
 * ingest.h - puts resources into a repository, making the pairtree levels that they need.
 *
 * Bulk: nodes are gathered and go to the store by put_many, a batch at a time; nobody waits for
 * one.  Single: each object is stored when it is complete, in a transaction of its own where the
 * store has them.  The nodes are the same either way.
 */
#ifndef BK_REPO_INGEST_H
#define BK_REPO_INGEST_H

#include "repo/repo.h"

#define BK_INGEST_BATCH 1000u

struct bk_ingest;

/* The session outlives it.  `batch`: nodes a put_many; 0: single. */
bk_status bk_ingest_open(struct bk_ingest **out, struct bk_repo_session *session,
			 const struct bk_hierarchy *hierarchy, size_t batch, struct bk_error *err);
/* What has not been flushed is dropped. */
void bk_ingest_close(struct bk_ingest *ingest);

struct bk_ingest_link {
	const char *rel;
	const char *target; /* path */
};

/* Add a node at PARENT/NAME; `parent` NULL or "": a root.  Neither may be a path_out of this
 * ingest.  The document is borrowed for the call.
 */
bk_status bk_ingest_put(struct bk_ingest *ingest, const char *parent, const char *name,
			struct bk_slice doc, const struct bk_ingest_link *links, size_t link_count,
			struct bk_error *err);
/* The same under the hierarchy: PARENT/aa/bb/cc/dd/NAME, levels made where missing.  path_out:
 * where it landed, valid until the next call. */
bk_status bk_ingest_post(const char **path_out, struct bk_ingest *ingest, const char *parent,
			 const char *name, struct bk_slice doc, const struct bk_ingest_link *links,
			 size_t link_count, struct bk_error *err);
/* Single: an object is complete; what was added since the last call is stored in one transaction.
 * Bulk: no effect. */
bk_status bk_ingest_end_object(struct bk_ingest *ingest, struct bk_error *err);
/* Single, while the caller has a transaction open on the session: objects become part of it. */
void bk_ingest_in_txn(struct bk_ingest *ingest, bool in_txn);
/* What has been gathered is not stored. */
void bk_ingest_drop(struct bk_ingest *ingest);
bk_status bk_ingest_flush(struct bk_ingest *ingest, struct bk_error *err);

/* Where PARENT/aa/bb/cc/dd/NAME is; into buf, emptied first. */
void bk_ingest_path(struct bk_buf *buf, const struct bk_hierarchy *hierarchy, const char *parent,
		    const char *name);

#endif
