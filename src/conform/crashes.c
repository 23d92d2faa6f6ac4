/*
 * crashes.c - see crashes.h.
 *
 * The one invariant: no store is open while the writer runs (an embedded store allows one process
 * at a time), and none ever was in the case's process, from which the writer is forked.
 */
#include "conform/crashes.h"

#include "conform/apart.h"
#include "conform/sink.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 4

struct writer {
	pid_t pid;
	int acks; /* each acknowledgement is one byte */
	unsigned acked;
};

/* In the writer: steps until it is killed, or until the server is gone. */
_Noreturn static void writer_run(struct bk_test *t, const struct bk_crash_plan *plan,
				 unsigned round, uint32_t durability, int acks, bool server_dies)
{
	struct bk_error err = bk_error_init();
	struct bk_record counters;
	struct bk_layered *l;
	struct bk_box *b;
	unsigned i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	l = bk_test_open(t, BK_SPACE_A, durability, BK_OPEN_CHECK);
	b = bk_test_join(t, l, durability);
	bk_record_counters(&counters, b, AT, NULL);
	for (i = 0; i < plan->steps_max; i++) {
		bk_status st = plan->step(b, round, i, &err);

		if (st != BK_OK && server_dies) {
			bk_record_counters(&(struct bk_record){0}, b, AT, &counters);
			break;
		}
		CHECK(t, st == BK_OK, "step %u: %s: %s", i, bk_test_status_name(st), err.message);
		if (write(acks, "", 1) != 1)
			_exit(1);
	}
	for (;;) /* nobody is to say that it was not killed in time */
		pause();
}

static void writer_start(struct writer *w, struct bk_test *t, const struct bk_crash_plan *plan,
			 unsigned round, uint32_t durability, bool server_dies)
{
	int fds[2];

	CHECK(t, pipe(fds) == 0, "pipe: %s", strerror(errno));
	w->acked = 0;
	w->acks = fds[0];
	w->pid = fork();
	CHECK(t, w->pid >= 0, "fork: %s", strerror(errno));
	if (w->pid == 0) {
		close(fds[0]);
		writer_run(t, plan, round, durability, fds[1], server_dies);
	}
	close(fds[1]);
}

/* Takes in acknowledgements, until there are `want` or none came for `ms`; false once the writer
 * has closed its end. */
static bool writer_hear(struct writer *w, unsigned want, int ms)
{
	struct pollfd fd = {w->acks, POLLIN, 0};
	char buf[256];
	ssize_t n;

	while (w->acked < want && poll(&fd, 1, ms) > 0) {
		n = read(w->acks, buf, sizeof(buf));
		if (n <= 0)
			return false;
		w->acked += (unsigned)n;
	}
	return true;
}

/* The writer is killed, and every acknowledgement that it made has been heard. */
static void writer_end(struct writer *w, struct bk_test *t)
{
	int status;

	kill(w->pid, SIGKILL);
	CHECK(t, waitpid(w->pid, &status, 0) == w->pid, "waitpid: %s", strerror(errno));
	while (writer_hear(w, UINT32_MAX, 0) && w->acked != UINT32_MAX) {
		struct pollfd fd = {w->acks, POLLIN, 0};

		if (poll(&fd, 1, 0) == 0)
			break;
	}
	close(w->acks);
	if (WIFEXITED(status))
		_exit(1); /* it failed a check and has said so */
	CHECK(t, WTERMSIG(status) == SIGKILL, "the writer ended by signal %d (%s)",
	      WTERMSIG(status), strsignal(WTERMSIG(status)));
}

static void one_round(struct bk_test *t, const struct bk_crash_plan *plan, unsigned round,
		      unsigned *acked, uint32_t durability, struct bk_rng *rng)
{
	bool server = t->config->crash && round % 2 == 1;
	unsigned wanted = (unsigned)bk_rng_below(rng, 40), most = plan->steps_max / 2;
	struct writer w;

	writer_start(&w, t, plan, round, durability, server);
	if (writer_hear(&w, 1 + (wanted < most ? wanted : most), 10000 * (int)t->slow))
		usleep((useconds_t)bk_rng_below(rng, 3000)); /* into the midst of a step */
	if (server) {
		bk_test_crash_server(t);
		writer_hear(&w, UINT32_MAX, 300);
	}
	writer_end(&w, t);
	CHECK(t, w.acked > 0, "the writer acknowledged nothing in %u s", 10 * t->slow);
	*acked = w.acked;
}

struct stage {
	const struct bk_crash_plan *plan;
	unsigned round, acked[ROUNDS];
	uint32_t durability;
};

static struct bk_box *stage_open(struct bk_test *t, const struct stage *stage)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, stage->durability, BK_OPEN_CHECK);

	return bk_test_join(t, l, stage->durability);
}

static void stage_prepare(struct bk_test *t, void *ctx)
{
	struct stage *stage = ctx;
	struct bk_box *b = stage->round > 0 ? stage_open(t, stage)
					    : bk_test_durable(t, stage->durability, BK_OPEN_CHECK);

	if (stage->plan->prepare)
		stage->plan->prepare(b, stage->round);
	bk_test_shut_box(b);
}

static void stage_check(struct bk_test *t, void *ctx)
{
	struct stage *stage = ctx;
	struct bk_box *b = stage_open(t, stage);
	unsigned k;

	for (k = 0; k <= stage->round; k++)
		stage->plan->check(b, k, stage->acked[k]);
	bk_test_shut_box(b);
}

void bk_test_crash(struct bk_test *t, const struct bk_crash_plan *plan, uint32_t durability)
{
	struct stage stage = {.plan = plan, .durability = durability};
	struct bk_rng rng;

	bk_rng_init(&rng, t->seed);
	for (; stage.round < ROUNDS; stage.round++) {
		bk_test_apart(t, stage_prepare, &stage);
		one_round(t, plan, stage.round, &stage.acked[stage.round], durability, &rng);
		bk_test_apart(t, stage_check, &stage);
	}
}
