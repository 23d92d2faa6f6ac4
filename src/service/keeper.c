/*
 * keeper.c - the keeper's birth, waiting and end.
 */
#include "service/keeper.h"

#include "service/proc.h"
#include "service/state.h"
#include "service/template.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#define KPR_GRACE_MS 1000 /* for the command of a bakeoff that was killed */

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
		if (bk_keeper_is_late(k, pid))
			continue;
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

void bk_keeper_read_signals(struct bk_keeper *k)
{
	struct signalfd_siginfo info;

	while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGTERM)
			k->quit = true;
	}
	kpr_reap(k);
}

void bk_keeper_lose_control(struct bk_keeper *k)
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
		bk_keeper_lose_control(k);
	if (n > 0 && p[0].revents)
		bk_keeper_read_signals(k);
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

/* ---- Birth and end ----------------------------------------------------------------------------
 */

/* In this order also where few descriptors are allowed. */
static void kpr_descriptors(struct bk_keeper *k, int control)
{
	int null;

	if (control < KPR_CONTROL)
		control = fcntl(control, F_DUPFD_CLOEXEC, KPR_CONTROL);
	if (control != KPR_CONTROL && dup3(control, KPR_CONTROL, O_CLOEXEC) < 0)
		_exit(1);
	syscall(SYS_close_range, KPR_CONTROL + 1, ~0U, 0);
	k->control = KPR_CONTROL;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	if (null > KPR_CONTROL)
		close(null);
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
	if (k->signals < 0) /* it would notice nothing */
		return bk_fail(err, BK_IO, errno, "cannot watch for signals: %s", strerror(errno));
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

static void *kpr_remove_data(void *ctx)
{
	const struct bk_keeper *k = ctx;
	struct bk_error ignored = bk_error_init(); /* what is left is seen to with the folder */

	bk_unpack_remove(k->data, &ignored);
	return NULL;
}

/* What the server holds is of no use to anybody: its files go while its processes do, unless that
 * is to happen behind the starter's back anyway. */
static void kpr_drop(struct bk_keeper *k)
{
	pthread_t remover;
	bool begun = k->server_count > 0 && k->data && !k->run->config.spare &&
		     bk_unpack_workers() > 1 &&
		     pthread_create(&remover, NULL, kpr_remove_data, k) == 0;

	bk_keeper_stop(k, false);
	if (begun)
		pthread_join(remover, NULL);
}

void bk_keeper_main(struct bk_service_run *run, int control)
{
	struct bk_keeper keeper = {.run = run,
				   .listener = -1,
				   .lock = -1,
				   .run_lock = -1,
				   .attached = true,
				   .guarded_fd = -1,
				   .pack = {.fd = -1},
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
	bk_keeper_set_deadline(k);
	if (kpr_bring_up(k, &err) == BK_OK) {
		bk_wire_send(k->control, bk_keeper_up(k));
		if (run->config.spare && run->template && run->key)
			k->spare_ns = bk_service_now_ns() + BK_KEEPER_IDLE_NS;
		bk_keeper_loop(k);
	} else {
		bk_wire_send(k->control, bk_keeper_failed(k, &err));
	}
	since = bk_service_now_ns();
	orphaned = k->control < 0 && !k->told;
	k->quit = true;
	kpr_drop(k);
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
