/*
 * spawn.c - fork, a session of its own, the user, the death signal, exec.
 */
#include "service/spawn.h"

#include "service/proc.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SP_REPORT 3 /* where the child's end of the report pipe stands */

static void sp_reset_signals(void)
{
	struct sigaction sa;
	sigset_t none;
	int sig;

	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = SIG_DFL;
	for (sig = 1; sig < 32; sig++)
		sigaction(sig, &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0-2 as given, the report pipe at 3, nothing else.  Descriptors are first moved out of the way. */
static int sp_descriptors(const struct bk_spawn *spawn, int report)
{
	int in = fcntl(spawn->in, F_DUPFD_CLOEXEC, 10);
	int out = fcntl(spawn->out, F_DUPFD_CLOEXEC, 10);
	int err = spawn->err >= 0 ? fcntl(spawn->err, F_DUPFD_CLOEXEC, 10) : out;

	if (in < 0 || out < 0 || err < 0)
		return errno;
	report = fcntl(report, F_DUPFD_CLOEXEC, 10);
	if (report < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
	    dup3(report, SP_REPORT, O_CLOEXEC) < 0)
		return errno;
	if (syscall(SYS_close_range, SP_REPORT + 1, ~0U, 0) != 0) {
		int fd, max = (int)sysconf(_SC_OPEN_MAX);

		for (fd = SP_REPORT + 1; fd < max; fd++)
			close(fd);
	}
	return 0;
}

static int sp_prepare(const struct bk_spawn *spawn, pid_t parent)
{
	struct rlimit no_core = {0, 0};
	int e;

	setrlimit(RLIMIT_CORE, &no_core);
	umask(077);
	if (spawn->identity) {
		e = bk_identity_enter(spawn->identity);
		if (e != 0)
			return e;
	}
	if (spawn->cwd && chdir(spawn->cwd) != 0)
		return errno;
	/* After the change of user, which clears it; and then once more a look at whether the
	 * parent went before it was set. */
	if (spawn->death_signal) {
		if (prctl(PR_SET_PDEATHSIG, spawn->death_signal, 0, 0, 0) != 0)
			return errno;
		if (getppid() != parent)
			raise(SIGKILL);
	}
	return 0;
}

static void sp_child(const struct bk_spawn *spawn, pid_t parent, int report)
{
	int e;

	setsid();
	sp_reset_signals();
	e = sp_descriptors(spawn, report);
	if (e == 0) {
		report = SP_REPORT;
		e = sp_prepare(spawn, parent);
	}
	if (e == 0) {
		execve(spawn->path, spawn->argv, spawn->env);
		e = errno;
	}
	if (write(report, &e, sizeof(e)) != sizeof(e))
		_exit(126);
	_exit(127);
}

bk_status bk_spawn(pid_t *pid, int *pidfd, const struct bk_spawn *spawn, struct bk_error *err)
{
	int report[2], e = 0, fd;
	pid_t parent = getpid(), child;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) != 0)
		return bk_fail(err, BK_IO, errno, "cannot make a pipe: %s", strerror(errno));
	child = fork();
	if (child == 0)
		sp_child(spawn, parent, report[1]);
	close(report[1]);
	if (child < 0) {
		e = errno;
		close(report[0]);
		return bk_fail(err, BK_IO, e, "cannot fork: %s", strerror(e));
	}
	do
		n = read(report[0], &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	fd = n == (ssize_t)sizeof(e) ? -1 : bk_proc_pidfd(child);
	if (fd < 0) {
		if (n != (ssize_t)sizeof(e)) {
			e = errno;
			kill(child, SIGKILL);
		}
		waitpid(child, NULL, 0);
		return bk_fail(err, BK_IO, e, "cannot run %s%s%s: %s", spawn->path,
			       spawn->identity ? " as " : "",
			       spawn->identity ? spawn->identity->user : "", strerror(e));
	}
	*pid = child;
	*pidfd = fd;
	return BK_OK;
}

const char *bk_spawn_describe(char *out, size_t cap, int wait_status)
{
	if (WIFSIGNALED(wait_status))
		snprintf(out, cap, "signal %d (%s)", WTERMSIG(wait_status),
			 strsignal(WTERMSIG(wait_status)));
	else
		snprintf(out, cap, "status %d", WEXITSTATUS(wait_status));
	return out;
}
