/*
 * bench_memory.c - memory stays flat: the most that a process has held after loading many children
 * of one node, walking over them, and reading some.
 *
 * Each measure runs in a process of its own, since the peak of a process never falls.
 */
#include "bench.h"

#include "layer/layer.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define BATCH 1000

static void put_children(const struct bk_tables *t, struct bk_session *s, size_t n)
{
	static char ids[BATCH][40], paths[BATCH][64], doc[200];
	static struct bk_node nodes[BATCH];
	struct bk_error err = bk_error_init();
	struct bk_node root = {.id = bk_slice_str("root"), .path = bk_slice_str("/root")};
	size_t done, i;

	bench_check(t->node.put(s, &root, BK_PUT_CREATE, &err), "put", &err);
	memset(doc, 'd', sizeof(doc));
	for (done = 0; done < n; done += BATCH) {
		for (i = 0; i < BATCH; i++) {
			snprintf(ids[i], sizeof(ids[i]), "child-%zu", done + i);
			snprintf(paths[i], sizeof(paths[i]), "/root/child-%zu", done + i);
			nodes[i].id = bk_slice_str(ids[i]);
			nodes[i].parent = root.id;
			nodes[i].path = bk_slice_str(paths[i]);
			nodes[i].doc = bk_slice_of(doc, sizeof(doc));
		}
		bench_check(t->node.put_many(s, nodes, BATCH, BK_PUT_CREATE, &err), "put_many",
			    &err);
	}
}

static void walk_children(const struct bk_tables *t, struct bk_session *s, size_t n)
{
	const struct bk_step step = {{NULL, 0}, BK_CHILDREN, 0};
	struct bk_error err = bk_error_init();
	struct bk_hit hits[BATCH];
	struct bk_cursor *c;
	struct bk_node node;
	size_t got, seen = 0;
	bk_status st;

	bench_check(t->node.walk_open(&c, s, bk_slice_str("root"), &step, 1, 0, &err), "walk",
		    &err);
	while ((st = t->node.walk_next(c, hits, BATCH, &got, &err)) == BK_OK) {
		seen += got;
		bench_check(t->node.get(&node, s, hits[0].id, BK_WANT_DOC, &err), "get", &err);
	}
	bench_check(st, "walk", &err);
	t->node.walk_close(c);
	if (seen != n)
		bench_die("%zu children of %zu", seen, n);
}

static void load_and_read(const char *backend, size_t n)
{
	struct bench_store b;
	struct bk_error err = bk_error_init();
	struct bk_session *s;

	bench_open(&b, backend, BK_DURABLE_NONE, NULL);
	s = bench_session(&b, BK_DURABLE_NONE);
	put_children(&b.io->tables, s, n);
	b.io->tables.session.close(s);
	if ((b.io->native | b.io->emulated) & BK_F_SETTLE)
		bench_check(b.io->tables.store.settle(b.io->store, 60000000000u, &err), "settle",
			    &err);
	s = bench_session(&b, BK_DURABLE_NONE);
	walk_children(&b.io->tables, s, n);
	b.io->tables.session.close(s);
	bench_close(&b);
}

static double peak_mb(const char *backend, size_t n)
{
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		load_and_read(backend, n);
		exit(0);
	}
	if (wait4(pid, &status, 0, &used) != pid || status != 0)
		bench_die("%s: the process that loads it has failed", backend);
	return (double)used.ru_maxrss * 1024 / 1e6;
}

static double leveldb_mb(void)
{
	return peak_mb("leveldb", 500000);
}

static double file_mb(void)
{
	return peak_mb("file", 100000);
}

static const struct bench list[] = {
	{"leveldb_500000_children_mb", 200, false, leveldb_mb},
	{"file_100000_children_mb", 200, false, file_mb},
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
