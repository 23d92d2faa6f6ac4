/*
 * usage.h - what this process has cost so far.
 */
#ifndef BK_HOST_USAGE_H
#define BK_HOST_USAGE_H

#include <stdint.h>

struct bk_usage {
	uint64_t cpu_ns;        /* user and system, all threads */
	uint64_t written_bytes; /* caused to be sent to the disk (/proc/self/io); UINT64_MAX:
				   unknown */
	uint64_t peak_bytes;    /* resident, highest so far */
};
void bk_usage_self(struct bk_usage *out);

#endif
