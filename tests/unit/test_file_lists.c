/*
 * The file backend's lists: many children and in-links cost neither inodes nor quadratic time nor
 * memory; they are compacted without losing a hit for a cursor that is open.
 */
#include "file_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define MANY 20000
#else
#define MANY 100000
#endif

static double seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Work done, as far as one can: what else the machine does is not counted. */
static double now_s(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static size_t resident_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	size_t kb = 0;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmRSS: %zu", &kb);
	if (f)
		fclose(f);
	return kb;
}

static void add_children(int from, int to)
{
	struct bk_link links[] = {link_to("memberOf", "root")};
	char id[16];

	for (int i = from; i < to; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		ok(put(id, "root", "doc", BK_PUT_CREATE, links, 1));
	}
}

static void many_members(void **state)
{
	size_t files, before = resident_kb();
	double start, first, last;
	char id[16];

	store_use(BK_DURABLE_NONE);
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	files = count_files(in_store("main/index"));
	start = now_s();
	add_children(0, MANY / 10);
	first = now_s() - start;
	add_children(MANY / 10, MANY * 9 / 10);
	start = now_s();
	add_children(MANY * 9 / 10, MANY);
	last = now_s() - start;
	/* as fast at the end as at the beginning, within what a busy machine may do to it */
	if (last > 8 * first)
		fail_msg("the first tenth took %.2f s, the last %.2f s", first, last);
	assert_int_equal(count_files(in_store("main/index")), files);
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), MANY);
	assert_int_equal(count_hits("root", BK_IN, "memberOf"), MANY);
	if (MANY == 100000 && resident_kb() > before + 200 * 1024)
		fail_msg("%zu KiB are resident", resident_kb());
	/* half of them go: no quadratic search for their places in the lists */
	start = now_s();
	for (int i = 0; i < MANY; i += 2) {
		snprintf(id, sizeof(id), "n%d", i);
		ok(t->node.remove(s, bk_slice_str(id), &err));
	}
	if (now_s() - start > 40 * first)
		fail_msg("%d removals took %.2f s, %d creations %.2f s", MANY / 2, now_s() - start,
			 MANY / 10, first);
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), MANY / 2);
	ok(t->store.settle(io->store, 0, &err));
	assert_int_equal(count_files(in_store("main/index")), files);
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), MANY / 2);
	assert_int_equal(count_hits("root", BK_IN, ""), MANY / 2);
	store_leave();
	store_use(BK_DURABLE_NONE);
	assert_int_equal(count_hits("root", BK_IN, ""), MANY / 2);
}

static off_t log_bytes(void)
{
	off_t bytes = 0;
	char path[4096];
	struct dirent *e;
	struct stat st;
	DIR *dir = opendir(in_store("main/index"));

	while ((e = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", in_store("main/index"), e->d_name);
		if (strncmp(e->d_name, "log-", 4) == 0 && stat(path, &st) == 0)
			bytes += st.st_size;
	}
	closedir(dir);
	return bytes;
}

static void settle_compacts(void **state)
{
	off_t before;

	store_use(BK_DURABLE_NONE);
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	add_children(0, 1000);
	for (int round = 0; round < 10; round++) {
		struct bk_link links[] = {link_to(round % 2 ? "memberOf" : "other", "root")};

		for (int i = 0; i < 1000; i++) {
			char id[16];

			snprintf(id, sizeof(id), "n%d", i);
			ok(put(id, "root", "doc", BK_PUT_REPLACE, links, 1));
		}
	}
	before = log_bytes();
	ok(t->store.settle(io->store, 0, &err));
	assert_true(log_bytes() < before / 3);
	assert_int_equal(count_hits("root", BK_IN, "memberOf"), 1000);
	assert_int_equal(count_hits("root", BK_IN, "other"), 0);
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), 1000);
}

/* A list of which most is dead is written anew by itself. */
static void a_list_that_churns_stays_short(void **state)
{
	double start, slow;
	char id[16];

	store_use(BK_DURABLE_NONE);
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	add_children(0, 10);
	for (int i = 10; i < 5000; i++) {
		add_children(i, i + 1);
		snprintf(id, sizeof(id), "n%d", i - 10);
		ok(t->node.remove(s, bk_slice_str(id), &err));
	}
	assert_int_equal(count_hits("root", BK_CHILDREN, ""), 10);
	/* walking 5000 dead entries 2000 times would take far longer than 10 live ones */
	start = now_s();
	for (int i = 0; i < 2000; i++)
		assert_int_equal(count_hits("root", BK_IN, "memberOf"), 10);
	slow = now_s() - start;
	if (slow > 2.0)
		fail_msg("2000 walks of 10 hits took %.2f s", slow);
}

/* Every hit that was there when the cursor was opened, and stays, comes exactly once, whatever is
 * done to the list meanwhile. */
static void a_cursor_through_compaction(void **state)
{
	enum { N = 500 };
	struct bk_step step = {.dir = BK_CHILDREN};
	struct bk_session_config config = {.struct_size = sizeof(config), .worker = 1};
	struct bk_session *reader, *writer;
	struct bk_cursor *c;
	struct bk_hit hits[7];
	int met[2 * N] = {0};
	bk_status st;
	size_t n;

	store_use(BK_DURABLE_NONE);
	writer = s;
	ok(t->session.open(&reader, io->store, &config, &err));
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	add_children(0, N);
	ok(t->node.walk_open(&c, reader, bk_slice_str("root"), &step, 1, BK_WANT_PATH, &err));
	for (int turn = 0; (st = t->node.walk_next(c, hits, 7, &n, &err)) == BK_OK; turn++) {
		for (size_t i = 0; i < n; i++) {
			char name[16] = "";
			int k;

			assert_between(hits[i].id.len, 2, 15);
			memcpy(name, hits[i].id.data, hits[i].id.len);
			k = atoi(name + 1);
			assert_between(k, 0, 2 * N - 1);
			met[k]++;
		}
		s = writer;
		if (turn < 40) { /* ten go, ten come, and every so often all is compacted */
			for (int i = 0; i < 10; i++) {
				char id[16];

				snprintf(id, sizeof(id), "n%d", turn * 10 + i);
				ok(t->node.remove(s, bk_slice_str(id), &err));
			}
			add_children(N + turn * 10, N + turn * 10 + 10);
			if (turn % 5 == 4)
				ok(t->store.settle(io->store, 0, &err));
		}
	}
	gives(st, BK_END);
	t->node.walk_close(c);
	for (int i = 0; i < 2 * N; i++) {
		if (i >= 400 && i < N)
			assert_int_equal(met[i], 1);
		else
			assert_between(met[i], 0, 1);
	}
	t->session.close(reader);
}

/* Writers to one list and readers of it, and the control thread compacting beneath them. */
static atomic_bool stop;

static void *churn(void *arg)
{
	struct bk_session_config config = {.struct_size = sizeof(config),
					   .worker = (uint32_t)(uintptr_t)arg};
	struct bk_error mine = bk_error_init();
	struct bk_session *session;
	unsigned n = 0;

	if (t->session.open(&session, io->store, &config, &mine) != BK_OK)
		return strdup(mine.message);
	while (!atomic_load(&stop)) {
		struct bk_link link = link_to("memberOf", "root");
		char id[32], path[40];
		struct bk_node node = {
			.parent = bk_slice_str("root"), .links = &link, .link_count = 1};

		snprintf(id, sizeof(id), "w%u-%u", (unsigned)(uintptr_t)arg, n++ % 50);
		snprintf(path, sizeof(path), "/w/%s", id);
		node.id = bk_slice_str(id);
		node.path = bk_slice_str(path);
		if (t->node.put(session, &node, BK_PUT_UPSERT, &mine) != BK_OK ||
		    (n % 3 && t->node.remove(session, node.id, &mine) != BK_OK))
			return strdup(mine.message);
	}
	t->session.close(session);
	return NULL;
}

static void settling_beneath_writers(void **state)
{
	pthread_t threads[2];
	double until = seconds(CLOCK_MONOTONIC) + 2.0;

	store_use(BK_DURABLE_NONE);
	ok(put("root", "", "", BK_PUT_CREATE, NULL, 0));
	add_children(0, 200);
	atomic_store(&stop, false);
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, churn, (void *)(i + 1));
	while (seconds(CLOCK_MONOTONIC) < until) {
		struct bk_step step = {.rel = bk_slice_str("memberOf"), .dir = BK_IN};
		struct bk_cursor *c;
		struct bk_hit hits[16];
		size_t n, ours = 0;

		ok(t->node.walk_open(&c, s, bk_slice_str("root"), &step, 1, 0, &err));
		while (t->node.walk_next(c, hits, 16, &n, &err) == BK_OK) {
			for (size_t i = 0; i < n; i++)
				ours += *(const char *)hits[i].id.data == 'n';
		}
		t->node.walk_close(c);
		assert_int_equal(ours, 200);
		ok(t->store.settle(io->store, 0, &err));
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++) {
		void *message;

		pthread_join(threads[i], &message);
		if (message)
			fail_msg("%s", (char *)message);
	}
}

/* In memory where that can be had: it is the lists that are of interest, not the disk. */
static int setup_in_memory(void **state)
{
	int rc = access("/dev/shm", W_OK) == 0 ? fixture_in("/dev/shm") : fixture_setup(state);

	set_option("flush", "no");
	return rc;
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup_in_memory, fixture_teardown)
	const struct CMUnitTest tests[] = {
		CASE(many_members),
		CASE(settle_compacts),
		CASE(a_list_that_churns_stays_short),
		CASE(a_cursor_through_compaction),
		CASE(settling_beneath_writers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
