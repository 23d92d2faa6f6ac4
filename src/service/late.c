/*
 * late.c - the part of a template's copy that goes on while the server starts.
 *
 * Copying takes about as long as a start does, and a machine has more than one processor.  It is
 * done by a process, not by a thread: the keeper forks meanwhile.
 *
 * The one invariant: that process is there between bk_keeper_begin_late() and
 * bk_keeper_end_late() only, and ends with the keeper.
 */
#include "service/keeper.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct bk_late { /* in memory that both processes see */
	pid_t pid;
	bool running;
	struct bk_error error; /* OK once all is copied; until then that it was killed */
};

static void lat_copy(struct bk_late *late, struct bk_unpack how, const struct bk_keeper *k,
		     pid_t keeper) __attribute__((noreturn));

static void lat_copy(struct bk_late *late, struct bk_unpack how, const struct bk_keeper *k,
		     pid_t keeper)
{
	struct bk_error cause = bk_error_init();

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != keeper)
		_exit(1);
	how.stop = NULL;                                     /* it is killed */
	how.workers = how.workers > 1 ? how.workers - 1 : 1; /* the server needs one too */
	bk_unpack_late(&how, &k->pack, k->data, &cause);
	late->error = cause;
	_exit(0);
}

bk_status bk_keeper_begin_late(struct bk_keeper *k, const struct bk_unpack *how,
			       struct bk_error *err)
{
	struct bk_late *late = mmap(NULL, sizeof(*late), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t keeper = getpid(), pid;

	if (late == MAP_FAILED)
		return bk_fail(err, BK_NOMEM, errno, "out of memory");
	late->error = bk_error_init();
	bk_fail(&late->error, BK_INTERNAL, 0, "the process that did it was killed");
	pid = fork();
	if (pid == 0)
		lat_copy(late, *how, k, keeper);
	if (pid < 0) {
		bk_fail(err, BK_IO, errno, "cannot start a process: %s", strerror(errno));
		munmap(late, sizeof(*late));
		return err->status;
	}
	late->pid = pid; /* the keeper's to write */
	late->running = true;
	k->late = late;
	return BK_OK;
}

bool bk_keeper_is_late(struct bk_keeper *k, pid_t pid)
{
	if (!k->late || k->late->pid != pid)
		return false;
	k->late->running = false;
	return true;
}

bk_status bk_keeper_end_late(struct bk_keeper *k, bk_status st, struct bk_error *err)
{
	struct bk_late *late = k->late;

	if (!late)
		return st;
	/* To its end also when the server has failed: a file that could not be written fails both.
	 */
	while (late->running && !k->quit && bk_service_now_ns() < k->deadline_ns)
		bk_keeper_wait(k, NULL, 1000);
	if (late->running) {
		kill(late->pid, SIGKILL);
		while (late->running)
			bk_keeper_wait(k, NULL, 5);
		if (st == BK_OK)
			st = bk_keeper_check(k, "copying the template", err);
	} else if (late->error.status != BK_OK) {
		st = bk_keeper_copy_failed(k, &late->error, err);
	}
	k->late = NULL;
	munmap(late, sizeof(*late));
	return st;
}
