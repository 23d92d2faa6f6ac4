/*
 * group_lifecycle_life.c - inspect, counters, settle, chill, places; what a backend does to the
 * process that it lives in.
 *
 * The one invariant: these only look; whatever they start from must be there afterwards.
 */
#include "conform/contents.h"
#include "conform/folder.h"
#include "conform/sink.h"

#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static void inspected(struct bk_test *t, struct bk_layered *l, struct bk_at at)
{
	static const uint32_t whats[] = {BK_INSPECT_IDENTITY, BK_INSPECT_SIZE, BK_INSPECT_COUNTERS,
					 BK_INSPECT_IDENTITY | BK_INSPECT_SIZE |
						 BK_INSPECT_COUNTERS};
	struct bk_record record;
	size_t i;

	for (i = 0; i < 4; i++) {
		bk_record_init(&record, &t->arena);
		WANT(t, BK_OK, l->tables.store.inspect(l->store, whats[i], &record.sink, E));
		bk_record_check(t, at, &record);
		CHECK(t, whats[i] != BK_INSPECT_IDENTITY || record.count > 0,
		      "inspect says nothing about its identity");
	}
}

static void inspect_well_formed(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	inspected(t, b->l, AT);
	bk_fill(b, "n");
	inspected(t, b->l, AT);
	bk_filled(b, AT, "n");
}

static void inspect_unopened(struct bk_test *t)
{
	struct bk_box *b = bk_test_durable(t, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	struct bk_layered *l;
	const char *before;

	bk_fill(b, "n");
	bk_test_shut_box(b);
	before = t->folder ? bk_folder_picture(t, t->folder) : "";
	l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_PROCESS, BK_OPEN_CHECK);
	inspected(t, l, AT);
	bk_test_shut(t, l);
	CHECK(t, !t->folder || strcmp(before, bk_folder_picture(t, t->folder)) == 0,
	      "inspect of a store without a session changed it");
}

static void inspect_unmade(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_record record;
	bk_status st;

	bk_record_init(&record, &t->arena);
	WANT_IN(t, TWO(BK_OK, BK_NOT_FOUND), UINT64_MAX, st,
		l->tables.store.inspect(l->store, BK_INSPECT_SIZE, &record.sink, E));
	bk_record_check(t, AT, &record);
	CHECK(t, !t->folder || bk_folder_entries(t, t->folder) == 0,
	      "inspect of a store that is not made left something");
}

static void counters_monotone(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_record before;

	bk_record_counters(&before, b, AT, NULL);
	bk_fill(b, "n");
	bk_record_counters(&(struct bk_record){0}, b, AT, &before);
	bk_filled(b, AT, "n");
}

static void settle_keeps(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;
	bk_status st;

	bk_fill(b, "n");
	WANT_IN(t, TWO(BK_OK, BK_TIMEOUT), UINT64_MAX, st, l->tables.store.settle(l->store, 1, E));
	WANT(t, BK_OK, l->tables.store.settle(l->store, UINT64_C(20000000000) * t->slow, E));
	bk_filled(b, AT, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.settle(l->store, UINT64_C(20000000000) * t->slow, E));
	bk_filled(bk_test_join(t, l, BK_DURABLE_NONE), AT, "n");
}

static void chill_keeps(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;
	uint32_t reached;
	int i;

	bk_fill(b, "n");
	for (i = 0; i < 2; i++) {
		bk_test_leave(b);
		reached = 77;
		WANT(t, BK_OK, l->tables.store.chill(l->store, &reached, E));
		CHECK(t, reached == BK_CHILL_DROPPED || reached == BK_CHILL_CANNOT,
		      "*reached is %u", reached);
		b = bk_test_join(t, l, BK_DURABLE_NONE);
		bk_filled(b, AT, "n");
	}
}

/* ---- Sessions -------------------------------------------------------------------------------- */

static void sessions_come_and_go(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;
	int i;

	bk_fill(b, "n");
	bk_test_leave(b);
	for (i = 0; i < 25; i++) {
		b = bk_test_join(t, l, BK_DURABLE_NONE);
		if (i % 8 == 0)
			bk_filled(b, AT, "n");
		bk_test_leave(b);
	}
}

static void sessions_together(struct bk_test *t)
{
	struct bk_box *b[8];
	size_t n = 8, i;

	if (t->limits.sessions_max && t->limits.sessions_max < n)
		n = t->limits.sessions_max;
	b[0] = bk_test_box(t);
	for (i = 1; i < n; i++)
		b[i] = bk_test_join(t, b[0]->l, BK_DURABLE_NONE);
	bk_fill(b[0], "n");
	for (i = 0; i < n; i++)
		bk_filled(b[i], AT, "n");
	for (i = 0; i + 1 < n; i++)
		bk_test_leave(b[i]);
	bk_filled(b[n - 1], AT, "n");
}

static void one_life(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_layered *l = b->l;

	bk_fill(b, "n");
	bk_filled(b, AT, "n");
	bk_test_leave(b);
	WANT(t, BK_OK, l->tables.store.unmake(l->store, E));
	bk_test_shut(t, l);
}

static void descriptors_closed(struct bk_test *t)
{
	size_t before, after;
	int i;

	one_life(t); /* a client library may keep something for good, once */
	before = bk_open_descriptors();
	for (i = 0; i < 10; i++)
		one_life(t);
	after = bk_open_descriptors();
	CHECK(t, after <= before, "%zu descriptors were open, then %zu", before, after);
}

/* ---- The process around it
 * ------------------------------------------------------------------------ */

#define SIGNALS 31

struct surroundings {
	char folder[4096];
	const char *locale, *environment;
	mode_t mask;
	void (*handlers[SIGNALS + 1])(int);
};

static const char *environment_text(struct bk_test *t)
{
	const char *all = "";
	char **e;

	for (e = environ; e && *e; e++)
		all = bk_arena_printf(&t->arena, "%s%s\n", all, *e);
	return all;
}

static void look_around(struct bk_test *t, struct surroundings *s)
{
	int i;

	memset(s, 0, sizeof(*s));
	CHECK(t, getcwd(s->folder, sizeof(s->folder)), "getcwd");
	s->locale = bk_arena_strdup(&t->arena, setlocale(LC_ALL, NULL));
	s->environment = environment_text(t);
	s->mask = umask(0);
	umask(s->mask);
	for (i = 1; i <= SIGNALS; i++) {
		struct sigaction sa;

		if (sigaction(i, NULL, &sa) == 0)
			s->handlers[i] = sa.sa_handler;
	}
}

/* What the host's log() printed for the backend bears the program's name. */
static void nothing_printed(struct bk_test *t)
{
	static const char ours[] = "bakeoff: ";
	FILE *log = fopen(t->log_path, "r");
	char line[512];

	while (log && fgets(line, sizeof(line), log))
		CHECK(t, strncmp(line, ours, sizeof(ours) - 1) == 0, "it printed: %s", line);
	if (log)
		fclose(log);
}

static void process_untouched(struct bk_test *t)
{
	struct surroundings before, after;
	int i;

	look_around(t, &before);
	one_life(t);
	look_around(t, &after);
	CHECK(t, strcmp(before.folder, after.folder) == 0, "the working folder changed");
	CHECK(t, strcmp(before.locale, after.locale) == 0, "the locale changed");
	CHECK(t, strcmp(before.environment, after.environment) == 0, "the environment changed");
	CHECK(t, before.mask == after.mask, "the umask changed");
	for (i = 1; i <= SIGNALS; i++)
		CHECK(t, before.handlers[i] == after.handlers[i],
		      "the handler of signal %d (%s) changed", i, strsignal(i));
	fflush(NULL);
	nothing_printed(t);
}

/* ---- Places
 * ---------------------------------------------------------------------------------------- */

static bool place_listed(struct bk_test *t, struct bk_layered *l, struct bk_slice name)
{
	struct bk_place *places = bk_arena_alloc(&t->arena, 1000 * sizeof(*places));
	size_t n = 0, i;

	WANT(t, BK_OK, l->tables.place.list(l->store, places, 1000, &n, E));
	for (i = 0; i < n && i < 1000; i++) {
		if (bk_slice_eq(places[i].name, name))
			return true;
	}
	return false;
}

static void places_come_and_go(struct bk_test *t)
{
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_OPEN_CHECK);
	struct bk_slice name = bk_slice_str(t->space[BK_SPACE_B]), mark = bk_slice_str("conform"),
			other = bk_slice_str("another"), none = bk_slice_of(NULL, 0);

	WANT(t, BK_NOT_FOUND, l->tables.place.drop(l->store, name, mark, E));
	WANT(t, BK_OK, l->tables.place.create(l->store, name, mark, none, none, none, E));
	CHECK(t, place_listed(t, l, name), "a place that was created is not listed");
	WANT(t, BK_EXISTS, l->tables.place.create(l->store, name, mark, none, none, none, E));
	WANT(t, BK_EXISTS, l->tables.place.create(l->store, name, other, none, none, none, E));
	WANT(t, BK_FOREIGN, l->tables.place.drop(l->store, name, other, E));
	CHECK(t, place_listed(t, l, name), "a place was dropped by somebody else's mark");
	WANT(t, BK_OK, l->tables.place.drop(l->store, name, mark, E));
	CHECK(t, !place_listed(t, l, name), "a place that was dropped is listed");
	WANT(t, BK_NOT_FOUND, l->tables.place.drop(l->store, name, mark, E));
}

static const struct bk_case cases[] = {
	{"inspect-well-formed", "inspect: dotted names, known units, begin and end in pairs",
	 inspect_well_formed},
	{"inspect-unopened", "inspect without a session, from outside, changes nothing",
	 inspect_unopened},
	{"inspect-unmade", "inspect of a store that is not made", inspect_unmade},
	{"counters-monotone", "a session's counters never go back", counters_monotone},
	{"settle-keeps", "settle ends, and the data is still there", settle_keeps,
	 .own = BK_F_SETTLE},
	{"chill-keeps", "chill says what it reached, and the data is still there", chill_keeps,
	 .own = BK_F_CHILL},
	{"sessions-come-and-go", "25 sessions one after the other", sessions_come_and_go},
	{"sessions-together", "8 sessions at once, from one thread", sessions_together,
	 .flags = BK_CASE_TWO},
	{"descriptors-closed", "ten lives of a store leave no descriptor open", descriptors_closed},
	{"process-untouched", "no output, signal handler, locale, folder or variable changed",
	 process_untouched},
	{"places-come-and-go", "places are created, listed, protected by their mark, dropped",
	 places_come_and_go, .own = BK_F_PLACES},
	{.name = NULL},
};

const struct bk_group bk_group_lifecycle_life = {"lifecycle", cases};
