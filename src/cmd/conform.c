/*
 * conform.c - `bakeoff conform`: does a backend keep the contract?
 *
 * The one invariant: the exit status is 1 only when a case failed; what kept the suite from
 * running at all is 2.
 */
#include "conform/conform.h"
#include "cmd/cmd.h"
#include "cmd/servers.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

static const struct bk_flag conform_flags[] = {
	{"set", "OPTION=VALUE", "set an option of the backend", 0, true},
	{"list", NULL, "list the cases instead of running them", 'l', false},
	{"run", "PATTERN", "run these cases only: a group, or a glob over group.case", 'r', true},
	{"seed", "N", "seed of the model group (default 1)", 0, false},
	{"timeout", "TIME", "for one case (default 30s)", 0, false},
	{"expect", "FILE", "expected failures (default: bk-NAME.expect beside the backend)", 0,
	 false},
	{"data", "FOLDER", "where a private server keeps its data (default: $TMPDIR or /tmp)", 0,
	 false},
	{"crash-command", "CMD", "kills the backend's server with SIGKILL and starts it again", 0,
	 false},
	{NULL, NULL, NULL, 0, false},
};

static int conform_fail(const struct bk_error *err)
{
	return bk_cmd_usage("%s", err->message);
}

/* "FILE.so" or anything with a slash is a path; the rest is looked up. */
static bk_status conform_load(struct bk_plugin **out, const char *name, struct bk_error *err)
{
	size_t n = strlen(name);

	if (strchr(name, '/') || (n > 3 && strcmp(name + n - 3, ".so") == 0))
		return bk_plugin_load(out, name, err);
	return bk_plugin_find(out, name, err);
}

/* "option=value" or "NAME.option=value" */
static bk_status conform_set(struct bk_options *options, const struct bk_plugin *plugin,
			     const char *pair, struct bk_error *err)
{
	size_t n = strlen(plugin->desc.name);

	if (strncmp(pair, plugin->desc.name, n) == 0 && pair[n] == '.')
		pair += n + 1;
	return bk_options_set_pair(options, pair, BK_FROM_USER, err);
}

static bk_status conform_numbers(struct bk_conform_config *config, const struct bk_cmd_args *args,
				 struct bk_error *err)
{
	const char *seed = bk_cmd_flag(args, "seed"), *timeout = bk_cmd_flag(args, "timeout");
	bk_status st = BK_OK;
	char *end;

	config->seed = 1;
	if (seed) {
		config->seed = strtoull(seed, &end, 10);
		if (seed[0] < '0' || seed[0] > '9' || *end)
			return bk_fail(err, BK_INVALID, 0, "--seed: '%s' is not a whole number",
				       seed);
	}
	if (timeout) {
		st = bk_units_parse_nsec(&config->timeout_ns, timeout, err);
		if (st == BK_OK && config->timeout_ns == 0)
			st = bk_fail(err, BK_INVALID, 0, "--timeout: it must be more than 0");
	}
	return st;
}

static bk_status conform_crash(void *ctx, struct bk_error *err)
{
	bk_status st = bk_service_kill(ctx, err);

	return st == BK_OK ? bk_service_restart(ctx, err) : st;
}

/* A server as production has it, on a disk: whatever a case asks for it promises. */
static bk_status conform_server(struct bk_service_run **out, const struct bk_cmd_args *args,
				struct bk_conform_config *config, struct bk_options *options,
				struct bk_error *err)
{
	const char *tmpdir = getenv("TMPDIR");
	struct bk_service_config service = {
		.profile = BK_PROFILE_BENCH,
		.durability = BK_DURABLE_MACHINE,
		.purpose = "conform",
		.data = bk_cmd_flag(args, "data"),
	};
	bk_status st;

	if (!service.data)
		service.data = tmpdir && tmpdir[0] == '/' ? tmpdir : "/tmp";
	bk_service_sweep();
	st = bk_service_start(out, config->plugin, options, &service, err);
	if (st == BK_OK && !config->crash) {
		config->crash = conform_crash;
		config->crash_ctx = *out;
	}
	return st;
}

static int conform_run(const struct bk_cmd_args *args, struct bk_conform_config *config,
		       struct bk_error *err)
{
	struct bk_service_run *server = NULL;
	struct bk_plugin *plugin = NULL;
	struct bk_options *options = NULL;
	struct bk_conform_result sum;
	bk_status st;
	size_t i;

	memset(&sum, 0, sizeof(sum));
	bk_options_read_environment();
	st = conform_load(&plugin, bk_cmd_operand(args, 0), err);
	if (st == BK_OK)
		st = bk_options_new(&options, &plugin->desc, err);
	for (i = 0; st == BK_OK && i < bk_cmd_flag_count(args, "set"); i++)
		st = conform_set(options, plugin, bk_cmd_flag_at(args, "set", i), err);
	config->plugin = plugin;
	config->options = options;
	if (st == BK_OK && bk_service_wanted(plugin, options))
		st = conform_server(&server, args, config, options, err);
	if (st == BK_OK)
		st = bk_conform_run(&sum, config, err);
	bk_service_stop(server);
	bk_options_free(options);
	bk_plugin_free(plugin);
	if (st != BK_OK)
		return conform_fail(err);
	return sum.failed ? BK_EXIT_FAILED : BK_EXIT_OK;
}

static int conform_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	struct bk_conform_config config;
	const char *crash = bk_cmd_flag(args, "crash-command"), **patterns;
	size_t n = bk_cmd_flag_count(args, "run"), i;
	bk_status st;
	int status;

	memset(&config, 0, sizeof(config));
	patterns = calloc(n + 1, sizeof(*patterns));
	if (!patterns)
		return bk_cmd_fail("out of memory");
	for (i = 0; i < n; i++)
		patterns[i] = bk_cmd_flag_at(args, "run", i);
	config.patterns = patterns;
	config.pattern_count = n;
	config.expect_path = bk_cmd_flag(args, "expect");
	config.out = stdout;
	if (crash) {
		config.crash = bk_conform_crash_command;
		config.crash_ctx = (void *)(uintptr_t)crash;
	}
	st = conform_numbers(&config, args, &err);
	if (st != BK_OK)
		status = conform_fail(&err);
	else if (bk_cmd_flag(args, "list"))
		status = bk_conform_list(patterns, n, stdout, &err) == BK_OK ? BK_EXIT_OK
									     : conform_fail(&err);
	else if (bk_cmd_operand_count(args) == 0)
		status = bk_cmd_usage("conform: which backend? name one, or give its FILE.so");
	else
		status = conform_run(args, &config, &err);
	free(patterns);
	return status;
}

const struct bk_cmd bk_cmd_conform = {
	.name = "conform",
	.operands = "FILE.so|NAME",
	.summary = "check a backend against the contract",
	.details =
		"Runs the conformance suite on a backend: each case in a process of its own, on a "
		"store of its own, with a time-out.  The result is printed as TAP, one line a "
		"case.  Cases that need a feature which the backend lacks are skipped.  Failures "
		"that the backend owns up to stand in its file of expectations; a pass of such a "
		"case is a failure.\n\n"
		"A store that lives in a folder gets a temporary one under TMPDIR. A backend that "
		"can start its server gets a private one, unless options or variables say where "
		"one is; there it gets spaces of its own, removed afterwards.\n\n"
		"The crash group kills a private server too, and starts it on the same data. For "
		"any other --crash-command does: CMD is run by the shell, must kill the server "
		"with SIGKILL, start it on the same data, and end with status 0 once it "
		"answers.\n\n"
		" bakeoff conform mem\n"
		" bakeoff conform ./bk-mine.so --run node --run 'walk.*step*'\n"
		" bakeoff conform mem --run model --seed 17",
	.flags = conform_flags,
	.operands_min = 0,
	.operands_max = 1,
	.exec = conform_exec,
};
