/*
 * process.c - fork a case, listen to it, end it when its time is up, tidy up after it.
 *
 * The one invariant: only process groups that were started here are killed, and only the folder
 * that was made here is removed.
 */
#include "conform/process.h"

#include "conform/sanitize.h"
#include "util/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUT_DEFAULT_NS (UINT64_C(30) * 1000000000)
#define LOG_MOST           6000

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

/* ---- In the child ---------------------------------------------------------------------- */

/* A case that stands on its own: no terminal, no input, output kept for the report, no core file
 * from the processes it kills, its own process group so that all of it can be ended. */
static void child_settle(struct bk_runner *p, const char *log_path)
{
	struct rlimit none = {0, 0};
	sigset_t set;
	int fd;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(p->interrupt_fd);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	setrlimit(RLIMIT_CORE, &none);
	fd = open("/dev/null", O_RDONLY);
	if (fd >= 0)
		dup2(fd, STDIN_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd >= 0) {
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	if (fd > STDERR_FILENO)
		close(fd);
}

static void child_spaces(struct bk_test *t, const struct bk_runner *p, size_t index)
{
	char base[20];

	snprintf(base, sizeof(base), "cf_%s_%zu", p->run_tag, index);
	snprintf(t->space[BK_SPACE_A], sizeof(t->space[0]), "%sa", base);
	snprintf(t->space[BK_SPACE_B], sizeof(t->space[0]), "%sb", base);
	snprintf(t->space[BK_SPACE_PREFIXED], sizeof(t->space[0]), "%sa0", base);
	snprintf(t->space[BK_SPACE_LIKE], sizeof(t->space[0]), "%sa", base);
	t->space[BK_SPACE_LIKE][2] = 'x';
}

/* Where whoever runs this set the store's folder, it is kept: the spaces are ours, it is not. */
static bk_status child_options(struct bk_test *t, struct bk_options *options, const char *folder,
			       struct bk_error *err)
{
	const struct bk_option *entry = bk_options_flagged(options, BK_OPTF_FOLDER);
	bk_status st;

	if (!entry || bk_options_is_set(options, entry->name))
		return BK_OK;
	t->folder = bk_arena_printf(&t->arena, "%s/store", folder);
	st = bk_fs_mkdirs(t->folder, 0700, err);
	if (st == BK_OK)
		st = bk_options_set(options, entry->name, t->folder, BK_FROM_HARNESS, err);
	return st;
}

static void child_test(struct bk_test *t, struct bk_runner *p, const struct bk_case *what,
		       size_t index, const char *folder, int channel)
{
	struct bk_error err = bk_error_init();
	struct bk_options *options = NULL;
	bk_status st;

	memset(t, 0, sizeof(*t));
	t->config = p->config;
	t->what = what;
	t->desc = &p->config->plugin->desc;
	t->own = p->own;
	t->looped = p->looped;
	t->limits = p->limits;
	t->channel = channel;
	t->seed = p->config->seed;
	t->slow = p->slow;
	child_spaces(t, p, index);
	t->scratch = bk_arena_printf(&t->arena, "%s/scratch", folder);
	t->log_path = bk_arena_printf(&t->arena, "%s/log", folder);
	st = bk_options_copy(&options, p->config->options, &err);
	if (st == BK_OK)
		st = bk_fs_mkdirs(t->scratch, 0700, &err);
	if (st == BK_OK)
		st = child_options(t, options, folder, &err);
	if (st == BK_OK)
		st = bk_options_check(options, &err);
	CHECK(t, st == BK_OK, "%s", err.message);
	t->options = options;
}

/* Not one of the groups: what the store offers, told to the printing process. */
static void child_probe(struct bk_test *t)
{
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	struct bk_report msg;
	bk_status st = bk_open(&l, t->config->plugin, t->options, t->space[BK_SPACE_A], NULL,
			       BK_DURABLE_NONE, BK_OPEN_CHECK, &err);

	if (st != BK_OK)
		bk_test_fail(t, (struct bk_at){NULL, 0}, "%s", err.message);
	memset(&msg, 0, sizeof(msg));
	msg.kind = BK_REPORT_PROBE;
	msg.own = l->native | l->emulated;
	msg.looped = l->looped;
	msg.limits = l->limits;
	bk_close(l);
	if (send(t->channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Not one of the groups: removes from a server what a case that ended early left there. */
static void child_sweep(struct bk_test *t)
{
	struct bk_error err = bk_error_init();
	struct bk_layered *l;
	int i;

	for (i = 0; i < BK_SPACE_COUNT; i++) {
		l = NULL;
		if (bk_open(&l, t->config->plugin, t->options, t->space[i], NULL, BK_DURABLE_NONE,
			    BK_OPEN_RAW, &err) != BK_OK)
			continue;
		if (l->tables.store.unmake(l->store, &err) != BK_OK)
			fprintf(stderr, "space %s stays: %s\n", t->space[i], err.message);
		bk_close(l);
	}
}

_Noreturn static void child_run(struct bk_runner *p, const struct bk_case *what, size_t index,
				const char *folder, int channel)
{
	struct bk_test t;
	char *log_path = bk_fs_join(folder, "log");

	child_settle(p, log_path);
	free(log_path);
	child_test(&t, p, what, index, folder, channel);
	what->fn(&t);
	bk_test_end(&t);
	if (bk_sanitizer_found())
		bk_test_fail(&t, (struct bk_at){NULL, 0}, "%s", bk_sanitizer_found());
	_exit(0);
}

/* ---- In the parent ----------------------------------------------------------------------- */

static void one_line(struct bk_buf *buf, const char *text)
{
	const char *p;

	bk_buf_reset(buf);
	for (p = text; *p; p++) {
		char c = (unsigned char)*p < 0x20 ? ' ' : *p;

		bk_buf_put(buf, &c, 1);
	}
}

static void answer_crash(struct bk_runner *p, int channel)
{
	struct bk_error err = bk_error_init();
	struct bk_report msg;

	memset(&msg, 0, sizeof(msg));
	msg.kind = BK_REPORT_CRASH;
	if (p->config->crash)
		msg.status = p->config->crash(p->config->crash_ctx, &err);
	else
		msg.status = bk_fail(&err, BK_UNSUPPORTED, 0, "no way to crash the server");
	if (msg.status != BK_OK)
		snprintf(msg.text, sizeof(msg.text), "%s", err.message);
	if (send(channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0)
		fprintf(stderr, "bakeoff: cannot answer a case: %s\n", strerror(errno));
}

/* Takes in one message; false when there is none (yet). */
static bool hear(struct bk_runner *p, int channel, struct bk_case_result *out)
{
	struct bk_report msg;
	ssize_t n = recv(channel, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n != sizeof(msg))
		return false;
	msg.file[sizeof(msg.file) - 1] = msg.text[sizeof(msg.text) - 1] = '\0';
	switch (msg.kind) {
	case BK_REPORT_FAIL:
		if (out->outcome == BK_FAILED)
			break; /* the first one is the cause */
		out->outcome = BK_FAILED;
		one_line(&out->message, msg.text);
		if (msg.file[0])
			snprintf(out->at, sizeof(out->at), "%s:%d", msg.file, msg.line);
		break;
	case BK_REPORT_SKIP:
		out->outcome = BK_SKIPPED;
		one_line(&out->message, msg.text);
		break;
	case BK_REPORT_NOTE:
		bk_buf_putf(&out->notes, "%s\n", msg.text);
		break;
	case BK_REPORT_CRASH:
		answer_crash(p, channel);
		break;
	case BK_REPORT_PROBE:
		p->own = msg.own;
		p->looped = msg.looped;
		p->limits = msg.limits;
		break;
	default:
		break;
	}
	return true;
}

/* Until the child has ended; false when its time was up or somebody wants to stop. */
static bool listen_to(struct bk_runner *p, int channel, int pidfd, uint64_t deadline_ns,
		      struct bk_case_result *out)
{
	for (;;) {
		struct pollfd fds[3] = {
			{channel, POLLIN, 0}, {pidfd, POLLIN, 0}, {p->interrupt_fd, POLLIN, 0}};
		uint64_t now = bk_test_now_ns();
		int ms = now < deadline_ns ? (int)((deadline_ns - now) / 1000000) + 1 : 0;

		if (ms == 0)
			return false;
		if (poll(fds, 3, ms) < 0 && errno != EINTR)
			return false;
		if (fds[2].revents) {
			p->interrupted = true;
			return false;
		}
		if ((fds[0].revents & POLLIN) && hear(p, channel, out))
			continue;
		if (fds[1].revents)
			return true;
		if (fds[0].revents) /* every writer is gone: the end is near */
			poll(fds + 1, 2, ms);
	}
}

static void read_log(const char *folder, struct bk_buf *log)
{
	char *path = bk_fs_join(folder, "log"), chunk[LOG_MOST];
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat sb;
	ssize_t n;

	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &sb) == 0 && sb.st_size > LOG_MOST) {
		/* the head says what went wrong in a sanitizer's report, the tail the rest */
		n = pread(fd, chunk, LOG_MOST / 2, 0);
		if (n > 0)
			bk_buf_put(log, chunk, (size_t)n);
		bk_buf_puts(log, "\n...\n");
		n = pread(fd, chunk, LOG_MOST / 2, sb.st_size - LOG_MOST / 2);
	} else {
		n = pread(fd, chunk, LOG_MOST, 0);
	}
	if (n > 0)
		bk_buf_put(log, chunk, (size_t)n);
	close(fd);
}

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
		child_run(p, what, index, folder, pair[1]);
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
		in_time = listen_to(p, pair[0], pidfd, bk_test_now_ns() + p->timeout_ns, out);
	kill(-pid, SIGKILL); /* what it started ends with it */
	while (waitpid(pid, &wstatus, 0) < 0 && errno == EINTR)
		;
	while (hear(p, pair[0], out))
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
	static const struct bk_case sweeper = {.name = "sweep", .fn = child_sweep};
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
		read_log(folder, &out->log);
		sweep(p, index, folder, out);
	}
	if (bk_fs_remove_tree(folder, &err) != BK_OK)
		bk_buf_putf(&out->notes, "left behind: %s\n", err.message);
	free(folder);
	out->took_ns = bk_test_now_ns() - start;
}

bk_status bk_process_probe(struct bk_runner *p, struct bk_error *err)
{
	static const struct bk_case probe = {.name = "probe", .fn = child_probe};
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
