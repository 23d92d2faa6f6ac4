/*
 * The file backend killed: at every system call of an operation (the victim is traced, so that
 * each place is met for certain and not by luck), at instructions between them, and at any moment
 * of a long row.  What the next process finds is the state before the operation or the state
 * after it, never anything else, and the operation can be done again.
 */
#include "file_fixture.h"

#include "util/rng.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#define SECONDS_EACH 1.0 /* for the instructions of one operation; system calls are all visited */

static const char *const ids[] = {"root", "a", "b", "c", "d", "new"};
enum { IDS = 6 };

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* ---- All that can be read, as text --------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines in order, whatever order the store gave them in. */
static void add_sorted(char *out, size_t cap, char **lines, size_t n)
{
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++) {
		snprintf(out + strlen(out), cap - strlen(out), " %s", lines[i]);
		free(lines[i]);
	}
}

static char *line_of(const char *a, struct bk_slice x, struct bk_slice y)
{
	char *line = NULL;

	if (asprintf(&line, "%s%.*s:%.*s", a, (int)x.len, x.len ? (const char *)x.data : "",
		     (int)y.len, y.len ? (const char *)y.data : "") < 0)
		abort();
	return line;
}

static void add_walk(char *out, size_t cap, const char *id, uint32_t dir)
{
	struct bk_step step = {.dir = dir};
	struct bk_cursor *c;
	struct bk_hit hits[50];
	char *lines[1000];
	size_t n, all = 0;

	snprintf(out + strlen(out), cap - strlen(out), "\n  %u", dir);
	ok(t->node.walk_open(&c, s, bk_slice_str(id), &step, 1, BK_WANT_PATH, &err));
	while (t->node.walk_next(c, hits, 50, &n, &err) == BK_OK) {
		for (size_t i = 0; i < n && all < 1000; i++)
			lines[all++] = line_of("", hits[i].path, hits[i].rel);
	}
	t->node.walk_close(c);
	add_sorted(out, cap, lines, all);
}

static void dump(char *out, size_t cap)
{
	*out = '\0';
	for (size_t i = 0; i < IDS; i++) {
		char path[32], *lines[1000];
		struct bk_slice id = {NULL, 0};
		struct bk_node node;
		bk_status st = t->node.get(&node, s, bk_slice_str(ids[i]), 7, &err);
		size_t n = 0;

		snprintf(out + strlen(out), cap - strlen(out), "\n%s %d", ids[i], st);
		if (st == BK_OK) {
			lines[n++] = line_of("doc ", node.doc, node.path);
			for (size_t k = 0; k < node.link_count && n < 1000; k++)
				lines[n++] = line_of("", node.links[k].rel, node.links[k].target);
			add_sorted(out, cap, lines, n);
		}
		snprintf(path, sizeof(path), "/p/%s", ids[i]);
		st = t->node.find(&id, s, bk_slice_str(path), &err);
		snprintf(out + strlen(out), cap - strlen(out), "\n  find %d", st);
		for (uint32_t dir = BK_CHILDREN; dir <= BK_IN; dir++)
			add_walk(out, cap, ids[i], dir);
		/* removing what has children is refused; what has none is left alone here */
		if (count_hits(ids[i], BK_CHILDREN, ""))
			gives(t->node.remove(s, bk_slice_str(ids[i]), &err), BK_IN_USE);
	}
}

/* ---- The operations -------------------------------------------------------------------------- */

static bk_status op_create(void)
{
	struct bk_link links[] = {link_to("r", "a"), link_to("q", "a"), link_to("r", "root")};

	return put("new", "root", "fresh", BK_PUT_CREATE, links, 3);
}

static bk_status op_replace(void)
{
	struct bk_link links[] = {link_to("r", "b"), link_to("q", "a")};

	return put("c", "root", "replaced", BK_PUT_REPLACE, links, 2);
}

static bk_status op_append(void)
{
	struct bk_link links[] = {link_to("r", "b"), link_to("r", "d"), link_to("r", "a")};

	return t->node.append(s, bk_slice_str("c"), bk_slice_str("+more"), links, 3, &err);
}

static bk_status op_remove(void)
{
	return t->node.remove(s, bk_slice_str("c"), &err);
}

static bk_status op_settle(void)
{
	return t->store.settle(io->store, 0, &err);
}

/* The next removal finds root's list mostly dead, and writes it anew. */
static void prepare_relist(void)
{
	char id[16];

	for (int i = 0; i < 290; i++) {
		snprintf(id, sizeof(id), "x%d", i);
		ok(put(id, "root", "", BK_PUT_CREATE, NULL, 0));
	}
	for (int i = 0; i < 290; i++) {
		snprintf(id, sizeof(id), "x%d", i);
		ok(t->node.remove(s, bk_slice_str(id), &err));
	}
}

static const struct operation {
	const char *name;
	bk_status (*run)(void);
	bk_status again; /* what the operation gives when it was done already */
	bool publishes;  /* it goes on in memory once it is made */
	void (*prepare)(void);
} operations[] = {
	{"create", op_create, BK_EXISTS, true, NULL},
	{"replace", op_replace, BK_OK, true, NULL},
	{"append", op_append, BK_OK, true, NULL},
	{"remove", op_remove, BK_NOT_FOUND, true, NULL},
	{"relist", op_remove, BK_NOT_FOUND, true, prepare_relist},
	{"settle", op_settle, BK_OK, false, NULL},
};

static void prepare(const struct operation *op)
{
	struct bk_link links[] = {link_to("r", "a"), link_to("r", "b"), link_to("q", "gone")};

	store_use(BK_DURABLE_PROCESS);
	ok(put("root", "", "R", BK_PUT_CREATE, NULL, 0));
	for (size_t i = 1; i < IDS - 1; i++)
		ok(put(ids[i], "root", ids[i], BK_PUT_CREATE, links, 3));
	if (op->prepare)
		op->prepare();
	store_leave();
}

/* ---- The victim ------------------------------------------------------------------------------ */

static pid_t victim_start(const struct operation *op)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
			_exit(77);
		store_open(BK_DURABLE_PROCESS);
		if (session_try(BK_DURABLE_PROCESS) != BK_OK)
			_exit(78);
		raise(SIGSTOP);
		if (op->run() != BK_OK)
			_exit(79);
		raise(SIGSTOP);
		_exit(80);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		return 0;
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD));
	return pid;
}

/* On to the `n`th stop at a system call; true: the operation was over before. */
static bool victim_run(pid_t pid, size_t n)
{
	int status;

	for (size_t met = 0; met < n; met++) {
		ptrace(PTRACE_SYSCALL, pid, NULL, NULL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status))
			fail_msg("the victim's operation failed: %d", WEXITSTATUS(status));
		if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP)
			return true;
	}
	return false;
}

static void victim_kill(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* What the next process finds. */
static void check_after_kill(const struct operation *op, bool over, const char *where,
			     const char *before, const char *after)
{
	static char found[1 << 16];

	store_open(BK_DURABLE_PROCESS);
	ok(session_try(BK_DURABLE_PROCESS));
	dump(found, sizeof(found));
	if (strcmp(found, after) != 0 && (over || strcmp(found, before) != 0))
		fail_msg("%s, killed at %s, leaves\n%s\nbefore it was\n%s\nafter it is\n%s",
			 op->name, where, found, before, after);
	if (strcmp(found, after) == 0) {
		gives(op->run(), op->again);
	} else {
		ok(op->run());
		dump(found, sizeof(found));
		assert_string_equal(found, after);
	}
	assert_int_equal(count_files(in_store("main/tmp")), 0);
	store_leave();
}

static void store_fresh(const struct operation *op)
{
	ok(bk_fs_remove_tree(in_store(""), &err));
	prepare(op);
}

/* Before each system call, which is after the one before.  Stops come in pairs: in, out. */
static void kill_at_calls(const struct operation *op, const char *before, const char *after)
{
	bool over = false;
	size_t n;

	for (n = 1; !over; n += 2) {
		char where[40];
		pid_t pid;

		store_fresh(op);
		pid = victim_start(op);
		if (!pid) {
			print_message("tracing is not allowed here\n");
			skip();
		}
		over = victim_run(pid, n);
		victim_kill(pid);
		snprintf(where, sizeof(where), "stop %zu", n);
		check_after_kill(op, over, where, before, after);
	}
	assert_true(n > 4);
}

/* ---- Between system calls: the processor's trap flag -------------------------------------------
 */

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
static struct steps { /* shared with the victim */
	size_t taken, last;
} * steps;

static void step_taken(int sig)
{
	if (++steps->taken == steps->last)
		kill(getpid(), SIGKILL);
}

/* The operation, killed after so many instructions; true: it was over before. */
static bool victim_step(const struct operation *op, size_t last)
{
	struct sigaction action = {.sa_handler = step_taken};
	int status;
	pid_t pid;

	steps->taken = 0;
	steps->last = last;
	pid = fork();
	if (pid == 0) {
		bk_status st;

		sigaction(SIGTRAP, &action, NULL);
		store_open(BK_DURABLE_PROCESS);
		if (session_try(BK_DURABLE_PROCESS) != BK_OK)
			_exit(78);
		__asm__ volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "
				 "addq $128, %%rsp" ::
					 : "memory", "cc");
		st = op->run();
		__asm__ volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; "
				 "addq $128, %%rsp" ::
					 : "memory", "cc");
		_exit(st == BK_OK ? 0 : 79);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status))
		fail_msg("the victim's operation failed: %d", WEXITSTATUS(status));
	return WIFEXITED(status);
}

/* Evenly spread, in an order that covers all of it early (by the golden ratio). */
static void kill_at_instructions(const struct operation *op, const char *before, const char *after)
{
	double until = now_s() + SECONDS_EACH;
	size_t n, all;

	steps = mmap(NULL, sizeof(*steps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_true(steps != MAP_FAILED);
	store_fresh(op);
	assert_true(victim_step(op, SIZE_MAX));
	all = steps->taken;
	assert_true(all > 100);
	for (n = 0; n < 1000 && now_s() < until; n++) {
		double turn = (double)n * 0.61803398875;
		size_t last = 1 + (size_t)((turn - (double)(size_t)turn) * (double)all);
		char where[60];
		bool over;

		store_fresh(op);
		over = victim_step(op, last);
		snprintf(where, sizeof(where), "instruction %zu of %zu", last, all);
		check_after_kill(op, over, where, before, after);
	}
	print_message("%s: killed at %zu of %zu instructions\n", op->name, n, all);
	munmap(steps, sizeof(*steps));
}
#else
static void kill_at_instructions(const struct operation *op, const char *before, const char *after)
{
}
#endif

static void killed_anywhere(void **state)
{
	static char before[1 << 16], after[1 << 16];
	const struct operation *op = *state;

	prepare(op);
	store_open(BK_DURABLE_PROCESS);
	ok(session_try(BK_DURABLE_PROCESS));
	dump(before, sizeof(before));
	ok(op->run());
	dump(after, sizeof(after));
	store_leave();

	kill_at_calls(op, before, after);
	if (op->publishes)
		kill_at_instructions(op, before, after);
}

/* ---- At any moment, again and again
 * --------------------------------------------------------------- */

/* The `n`th operation of an endless row: the same in every process and on every store. */
static void random_operation(uint64_t n)
{
	struct bk_rng rng;
	struct bk_link links[8];
	size_t count;
	const char *id;

	bk_rng_init(&rng, 4711 + n);
	id = ids[bk_rng_below(&rng, IDS)];
	count = bk_rng_below(&rng, 8);
	for (size_t i = 0; i < count; i++)
		links[i] = link_to(bk_rng_below(&rng, 2) ? "r" : "q", ids[bk_rng_below(&rng, IDS)]);
	switch (bk_rng_below(&rng, 4)) {
	case 0:
		put(id, strcmp(id, "root") ? "root" : "", "put", BK_PUT_UPSERT, links, count);
		break;
	case 1:
		put(id, strcmp(id, "root") ? "root" : "", "new", BK_PUT_CREATE, links, count);
		break;
	case 2:
		t->node.append(s, bk_slice_str(id), bk_slice_str("+"), links, count, &err);
		break;
	default:
		t->node.remove(s, bk_slice_str(id), &err);
	}
}

/* The victim works from operation `from` on; returns how many it had finished when it died. */
static uint64_t victim_until(uint64_t from, unsigned wait_us)
{
	_Atomic uint64_t *done = mmap(NULL, sizeof(*done), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t n;
	pid_t pid;

	assert_true(done != MAP_FAILED);
	pid = fork();
	if (pid == 0) {
		store_open(BK_DURABLE_PROCESS);
		if (session_try(BK_DURABLE_PROCESS) != BK_OK)
			_exit(78);
		for (;;) {
			random_operation(from + atomic_load(done));
			atomic_fetch_add(done, 1);
		}
	}
	while (atomic_load(done) == 0 && waitpid(pid, NULL, WNOHANG) == 0)
		usleep(100);
	usleep(wait_us);
	victim_kill(pid);
	n = atomic_load(done);
	munmap((void *)done, sizeof(*done));
	assert_true(n > 0);
	return from + n;
}

static void killed_at_random(void **state)
{
	static char found[1 << 16], wanted[1 << 16];
	double until = now_s() + SECONDS_EACH;
	struct bk_plugin *mem_plugin;
	struct bk_options *mem_options;
	struct bk_layered *mem;
	struct bk_session *mem_session;
	struct bk_session_config config = {.struct_size = sizeof(config)};
	uint64_t done = 0, applied = 0;
	unsigned rounds;
	struct bk_rng rng;

	bk_rng_init(&rng, 1);
	ok(bk_plugin_find(&mem_plugin, "mem", &err));
	ok(bk_options_new(&mem_options, &mem_plugin->desc, &err));
	ok(bk_open(&mem, mem_plugin, mem_options, NULL, NULL, 0, BK_OPEN_CHECK, &err));
	ok(mem->tables.store.make(mem->store, &err));
	ok(mem->tables.session.open(&mem_session, mem->store, &config, &err));
	store_use(BK_DURABLE_PROCESS);
	store_leave();
	for (rounds = 0; rounds < 1000 && now_s() < until; rounds++) {
		done = victim_until(done, (unsigned)bk_rng_below(&rng, 2000));
		store_open(BK_DURABLE_PROCESS);
		ok(session_try(BK_DURABLE_PROCESS));
		dump(found, sizeof(found));
		store_leave();
		/* the oracle: all that was done, and perhaps one more */
		t = &mem->tables;
		s = mem_session;
		while (applied < done)
			random_operation(applied++);
		dump(wanted, sizeof(wanted));
		if (strcmp(found, wanted) != 0) {
			random_operation(applied++);
			dump(wanted, sizeof(wanted));
			assert_string_equal(found, wanted);
			done = applied;
		}
		s = NULL;
	}
	print_message("killed %u times in %llu operations\n", rounds, (unsigned long long)done);
	mem->tables.session.close(mem_session);
	bk_close(mem);
	bk_options_free(mem_options);
	bk_plugin_free(mem_plugin);
}

/* In memory where that can be had: a killed process loses nothing there either, and hundreds of
 * stores are made and removed. */
static int setup_in_memory(void **state)
{
	return access("/dev/shm", W_OK) == 0 ? fixture_in("/dev/shm") : fixture_setup(state);
}

int main(void)
{
	struct CMUnitTest tests[sizeof(operations) / sizeof(*operations) + 1] = {
		cmocka_unit_test_setup_teardown(killed_at_random, setup_in_memory,
						fixture_teardown)};
	size_t n = sizeof(operations) / sizeof(*operations);

	for (size_t i = 0; i < n; i++) {
		struct CMUnitTest test = {operations[i].name, killed_anywhere, setup_in_memory,
					  fixture_teardown, (void *)&operations[i]};

		tests[i + 1] = test;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
