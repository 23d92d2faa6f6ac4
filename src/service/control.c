/*
 * control.c - what the starter asks of its keeper.
 */
#include "service/run.h"

#include "service/keeper.h"
#include "service/proc.h"
#include "service/state.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CTL_END_MS 15000 /* five seconds a process to stop, and the folder to remove */

static void ctl_take_values(struct bk_service_run *run, const json_t *message)
{
	json_t *pids = json_object_get(message, "pids"), *one;
	size_t n = json_array_size(pids), i;
	pid_t *list = calloc(n + 1, sizeof(*list));

	bk_values_from_json(&run->values, json_object_get(message, "values"));
	if (!list)
		return;
	json_array_foreach(pids, i, one) list[i] = (pid_t)json_integer_value(one);
	free(run->pids);
	run->pids = list;
	run->pid_count = n;
}

static void ctl_take_log(struct bk_service_run *run, const json_t *message)
{
	const char *text = json_string_value(json_object_get(message, "log"));

	if (text) {
		bk_buf_reset(&run->log);
		bk_buf_puts(&run->log, text);
	}
}

/* Takes one message in.  END: it was not an answer. */
static bk_status ctl_take(struct bk_service_run *run, const json_t *message, struct bk_error *err)
{
	const char *event = bk_state_text(message, "event");

	ctl_take_log(run, message);
	if (strcmp(event, "up") == 0) {
		ctl_take_values(run, message);
		return BK_OK;
	}
	if (strcmp(event, "log") == 0)
		return BK_OK;
	if (strcmp(event, "died") == 0) {
		run->died = true;
		run->death = bk_error_init();
		bk_wire_status(message, &run->death);
		return BK_END;
	}
	return bk_wire_status(message, err);
}

/* Waits until the keeper has something to say. */
static bk_status ctl_await(struct bk_service_run *run, uint64_t until_ns, struct bk_error *err)
{
	struct pollfd p = {.fd = run->control, .events = POLLIN};
	uint64_t now;
	int left_ms;

	for (;;) {
		if (run->config.interrupted && *run->config.interrupted)
			return bk_fail(err, BK_CANCELLED, 0, "interrupted");
		now = bk_service_now_ns();
		if (now >= until_ns)
			return bk_fail(err, BK_TIMEOUT, 0, "the server %s did not answer in time",
				       run->id);
		left_ms = (int)((until_ns - now) / 1000000) + 1;
		/* A signal may come just before the wait: look again now and then. */
		if (run->config.interrupted && left_ms > 200)
			left_ms = 200;
		if (poll(&p, 1, left_ms) > 0)
			return BK_OK;
	}
}

bk_status bk_run_answer(struct bk_service_run *run, struct bk_error *err)
{
	bk_status st = BK_END;
	json_t *message;

	while (st == BK_END) {
		/* The keeper has the same deadline and more to say about it. */
		st = ctl_await(run, run->deadline_ns + UINT64_C(8000000000), err);
		if (st != BK_OK)
			return st;
		message = bk_wire_receive(run->control, 0);
		if (!message)
			return bk_fail(err, BK_UNAVAILABLE, 0,
				       "the keeper of the server %s is gone", run->id);
		st = ctl_take(run, message, err);
		json_decref(message);
	}
	return st;
}

static void ctl_set_deadline(struct bk_service_run *run)
{
	uint64_t timeout = run->config.timeout_ns;

	run->deadline_ns = bk_service_now_ns() + (timeout ? timeout : BK_SERVICE_TIMEOUT);
}

bk_status bk_run_ask(struct bk_service_run *run, const char *what, struct bk_error *err)
{
	ctl_set_deadline(run);
	if (!bk_wire_send(run->control, json_pack("{s:s}", "do", what)))
		return bk_fail(err, BK_UNAVAILABLE, errno, "the keeper of the server %s is gone",
			       run->id);
	return bk_run_answer(run, err);
}

bool bk_service_died(struct bk_service_run *run, struct bk_error *err)
{
	struct bk_error ignored = bk_error_init();
	json_t *message;

	while (run->control >= 0 && (message = bk_wire_receive(run->control, MSG_DONTWAIT))) {
		ctl_take(run, message, &ignored);
		json_decref(message);
	}
	if (run->died)
		*err = run->death;
	return run->died;
}

void bk_service_guard(struct bk_service_run *run, pid_t pid)
{
	bk_wire_send(run->control, json_pack("{s:s, s:i}", "do", "guard", "pid", (int)pid));
}

bk_status bk_service_restart(struct bk_service_run *run, struct bk_error *err)
{
	bk_status st;

	run->died = false;
	st = bk_run_ask(run, "restart", err);
	if (st == BK_OK && run->service)
		st = bk_run_await_open(run, run->options, err);
	return st;
}

bk_status bk_service_kill(struct bk_service_run *run, struct bk_error *err)
{
	return bk_run_ask(run, "kill", err);
}

void bk_service_ask_stop(struct bk_service_run *run)
{
	if (run && run->control >= 0) {
		bk_wire_send(run->control, json_pack("{s:s}", "do", "stop"));
		close(run->control); /* the same to a keeper that does not read */
		run->control = -1;
	}
}

static void ctl_end(struct bk_service_run *run)
{
	bk_service_ask_stop(run);
	if (run->keeper > 0) {
		if (run->keeper_fd >= 0 && !bk_proc_wait(run->keeper_fd, CTL_END_MS))
			bk_proc_signal(run->keeper_fd, SIGKILL); /* the next start sweeps */
		while (waitpid(run->keeper, NULL, 0) < 0 && errno == EINTR)
			;
		run->keeper = 0;
	}
}

void bk_service_stop(struct bk_service_run *run)
{
	if (!run)
		return;
	ctl_end(run);
	bk_run_free(run);
}

bk_status bk_service_detach(struct bk_service_run *run, struct bk_error *err)
{
	bk_status st = bk_run_ask(run, "detach", err);

	if (st == BK_OK) {
		run->keeper = 0;
		bk_run_free(run);
	}
	return st;
}

const char *bk_service_id(const struct bk_service_run *run)
{
	return run->id;
}

const char *bk_service_folder(const struct bk_service_run *run)
{
	return bk_values_get(&run->values, "data");
}

const char *bk_service_value(const struct bk_service_run *run, const char *name)
{
	return bk_values_get(&run->values, name);
}

const char *bk_service_log(struct bk_service_run *run)
{
	struct bk_error ignored = bk_error_init();

	if (run->up && run->control >= 0 && !run->died)
		bk_run_ask(run, "log", &ignored);
	return bk_buf_str(&run->log);
}

/* The processes of the server and all their descendants.  Returns how many there are, which may be
 * more than `cap`. */
static size_t ctl_pids(const struct bk_service_run *run, pid_t *out, size_t cap)
{
	return bk_proc_tree(out, cap, run->pids, run->pid_count);
}

bk_status bk_service_usage(struct bk_service_usage *out, const struct bk_service_run *run,
			   struct bk_error *err)
{
	size_t cap = ctl_pids(run, NULL, 0) + 64, n;
	pid_t *pids = calloc(cap, sizeof(*pids));

	if (!pids)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	n = ctl_pids(run, pids, cap);
	bk_proc_usage(out, pids, n < cap ? n : cap);
	free(pids);
	return BK_OK;
}
