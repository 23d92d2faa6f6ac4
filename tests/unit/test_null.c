/*
 * The null backend: planted delays take as long as they say, planted failures come where they
 * should and as what they should.
 */
#include "unit.h"

#include "layer/open.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static struct bk_error err;
static struct bk_plugin *plugin;
static struct bk_options *options;
static struct bk_layered *io;
static const struct bk_tables *t;
static struct bk_session *s;

static void start(const char *const *sets, uint64_t timeout_ns)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .timeout_ns = timeout_ns};

	err = bk_error_init();
	if (bk_plugin_find(&plugin, "null", &err) || bk_options_new(&options, &plugin->desc, &err))
		fail_msg("%s", err.message);
	for (; *sets; sets++) {
		if (bk_options_set_pair(options, *sets, BK_FROM_USER, &err))
			fail_msg("%s", err.message);
	}
	if (bk_open(&io, plugin, options, NULL, NULL, BK_DURABLE_MACHINE, 0, &err))
		fail_msg("%s", err.message);
	t = &io->tables;
	if (t->store.make(io->store, &err) || t->session.open(&s, io->store, &config, &err))
		fail_msg("%s", err.message);
}

static void stop(void)
{
	t->session.close(s);
	bk_close(io);
	bk_options_free(options);
	bk_plugin_free(plugin);
}

static bk_status put(void)
{
	const struct bk_node n = {.id = bk_slice_str("a"), .path = bk_slice_str("a")};

	return t->node.put(s, &n, BK_PUT_CREATE, &err);
}

static bk_status get(void)
{
	struct bk_node n;

	return t->node.get(&n, s, bk_slice_str("a"), 0, &err);
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void keeps_nothing(void **state)
{
	const char *const sets[] = {NULL};
	struct bk_slice ids[2] = {bk_slice_str("a"), bk_slice_str("b")};
	struct bk_node out[2];
	size_t done;

	start(sets, 0);
	assert_int_equal(put(), BK_OK);
	assert_int_equal(get(), BK_NOT_FOUND);
	assert_int_equal(t->node.get_many(out, &done, s, ids, 2, 0, &err), BK_OK);
	assert_int_equal(done, 2);
	assert_int_equal(out[0].id.len, 0);
	stop();
}

static void every_third_fails(void **state)
{
	const char *const sets[] = {"fail-every=3", "fail-status=conflict", NULL};
	int i;

	start(sets, 0);
	for (i = 1; i <= 12; i++)
		assert_int_equal(put(), i % 3 ? BK_OK : BK_CONFLICT);
	assert_int_equal(err.flags, BK_ERR_RETRY);
	assert_contains(err.message, "planted failure");
	stop();
}

static void all_writes_fail_from_the_fourth(void **state)
{
	const char *const sets[] = {"fail-from=4", "fail-on=write", "fail-status=no-space", NULL};
	int i;

	start(sets, 0);
	for (i = 1; i <= 8; i++) {
		assert_int_equal(put(), i < 4 ? BK_OK : BK_NO_SPACE);
		assert_int_equal(get(), BK_NOT_FOUND); /* reads are not counted and do not fail */
	}
	stop();
}

static void commits_fail_alone(void **state)
{
	const char *const sets[] = {"fail-every=1", "fail-on=commit", "fail-status=unavailable",
				    NULL};
	uint32_t isolation = 0;

	start(sets, 0);
	assert_int_equal(t->txn.begin(s, &isolation, 0, &err), BK_OK);
	assert_int_equal(put(), BK_OK);
	assert_int_equal(t->txn.commit(s, &err), BK_UNAVAILABLE);
	assert_int_equal(err.flags, BK_ERR_OUTCOME_UNKNOWN);
	assert_int_equal(t->txn.begin(s, &isolation, 0, &err), BK_OK); /* the other has ended */
	assert_int_equal(t->txn.rollback(s, &err), BK_OK);
	stop();
}

static void opening_can_fail(void **state)
{
	err = bk_error_init();
	if (bk_plugin_find(&plugin, "null", &err) || bk_options_new(&options, &plugin->desc, &err))
		fail_msg("%s", err.message);
	assert_int_equal(bk_options_set_pair(options, "fail-from=1", BK_FROM_USER, &err), BK_OK);
	assert_int_equal(bk_options_set_pair(options, "fail-on=open", BK_FROM_USER, &err), BK_OK);
	assert_int_equal(bk_options_set_pair(options, "fail-status=auth", BK_FROM_USER, &err),
			 BK_OK);
	assert_int_equal(bk_open(&io, plugin, options, NULL, NULL, 0, 0, &err), BK_AUTH);
	bk_options_free(options);
	bk_plugin_free(plugin);
}

/* Never shorter than asked; on a machine at peace not much longer either, but that is no matter of
 * ours here. */
static void delays_take_their_time(void **state)
{
	const char *const modes[] = {"delay-mode=spin", "delay-mode=sleep"};
	double before;
	size_t m;
	int i;

	for (m = 0; m < 2; m++) {
		const char *const sets[] = {"delay=3ms", "delay-on=write", modes[m], NULL};

		start(sets, 0);
		before = now_ms();
		for (i = 0; i < 5; i++)
			assert_int_equal(put(), BK_OK);
		assert_true(now_ms() - before >= 15);
		before = now_ms();
		assert_int_equal(get(), BK_NOT_FOUND);
		assert_true(now_ms() - before < 1000);
		stop();
	}
}

static void a_delay_ends_at_the_timeout(void **state)
{
	const char *const sets[] = {"delay=60s", NULL};
	double before = now_ms();

	start(sets, 5000000);
	assert_int_equal(put(), BK_TIMEOUT);
	assert_true(now_ms() - before >= 5);
	assert_true(now_ms() - before < 30000);
	stop();
}

struct slow {
	bk_status status;
	atomic_bool ended;
};

static void *put_slowly(void *ctx)
{
	struct slow *slow = ctx;

	slow->status = put();
	atomic_store(&slow->ended, true);
	return NULL;
}

static void a_delay_ends_when_cancelled(void **state)
{
	const char *const sets[] = {"delay=60s", NULL};
	struct timespec pause = {0, 5000000};
	struct slow slow = {.status = BK_OK};
	double before = now_ms();
	pthread_t thread;

	start(sets, 0);
	pthread_create(&thread, NULL, put_slowly, &slow);
	do { /* what comes before the call is in there has no effect */
		nanosleep(&pause, NULL);
		t->session.cancel(s);
	} while (!atomic_load(&slow.ended));
	pthread_join(thread, NULL);
	assert_int_equal(slow.status, BK_CANCELLED);
	assert_true(now_ms() - before < 30000);
	stop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_nothing),
		cmocka_unit_test(every_third_fails),
		cmocka_unit_test(all_writes_fail_from_the_fourth),
		cmocka_unit_test(commits_fail_alone),
		cmocka_unit_test(opening_can_fail),
		cmocka_unit_test(delays_take_their_time),
		cmocka_unit_test(a_delay_ends_at_the_timeout),
		cmocka_unit_test(a_delay_ends_when_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
