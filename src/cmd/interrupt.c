/*
 * interrupt.c - the one mutable global of the program.
 */
#include "cmd/interrupt.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	static const char text[] =
		"\nbakeoff: ending after the operation under way; once more ends now\n";

	/* atomic: other threads look at it while this one is interrupted */
	if (__atomic_load_n(&interrupted, __ATOMIC_RELAXED))
		_exit(128 + number);
	__atomic_store_n(&interrupted, number, __ATOMIC_RELAXED);
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

static void on_signal_quietly(int number)
{
	__atomic_store_n(&interrupted, number, __ATOMIC_RELAXED);
}

const int *bk_interrupt_watch_quietly(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	size_t i;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal_quietly; /* no SA_RESTART: a wait ends */
	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
	return (const int *)&interrupted;
}

/* nohup means it. */
static void watch_unless_ignored(int number)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal_quietly;
	action.sa_flags = SA_RESTART;
	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

const int *bk_interrupt_watch(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* whoever looked on is gone; what was measured is kept all the same */
	watch_unless_ignored(SIGHUP);
	watch_unless_ignored(SIGPIPE);
	return (const int *)&interrupted;
}
