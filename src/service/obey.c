/*
 * obey.c - what a keeper is told while its server runs, and what the clock and the server tell it.
 *
 * The one invariant: every request gets one answer, `up` or `failed`.
 */
#include "service/keeper.h"

#include "service/proc.h"
#include "service/state.h"
#include "service/template.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

json_t *bk_keeper_up(const struct bk_keeper *k)
{
	json_t *pids = json_array();
	size_t i;

	for (i = 0; i < k->server_count; i++)
		json_array_append_new(pids, json_integer(k->servers[i].pid));
	return json_pack("{s:s, s:o, s:o}", "event", "up", "pids", pids, "values",
			 bk_values_to_json(&k->run->values));
}

json_t *bk_keeper_failed(const struct bk_keeper *k, const struct bk_error *err)
{
	json_t *message = bk_wire_failure(err);
	struct bk_buf log = BK_BUF_INIT;

	bk_keeper_log_all(&log, k);
	if (!k->up && k->run->template && err->status == BK_UNAVAILABLE)
		bk_buf_putf(&log,
			    "(its data was copied from %s; remove that file to have it made "
			    "anew)\n",
			    k->run->template);
	if (log.data) /* a server writes what it likes */
		json_object_set_new(message, "log", json_string(bk_wire_clean(log.data)));
	bk_buf_free(&log);
	return message;
}

void bk_keeper_set_deadline(struct bk_keeper *k)
{
	uint64_t timeout = k->run->config.timeout_ns;

	k->deadline_ns = bk_service_now_ns() + (timeout ? timeout : BK_SERVICE_TIMEOUT);
}

static bk_status oby_restart(struct bk_keeper *k, struct bk_error *err)
{
	size_t i;

	if (!k->run->service)
		return BK_OK;
	/* After a crash there is nothing to stop, and what it left is the server's to find. */
	for (i = 0; i < k->server_count && k->servers[i].pid == 0; i++)
		;
	if (i < k->server_count)
		bk_keeper_stop(k, true);
	return bk_keeper_start(k, 0, err);
}

/* Back to what it was at first: the template's data again, same place. */
static bk_status oby_reset(struct bk_keeper *k, struct bk_error *err)
{
	bk_status st;

	bk_keeper_stop(k, false);
	st = bk_unpack_remove(k->data, err);
	if (st == BK_OK && k->run->service)
		st = bk_keeper_start(k, BK_START_DATA, err);
	else if (st == BK_OK)
		st = bk_keeper_fill_data(k, err);
	if (st != BK_OK) /* a server on half of its data is worse than none */
		bk_keeper_stop(k, false);
	return st;
}

static bk_status oby_save(struct bk_keeper *k, struct bk_error *err)
{
	bk_status st = bk_keeper_commands(k, BK_SERVICE_MEMBER(k->run->service, seal), false, err);

	if (st != BK_OK)
		return st;
	bk_keeper_stop(k, true);
	return bk_template_publish(k->run, k->run->key, k->data, err);
}

static void oby_detach(struct bk_keeper *k)
{
	struct bk_error ignored = bk_error_init();
	uint64_t ttl = k->run->config.ttl_ns;

	k->attached = false;
	if (ttl) {
		k->expires_ns = bk_service_now_ns() + ttl;
		k->expires = time(NULL) + (time_t)(ttl / UINT64_C(1000000000));
	}
	bk_keeper_save_state(k, &ignored);
}

static void oby_guard(struct bk_keeper *k, pid_t pid)
{
	if (k->guarded_fd >= 0)
		close(k->guarded_fd);
	k->guarded = pid;
	k->guarded_fd = bk_proc_pidfd(pid);
}

static void oby_obey(struct bk_keeper *k, int fd, const json_t *message)
{
	const char *what = bk_state_text(message, "do");
	struct bk_error err = bk_error_init();
	bk_status st = BK_OK;

	bk_keeper_set_deadline(k);
	if (strcmp(what, "stop") == 0) {
		k->told = k->quit = true;
		return;
	}
	if (strcmp(what, "guard") == 0) {
		oby_guard(k, (pid_t)bk_state_u64(message, "pid"));
		return;
	}
	if (strcmp(what, "restart") == 0)
		st = oby_restart(k, &err);
	else if (strcmp(what, "reset") == 0)
		st = oby_reset(k, &err);
	else if (strcmp(what, "save") == 0)
		st = oby_save(k, &err);
	else if (strcmp(what, "kill") == 0)
		bk_keeper_kill(k);
	else if (strcmp(what, "detach") == 0)
		oby_detach(k);
	else if (strcmp(what, "log") != 0)
		st = bk_fail(&err, BK_INVALID, 0, "a keeper does not know '%s'", what);
	if (strcmp(what, "log") == 0) {
		json_t *answer = bk_keeper_failed(k, &err);

		json_object_set_new(answer, "event", json_string("log"));
		bk_wire_send(fd, answer);
	} else {
		bk_wire_send(fd, st == BK_OK ? bk_keeper_up(k) : bk_keeper_failed(k, &err));
	}
}

/* One message from whoever came by the socket in the folder. */
static void oby_take_client(struct bk_keeper *k)
{
	struct timeval patience = {5, 0};
	int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
	json_t *message;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	message = bk_wire_receive(fd, 0);
	if (message)
		oby_obey(k, fd, message);
	json_decref(message);
	close(fd);
}

/* A server that nobody told to end did. */
static void oby_notice_deaths(struct bk_keeper *k)
{
	struct bk_error err = bk_error_init();
	json_t *message;
	size_t i;

	for (i = 0; k->up && i < k->server_count; i++) {
		if (!k->servers[i].ended)
			continue;
		k->servers[i].ended = false;
		bk_keeper_describe_end(k, &k->servers[i], &err);
		message = bk_keeper_failed(k, &err);
		json_object_set_new(message, "event", json_string("died"));
		bk_wire_send(k->control, message);
		if (!k->attached)
			k->quit = true; /* what is left is of no use to anybody */
	}
}

/* What the clock says is due; how long until the next thing is, -1: nothing is. */
static int oby_due(struct bk_keeper *k)
{
	uint64_t now = bk_service_now_ns(), next = UINT64_MAX;

	if (k->spare_ns && now >= k->spare_ns) {
		k->spare_ns = 0;
		bk_template_make_spare(k->run, bk_keeper_stopped, k);
		now = bk_service_now_ns();
	}
	if (k->expires_ns && now >= k->expires_ns)
		k->quit = true;
	if (k->spare_ns)
		next = k->spare_ns - now;
	if (k->expires_ns && k->expires_ns - now < next)
		next = k->expires_ns - now;
	if (next == UINT64_MAX)
		return -1;
	return next < UINT64_C(3600000000000) ? (int)(next / 1000000) + 1 : 3600000;
}

void bk_keeper_loop(struct bk_keeper *k)
{
	struct pollfd p[3];
	json_t *message;
	int timeout_ms;

	while (!k->quit) {
		oby_notice_deaths(k);
		timeout_ms = oby_due(k);
		if (k->quit)
			break;
		p[0] = (struct pollfd){.fd = k->signals, .events = POLLIN};
		p[1] = (struct pollfd){.fd = k->control, .events = POLLIN};
		p[2] = (struct pollfd){.fd = k->listener, .events = POLLIN};
		if (poll(p, 3, timeout_ms) <= 0)
			continue;
		if (p[0].revents)
			bk_keeper_read_signals(k);
		if (p[1].revents & POLLIN) {
			message = bk_wire_receive(k->control, MSG_DONTWAIT);
			if (message)
				oby_obey(k, k->control, message);
			else if (p[1].revents & POLLHUP)
				bk_keeper_lose_control(k);
			json_decref(message);
		} else if (p[1].revents) {
			bk_keeper_lose_control(k);
		}
		if (p[2].revents)
			oby_take_client(k);
	}
}
