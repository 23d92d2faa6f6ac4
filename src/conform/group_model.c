/*
 * group_model.c - random operations on the store and on a model, compared; a failure is made small.
 *
 * The one invariant: a run is a function of the seed and of which operations are left in, so that
 * `--seed` replays it and a smaller one can be looked for.
 */
#include "conform/apart.h"
#include "conform/model.h"
#include "conform/report.h"
#include "conform/sanitize.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPS          260
#define RUNS         4
#define RUN_MS       12000
#define SHRINK_NS    (UINT64_C(8) * 1000000000)
#define SHOW_MOST    40
#define ATTEMPTS_MAX 300

struct variant {
	struct model_mix mix;
	uint32_t durability, flags;
};

struct attempt {
	struct model_op *ops;
	size_t count;
	int *reached; /* shared: index of the operation under way */
	char text[1600], file[96];
	int line;
};

/* ---- One run, in a process of its own
 * ------------------------------------------------------------- */

/* Where ids are paths a node has the one that goes with it. */
static void ids_are_paths(struct attempt *a)
{
	size_t i, k;

	for (i = 0; i < a->count; i++) {
		for (k = 0; k < MODEL_BATCH; k++)
			a->ops[i].puts[k].path = a->ops[i].puts[k].id;
	}
}

_Noreturn static void attempt_run(struct bk_test *t, const struct variant *v, struct attempt *a,
				  int channel)
{
	struct model *m = calloc(1, sizeof(*m));
	struct model_run run = {.m = m, .durability = v->durability, .flags = v->flags};
	struct bk_layered *l;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	t->channel = channel;
	if (t->own & BK_F_ID_IS_PATH)
		ids_are_paths(a);
	l = bk_test_open(t, BK_SPACE_A, v->durability, v->flags);
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	run.b = bk_test_join(t, l, v->durability);
	for (i = 0; i < a->count; i++) {
		*a->reached = (int)i;
		model_step(&run, &a->ops[i]);
	}
	*a->reached = (int)a->count;
	if (m->in_txn)
		WANT(t, BK_OK, run.b->ops->txn.rollback(run.b->s, E));
	bk_test_end(t);
	bk_arena_free(&m->arena);
	free(m);
	if (bk_sanitizer_found())
		FAIL(t, "%s", bk_sanitizer_found());
	_exit(0);
}

static void attempt_hear(struct bk_test *t, struct attempt *a, int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	struct bk_report msg;

	snprintf(a->text, sizeof(a->text), "no end after %d s", RUN_MS / 1000 * (int)t->slow);
	a->file[0] = '\0';
	if (poll(&p, 1, RUN_MS * (int)t->slow) <= 0)
		return;
	snprintf(a->text, sizeof(a->text), "%s", "");
	if (recv(fd, &msg, sizeof(msg), 0) != sizeof(msg) || msg.kind != BK_REPORT_FAIL)
		return;
	snprintf(a->text, sizeof(a->text), "%s", msg.text);
	snprintf(a->file, sizeof(a->file), "%s", msg.file);
	a->line = msg.line;
}

/* True when the run went well. */
static bool attempt(struct bk_test *t, const struct variant *v, struct attempt *a)
{
	int pair[2], status;
	pid_t pid;

	CHECK(t, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0, "socketpair: %s",
	      strerror(errno));
	pid = fork();
	CHECK(t, pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		close(pair[0]);
		attempt_run(t, v, a, pair[1]);
	}
	close(pair[1]);
	attempt_hear(t, a, pair[0]);
	close(pair[0]);
	if (a->text[0])
		kill(pid, SIGKILL);
	CHECK(t, waitpid(pid, &status, 0) == pid, "waitpid: %s", strerror(errno));
	if (a->text[0])
		return false;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	if (WIFSIGNALED(status))
		snprintf(a->text, sizeof(a->text), "ended by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(a->text, sizeof(a->text), "ended with exit status %d",
			 WEXITSTATUS(status));
	return false;
}

/* ---- Smaller
 * --------------------------------------------------------------------------------------- */

/* Leaves `n` operations out from `from` on, if the rest still fails. */
static bool shrink_by(struct bk_test *t, const struct variant *v, struct attempt *a, size_t from,
		      size_t n)
{
	struct attempt smaller = *a;

	smaller.ops = malloc(a->count * sizeof(*a->ops));
	CHECK(t, smaller.ops, "out of memory");
	memcpy(smaller.ops, a->ops, from * sizeof(*a->ops));
	memcpy(smaller.ops + from, a->ops + from + n, (a->count - from - n) * sizeof(*a->ops));
	smaller.count = a->count - n;
	if (attempt(t, v, &smaller)) {
		free(smaller.ops);
		return false;
	}
	free(a->ops);
	*a = smaller;
	if ((size_t)*a->reached + 1 < a->count)
		a->count = (size_t)*a->reached + 1;
	return true;
}

static void shrink(struct bk_test *t, const struct variant *v, struct attempt *a)
{
	uint64_t end = bk_test_now_ns() + SHRINK_NS * t->slow;
	int attempts = 0;
	size_t n, from;

	if ((size_t)*a->reached + 1 < a->count)
		a->count = (size_t)*a->reached + 1;
	for (n = a->count / 2; n > 0; n /= 2) {
		for (from = a->count; from-- > 0;) {
			if (from % n || from + n > a->count || a->count <= n)
				continue;
			if (bk_test_now_ns() > end || ++attempts > ATTEMPTS_MAX)
				return;
			shrink_by(t, v, a, from, n);
		}
	}
}

_Noreturn static void explain(struct bk_test *t, const struct attempt *a, size_t was)
{
	size_t i, first = a->count > SHOW_MOST ? a->count - SHOW_MOST : 0;

	if (first)
		bk_test_note(t, "... %zu operations before these", first);
	for (i = first; i < a->count; i++)
		bk_test_note(t, "%s", model_show(&t->arena, &a->ops[i]));
	bk_test_fail(t, (struct bk_at){a->file[0] ? a->file : __FILE__, a->line},
		     "%s (seed %llu; %zu operations, made of %zu; see notes)", a->text,
		     (unsigned long long)t->seed, a->count, was);
}

static void model(struct bk_test *t, const struct variant *v)
{
	struct attempt a;
	unsigned run;

	/* what the attempts open they leave to this process to unmake */
	bk_test_shut_box(v->durability ? bk_test_durable(t, v->durability, v->flags)
				       : bk_test_box_at(t, BK_SPACE_A, 0, v->flags));
	memset(&a, 0, sizeof(a));
	a.reached = bk_test_shared(t, sizeof(*a.reached));
	for (run = 0; run < RUNS; run++) {
		a.count = OPS;
		a.ops = malloc(OPS * sizeof(*a.ops));
		CHECK(t, a.ops, "out of memory");
		model_generate(a.ops, OPS, &v->mix, bk_rng_derive_u64(t->seed, run));
		if (!attempt(t, v, &a)) {
			shrink(t, v, &a);
			explain(t, &a, OPS);
		}
		free(a.ops);
	}
	munmap(a.reached, sizeof(int));
}

/* ---- Variants
 * ----------------------------------------------------------------------------------------- */

#define NODE_MIX                                                                                   \
	[MODEL_PUT] = 40, [MODEL_PUT_MANY] = 6, [MODEL_CAS] = 4, [MODEL_APPEND] = 8,               \
	[MODEL_REMOVE] = 10, [MODEL_GET] = 8, [MODEL_FIND] = 6, [MODEL_GET_MANY] = 5,              \
	[MODEL_WALK] = 14, [MODEL_CHECK] = 2
#define TXN_MIX [MODEL_BEGIN] = 8, [MODEL_COMMIT] = 5, [MODEL_ROLLBACK] = 2
#define BINARY_MIX                                                                                 \
	[MODEL_STORE] = 14, [MODEL_ABORT] = 3, [MODEL_UNSTORE] = 5, [MODEL_STAT] = 10,             \
	[MODEL_LIST] = 3

static void autocommit(struct bk_test *t)
{
	static const struct variant v = {{{NODE_MIX}}, BK_DURABLE_NONE, BK_OPEN_CHECK};

	model(t, &v);
}

static void bare(struct bk_test *t)
{
	static const struct variant v = {
		{{NODE_MIX, TXN_MIX, BINARY_MIX}}, BK_DURABLE_NONE, BK_BARE};

	model(t, &v);
}

static void transactions(struct bk_test *t)
{
	static const struct variant v = {{{NODE_MIX, TXN_MIX}}, BK_DURABLE_NONE, BK_OPEN_CHECK};

	model(t, &v);
}

static void reopen(struct bk_test *t)
{
	static const struct variant v = {{{NODE_MIX, [MODEL_REOPEN] = 5, [MODEL_SETTLE] = 2}},
					 BK_DURABLE_PROCESS,
					 BK_OPEN_CHECK};

	model(t, &v);
}

static void binaries(struct bk_test *t)
{
	static const struct variant v = {
		{{BINARY_MIX, [MODEL_CHECK] = 1}}, BK_DURABLE_NONE, BK_OPEN_CHECK};

	model(t, &v);
}

static void everything(struct bk_test *t)
{
	static const struct variant v = {
		{{NODE_MIX, TXN_MIX, BINARY_MIX, [MODEL_REOPEN] = 3, [MODEL_SETTLE] = 2}},
		BK_DURABLE_PROCESS,
		BK_OPEN_CHECK};

	model(t, &v);
}

static const struct bk_case cases[] = {
	{"autocommit", "random operations on nodes, each on its own", autocommit,
	 .needs = BK_F_NODES},
	{"bare", "random operations without bakeoff's loops and checks", bare},
	{"txn", "random operations in transactions, some rolled back", transactions,
	 .needs = BK_F_NODES, .own = BK_F_TXN},
	{"reopen", "random operations, the store closed and opened in between", reopen,
	 .needs = BK_F_NODES},
	{"binaries", "random operations on binaries", binaries, .needs = BK_F_BINARIES},
	{"everything", "all of it at once", everything},
	{.name = NULL},
};

const struct bk_group bk_group_model = {"model", cases};
