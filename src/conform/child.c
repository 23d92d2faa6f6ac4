/*
 * child.c - the process of a case: settles on its own, then runs the case on spaces of its own.
 *
 * The one invariant: nothing here returns to the printing process's code.
 */
#include "conform/child.h"

#include "conform/sanitize.h"
#include "util/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

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

_Noreturn void bk_child_run(struct bk_runner *p, const struct bk_case *what, size_t index,
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

/* ---- Not of the groups ----------------------------------------------------------------- */

/* Not one of the groups: what the store offers, told to the printing process. */
void bk_child_probe(struct bk_test *t)
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
void bk_child_sweep(struct bk_test *t)
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
