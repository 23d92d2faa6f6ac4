/*
 * bk_open(): the one way to a store.  What cannot be opened is refused with its reason.
 */
#include "unit.h"

#include "layer/open.h"

#include <bakeoff/backend_util.h>

static struct bk_plugin *plugin;
static struct bk_options *options;
static struct bk_error err;

static int setup(void **state)
{
	err = bk_error_init();
	if (bk_plugin_find(&plugin, "mem", &err) || bk_options_new(&options, &plugin->desc, &err))
		fail_msg("%s", err.message);
	return 0;
}

static int teardown(void **state)
{
	bk_options_free(options);
	bk_plugin_free(plugin);
	return 0;
}

static void bad_arguments(void **state)
{
	const char *const spaces[] = {"", "Upper", "a/b", "aaaaaaaaaaaaaaaaaaaaaaaaa"};
	struct bk_layered *io;
	size_t i;

	for (i = 0; i < sizeof(spaces) / sizeof(*spaces); i++) {
		assert_int_equal(bk_open(&io, plugin, options, spaces[i], NULL, 0, 0, &err),
				 BK_INVALID);
		assert_contains(err.message, "is not 1 to 24 of [a-z0-9_]");
	}
	assert_int_equal(bk_open(&io, plugin, options, NULL, NULL, 3, 0, &err), BK_INVALID);
}

static void what_the_backend_refuses_is_passed_on(void **state)
{
	struct bk_layered *io;

	assert_int_equal(bk_open(&io, plugin, options, NULL, NULL, BK_DURABLE_MACHINE, 0, &err),
			 BK_UNSUPPORTED);
	assert_contains(err.message, "pretend-durable=yes");
	assert_int_equal(bk_options_set(options, "pretend-durable", "yes", BK_FROM_USER, &err),
			 BK_OK);
	assert_int_equal(bk_open(&io, plugin, options, NULL, NULL, BK_DURABLE_MACHINE, 0, &err),
			 BK_OK);
	bk_close(io);
}

/* A backend whose features in force are not those that it declares. */
static uint64_t wrong_native, wrong_emulated;

static bk_status wrong_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
				struct bk_limits *limits, struct bk_error *e)
{
	*native = wrong_native;
	*emulated = wrong_emulated;
	return BK_OK;
}

static void features_in_force_are_checked(void **state)
{
	struct bk_plugin wrong = *plugin;
	struct bk_layered *io;

	wrong.tables.store.features = wrong_features;
	wrong_native = BK_F_NODES | BK_F_PLACES;
	wrong_emulated = 0;
	assert_int_equal(bk_open(&io, &wrong, options, NULL, NULL, 0, 0, &err), BK_INTERNAL);
	assert_contains(err.message, "'mem' has features in force that it does not declare");
	wrong_native = wrong_emulated = BK_F_NODES;
	assert_int_equal(bk_open(&io, &wrong, options, NULL, NULL, 0, 0, &err), BK_INTERNAL);
	assert_contains(err.message, "native and emulated");
}

/* Fewer features than declared are fine, and what is missing is looped. */
static void layers_as_asked(void **state)
{
	struct bk_plugin few = *plugin;
	struct bk_layered *io;

	few.tables.store.features = wrong_features;
	wrong_native = BK_F_NODES;
	wrong_emulated = 0;
	assert_int_equal(bk_open(&io, &few, options, NULL, NULL, 0, BK_OPEN_CHECK, &err), BK_OK);
	assert_int_equal(io->looped, BK_F_GET_MANY | BK_F_PUT_MANY | BK_F_APPEND | BK_F_WALK);
	bk_close(io);
	assert_int_equal(bk_open(&io, &few, options, NULL, NULL, 0, BK_OPEN_RAW, &err), BK_OK);
	assert_int_equal(io->looped, 0);
	bk_close(io);
	few.desc.threads = BK_THREADS_SERIAL;
	assert_int_equal(bk_open(&io, &few, options, NULL, NULL, 0, 0, &err), BK_OK);
	assert_int_equal(io->threads, BK_THREADS_PARALLEL);
	bk_close(io);
	bk_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_arguments, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_backend_refuses_is_passed_on, setup,
						teardown),
		cmocka_unit_test_setup_teardown(features_in_force_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(layers_as_asked, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
