/*
 * apart.c - see apart.h.
 */
#include "conform/apart.h"

#include "conform/sanitize.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART_DONE 77 /* neither a failed check's status nor a skip's */

void *bk_test_shared(struct bk_test *t, size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(t, shared != MAP_FAILED, "out of memory");
	return shared;
}

void bk_test_apart(struct bk_test *t, void (*fn)(struct bk_test *t, void *ctx), void *ctx)
{
	bool *used = bk_test_shared(t, sizeof(t->space_used)); /* to be unmade at the end */
	int status;
	pid_t pid;

	memcpy(used, t->space_used, sizeof(t->space_used));
	pid = fork();
	CHECK(t, pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(t, ctx);
		memcpy(used, t->space_used, sizeof(t->space_used));
		if (bk_sanitizer_found())
			bk_test_fail(t, (struct bk_at){NULL, 0}, "%s", bk_sanitizer_found());
		_exit(APART_DONE);
	}
	CHECK(t, waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		raise(WTERMSIG(status));
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != APART_DONE)
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1); /* it has said why */
	memcpy(t->space_used, used, sizeof(t->space_used));
	munmap(used, sizeof(t->space_used));
}
