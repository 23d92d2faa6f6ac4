/*
 * Numbers with units: exact, or refused with a message that quotes what was written.
 */
#include "unit.h"

#include "util/units.h"

#include <bakeoff/backend_util.h>

typedef bk_status (*parse_fn)(uint64_t *out, const char *text, struct bk_error *err);

struct good {
	parse_fn parse;
	const char *text;
	uint64_t value;
};

static const struct good good[] = {
	{bk_units_parse_bytes, "0", 0},
	{bk_units_parse_bytes, "1", 1},
	{bk_units_parse_bytes, "64KiB", 65536},
	{bk_units_parse_bytes, "64kib", 65536},
	{bk_units_parse_bytes, "64 KiB", 65536},
	{bk_units_parse_bytes, "1MB", 1000000},
	{bk_units_parse_bytes, "1.5MiB", 1572864},
	{bk_units_parse_bytes, "0.5KiB", 512},
	{bk_units_parse_bytes, "1.50kB", 1500},
	{bk_units_parse_bytes, "16777215TiB", 16777215ull << 40},
	{bk_units_parse_bytes, "18446744073709551615", UINT64_MAX},
	{bk_units_parse_usec, "0", 0},
	{bk_units_parse_usec, "250ms", 250000},
	{bk_units_parse_usec, "1.5s", 1500000},
	{bk_units_parse_usec, "10min", 600000000},
	{bk_units_parse_usec, "2h", 7200000000},
	{bk_units_parse_nsec, "1us", 1000},
	{bk_units_parse_nsec, "7ns", 7},
	{bk_units_parse_count, "1000", 1000},
	{bk_units_parse_count, "10k", 10000},
	{bk_units_parse_count, "2.5M", 2500000},
};

struct bad {
	parse_fn parse;
	const char *text;
	const char *message;
};

static const struct bad bad[] = {
	{bk_units_parse_bytes, "", "'' is not a size"},
	{bk_units_parse_bytes, "-1", "'-1' is not a size"},
	{bk_units_parse_bytes, " 1", "is not a size"},
	{bk_units_parse_bytes, "64K", "KiB"},
	{bk_units_parse_bytes, "1.", "is not a size"},
	{bk_units_parse_bytes, ".5KiB", "is not a size"},
	{bk_units_parse_bytes, "0x10", "is not a size"},
	{bk_units_parse_bytes, "1e3", "is not a size"},
	{bk_units_parse_bytes, "1 MiB ", "is not a size"},
	{bk_units_parse_bytes, "0.3KiB", "not a whole multiple of 1 byte"},
	{bk_units_parse_bytes, "1.5", "not a whole multiple of 1 byte"},
	{bk_units_parse_bytes, "16777216TiB", "too large"},
	{bk_units_parse_bytes, "18446744073709551616", "too large"},
	{bk_units_parse_bytes, "18446744073709551615.5KiB", "too large"},
	{bk_units_parse_usec, "250", "write a number and us, ms"},
	{bk_units_parse_usec, "1m", "is not a duration"},
	{bk_units_parse_usec, "1.5us", "not a whole multiple of 1 us"},
	{bk_units_parse_count, "ten", "'ten' is not a whole number"},
	{bk_units_parse_count, "1KiB", "is not a whole number"},
};

static void parse_good(void **state)
{
	struct bk_error err = bk_error_init();
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		uint64_t value = 42;

		if (good[i].parse(&value, good[i].text, &err) != BK_OK)
			fail_msg("'%s': %s", good[i].text, err.message);
		assert_true(value == good[i].value);
	}
}

static void parse_bad(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct bk_error err = bk_error_init();
		uint64_t value = 42;

		if (bad[i].parse(&value, bad[i].text, &err) != BK_INVALID)
			fail_msg("'%s' was taken as %llu", bad[i].text, (unsigned long long)value);
		assert_contains(err.message, bad[i].message);
		assert_int_equal(value, 42);
	}
}

static void parse_signed_and_real(void **state)
{
	static const char *const not_i64[] = {
		"", "-", "--1", "1.5", "9223372036854775808", "-9223372036854775809", "5x"};
	static const char *const not_f64[] = {"",      "nan", "inf", "0x1p3",
					      "1e999", " 1",  "1 ",  "1.2.3"};
	struct bk_error err = bk_error_init();
	int64_t i64;
	double f64;
	size_t i;

	assert_int_equal(bk_units_parse_i64(&i64, "-9223372036854775808", &err), BK_OK);
	assert_true(i64 == INT64_MIN);
	assert_int_equal(bk_units_parse_i64(&i64, "-2k", &err), BK_OK);
	assert_true(i64 == -2000);
	for (i = 0; i < sizeof(not_i64) / sizeof(*not_i64); i++)
		assert_int_equal(bk_units_parse_i64(&i64, not_i64[i], &err), BK_INVALID);
	assert_int_equal(bk_units_parse_f64(&f64, "-1.5e3", &err), BK_OK);
	assert_true(f64 > -1500.5 && f64 < -1499.5);
	for (i = 0; i < sizeof(not_f64) / sizeof(*not_f64); i++)
		assert_int_equal(bk_units_parse_f64(&f64, not_f64[i], &err), BK_INVALID);
}

static void format_parses_back(void **state)
{
	static const uint64_t values[] = {0,          1,       999,       1000,    1024,
					  1500,       65536,   1000000,   1048577, 86400000000,
					  1ull << 40, 7777777, UINT64_MAX};
	struct bk_error err = bk_error_init();
	char text[BK_UNITS_MAX];
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(*values); i++) {
		uint64_t back = 1;

		bk_units_format_bytes(text, values[i]);
		assert_int_equal(bk_units_parse_bytes(&back, text, &err), BK_OK);
		assert_true(back == values[i]);
		bk_units_format_usec(text, values[i]);
		assert_int_equal(bk_units_parse_usec(&back, text, &err), BK_OK);
		assert_true(back == values[i]);
	}
	assert_string_equal(bk_units_format_bytes(text, 65536), "64KiB");
	assert_string_equal(bk_units_format_bytes(text, 1000000), "1MB");
	assert_string_equal(bk_units_format_bytes(text, 0), "0B");
	assert_string_equal(bk_units_format_usec(text, 250000), "250ms");
	assert_string_equal(bk_units_human_bytes(text, 1610612736.0), "1.50 GiB");
	assert_string_equal(bk_units_human_bytes(text, 12.0), "12 B");
	assert_string_equal(bk_units_human_nsec(text, 38240000.0), "38.2 ms");
	assert_string_equal(bk_units_human_nsec(text, 0.0), "0 ns");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_good),
		cmocka_unit_test(parse_bad),
		cmocka_unit_test(parse_signed_and_real),
		cmocka_unit_test(format_parses_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
