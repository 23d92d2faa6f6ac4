/*
 * A loaded plugin: every operation can be called, and what is not offered answers UNSUPPORTED.
 */
#include "unit.h"

#include "plugin/ops.h"
#include "plugin/plugin.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

static struct bk_plugin *load_good(void)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin *plugin = NULL;

	if (bk_plugin_load(&plugin, TEST_PLUGINS "/good/bk-good.so", &err) != BK_OK)
		fail_msg("%s", err.message);
	return plugin;
}

static void every_operation_is_there(void **state)
{
	struct bk_plugin *plugin = load_good();
	const struct bk_op *op;
	size_t ops = 0;

	for (op = bk_ops; op->name; op++, ops++)
		assert_true(bk_op_is_there(&plugin->tables, op));
	/* one line for each slot: each of the six tables begins with one word that is none */
	assert_int_equal(ops, sizeof(struct bk_tables) / sizeof(void *) - 6);
	bk_plugin_free(plugin);
}

static void stubs_answer_unsupported(void **state)
{
	struct bk_plugin *plugin = load_good();
	const struct bk_tables *t = &plugin->tables;
	struct bk_error err = bk_error_init();
	uint32_t word = 0;
	size_t n = 0;

	assert_int_equal(t->txn.begin(NULL, &word, 0, &err), BK_UNSUPPORTED);
	assert_contains(err.message, "txn.begin");
	assert_int_equal(t->node.get_many(NULL, &n, NULL, NULL, 0, 0, &err), BK_UNSUPPORTED);
	assert_contains(err.message, "node.get_many");
	assert_int_equal(t->binary.finish(NULL, NULL, &err), BK_UNSUPPORTED);
	assert_contains(err.message, "binary.finish");
	assert_int_equal(t->store.chill(NULL, &word, &err), BK_UNSUPPORTED);
	t->session.cancel(NULL);
	t->session.counters(NULL, NULL);
	t->binary.abort(NULL);
	t->node.get(NULL, NULL, bk_slice_str("x"), 0, &err);
	assert_contains(err.message, "get does nothing here"); /* its own, not a stub */
	bk_plugin_free(plugin);
}

static void search_path(void **state)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin *plugin = NULL;
	struct bk_plugin_list list;
	char *before = strdup(getenv("BAKEOFF_BACKENDS"));
	size_t i, good = 0;

	setenv("BAKEOFF_BACKENDS", ":" TEST_PLUGINS "/good::/nowhere:", 1);
	assert_int_equal(bk_plugin_find(&plugin, "good", &err), BK_OK);
	assert_string_equal(plugin->desc.name, "good");
	bk_plugin_free(plugin);
	assert_int_equal(bk_plugin_find(&plugin, "goood", &err), BK_NOT_FOUND);
	assert_contains(err.message, "backend 'goood' is unknown; did you mean 'good'?");
	/* a name never reaches a file outside the search path */
	assert_int_equal(bk_plugin_find(&plugin, "../good/good", &err), BK_NOT_FOUND);
	assert_int_equal(bk_plugin_find(&plugin, "", &err), BK_NOT_FOUND);
	assert_int_equal(bk_plugin_given(&plugin, TEST_PLUGINS "/good/bk-good.so", &err), BK_OK);
	bk_plugin_free(plugin);

	setenv("BAKEOFF_BACKENDS", TEST_PLUGINS "/broken:" TEST_PLUGINS "/good", 1);
	assert_int_equal(bk_plugin_list_load(&list, &err), BK_OK);
	for (i = 0; i < list.count; i++) {
		good += list.entries[i].plugin != NULL;
		assert_true(list.entries[i].plugin || list.entries[i].refusal.message[0]);
		assert_true(i == 0 || strcmp(list.entries[i - 1].name, list.entries[i].name) < 0);
	}
	assert_int_equal(good, 1);
	bk_plugin_list_free(&list);
	/* refused where it is found first: no other file of that name is tried */
	assert_int_equal(bk_plugin_find(&plugin, "magic", &err), BK_INVALID);
	assert_contains(err.message, "expected the magic");
	setenv("BAKEOFF_BACKENDS", before, 1);
	free(before);
}

static void feature_names(void **state)
{
	const struct bk_feature *f, *g;

	for (f = bk_features; f->name; f++) {
		assert_int_equal(__builtin_popcountll(f->bit), 1);
		for (g = f + 1; g->name; g++) {
			assert_true(f->bit != g->bit);
			assert_string_not_equal(f->name, g->name);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_operation_is_there),
		cmocka_unit_test(stubs_answer_unsupported),
		cmocka_unit_test(search_path),
		cmocka_unit_test(feature_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
