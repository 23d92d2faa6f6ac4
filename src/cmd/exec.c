/*
 * exec.c - `bakeoff exec BACKEND... -- CMD`: private servers while a command runs.
 *
 * The one invariant: the exit status is CMD's; what bakeoff itself does wrong is 125.
 */
#include "cmd/servers.h"

#include "cmd/set.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXEC_FAILED 125 /* as env(1) */
#define EXEC_CANNOT 126
#define EXEC_NO_CMD 127

static void exec_reset_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++)
		signal(caught[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void exec_child(char *const *cmd, char *const *env, pid_t parent, int report)
{
	int e;

	exec_reset_signals();
	/* When bakeoff is killed its command has no servers any more. */
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() == parent)
		execvpe(cmd[0], cmd, env);
	e = errno;
	if (write(report, &e, sizeof(e)) != sizeof(e))
		_exit(EXEC_CANNOT);
	_exit(EXEC_NO_CMD);
}

/* The command's pid; 0 after a message, then *status is the exit status. */
static pid_t exec_start(int *status, char *const *cmd, char *const *env)
{
	pid_t parent = getpid(), pid;
	int report[2], e = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) != 0) {
		bk_cmd_fail("exec: cannot make a pipe: %s", strerror(errno));
		*status = EXEC_FAILED;
		return 0;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		exec_child(cmd, env, parent, report[1]);
	close(report[1]);
	do
		n = read(report[0], &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (pid < 0 || n == (ssize_t)sizeof(e)) {
		bk_cmd_fail("exec: cannot run %s: %s", cmd[0], strerror(pid < 0 ? errno : e));
		*status = pid < 0 ? EXEC_FAILED : e == ENOENT ? EXEC_NO_CMD : EXEC_CANNOT;
		if (pid > 0)
			waitpid(pid, NULL, 0);
		return 0;
	}
	return pid;
}

static void exec_block(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	sigprocmask(SIG_BLOCK, set, NULL);
}

/* Until the command ends.  What the terminal sends it gets itself; what is sent to bakeoff alone is
 * passed on. */
static int exec_wait(pid_t pid, const sigset_t *set)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			break;
		if (sigwaitinfo(set, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD && info.si_code != SI_KERNEL)
			kill(pid, info.si_signo);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* DATABASE_URL is that of the first store that has one. */
static bk_status exec_environment(char ***out, const struct bk_cmd_servers *servers,
				  struct bk_error *err)
{
	struct bk_service_env *list = calloc(servers->count + 1, sizeof(*list));
	bool taken = false;
	bk_status st = list ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
	size_t i, k;

	for (i = 0; st == BK_OK && i < servers->count; i++) {
		st = bk_service_env(&list[i], servers->items[i].run, !taken, err);
		for (k = 0; st == BK_OK && k < list[i].count; k++)
			taken = taken || strcmp(list[i].items[k].name, "DATABASE_URL") == 0;
	}
	if (st == BK_OK)
		st = bk_service_env_apply(out, list, servers->count, err);
	for (i = 0; list && i < servers->count; i++)
		bk_service_env_free(&list[i]);
	free(list);
	return st;
}

static void exec_report_deaths(struct bk_cmd_servers *servers)
{
	struct bk_error err = bk_error_init();
	size_t i;

	for (i = 0; i < servers->count; i++) {
		if (bk_service_died(servers->items[i].run, &err))
			bk_cmd_fail("%s: while the command ran: %s", servers->items[i].name,
				    err.message);
	}
}

static int exec_command(struct bk_cmd_servers *servers, char *const *cmd)
{
	struct bk_error err = bk_error_init();
	int status = EXEC_FAILED;
	char **env, **e;
	sigset_t set;
	pid_t pid;
	size_t i;

	if (exec_environment(&env, servers, &err) != BK_OK) {
		bk_cmd_fail("exec: %s", err.message);
		return EXEC_FAILED;
	}
	exec_block(&set);
	pid = *servers->config.interrupted ? 0 : exec_start(&status, cmd, env);
	for (i = 0; pid > 0 && i < servers->count; i++)
		bk_service_guard(servers->items[i].run, pid);
	if (pid > 0) {
		status = exec_wait(pid, &set);
		exec_report_deaths(servers);
	}
	for (e = env; *e; e++)
		free(*e);
	free(env);
	return status;
}

static int exec_exec(const struct bk_cmd_args *args)
{
	char *const *cmd = bk_cmd_rest(args);
	struct bk_cmd_servers servers;
	char purpose[128];
	const char *base;
	int status;

	if (!cmd || !cmd[0])
		return bk_cmd_usage("exec: which command?  bakeoff exec BACKEND... -- CMD");
	base = strrchr(cmd[0], '/');
	/* Its arguments may hold secrets. */
	snprintf(purpose, sizeof(purpose), "exec %s", base ? base + 1 : cmd[0]);
	status = bk_cmd_servers_parse(&servers, args, purpose);
	if (status == BK_EXIT_OK) {
		status = EXEC_FAILED;
		if (bk_cmd_servers_start(&servers) == BK_OK)
			status = exec_command(&servers, cmd);
		bk_cmd_servers_stop(&servers);
		if (status == EXEC_FAILED && *servers.config.interrupted)
			status = 128 + *servers.config.interrupted;
	}
	bk_cmd_servers_free(&servers);
	return status;
}

static const struct bk_flag exec_flags[] = {
	BK_CMD_SERVER_FLAGS,
	BK_CMD_SET_FLAG,
	{.name = NULL},
};

const struct bk_cmd bk_cmd_exec = {
	.name = "exec",
	.operands = "BACKEND|VARIANT... -- CMD [ARGUMENT...]",
	.summary = "run a command with private servers, gone afterwards",
	.details =
		"Starts a private server for each backend (for a variant: all that it needs), with an empty database (bucket, folder), "
		"runs CMD with the variables that lead there, and removes everything when CMD ends, "
		"is killed, or bakeoff is.\n"
		"\n"
		"CMD finds BAKEOFF_NAME_URL, _SOCKET, _DATABASE, _USER and _PASSWORD (with --tcp "
		"also _HOST and _PORT; for stores without a server _PATH), _ID for `bakeoff reset`, "
		"the variables that the store's own clients read, and DATABASE_URL for the first "
		"SQL store.\n"
		"\n"
		"Exit status: CMD's, 128 + N when signal N ended it; 125 when bakeoff failed, 126 "
		"when CMD cannot be run, 127 when it is not found.\n",
	.flags = exec_flags,
	.operands_min = 1,
	.operands_max = (size_t)-1,
	.passthrough = true,
	.exec = exec_exec,
};
