/*
 * keeper.c - the keeper's life: start the server, do as told, end everything.
 */
#include "service/keeper.h"

#include "service/proc.h"
#include "service/state.h"
#include "service/template.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KPR_CONTROL  3
#define KPR_GRACE_MS 1000                /* for the command of a bakeoff that was killed */
#define KPR_IDLE_NS  UINT64_C(100000000) /* up for so long: time to copy ahead */

uint64_t bk_service_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

static bool kpr_is_server(const struct bk_keeper *k, pid_t pid)
{
	size_t i;

	for (i = 0; i < k->server_count; i++) {
		if (k->servers[i].pid == pid)
			return true;
	}
	return false;
}

static void kpr_reap(struct bk_keeper *k)
{
	siginfo_t info = {0};
	int status;
	pid_t pid;
	size_t i;

	/* Died and nobody told it to: its workers are still there for a moment. */
	if (k->up && waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    kpr_is_server(k, info.si_pid))
		bk_keeper_note_segments(k);

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == k->command) {
			k->command = 0;
			k->command_status = status;
		}
		for (i = 0; i < k->server_count; i++) {
			struct bk_server *s = &k->servers[i];

			if (s->pid != pid)
				continue;
			s->pid = 0;
			s->status = status;
			s->ended = true;
			close(s->pidfd);
			s->pidfd = -1;
		}
	}
}

static void kpr_read_signals(struct bk_keeper *k)
{
	struct signalfd_siginfo info;

	while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM)
			k->quit = true;
	}
	kpr_reap(k);
}

static void kpr_lose_control(struct bk_keeper *k)
{
	json_t *last;

	/* A starter that ends in good order says so before it hangs up. */
	while ((last = bk_wire_receive(k->control, MSG_DONTWAIT))) {
		k->told = k->told || strcmp(bk_state_text(last, "do"), "stop") == 0;
		json_decref(last);
	}
	close(k->control);
	k->control = -1;
	if (k->attached)
		k->quit = true;
}

bool bk_keeper_wait(struct bk_keeper *k, struct pollfd *extra, int timeout_ms)
{
	struct pollfd p[3] = {{.fd = k->signals, .events = POLLIN},
			      {.fd = k->control, .events = 0}, /* hang-up alone */
			      {.fd = -1}};
	int n;

	if (extra)
		p[2] = *extra;
	n = poll(p, 3, timeout_ms);
	if (extra)
		extra->revents = n > 0 ? p[2].revents : 0;
	if (n > 0 && (p[1].revents & (POLLHUP | POLLERR)) && k->control >= 0)
		kpr_lose_control(k);
	if (n > 0 && p[0].revents)
		kpr_read_signals(k);
	return !k->quit;
}

bool bk_keeper_stopped(void *ctx)
{
	return !bk_keeper_wait(ctx, NULL, 0);
}

bk_status bk_keeper_check(const struct bk_keeper *k, const char *what, struct bk_error *err)
{
	if (k->quit)
		return bk_fail(err, BK_CANCELLED, 0, "%s was called off", what);
	if (bk_service_now_ns() >= k->deadline_ns)
		return bk_fail(err, BK_TIMEOUT, 0, "%s took too long", what);
	return BK_OK;
}

/* ---- Doing as told --------------------------------------------------------------------------- */

static json_t *kpr_up_message(const struct bk_keeper *k)
{
	json_t *pids = json_array();
	size_t i;

	for (i = 0; i < k->server_count; i++)
		json_array_append_new(pids, json_integer(k->servers[i].pid));
	return json_pack("{s:s, s:o, s:o}", "event", "up", "pids", pids, "values",
			 bk_values_to_json(&k->run->values));
}

static json_t *kpr_failed_message(const struct bk_keeper *k, const struct bk_error *err)
{
	json_t *message = bk_wire_failure(err);
	struct bk_buf log = BK_BUF_INIT;
	json_t *text;

	bk_keeper_log_all(&log, k);
	if (!k->up && k->run->template && err->status == BK_UNAVAILABLE)
		bk_buf_putf(&log,
			    "(its data was copied from %s; remove that folder to have it made "
			    "anew)\n",
			    k->run->template);
	text = json_string(bk_buf_str(&log));
	if (!text) /* not UTF-8 */
		text = json_string("");
	json_object_set_new(message, "log", text);
	bk_buf_free(&log);
	return message;
}

static void kpr_set_deadline(struct bk_keeper *k)
{
	uint64_t timeout = k->run->config.timeout_ns;

	k->deadline_ns = bk_service_now_ns() + (timeout ? timeout : BK_SERVICE_TIMEOUT);
}

static bk_status kpr_restart(struct bk_keeper *k, struct bk_error *err)
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
static bk_status kpr_reset(struct bk_keeper *k, struct bk_error *err)
{
	bk_status st;

	bk_keeper_stop(k, false);
	st = bk_fs_remove_tree(k->data, err);
	if (st == BK_OK && k->run->service)
		return bk_keeper_start(k, BK_START_DATA, err);
	return st == BK_OK ? bk_keeper_fill_data(k, err) : st;
}

static bk_status kpr_save(struct bk_keeper *k, struct bk_error *err)
{
	bk_keeper_stop(k, true);
	return bk_template_publish(k->run, k->run->key, k->data, err);
}

static void kpr_detach(struct bk_keeper *k)
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

static void kpr_guard(struct bk_keeper *k, pid_t pid)
{
	if (k->guarded_fd >= 0)
		close(k->guarded_fd);
	k->guarded = pid;
	k->guarded_fd = bk_proc_pidfd(pid);
}

static void kpr_obey(struct bk_keeper *k, int fd, const json_t *message)
{
	const char *what = bk_state_text(message, "do");
	struct bk_error err = bk_error_init();
	bk_status st = BK_OK;

	kpr_set_deadline(k);
	if (strcmp(what, "stop") == 0) {
		k->told = k->quit = true;
		return;
	}
	if (strcmp(what, "guard") == 0) {
		kpr_guard(k, (pid_t)bk_state_u64(message, "pid"));
		return;
	}
	if (strcmp(what, "restart") == 0)
		st = kpr_restart(k, &err);
	else if (strcmp(what, "reset") == 0)
		st = kpr_reset(k, &err);
	else if (strcmp(what, "save") == 0)
		st = kpr_save(k, &err);
	else if (strcmp(what, "kill") == 0)
		bk_keeper_kill(k);
	else if (strcmp(what, "detach") == 0)
		kpr_detach(k);
	else if (strcmp(what, "log") != 0)
		st = bk_fail(&err, BK_INVALID, 0, "a keeper does not know '%s'", what);
	if (strcmp(what, "log") == 0) {
		json_t *answer = kpr_failed_message(k, &err);

		json_object_set_new(answer, "event", json_string("log"));
		bk_wire_send(fd, answer);
	} else {
		bk_wire_send(fd, st == BK_OK ? kpr_up_message(k) : kpr_failed_message(k, &err));
	}
}

/* One message from whoever came by the socket in the folder. */
static void kpr_take_client(struct bk_keeper *k)
{
	struct timeval patience = {5, 0};
	int fd = accept4(k->listener, NULL, NULL, SOCK_CLOEXEC);
	json_t *message;

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	message = bk_wire_receive(fd, 0);
	if (message)
		kpr_obey(k, fd, message);
	json_decref(message);
	close(fd);
}

/* A server that nobody told to end did. */
static void kpr_notice_deaths(struct bk_keeper *k)
{
	struct bk_error err = bk_error_init();
	json_t *message;
	size_t i;

	for (i = 0; k->up && i < k->server_count; i++) {
		if (!k->servers[i].ended)
			continue;
		k->servers[i].ended = false;
		bk_keeper_describe_end(k, &k->servers[i], &err);
		message = kpr_failed_message(k, &err);
		json_object_set_new(message, "event", json_string("died"));
		bk_wire_send(k->control, message);
		if (!k->attached)
			k->quit = true; /* what is left is of no use to anybody */
	}
}

/* What the clock says is due; how long until the next thing is, -1: nothing is. */
static int kpr_due(struct bk_keeper *k)
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

static void kpr_loop(struct bk_keeper *k)
{
	struct pollfd p[3];
	json_t *message;
	int timeout_ms;

	while (!k->quit) {
		kpr_notice_deaths(k);
		timeout_ms = kpr_due(k);
		if (k->quit)
			break;
		p[0] = (struct pollfd){.fd = k->signals, .events = POLLIN};
		p[1] = (struct pollfd){.fd = k->control, .events = POLLIN};
		p[2] = (struct pollfd){.fd = k->listener, .events = POLLIN};
		if (poll(p, 3, timeout_ms) <= 0)
			continue;
		if (p[0].revents)
			kpr_read_signals(k);
		if (p[1].revents & POLLIN) {
			message = bk_wire_receive(k->control, MSG_DONTWAIT);
			if (message)
				kpr_obey(k, k->control, message);
			else if (p[1].revents & POLLHUP)
				kpr_lose_control(k);
			json_decref(message);
		} else if (p[1].revents) {
			kpr_lose_control(k);
		}
		if (p[2].revents)
			kpr_take_client(k);
	}
}

/* ---- Birth and end ----------------------------------------------------------------------------
 */

static void kpr_descriptors(struct bk_keeper *k, int control)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int high = fcntl(control, F_DUPFD_CLOEXEC, 10);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	dup3(high, KPR_CONTROL, O_CLOEXEC);
	syscall(SYS_close_range, KPR_CONTROL + 1, ~0U, 0);
	k->control = KPR_CONTROL;
}

static void kpr_signals(struct bk_keeper *k)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_SETMASK, &set, NULL);
	k->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The folder's path may be too long for a socket's; a descriptor's is not. */
static void kpr_listen(struct bk_keeper *k)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int folder = open(k->run->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	k->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(sun.sun_path, sizeof(sun.sun_path), "/proc/self/fd/%d/control", folder);
	if (bind(k->listener, (struct sockaddr *)&sun, sizeof(sun)) != 0 ||
	    listen(k->listener, 8) != 0) {
		close(k->listener);
		k->listener = -1; /* teardown by signal still works */
	}
	if (folder >= 0)
		close(folder);
}

static bk_status kpr_bring_up(struct bk_keeper *k, struct bk_error *err)
{
	const struct bk_process *p = k->run->service ? k->run->service->processes : NULL;
	bk_status st;
	size_t i;

	while (p && p[k->server_count].name)
		k->server_count++;
	k->servers = calloc(k->server_count + 1, sizeof(*k->servers));
	if (!k->servers || !k->shm_files) {
		k->server_count = 0;
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	for (i = 0; i < k->server_count; i++)
		k->servers[i].desc = &p[i];
	st = bk_keeper_make_folder(k, err);
	if (st != BK_OK)
		return st;
	kpr_listen(k);
	if (k->run->service)
		return bk_keeper_start(k, BK_START_PORTS | BK_START_DATA, err);
	st = bk_keeper_fill_data(k, err);
	k->up = st == BK_OK;
	return st == BK_OK ? bk_keeper_save_state(k, err) : st;
}

static void kpr_end_guarded(struct bk_keeper *k, uint64_t since_ns)
{
	uint64_t until = since_ns + KPR_GRACE_MS * UINT64_C(1000000), now = bk_service_now_ns();

	if (k->guarded_fd < 0)
		return;
	if (!bk_proc_wait(k->guarded_fd, now < until ? (int)((until - now) / 1000000) : 0))
		bk_proc_signal(k->guarded_fd, SIGKILL);
}

void bk_keeper_main(struct bk_service_run *run, int control)
{
	struct bk_keeper keeper = {.run = run,
				   .listener = -1,
				   .lock = -1,
				   .attached = true,
				   .guarded_fd = -1,
				   .created = time(NULL),
				   .shm_files = json_array()};
	struct bk_keeper *k = &keeper;
	struct bk_error err = bk_error_init();
	char title[128];
	uint64_t since;
	bool orphaned;

	snprintf(title, sizeof(title), "bakeoff: keeper of %s", run->id);
	bk_proc_set_title(title);
	setsid();
	umask(077);
	prctl(PR_SET_NAME, "bakeoff-keeper", 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	kpr_descriptors(k, control);
	kpr_signals(k);
	if (chdir("/") != 0)
		errno = 0;
	kpr_set_deadline(k);
	if (kpr_bring_up(k, &err) == BK_OK) {
		bk_wire_send(k->control, kpr_up_message(k));
		if (run->config.spare && run->template && run->key)
			k->spare_ns = bk_service_now_ns() + KPR_IDLE_NS;
		kpr_loop(k);
	} else {
		bk_wire_send(k->control, kpr_failed_message(k, &err));
	}
	since = bk_service_now_ns();
	orphaned = k->control < 0 && !k->told;
	k->quit = true;
	bk_keeper_stop(k, false);
	/* Who asked for a spare copy is in a hurry: the rest is done behind its back. */
	if (run->config.spare && !orphaned && fork() > 0)
		_exit(0);
	bk_keeper_remove_folder(k);
	if (orphaned)
		kpr_end_guarded(k, since);
	else if (run->config.spare && run->template && run->key)
		bk_template_make_spare(run, NULL, NULL);
	_exit(0);
}
