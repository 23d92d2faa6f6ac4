/*
 * process.c - fork a case, listen to it, end it when its time is up, tidy up after it.
 *
 * The one invariant: only process groups that were started here are killed, and only the folder
 * that was made here is removed.
 */
#include "conform/process.h"

#include "conform/child.h"
#include "conform/listen.h"
#include "conform/sanitize.h"
#include "util/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_DEFAULT_NS (UINT64_C(30) * 1000000000)

/* ---- The run ------------------------------------------------------------------------ */

static void run_tag(char tag[8])
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	uint64_t x = bk_rng_derive_u64(bk_test_now_ns(), (uint64_t)getpid());
	int i;

	for (i = 0; i < 7; i++) {
		tag[i] = digits[x % 36];
		x /= 36;
	}
	tag[7] = '\0';
}

static bk_status make_folder(struct bk_runner *p, struct bk_error *err)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || !tmp[0])
		tmp = "/tmp";
	p->folder = bk_fs_join(tmp, "bakeoff-conform-XXXXXX");
	if (!p->folder)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (!mkdtemp(p->folder)) {
		bk_fail(err, bk_fs_status(errno), errno, "cannot make a folder in %s: %s", tmp,
			strerror(errno));
		free(p->folder);
		p->folder = NULL;
		return err->status;
	}
	return BK_OK;
}

bk_status bk_process_open(struct bk_runner *p, const struct bk_conform_config *config,
			  struct bk_error *err)
{
	sigset_t set;
	bk_status st;

	memset(p, 0, sizeof(*p));
	p->config = config;
	p->interrupt_fd = -1;
	p->slow = bk_sanitizer_slowdown();
	p->timeout_ns = config->timeout_ns ? config->timeout_ns : TIMEOUT_DEFAULT_NS * p->slow;
	run_tag(p->run_tag);
	st = make_folder(p, err);
	if (st != BK_OK)
		return st;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	p->interrupt_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->interrupt_fd < 0)
		return bk_fail(err, BK_IO, errno, "signalfd: %s", strerror(errno));
	return BK_OK;
}

void bk_process_close(struct bk_runner *p)
{
	struct bk_error err = bk_error_init();
	sigset_t set;

	if (p->folder && bk_fs_remove_tree(p->folder, &err) != BK_OK)
		fprintf(p->config->out, "# left behind: %s\n", err.message);
	free(p->folder);
	p->folder = NULL;
	if (p->interrupt_fd < 0)
		return;
	close(p->interrupt_fd);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- One case ------------------------------------------------------------------------------ */

static void fail_with(struct bk_case_result *out, const char *fmt, ...) BK_PRINTF(2, 3);
static void fail_with(struct bk_case_result *out, const char *fmt, ...)
{
	va_list ap;

	if (out->outcome == BK_FAILED)
		return;
	out->outcome = BK_FAILED;
	bk_buf_reset(&out->message);
	va_start(ap, fmt);
	bk_buf_vputf(&out->message, fmt, ap);
	va_end(ap);
}

static void judge(struct bk_runner *p, struct bk_case_result *out, bool in_time, int wstatus)
{
	if (p->interrupted)
		fail_with(out, "interrupted");
	else if (!in_time)
		fail_with(out, "no end after %.0f s", (double)p->timeout_ns / 1e9);
	else if (WIFSIGNALED(wstatus))
		fail_with(out, "ended by signal %d (%s)", WTERMSIG(wstatus),
			  strsignal(WTERMSIG(wstatus)));
	else if (WEXITSTATUS(wstatus) != 0)
		fail_with(out, "ended with exit status %d", WEXITSTATUS(wstatus));
}

/* One process: `what` on the spaces of case `index`, in `folder`. */
static void process_run(struct bk_runner *p, const struct bk_case *what, size_t index,
			const char *folder, struct bk_case_result *out)
{
	int pair[2], pidfd, wstatus = 0;
	bool in_time = false;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
		fail_with(out, "socketpair: %s", strerror(errno));
		return;
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		bk_child_run(p, what, index, folder, pair[1]);
	}
	close(pair[1]);
	if (pid < 0) {
		fail_with(out, "fork: %s", strerror(errno));
		close(pair[0]);
		return;
	}
	setpgid(pid, pid);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd >= 0)
		in_time = bk_listen_until_end(p, pair[0], pidfd, bk_test_now_ns() + p->timeout_ns,
					      out);
	kill(-pid, SIGKILL); /* what it started ends with it */
	while (waitpid(pid, &wstatus, 0) < 0 && errno == EINTR)
		;
	while (bk_listen_message(p, pair[0], out))
		;
	judge(p, out, in_time, wstatus);
	if (pidfd >= 0)
		close(pidfd);
	close(pair[0]);
}

static char *case_folder(struct bk_runner *p, size_t index, struct bk_case_result *out)
{
	struct bk_error err = bk_error_init();
	char name[24], *folder;

	snprintf(name, sizeof(name), "%zu", index);
	folder = bk_fs_join(p->folder, name);
	if (folder && bk_fs_mkdirs(folder, 0700, &err) == BK_OK)
		return folder;
	fail_with(out, "%s", folder ? err.message : "out of memory");
	free(folder);
	return NULL;
}

/* A store that is not in a folder of ours may hold the spaces of a case that ended early. */
static void sweep(struct bk_runner *p, size_t index, const char *folder,
		  struct bk_case_result *result)
{
	static const struct bk_case sweeper = {.name = "sweep", .fn = bk_child_sweep};
	struct bk_case_result out;

	if (bk_options_flagged(p->config->options, BK_OPTF_FOLDER) &&
	    !bk_options_is_set(p->config->options,
			       bk_options_flagged(p->config->options, BK_OPTF_FOLDER)->name))
		return;
	memset(&out, 0, sizeof(out));
	process_run(p, &sweeper, index, folder, &out);
	if (out.outcome == BK_FAILED)
		bk_buf_putf(&result->notes, "sweeping up: %s\n", bk_buf_str(&out.message));
	bk_case_result_free(&out);
}

void bk_process_case(struct bk_runner *p, const struct bk_case *what, size_t index,
		     struct bk_case_result *out)
{
	struct bk_error err = bk_error_init();
	uint64_t start = bk_test_now_ns();
	char *folder;

	memset(out, 0, sizeof(*out));
	folder = case_folder(p, index, out);
	if (!folder)
		return;
	process_run(p, what, index, folder, out);
	if (out->outcome == BK_FAILED) {
		bk_listen_log(folder, &out->log);
		sweep(p, index, folder, out);
	}
	if (bk_fs_remove_tree(folder, &err) != BK_OK)
		bk_buf_putf(&out->notes, "left behind: %s\n", err.message);
	free(folder);
	out->took_ns = bk_test_now_ns() - start;
}

bk_status bk_process_probe(struct bk_runner *p, struct bk_error *err)
{
	static const struct bk_case probe = {.name = "probe", .fn = bk_child_probe};
	struct bk_case_result out;
	bk_status st = BK_OK;

	bk_process_case(p, &probe, 0, &out);
	if (out.outcome == BK_FAILED)
		st = bk_fail(err, BK_UNAVAILABLE, 0, "backend '%s': cannot open a store: %s",
			     p->config->plugin->desc.name, bk_buf_str(&out.message));
	bk_case_result_free(&out);
	return st;
}

void bk_case_result_free(struct bk_case_result *result)
{
	bk_buf_free(&result->message);
	bk_buf_free(&result->notes);
	bk_buf_free(&result->log);
}
