/*
 * binaries_job.h - many binaries written by workers, and read back by them.  Private to n-binaries.
 */
#ifndef BK_SCENARIO_BINARIES_JOB_H
#define BK_SCENARIO_BINARIES_JOB_H

#include "load/load.h"
#include "repo/object.h"
#include "scenario/content.h"
#include "scenario/reading.h"

#define BK_BINARIES_PARENT "binaries"

struct bk_binaries_job { /* shared by the workers */
	const struct bk_env *env;
	struct bk_hierarchy hierarchy;
	uint64_t n, size;
	uint64_t step; /* binary read by operation k: k * step */
	bool inlined, key_is_digest;
	enum bk_protocol protocol;
	int digests; /* a file, for there may be many: BK_SHA256_HEX bytes each, in order; -1 */
	struct bk_binaries_worker *workers;
};

/* Workers, as many as the case has threads, and the digest of each binary. */
bk_status bk_binaries_job_init(struct bk_binaries_job *job, struct bk_error *err);
void bk_binaries_job_free(struct bk_binaries_job *job);

/* Each binary with its nodes, metered. */
bk_status bk_binaries_ingest(struct bk_load_result *r, struct bk_binaries_job *job,
			     struct bk_error *err);

/* Every step-th binary, byte by byte; into `first`, the times to the first byte. */
bk_status bk_binaries_read(struct bk_load_result *r, struct bk_histogram *first,
			   struct bk_binaries_job *job, struct bk_error *err);

#endif
