/*
 * bench.c - see bench.h.
 */
#include "bench.h"

#include "layer/open.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void bench_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "bench: ");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(2);
}

void bench_check(bk_status st, const char *what, const struct bk_error *err)
{
	if (st < 0)
		bench_die("%s: %s", what, err->message);
}

double bench_now_ns(void)
{
	static atomic_int clock_id = -1; /* it is read between operations: once for all */
	struct timespec now;

	if (clock_id < 0) {
		const char *which = getenv("BENCH_CLOCK");

		clock_id = which && strcmp(which, "thread") == 0 ? CLOCK_THREAD_CPUTIME_ID
								 : CLOCK_MONOTONIC;
	}
	clock_gettime(clock_id, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* ---- Stores --------------------------------------------------------------- */

void bench_folder(char *out, size_t cap)
{
	const char *dir = getenv("BENCH_DIR");

	if ((size_t)snprintf(out, cap, "%s/bench.XXXXXX", dir ? dir : ".") >= cap || !mkdtemp(out))
		bench_die("cannot make a folder like %s: %s", out, strerror(errno));
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void bench_remove(const char *folder)
{
	if (*folder)
		nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void bench_open(struct bench_store *b, const char *backend, uint32_t durability,
		const char *const *sets)
{
	struct bk_error err = bk_error_init();
	const struct bk_option *folder;

	memset(b, 0, sizeof(*b));
	bench_check(bk_plugin_find(&b->plugin, backend, &err), backend, &err);
	bench_check(bk_options_new(&b->options, &b->plugin->desc, &err), backend, &err);
	for (; sets && *sets; sets++)
		bench_check(bk_options_set_pair(b->options, *sets, BK_FROM_USER, &err), *sets,
			    &err);
	folder = bk_options_flagged(b->options, BK_OPTF_FOLDER);
	if (folder) {
		bench_folder(b->folder, sizeof(b->folder));
		bench_check(
			bk_options_set(b->options, folder->name, b->folder, BK_FROM_HARNESS, &err),
			folder->name, &err);
	}
	bench_check(bk_open(&b->io, b->plugin, b->options, NULL, NULL, durability, 0, &err), "open",
		    &err);
	bench_check(b->io->tables.store.make(b->io->store, &err), "make", &err);
}

struct bk_session *bench_session(struct bench_store *b, uint32_t durability)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .durability = durability};
	struct bk_error err = bk_error_init();
	struct bk_session *s;

	bench_check(b->io->tables.session.open(&s, b->io->store, &config, &err), "session", &err);
	return s;
}

void bench_close(struct bench_store *b)
{
	struct bk_error err = bk_error_init();

	bench_check(b->io->tables.store.unmake(b->io->store, &err), "unmake", &err);
	bk_close(b->io);
	bk_options_free(b->options);
	bk_plugin_free(b->plugin);
	bench_remove(b->folder);
}

/* ---- main ----------------------------------------------------------------- */

static bool is_wanted(const struct bench *b, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], b->name) == 0)
			return true;
	}
	return argc == 1;
}

int bench_main(int argc, char **argv, const struct bench *list, size_t n)
{
	bool list_only = argc == 2 && strcmp(argv[1], "--list") == 0, short_of = false;
	size_t i;

	for (i = 0; i < n; i++) {
		double value;
		bool ok;

		if (list_only) {
			puts(list[i].name);
			continue;
		}
		if (!is_wanted(&list[i], argc, argv))
			continue;
		value = list[i].measure();
		ok = list[i].at_least ? value >= list[i].goal : value <= list[i].goal;
		short_of = short_of || !ok;
		printf("%s %.3g %s%g %s\n", list[i].name, value,
		       list[i].at_least ? ">=" : "<=", list[i].goal, ok ? "ok" : "short");
		fflush(stdout);
	}
	return short_of;
}

void bench_exec(const char *backend, int argc, char **argv)
{
	char self[4096], bakeoff[4200], name[40], *end;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	static char word[2][8] = {"exec", "--"};
	char *args[64] = {bakeoff, word[0], name, word[1], self};
	int i;

	if (n < 0)
		bench_die("cannot find this program");
	self[n] = '\0';
	snprintf(name, sizeof(name), "%s", backend);
	snprintf(bakeoff, sizeof(bakeoff), "%s", self);
	for (i = 0; i < 2; i++) { /* bench/NAME lies beside the program */
		end = strrchr(bakeoff, '/');
		if (end)
			*end = '\0';
	}
	strcat(bakeoff, "/bakeoff");
	for (i = 1; i < argc && i < 50; i++)
		args[4 + i] = argv[i];
	execv(bakeoff, args);
	bench_die("cannot run %s", bakeoff);
}
