/*
 * Option values: types, units, ranges, choices, required, secret, environment, near names.
 */
#include "unit.h"

#include "plugin/options.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

struct settings {
	uint8_t sync;
	int64_t level;
	uint64_t count;
	uint64_t cache;
	uint64_t wait_us;
	double ratio;
	const char *folder;
	const char *url;
	const char *password;
	uint32_t mode;
};

static const char *const modes[] = {"none", "snappy", "zstd", NULL};

static const struct bk_option table[] = {
	BK_OPTION_BOOL(struct settings, sync, "sync", "no", "wait for the disk"),
	BK_OPTION_I64(struct settings, level, "level", "-1", "level", .min = -5, .max = 9),
	BK_OPTION_U64(struct settings, count, "open-files", "100", "files", .min = 10,
		      .max = INT64_MAX),
	BK_OPTION_BYTES(struct settings, cache, "block-cache", "8MiB", "cache", .min = 4096,
			.max = 1 << 30, .env = "UNIT_CACHE"),
	BK_OPTION_USEC(struct settings, wait_us, "wait", "250ms", "time", .max = 10000000),
	BK_OPTION_F64(struct settings, ratio, "ratio", "0.5", "ratio", .max = 1),
	BK_OPTION_STR(struct settings, folder, "folder", NULL, "folder", .flags = BK_OPTF_FOLDER),
	BK_OPTION_STR(struct settings, url, "url", NULL, "server", .env = "PGUNIT_URL",
		      .flags = BK_OPTF_URL | BK_OPTF_REQUIRED),
	BK_OPTION_STR(struct settings, password, "password", NULL, "password",
		      .env = "UNIT_PASSWORD", .flags = BK_OPTF_SECRET),
	BK_OPTION_ENUM(struct settings, mode, "compression", "snappy", modes, "how"),
	BK_OPTION_END,
};

static const struct settings initial = {.folder = "from-init"};

static const struct bk_backend desc = {
	.name = "unit",
	.options = table,
	.options_size = sizeof(struct settings),
	.options_init = &initial,
};

static struct bk_options *fresh(void)
{
	struct bk_error err = bk_error_init();
	struct bk_options *options = NULL;

	if (bk_options_new(&options, &desc, &err) != BK_OK)
		fail_msg("%s", err.message);
	return options;
}

static const struct settings *data(const struct bk_options *options)
{
	return bk_options_data(options);
}

static void defaults(void **state)
{
	struct bk_options *options = fresh();
	const struct settings *s = data(options);

	assert_int_equal(s->sync, 0);
	assert_true(s->level == -1);
	assert_int_equal(s->count, 100);
	assert_int_equal(s->cache, 8 << 20);
	assert_int_equal(s->wait_us, 250000);
	assert_true(s->ratio > 0.49 && s->ratio < 0.51);
	assert_string_equal(s->folder, "from-init");
	assert_null(s->url);
	assert_int_equal(s->mode, 1);
	assert_false(bk_options_is_set(options, "block-cache"));
	assert_string_equal(bk_options_flagged(options, BK_OPTF_FOLDER)->name, "folder");
	assert_string_equal(bk_options_flagged(options, BK_OPTF_URL)->name, "url");
	assert_null(bk_options_flagged(options, BK_OPTF_DURABILITY));
	bk_options_free(options);
}

static void set_good(void **state)
{
	static const char *const pairs[] = {
		"sync=yes",         "level=9",        "open-files=2k", "block-cache=64KiB",
		"wait=1.5s",        "ratio=0.25",     "folder=/a=b",   "url=x://u:pw@h/",
		"compression=zstd", "password=s3cret"};
	struct bk_options *options = fresh();
	struct bk_error err = bk_error_init();
	const struct settings *s;
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (bk_options_set_pair(options, pairs[i], BK_FROM_USER, &err) != BK_OK)
			fail_msg("%s", err.message);
	}
	s = data(options);
	assert_int_equal(s->sync, 1);
	assert_true(s->level == 9);
	assert_int_equal(s->count, 2000);
	assert_int_equal(s->cache, 65536);
	assert_int_equal(s->wait_us, 1500000);
	assert_string_equal(s->folder, "/a=b");
	assert_string_equal(s->url, "x://u:pw@h/");
	assert_string_equal(s->password, "s3cret");
	assert_int_equal(s->mode, 2);
	assert_true(bk_options_is_set(options, "block-cache"));
	assert_int_equal(
		bk_options_set(options, "open-files", "18446744073709551615", BK_FROM_USER, &err),
		BK_OK); /* "at least 10" has no upper end */
	assert_int_equal(bk_options_check(options, &err), BK_OK);
	bk_options_free(options);
}

static const struct {
	const char *pair;
	const char *message;
} bad[] = {
	{"sync=maybe", "option 'sync' of backend 'unit': 'maybe' is neither yes nor no"},
	{"sync=", "'' is neither yes nor no"},
	{"level=10", "option 'level' of backend 'unit': '10' is not within -5 to 9"},
	{"level=-6", "'-6' is not within -5 to 9"},
	{"level=x", "'x' is not a whole number"},
	{"open-files=9", "'9' is less than 10"},
	{"open-files=-1", "'-1' is not a whole number"},
	{"block-cache=1KiB", "'1KiB' is not within 4KiB to 1GiB"},
	{"block-cache=64K", "'64K' is not a size: write a number and B, kB, KiB"},
	{"wait=250", "'250' is not a duration"},
	{"wait=11s", "'11s' is not within 0us to 10s"},
	{"ratio=1.5", "'1.5' is not within 0 to 1"},
	{"ratio=nan", "'nan' is not a number"},
	{"compression=zst", "'zst' is not one of none, snappy, zstd; did you mean 'zstd'?"},
	{"compression=Zstd", "did you mean 'zstd'?"},
	{"compression=gzip2000", "is not one of none, snappy, zstd"},
	{"blok-cache=1MiB", "option 'blok-cache' of backend 'unit' is unknown; did you mean "
			    "'block-cache'?"},
	{"frobnicate=1", "`bakeoff backends unit` lists them"},
	{"s3cret", "is written name=value; there is no '='"},
	{"=5", "there is no name"},
	{"", "there is no '='"},
};

static void set_bad(void **state)
{
	struct bk_options *options = fresh();
	struct settings before = *data(options);
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bk_error err = bk_error_init();

		if (bk_options_set_pair(options, bad[i].pair, BK_FROM_USER, &err) != BK_INVALID)
			fail_msg("'%s' was taken", bad[i].pair);
		assert_contains(err.message, bad[i].message);
		assert_null(strstr(err.message, "s3cret"));
	}
	/* a refused value changes nothing */
	assert_memory_equal(&before, data(options), sizeof(before));
	bk_options_free(options);
}

static void required(void **state)
{
	struct bk_options *options = fresh();
	struct bk_error err = bk_error_init();

	assert_int_equal(bk_options_check(options, &err), BK_INVALID);
	assert_contains(err.message, "option 'url' of backend 'unit' is required");
	assert_contains(err.message, "PGUNIT_URL");
	assert_int_equal(bk_options_set(options, "url", "", BK_FROM_USER, &err), BK_OK);
	assert_int_equal(bk_options_check(options, &err), BK_INVALID);
	assert_int_equal(bk_options_set(options, "url", "x", BK_FROM_HARNESS, &err), BK_OK);
	assert_int_equal(bk_options_check(options, &err), BK_OK);
	assert_false(bk_options_is_set(options, "url"));
	bk_options_free(options);
}

struct seen {
	size_t count;
	char text[4096];
};

static void see(void *ctx, const struct bk_option *entry, const char *value,
		enum bk_option_source source)
{
	struct seen *seen = ctx;
	size_t len = strlen(seen->text);

	seen->count++;
	snprintf(seen->text + len, sizeof(seen->text) - len, "%s=%s/%d\n", entry->name,
		 value ? value : "(unset)", (int)source);
}

static void printed_without_secrets(void **state)
{
	struct bk_options *options = fresh(), *copy = NULL;
	struct bk_error err = bk_error_init();
	struct seen seen = {0, ""};

	assert_int_equal(bk_options_set(options, "password", "s3cret", BK_FROM_USER, &err), BK_OK);
	assert_int_equal(bk_options_set(options, "url", "x://u:s3cret@h/db", BK_FROM_USER, &err),
			 BK_OK);
	assert_int_equal(bk_options_copy(&copy, options, &err), BK_OK);
	bk_options_free(options); /* the copy owns its strings */
	bk_options_each(copy, see, &seen);
	assert_int_equal(seen.count, 10);
	assert_string_equal(seen.text, "sync=no/0\nlevel=-1/0\nopen-files=100/0\n"
				       "block-cache=8MiB/0\nwait=250ms/0\nratio=0.5/0\n"
				       "folder=from-init/0\nurl=x://u:*@h/db/3\n"
				       "password=(secret)/3\ncompression=snappy/0\n");
	assert_string_equal(data(copy)->password, "s3cret");
	bk_options_free(copy);
	bk_options_free(NULL);
}

static void environment(void **state)
{
	struct bk_options *options;
	struct bk_error err = bk_error_init();
	char *const *removed;
	size_t found = 0;

	setenv("UNIT_CACHE", "16MiB", 1);
	setenv("PGUNIT_URL", "x://from-env", 1);
	setenv("http_proxy", "http://proxy", 1);
	setenv("UNIT_PASSWORD", "", 1);
	bk_options_read_environment();
	bk_options_read_environment(); /* a second time loses nothing */
	assert_null(getenv("PGUNIT_URL"));
	assert_null(getenv("http_proxy"));
	assert_string_equal(bk_options_environment("http_proxy"), "http://proxy");
	for (removed = bk_options_environment_removed(); *removed; removed++)
		found += strcmp(*removed, "http_proxy=http://proxy") == 0;
	assert_int_equal(found, 1);

	options = fresh();
	assert_int_equal(data(options)->cache, 16 << 20);
	assert_string_equal(data(options)->url, "x://from-env");
	assert_null(data(options)->password); /* empty is unset */
	assert_true(bk_options_is_set(options, "url"));
	assert_int_equal(bk_options_set(options, "url", "y", BK_FROM_USER, &err), BK_OK);
	assert_string_equal(data(options)->url, "y");
	bk_options_free(options);

	setenv("UNIT_CACHE", "lots", 1);
	assert_int_equal(bk_options_new(&options, &desc, &err), BK_INVALID);
	assert_contains(err.message, "option 'block-cache' of backend 'unit', from variable "
				     "UNIT_CACHE: 'lots' is not a size");
	unsetenv("UNIT_CACHE");
}

static void without_options(void **state)
{
	static const struct bk_backend none = {.name = "none"};
	struct bk_options *options = NULL;
	struct bk_error err = bk_error_init();

	assert_int_equal(bk_options_new(&options, &none, &err), BK_OK);
	assert_int_equal(bk_options_set_pair(options, "a=b", BK_FROM_USER, &err), BK_INVALID);
	assert_contains(err.message, "backend 'none' has no options");
	assert_int_equal(bk_options_check(options, &err), BK_OK);
	bk_options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(set_good),
		cmocka_unit_test(set_bad),
		cmocka_unit_test(required),
		cmocka_unit_test(printed_without_secrets),
		cmocka_unit_test(environment),
		cmocka_unit_test(without_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
