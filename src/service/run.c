/*
 * run.c - from a plugin and option values to a keeper at work.
 */
#include "service/run.h"

#include "service/keeper.h"
#include "service/net.h"
#include "service/proc.h"
#include "service/root.h"
#include "service/state.h"
#include "service/template.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define RUN_PASSWORD_LEN 24

static uint32_t run_mask(const struct bk_service *service, const struct bk_service_config *config)
{
	uint32_t mask = config->profile == BK_PROFILE_TEST ? BK_WHEN_TEST : BK_WHEN_BENCH;

	mask |= config->tcp || (service && (service->flags & BK_SERVICE_TCP_ONLY)) ? BK_WHEN_TCP
										   : BK_WHEN_SOCKET;
	if (config->durability == BK_DURABLE_NONE)
		return mask | BK_WHEN_NONE;
	return mask |
	       (config->durability == BK_DURABLE_PROCESS ? BK_WHEN_PROCESS : BK_WHEN_MACHINE);
}

static bk_status run_copy_config(struct bk_service_run *run, const struct bk_service_config *config,
				 struct bk_error *err)
{
	run->config = *config;
	run->config.purpose = strdup(config->purpose ? config->purpose : "");
	run->config.data = config->data ? strdup(config->data) : NULL;
	if (!run->config.purpose || (config->data && !run->config.data))
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	bk_wire_clean((char *)run->config.purpose); /* a program's name may be any bytes */
	return BK_OK;
}

static bk_status run_names(struct bk_service_run *run, struct bk_error *err)
{
	char password[RUN_PASSWORD_LEN + 1], uuid[37], uuid2[37];
	struct bk_values *v = &run->values;
	bk_status st = bk_net_random(run->suffix, 6, true, err);

	if (st == BK_OK)
		st = bk_net_random(password, RUN_PASSWORD_LEN, false, err);
	if (st == BK_OK)
		st = bk_net_uuid(uuid, err);
	if (st == BK_OK)
		st = bk_net_uuid(uuid2, err);
	if (st != BK_OK)
		return st;
	snprintf(run->id, sizeof(run->id), "%.64s-%s", run->plugin->desc.name, run->suffix);
	if (!bk_values_set(v, "user", BK_SERVICE_NAME) ||
	    !bk_values_set(v, "database", BK_SERVICE_NAME) ||
	    !bk_values_set(v, "database_dns", BK_SERVICE_NAME) ||
	    !bk_values_set(v, "password", password) || !bk_values_set(v, "uuid", uuid) ||
	    !bk_values_set(v, "uuid2", uuid2) ||
	    !bk_values_set(v, "bin", run->programs.folder ? run->programs.folder : ""))
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	return BK_OK;
}

static bk_status run_find_programs(struct bk_service_run *run, struct bk_error *err)
{
	const struct bk_service *service = run->plugin->desc.service;
	char *bin_dir;
	bk_status st;

	if (!service) {
		if (bk_options_flagged(run->options, BK_OPTF_FOLDER))
			return BK_OK;
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "backend '%s' has no server that bakeoff could start, nor a folder",
			       run->plugin->desc.name);
	}
	bin_dir = bk_service_option_text(run->options, "bin-dir");
	st = bk_programs_find(&run->programs, &run->service, service, run->plugin->desc.name,
			      bin_dir, err);
	free(bin_dir);
	return st;
}

void bk_run_free(struct bk_service_run *run)
{
	if (!run)
		return;
	if (run->control >= 0)
		close(run->control);
	if (run->keeper_fd >= 0)
		close(run->keeper_fd);
	bk_programs_free(&run->programs);
	bk_values_free(&run->values);
	bk_buf_free(&run->log);
	json_decref(run->given);
	free((char *)run->config.purpose);
	free((char *)run->config.data);
	free(run->root);
	free(run->folder);
	free(run->template);
	free(run->key);
	free(run->pids);
	free(run);
}

bk_status bk_run_new(struct bk_service_run **out, const struct bk_plugin *plugin,
		     struct bk_options *options, const struct bk_service_config *config,
		     struct bk_error *err)
{
	struct bk_service_run *run = calloc(1, sizeof(*run));
	bk_status st;

	if (!run)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	run->plugin = plugin;
	run->options = options;
	run->control = run->keeper_fd = -1;
	run->deadline_ns = bk_service_now_ns() +
			   (config->timeout_ns ? config->timeout_ns : BK_SERVICE_TIMEOUT);
	st = bk_options_drop_environment(options, err);
	run->given = bk_service_given(options);
	if (st == BK_OK && !run->given)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st == BK_OK)
		st = run_copy_config(run, config, err);
	if (st == BK_OK)
		st = run_find_programs(run, err);
	if (st == BK_OK)
		st = run_names(run, err);
	if (st != BK_OK) {
		bk_run_free(run);
		return st;
	}
	run->mask = run_mask(run->service, config);
	*out = run;
	return BK_OK;
}

static bool run_is_no_utf8(const char *text)
{
	json_t *probe = json_string(text);

	json_decref(probe);
	return probe == NULL;
}

static bk_status run_choose_folder(struct bk_service_run *run, struct bk_error *err)
{
	uint64_t need = run->template ? bk_template_bytes(run->key) : UINT64_C(64) << 20;
	struct bk_buf name = BK_BUF_INIT;
	bk_status st;

	if (!run->service)
		need = 0;
	st = bk_root_choose(&run->root, &run->config, need, err);
	if (st != BK_OK)
		return st;
	if (run_is_no_utf8(run->root)) /* state.json holds it */
		return bk_fail(err, BK_INVALID, 0,
			       "the path of the data folder is not UTF-8; name another one");
	bk_identity_choose(&run->identity, run->service, run->root);
	if (!run->service) /* a folder for whoever runs bakeoff */
		run->identity = (struct bk_identity){.uid = geteuid(), .gid = getegid()};
	bk_buf_putf(&name, "%s/" BK_ROOT_PREFIX "%s", run->root, run->suffix);
	run->folder = bk_buf_steal(&name);
	return run->folder ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

bk_status bk_run_launch(struct bk_service_run *run, struct bk_error *err)
{
	bk_status st = run_choose_folder(run, err);
	int pair[2];

	if (st != BK_OK)
		return st;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return bk_fail(err, BK_IO, errno, "cannot make a socket pair: %s", strerror(errno));
	fflush(NULL); /* nothing of ours is written twice */
	run->keeper = fork();
	if (run->keeper == 0)
		bk_keeper_main(run, pair[1]);
	close(pair[1]);
	run->control = pair[0];
	if (run->keeper < 0) {
		run->keeper = 0;
		return bk_fail(err, BK_IO, errno, "cannot fork: %s", strerror(errno));
	}
	run->keeper_fd = bk_proc_pidfd(run->keeper);
	return BK_OK;
}

bk_status bk_service_begin(struct bk_service_run **out, const struct bk_plugin *plugin,
			   struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err)
{
	struct bk_service_run *run;
	bk_status st = bk_run_new(&run, plugin, options, config, err);

	if (st != BK_OK)
		return st;
	if (run->service && (run->service->flags & BK_SERVICE_COPY))
		st = bk_run_template(run, err);
	if (st == BK_OK)
		st = bk_run_launch(run, err);
	if (st != BK_OK) {
		bk_run_free(run);
		return st;
	}
	*out = run;
	return BK_OK;
}

bk_status bk_service_where(char **data, char **cache, struct bk_error *err)
{
	const struct bk_service_config config = {.profile = BK_PROFILE_TEST};
	bk_status st = bk_root_choose(data, &config, UINT64_C(64) << 20, err);

	if (st != BK_OK)
		return st;
	st = bk_state_cache(cache, "templates", err);
	if (st != BK_OK)
		free(*data);
	return st;
}

bk_status bk_service_probe(char **program, char **user, const struct bk_plugin *plugin,
			   const struct bk_options *options, struct bk_error *err)
{
	struct bk_programs programs = {0};
	const struct bk_service *chosen = NULL;
	struct bk_identity identity;
	char *bin_dir;
	bk_status st;

	if (!plugin->desc.service)
		return bk_fail(err, BK_UNSUPPORTED, 0, "backend '%s' has no server",
			       plugin->desc.name);
	bin_dir = bk_service_option_text(options, "bin-dir");
	st = bk_programs_find(&programs, &chosen, plugin->desc.service, plugin->desc.name, bin_dir,
			      err);
	free(bin_dir);
	if (st != BK_OK)
		return st;
	bk_identity_choose(&identity, chosen, "/");
	if (program)
		*program = strdup(programs.count ? programs.items[0].path : "");
	if (user)
		*user = strdup(identity.user);
	bk_programs_free(&programs);
	return BK_OK;
}
