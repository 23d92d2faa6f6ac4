/*
 * bench.h - what the benchmarks share: interleaved measuring, medians, one line a measure.
 *
 * The one invariant: what is compared is measured in one run, in turns (ABAB...), and reported by
 * medians; the machine drifts.
 */
#ifndef BK_TESTS_BENCH_H
#define BK_TESTS_BENCH_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <stddef.h>

struct bk_layered;
struct bk_plugin;
struct bk_options;

struct bench {
	const char *name; /* with its unit: layers_ns, leveldb_get_ratio */
	double goal;
	bool at_least; /* else at most */
	double (*measure)(void);
};

/* main() of a benchmark: "--list" prints the names; else the named ones, or all, are measured, and
 * each prints NAME VALUE GOAL ok|short.  Exit status: 0 all ok, 1 some short, 2 could not be
 * measured. */
int bench_main(int argc, char **argv, const struct bench *list, size_t n);

/* This program again, as the command of `bakeoff exec BACKEND`: with a private server.  Does not
 * return. */
void bench_exec(const char *backend, int argc, char **argv) __attribute__((noreturn));

double bench_now_ns(void);
double bench_median(double *values, size_t n); /* sorts them */

/* A backend's store, made, in a folder of its own beneath $BENCH_DIR (else the current folder)
 * where it takes one.  `sets`: "option=value"..., ends with NULL; or NULL.  Ends the process when
 * it cannot. */
struct bench_store {
	struct bk_plugin *plugin;
	struct bk_options *options;
	struct bk_layered *io;
	char folder[4096];
};
void bench_open(struct bench_store *b, const char *backend, uint32_t durability,
		const char *const *sets);
struct bk_session *bench_session(struct bench_store *b, uint32_t durability);
void bench_close(struct bench_store *b); /* unmakes it, removes the folder */

void bench_folder(char *out, size_t cap); /* a new, empty one, beneath the same */
void bench_remove(const char *folder);

void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void bench_check(bk_status st, const char *what, const struct bk_error *err);

#endif
