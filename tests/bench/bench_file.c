/*
 * bench_file.c - 1000 binaries of 1,000,000 bytes through the `file` backend, against the bare
 * calls: open a temporary file, write, sync as asked, rename.
 *
 * The ratio is bare time / backend time: 1 is as fast, more is faster.  Both sides write the same
 * bytes in turns of 5; what a turn has written is removed before the next, untimed.
 */
#include "bench.h"

#include "layer/layer.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES 1000000
#define TURN  5
#define TURNS 200 /* 1000 binaries a side */

/* A key as digests are written: 40 hexadecimal digits. */
static void key_of(char out[41], unsigned number)
{
	uint64_t x = number * UINT64_C(0x9e3779b97f4a7c15) ^ UINT64_C(0x2545f4914f6cdd1d);

	snprintf(out, 41, "%016llx%016llx%08x", (unsigned long long)x,
		 (unsigned long long)(x * UINT64_C(0xff51afd7ed558ccd)), number);
}

/* ---- Through the backend ----------------------------------------------------- */

static double backend_turn(const struct bk_tables *t, struct bk_session *s, const char *data,
			   unsigned first)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_error err = bk_error_init();
	struct bk_writer *w;
	double took, start = bench_now_ns();
	char key[41];
	unsigned i;

	for (i = first; i < first + TURN; i++) {
		key_of(key, i);
		bench_check(
			t->binary.write_open(&w, s, bk_slice_str(key), BYTES, BK_PUT_UPSERT, &err),
			"write_open", &err);
		bench_check(t->binary.write(w, data, BYTES, &err), "write", &err);
		bench_check(t->binary.finish(w, &info, &err), "finish", &err);
	}
	took = bench_now_ns() - start;
	for (i = first; i < first + TURN; i++) {
		key_of(key, i);
		bench_check(t->binary.remove(s, bk_slice_str(key), &err), "remove", &err);
	}
	return took;
}

/* ---- The bare calls ------------------------------------------------------------- */

struct bare {
	int dir;
	int levels; /* of folders: two digits of the key each */
	bool sync;
};

static void must(int result, const char *what)
{
	if (result < 0)
		bench_die("%s: %s", what, strerror(errno));
}

/* "aa/bb/cc/KEY"; *folder is the length of what comes before the last slash. */
static void name_of(char out[64], size_t *folder, const struct bare *b, const char *key)
{
	int i;

	for (i = 0; i < b->levels; i++) {
		memcpy(out + 3 * i, key + 2 * i, 2);
		out[3 * i + 2] = '/';
	}
	*folder = b->levels ? (size_t)(3 * b->levels - 1) : 0;
	strcpy(out + 3 * b->levels, key);
}

/* How many of the folders of `name` are new. */
static int make_folders(const struct bare *b, char *name)
{
	int i, made = 0;

	for (i = 1; i <= b->levels; i++) {
		name[3 * i - 1] = '\0';
		if (mkdirat(b->dir, name, 0777) == 0)
			made++;
		else if (errno != EEXIST)
			bench_die("mkdir: %s", strerror(errno));
		name[3 * i - 1] = '/';
	}
	return made;
}

static void sync_folder(const struct bare *b, char *name, size_t len)
{
	char *end = name + len, was = *end;
	int fd;

	*end = '\0';
	fd = len ? openat(b->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : dup(b->dir);
	must(fd, "open a folder");
	must(fsync(fd), "fsync of a folder");
	close(fd);
	*end = was;
}

static void bare_write(const struct bare *b, const char *key, const char *data)
{
	int fd = openat(b->dir, "temp", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), made = 0;
	char name[64];
	size_t folder;

	must(fd, "open");
	if (write(fd, data, BYTES) != BYTES)
		bench_die("a short write");
	if (b->sync)
		must(fsync(fd), "fsync");
	must(close(fd), "close");
	name_of(name, &folder, b, key);
	if (renameat(b->dir, "temp", b->dir, name) < 0) {
		made = make_folders(b, name);
		must(renameat(b->dir, "temp", b->dir, name), "rename");
	}
	if (!b->sync)
		return;
	for (;; made--, folder -= folder > 2 ? 3 : folder) {
		sync_folder(b, name, folder);
		if (!made)
			break;
	}
}

static double bare_turn(const struct bare *b, const char *data, unsigned first)
{
	double took, start = bench_now_ns();
	char key[41], name[64];
	size_t folder;
	unsigned i;

	for (i = first; i < first + TURN; i++) {
		key_of(key, i);
		bare_write(b, key, data);
	}
	took = bench_now_ns() - start;
	for (i = first; i < first + TURN; i++) {
		key_of(key, i);
		name_of(name, &folder, b, key);
		must(unlinkat(b->dir, name, 0), "unlink");
		if (b->sync)
			sync_folder(b, name, folder);
	}
	return took;
}

/* ---- Measures -------------------------------------------------------------------- */

static double ratio(uint32_t durability, int levels)
{
	char set[32];
	const char *const sets[] = {set, NULL};
	struct bench_store store;
	struct bk_session *s;
	struct bare b = {.levels = levels, .sync = durability == BK_DURABLE_MACHINE};
	double ratios[TURNS];
	char folder[4096], *data = malloc(BYTES);
	unsigned i, k;

	for (i = 0; i < BYTES; i++)
		data[i] = (char)(i * 2654435761u >> 24);
	snprintf(set, sizeof(set), "binary-levels=%d", levels);
	bench_open(&store, "file", durability, sets);
	s = bench_session(&store, durability);
	bench_folder(folder, sizeof(folder));
	b.dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(b.dir, folder);
	for (i = 0; i < TURNS; i++) {
		double bare = 0, through = 0;

		memcpy(data, &i, sizeof(i));
		for (k = 0; k < 2; k++) { /* who comes first alternates */
			if ((i + k) % 2)
				bare = bare_turn(&b, data, i * TURN);
			else
				through = backend_turn(&store.io->tables, s, data, i * TURN);
		}
		ratios[i] = bare / through;
	}
	close(b.dir);
	bench_remove(folder);
	store.io->tables.session.close(s);
	bench_close(&store);
	free(data);
	return bench_median(ratios, TURNS);
}

static double process_ratio(void)
{
	return ratio(BK_DURABLE_PROCESS, 3);
}

static double process_1level_ratio(void)
{
	return ratio(BK_DURABLE_PROCESS, 1);
}

static double machine_ratio(void)
{
	return ratio(BK_DURABLE_MACHINE, 3);
}

static double machine_1level_ratio(void)
{
	return ratio(BK_DURABLE_MACHINE, 1);
}

static const struct bench list[] = {
	{"file_binaries_process_ratio", 0.95, true, process_ratio},
	{"file_binaries_process_1level_ratio", 0.95, true, process_1level_ratio},
	{"file_binaries_machine_ratio", 0.95, true, machine_ratio},
	{"file_binaries_machine_1level_ratio", 0.95, true, machine_1level_ratio},
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
