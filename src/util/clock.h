/*
 * clock.h - the one clock of every measurement: CLOCK_MONOTONIC in nanoseconds.
 *
 * Where operations follow each other the end of one is the start of the next (a chained clock):
 * one reading an operation instead of two, and no gap that nobody accounts for.
 */
#ifndef BK_UTIL_CLOCK_H
#define BK_UTIL_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t bk_clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

#endif
