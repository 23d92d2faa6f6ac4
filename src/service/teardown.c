/*
 * teardown.c - ending, and bringing back to its beginning, what runs under an id.
 *
 * The one invariant: of a server that is not ours only what bears our mark is touched, and the
 * backend checks the mark itself before its first destructive step.
 */
#include "service/keeper.h"
#include "service/place.h"
#include "service/proc.h"
#include "service/state.h"
#include "service/sweep.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define TDN_END_MS 20000

static bk_status tdn_end_keeper(const json_t *state, const char *id, struct bk_error *err)
{
	const json_t *keeper = json_object_get(state, "keeper");
	int fd = bk_proc_open((pid_t)bk_state_u64(keeper, "pid"), bk_state_u64(keeper, "start"));
	bool ended;

	if (fd < 0)
		return BK_OK;
	bk_proc_signal(fd, SIGTERM);
	ended = bk_proc_wait(fd, TDN_END_MS);
	if (!ended) {
		bk_proc_signal(fd, SIGKILL);
		ended = bk_proc_wait(fd, 5000);
	}
	close(fd);
	return ended ? BK_OK : bk_fail(err, BK_TIMEOUT, 0, "the keeper of %s does not end", id);
}

bk_status bk_service_teardown(const char *id, struct bk_error *err)
{
	char *folder = bk_state_folder(id);
	json_t *state = NULL;
	bk_status st = bk_state_by_id(&state, id, err);

	if (st == BK_OK && json_is_true(json_object_get(state, "existing"))) {
		st = bk_place_teardown(id, folder, state, err);
	} else if (st == BK_OK) {
		st = tdn_end_keeper(state, id, err);
		if (st == BK_OK && bk_fs_is_folder(folder))
			bk_sweep_folder(folder);
		if (st == BK_OK && bk_fs_is_folder(folder))
			st = bk_fail(err, BK_IO, 0, "%s could not be removed: %s", id, folder);
	}
	json_decref(state);
	free(folder);
	return st;
}

bk_status bk_service_forget(const char *id, struct bk_error *err)
{
	char *folder = bk_state_folder(id);
	json_t *state = NULL;
	bk_status st = bk_state_by_id(&state, id, err);

	if (st == BK_OK && !json_is_true(json_object_get(state, "existing")))
		st = bk_fail(err, BK_INVALID, 0, "%s is a server of ours: it can be torn down", id);
	if (st == BK_OK)
		st = bk_fs_remove_tree(folder, err);
	json_decref(state);
	free(folder);
	return st;
}

static int tdn_connect(const char *folder)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/control", at);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&sun, sizeof(sun)) != 0) {
		close(fd);
		fd = -1;
	}
	if (at >= 0)
		close(at);
	return fd;
}

static bk_status tdn_ask_keeper(const char *folder, const char *what, struct bk_error *err)
{
	/* The keeper has a deadline of its own and more to say about it. */
	struct timeval patience = {BK_SERVICE_TIMEOUT / UINT64_C(1000000000) + 8, 0};
	int fd = tdn_connect(folder);
	json_t *answer;
	bk_status st;

	if (fd < 0)
		return bk_fail(err, BK_UNAVAILABLE, errno, "the server's keeper does not answer");
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	bk_wire_send(fd, json_pack("{s:s}", "do", what));
	errno = 0;
	answer = bk_wire_receive(fd, 0);
	if (!answer && errno == EAGAIN)
		st = bk_fail(err, BK_TIMEOUT, 0, "the server's keeper did not answer in time");
	else
		st = bk_wire_status(answer, err);
	json_decref(answer);
	close(fd);
	return st;
}

bk_status bk_service_reset(const char *id, struct bk_error *err)
{
	struct bk_options *options = NULL;
	struct bk_plugin *plugin = NULL;
	char *folder = bk_state_folder(id);
	json_t *state = NULL;
	bk_status st = bk_state_by_id(&state, id, err);

	if (st == BK_OK)
		st = bk_service_reach(&plugin, &options, id, true, err);
	if (st == BK_OK && plugin->desc.service &&
	    ((plugin->desc.native | plugin->desc.emulated) & BK_F_PLACES))
		st = bk_place_reset(plugin, options, state, err);
	else if (st == BK_OK)
		st = tdn_ask_keeper(folder, "reset", err);
	bk_options_free(options);
	bk_plugin_free(plugin);
	json_decref(state);
	free(folder);
	return st;
}
