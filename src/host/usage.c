/*
 * usage.c - getrusage and /proc/self.
 */
#include "host/usage.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

static uint64_t written_bytes(void)
{
	FILE *f = fopen("/proc/self/io", "re");
	uint64_t value, found = UINT64_MAX;
	char line[128];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "write_bytes: %" SCNu64, &value) == 1)
			found = value;
	}
	if (f)
		fclose(f);
	return found;
}

void bk_usage_self(struct bk_usage *out)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	out->cpu_ns = (uint64_t)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * UINT64_C(1000000000) +
		      (uint64_t)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * UINT64_C(1000);
	out->peak_bytes = (uint64_t)r.ru_maxrss * 1024;
	out->written_bytes = written_bytes();
}
