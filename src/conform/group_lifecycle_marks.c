/*
 * group_lifecycle_marks.c - the owner mark: nothing that does not bear it is cleared or removed.
 *
 * The one invariant: whatever is refused as FOREIGN must be found unharmed afterwards.
 */
#include "conform/apart.h"
#include "conform/contents.h"
#include "conform/folder.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THEIRS "somebody else's"

static struct bk_layered *marked(struct bk_test *t, const char *mark)
{
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	bk_status st = bk_test_try_open(&l, t, BK_SPACE_A, mark, BK_DURABLE_PROCESS, BK_BARE, &err);

	if (st == BK_UNSUPPORTED)
		bk_test_skip(t, "does not offer durability process");
	CHECK(t, st == BK_OK, "store.open: %s", err.message);
	return l;
}

static void all_foreign(struct bk_test *t, struct bk_layered *l)
{
	WANT(t, BK_FOREIGN, l->tables.store.clear(l->store, E));
	WANT(t, BK_FOREIGN, l->tables.store.unmake(l->store, E));
	WANT(t, BK_FOREIGN, l->tables.store.make(l->store, E));
	WANT(t, BK_FOREIGN, l->tables.store.clear(l->store, E));
	WANT(t, BK_FOREIGN, l->tables.store.unmake(l->store, E));
}

static void mark_of_another(struct bk_test *t)
{
	struct bk_layered *l = marked(t, "theirs");
	struct bk_box *b;

	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	b = bk_test_join(t, l, BK_DURABLE_PROCESS);
	bk_fill(b, "n");
	bk_test_shut_box(b);
	l = marked(t, "ours");
	all_foreign(t, l);
	bk_test_shut(t, l);
	l = marked(t, "theirs");
	b = bk_test_join(t, l, BK_DURABLE_PROCESS);
	bk_filled(b, AT, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
}

static void mark_outlasts_clear(struct bk_test *t)
{
	struct bk_layered *l = marked(t, "theirs");

	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	bk_test_shut(t, l);
	l = marked(t, "theirs");
	WANT(t, BK_OK, l->tables.store.clear(l->store, E));
	bk_test_shut(t, l);
	l = marked(t, "ours");
	all_foreign(t, l);
	bk_test_shut(t, l);
	l = marked(t, "theirs");
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
	l = marked(t, "ours"); /* gone with the last of it: free for anybody */
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
}

static void mark_not_listed(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	bk_t_list(b, AT, NULL, NULL, 0, 10);
	bk_fill(b, "n");
	bk_filled(b, AT, "n");
}

/* Where a space lives in the folder is the backend's business: it is found out by making one.
 * Space B stays, so that the folder around it is the backend's own. */
static const char *place_of_store(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_B, BK_DURABLE_NONE, BK_BARE);
	const char *names = bk_folder_names(t, t->folder), *place;
	struct bk_layered *l = marked(t, NULL);

	bk_fill(b, "b");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	place = bk_folder_new(t, t->folder, names);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
	CHECK(t, place, "a space makes no folder of its own: %s", bk_folder_picture(t, t->folder));
	CHECK(t, strcmp(names, bk_folder_names(t, t->folder)) == 0, "unmake left in the folder: %s",
	      bk_folder_picture(t, t->folder));
	return place;
}

static void foreign_folder(struct bk_test *t)
{
	const char *place = place_of_store(t), *file, *deep, *before;
	struct bk_layered *l;

	mkdir(place, 0755);
	file = bk_arena_printf(&t->arena, "%s/letters.txt", place);
	deep = bk_arena_printf(&t->arena, "%s/sub", place);
	mkdir(deep, 0755);
	deep = bk_arena_printf(&t->arena, "%s/LOCK", deep);
	bk_file_write(t, file, THEIRS);
	bk_file_write(t, deep, THEIRS);
	before = bk_folder_picture(t, place);
	l = marked(t, NULL);
	all_foreign(t, l);
	bk_test_shut(t, l);
	bk_file_same(t, AT, file, THEIRS);
	bk_file_same(t, AT, deep, THEIRS);
	CHECK(t, strcmp(before, bk_folder_picture(t, place)) == 0,
	      "a folder that is not ours was changed");
	t->space_used[BK_SPACE_A] = false;
}

/* A stranger's files in the folder that whoever runs bakeoff named: the store is made beside them
 * or refuses to be. */
static void neighbours_stay(struct bk_test *t)
{
	const char *file = bk_arena_printf(&t->arena, "%s/letters.txt", t->folder);
	const char *deep = bk_arena_printf(&t->arena, "%s/other/letters.txt", t->folder);
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_box *b;
	bk_status st;

	mkdir(bk_arena_printf(&t->arena, "%s/other", t->folder), 0755);
	bk_file_write(t, file, THEIRS);
	bk_file_write(t, deep, THEIRS);
	WANT_IN(t, TWO(BK_OK, BK_FOREIGN), UINT64_MAX, st, l->tables.store.make(l->store, E));
	if (st == BK_OK) {
		b = bk_test_join(t, l, BK_DURABLE_NONE);
		bk_fill(b, "n");
		bk_filled(b, AT, "n");
		bk_test_leave(b);
		WANT(t, BK_OK, l->tables.store.clear(l->store, E));
		WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	} else {
		WANT(t, BK_FOREIGN, l->tables.store.clear(l->store, E));
		WANT(t, BK_FOREIGN, l->tables.store.unmake(l->store, E));
	}
	t->space_used[BK_SPACE_A] = false;
	bk_file_same(t, AT, file, THEIRS);
	bk_file_same(t, AT, deep, THEIRS);
}

/* A link in the store's place that leads elsewhere is not the store. */
static void link_not_followed(struct bk_test *t)
{
	const char *place = place_of_store(t), *file;
	const char *elsewhere = bk_arena_printf(&t->arena, "%s/elsewhere", t->scratch);
	struct bk_layered *l;
	bk_status st;

	mkdir(elsewhere, 0755);
	file = bk_arena_printf(&t->arena, "%s/letters.txt", elsewhere);
	bk_file_write(t, file, THEIRS);
	CHECK(t, symlink(elsewhere, place) == 0, "symlink: %s", strerror(errno));
	l = marked(t, NULL);
	ANY(t, st, l->tables.store.unmake(l->store, E));
	ANY(t, st, l->tables.store.clear(l->store, E));
	ANY(t, st, l->tables.store.make(l->store, E));
	CHECK(t, st < 0, "make uses a folder full of somebody else's files through a link");
	bk_file_same(t, AT, file, THEIRS);
	CHECK(t, bk_folder_entries(t, elsewhere) == 1, "something came through the link");
	bk_test_shut(t, l);
	unlink(place);
	t->space_used[BK_SPACE_A] = false;
}

/* ---- Half of make -------------------------------------------------------------------------------
 */

/* Makes until it is killed; the moment of death is drawn from the time that a make takes. */
static void half_make(struct bk_test *t, uint64_t delay_ns)
{
	struct timespec ts = {(time_t)(delay_ns / 1000000000u), (long)(delay_ns % 1000000000u)};
	int status;
	pid_t pid = fork();

	CHECK(t, pid >= 0, "fork: %s", strerror(errno));
	if (pid == 0) {
		struct bk_error err = bk_error_init();
		struct bk_layered *l = NULL;

		if (bk_open(&l, t->config->plugin, t->options, t->space[BK_SPACE_A], NULL,
			    BK_DURABLE_NONE, BK_OPEN_RAW, &err) == BK_OK)
			l->tables.store.make(l->store, &err);
		_exit(0);
	}
	nanosleep(&ts, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

static void time_make(struct bk_test *t, void *ctx)
{
	uint64_t start = bk_test_now_ns(), *took = ctx;
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);

	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	*took = bk_test_now_ns() - start;
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
}

static void make_the_rest(struct bk_test *t, void *ctx)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	const int *i = ctx;
	bk_status st;

	if (*i % 2 == 0)
		WANT_IN(t, TWO(BK_OK, BK_NOT_FOUND), UINT64_MAX, st,
			l->tables.store.unmake(l->store, E));
	WANT(t, BK_OK, l->tables.store.make(l->store, E));
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
	CHECK(t, !t->folder || bk_folder_entries(t, t->folder) == 0,
	      "unmake after half of make left: %s", bk_folder_picture(t, t->folder));
}

static void half_made(struct bk_test *t)
{
	uint64_t *span = bk_test_shared(t, sizeof(*span));
	struct bk_rng rng;
	int i;

	bk_test_apart(t, time_make, span);
	bk_rng_init(&rng, t->seed);
	for (i = 0; i < 16; i++) {
		half_make(t, bk_rng_below(&rng, *span + 1000000));
		bk_test_apart(t, make_the_rest, &i);
	}
}

static const struct bk_case cases[] = {
	{"mark-of-another", "a store with another mark: FOREIGN, and unharmed", mark_of_another},
	{"mark-outlasts-clear", "clear keeps the mark, unmake takes it last", mark_outlasts_clear},
	{"mark-not-listed", "the marker is no binary", mark_not_listed, .needs = BK_F_BINARIES},
	{"foreign-folder", "a folder of somebody else's files: FOREIGN, and unharmed",
	 foreign_folder, .flags = BK_CASE_FOLDER},
	{"neighbours-stay", "files beside the store stay as they are", neighbours_stay,
	 .flags = BK_CASE_FOLDER},
	{"link-not-followed", "a link in the store's place is not followed to its end",
	 link_not_followed, .flags = BK_CASE_FOLDER},
	{"half-made", "unmake and make after half of make", half_made},
	{.name = NULL},
};

const struct bk_group bk_group_lifecycle_marks = {"lifecycle", cases};
