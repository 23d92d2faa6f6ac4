/*
 * conform.h - the conformance suite: does a backend keep the contract of backend.h?
 *
 * The one invariant: each case runs in a process of its own on a store of its own, so that no
 * case can spoil, or lean on, another.
 */
#ifndef BK_CONFORM_CONFORM_H
#define BK_CONFORM_CONFORM_H

#include "plugin/options.h"
#include "plugin/plugin.h"

#include <stdio.h>

struct bk_conform_config {
	const struct bk_plugin *plugin;
	const struct bk_options *options;
	/* Globs over "group.case"; a bare group name means all of it.  None: every case. */
	const char *const *patterns;
	size_t pattern_count;
	uint64_t seed;           /* of the model group; printed, so that a failure replays */
	uint64_t timeout_ns;     /* for one case; 0: 30 s, more under a sanitizer */
	const char *expect_path; /* expected failures; NULL: bk-NAME.expect beside the backend */
	/* For a backend whose store is a server: kill it as SIGKILL does, start it again on the
	 * same data, return when it answers.  Called in the process that called
	 * bk_conform_run(), while a case waits.  NULL: the crash cases kill the client only. */
	bk_status (*crash)(void *ctx, struct bk_error *err);
	void *crash_ctx;
	FILE *out; /* TAP */
};

struct bk_conform_result {
	size_t passed, failed, skipped, expected; /* expected: failures that were expected */
};

/* Runs what the patterns select.  Anything but OK: nothing could be run (no case matches, a bad
 * file of expectations, a store that does not open). */
bk_status bk_conform_run(struct bk_conform_result *out, const struct bk_conform_config *config,
			 struct bk_error *err);

/* One line a case that the patterns select: name, features needed, what it shows. */
bk_status bk_conform_list(const char *const *patterns, size_t pattern_count, FILE *out,
			  struct bk_error *err);

/* For `crash` above: run `command` by the shell and wait for it; its status must be 0. */
bk_status bk_conform_crash_command(void *command, struct bk_error *err);

#endif
