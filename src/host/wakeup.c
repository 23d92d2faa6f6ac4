/*
 * wakeup.c - two processes that take turns: what a client that waits for a server pays for nothing
 * but being woken.
 */
#include "host/host.h"

#include "util/clock.h"
#include "util/summary.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS   2000
#define WARM_UP 200

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Runs in a child of its own, so that pinning stays there.  Writes the median to `out`. */
static void ping(int to, int from, int out)
{
	double *turns = malloc(TURNS * sizeof(*turns)), median = 0;
	char c = 0;
	int i;

	for (i = 0; turns && i < TURNS; i++) {
		uint64_t start = bk_clock_ns();

		if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
			break;
		turns[i] = (double)(bk_clock_ns() - start);
	}
	if (turns && i == TURNS)
		median = bk_summary_of(turns + WARM_UP, TURNS - WARM_UP).median;
	free(turns);
	if (write(out, &median, sizeof(median)) != (ssize_t)sizeof(median))
		_exit(1);
}

static void pong(int to, int from)
{
	char c;

	while (read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
		;
}

static double measure(bool pinned)
{
	int there[2] = {-1, -1}, back[2] = {-1, -1}, result[2] = {-1, -1}, i;
	int cpu = sched_getcpu();
	double median = 0;
	pid_t a = -1, b = -1;

	if (pipe(there) < 0 || pipe(back) < 0 || pipe(result) < 0)
		goto out;
	a = fork();
	if (a == 0) {
		if (pinned)
			pin_to(cpu);
		close(there[0]);
		close(back[1]);
		ping(there[1], back[0], result[1]);
		_exit(0);
	}
	b = fork();
	if (b == 0) {
		if (pinned)
			pin_to(cpu);
		close(there[1]);
		close(back[0]);
		pong(back[1], there[0]);
		_exit(0);
	}
out:
	for (i = 0; i < 2; i++) {
		close(there[i]);
		close(back[i]);
	}
	close(result[1]);
	if (a > 0 && read(result[0], &median, sizeof(median)) != (ssize_t)sizeof(median))
		median = 0;
	close(result[0]);
	if (a > 0)
		waitpid(a, NULL, 0);
	if (b > 0)
		waitpid(b, NULL, 0);
	return median;
}

struct bk_wakeup bk_host_wakeup(void)
{
	struct bk_wakeup w;

	w.free_ns = measure(false);
	w.pinned_ns = measure(true);
	return w;
}
