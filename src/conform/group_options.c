/*
 * group_options.c - the option table, and what the harness does with it for this backend.
 *
 * The one invariant: every case walks the whole table, so that a new option is tested the day it
 * is added.
 */
#include "conform/sink.h"

#include <inttypes.h>
#include <stdlib.h>

#define CANARY "canary-5f3759df"

static struct bk_options *fresh(struct bk_test *t)
{
	struct bk_error err = bk_error_init();
	struct bk_options *options = NULL;
	bk_status st = bk_options_copy(&options, t->options, &err);

	CHECK(t, st == BK_OK, "%s", err.message);
	return options;
}

#define EACH(t, o)                                                                                 \
	(o) = (t)->desc->options;                                                                  \
	(o) && (o)->name;                                                                          \
	(o)++

/* Refused with a message that names the option. */
static void refused(struct bk_test *t, const struct bk_option *o, const char *value)
{
	struct bk_options *options = fresh(t);
	struct bk_error err = bk_error_init();
	bk_status st = bk_options_set(options, o->name, value, BK_FROM_USER, &err);

	CHECK(t, st == BK_INVALID, "option %s takes '%s' (%s)", o->name, value,
	      bk_test_status_name(st));
	CHECK(t, strstr(err.message, o->name), "the refusal of '%s' does not name option %s: %s",
	      value, o->name, err.message);
	bk_options_free(options);
}

static void options_bad_values(struct bk_test *t)
{
	static const char *const bad[BK_OPT_ENUM + 1][8] = {
		[BK_OPT_BOOL] = {"", "maybe", "2", "yess"},
		[BK_OPT_I64] = {"", "x", "1x", "1.5", "99999999999999999999", "--1"},
		[BK_OPT_U64] = {"", "x", "-1", "1x", "99999999999999999999"},
		[BK_OPT_BYTES] = {"", "x", "-1", "1XiB", "KiB", "99999999999999999999"},
		[BK_OPT_USEC] = {"", "x", "-1s", "1parsec", "ms", "99999999999999999999s"},
		[BK_OPT_F64] = {"", "x", "1.5x", "nan", "inf"},
		[BK_OPT_ENUM] = {"", "no-such-choice", " ", "0x0"},
	};
	const struct bk_option *o;
	int i;

	for (EACH(t, o)) {
		for (i = 0; i < 8 && bad[o->type][i]; i++)
			refused(t, o, bad[o->type][i]);
	}
}

static void out_of_range(struct bk_test *t, const struct bk_option *o)
{
	char text[64];

	if (o->type == BK_OPT_F64) {
		snprintf(text, sizeof(text), "%" PRId64 ".5", o->max);
		refused(t, o, text);
		return;
	}
	if (o->max < INT64_MAX) {
		snprintf(text, sizeof(text), "%" PRId64 "%s", o->max + 1,
			 o->type == BK_OPT_USEC ? "us" : "");
		refused(t, o, text);
	}
	if (o->min > INT64_MIN && (o->min > 0 || o->type == BK_OPT_I64)) {
		snprintf(text, sizeof(text), "%" PRId64 "%s", o->min - 1,
			 o->type == BK_OPT_USEC ? "us" : "");
		refused(t, o, text);
	}
}

static void options_ranges(struct bk_test *t)
{
	const struct bk_option *o;

	for (EACH(t, o)) {
		if ((o->min || o->max) && o->type >= BK_OPT_I64 && o->type <= BK_OPT_F64)
			out_of_range(t, o);
	}
}

static void options_unknown(struct bk_test *t)
{
	struct bk_options *options = fresh(t);
	struct bk_error err = bk_error_init();
	const struct bk_option *o;
	char name[80];

	CHECK(t, bk_options_set(options, "no-such-option", "1", BK_FROM_USER, &err) == BK_INVALID,
	      "an unknown option is taken");
	for (EACH(t, o)) {
		snprintf(name, sizeof(name), "%sx", o->name);
		CHECK(t, bk_options_set(options, name, "1", BK_FROM_USER, &err) == BK_INVALID,
		      "option %s is taken", name);
		CHECK(t, strlen(o->name) < 4 || strstr(err.message, "did you mean"),
		      "nothing is suggested for %s: %s", name, err.message);
	}
	bk_options_free(options);
}

static void options_required(struct bk_test *t)
{
	const struct bk_option *o;

	for (EACH(t, o)) {
		struct bk_error err = bk_error_init();
		struct bk_options *options = NULL;
		bk_status st;

		if (!(o->flags & BK_OPTF_REQUIRED))
			continue;
		st = bk_options_new(&options, t->desc, &err);
		CHECK(t, st == BK_OK, "%s", err.message);
		if (!bk_options_is_set(options, o->name)) /* the environment may have it */
			CHECK(t, bk_options_check(options, &err) == BK_INVALID,
			      "required option %s may be left out", o->name);
		bk_options_free(options);
	}
}

/* ---- Secrets --------------------------------------------------------------------------------- */

static void look_for_canary(void *ctx, const struct bk_option *entry, const char *value,
			    enum bk_option_source source)
{
	struct bk_test *t = ctx;

	CHECK(t, !value || !strstr(value, CANARY), "option %s shows its secret", entry->name);
}

static void no_canary_in_log(struct bk_test *t)
{
	char line[1024];
	FILE *log = fopen(t->log_path, "r");

	fflush(NULL);
	while (log && fgets(line, sizeof(line), log))
		CHECK(t, !strstr(line, CANARY), "a secret was printed");
	if (log)
		fclose(log);
}

/* A secret that is wrong must not come back in an error; one that is right, not in inspect. */
static void options_secret(struct bk_test *t)
{
	struct bk_options *options = fresh(t);
	struct bk_error err = bk_error_init();
	struct bk_layered *l = NULL;
	struct bk_record record;
	const struct bk_option *o;
	int secrets = 0;

	for (EACH(t, o)) {
		if (!(o->flags & BK_OPTF_SECRET) || o->type != BK_OPT_STR)
			continue;
		CHECK(t, bk_options_set(options, o->name, CANARY, BK_FROM_USER, &err) == BK_OK,
		      "%s", err.message);
		secrets++;
	}
	if (!secrets)
		bk_test_skip(t, "has no secret options");
	bk_options_each(options, look_for_canary, t);
	if (bk_open(&l, t->config->plugin, options, t->space[BK_SPACE_B], NULL, BK_DURABLE_NONE,
		    BK_OPEN_RAW, &err) != BK_OK) {
		CHECK(t, !strstr(err.message, CANARY), "an error quotes a secret: %s", err.message);
	} else {
		bk_record_init(&record, &t->arena);
		if (l->tables.store.inspect(l->store, BK_INSPECT_IDENTITY, &record.sink, &err) < 0)
			CHECK(t, !strstr(err.message, CANARY), "an error quotes a secret: %s",
			      err.message);
		CHECK(t, !bk_record_mentions(&record, CANARY), "inspect tells a secret");
		bk_close(l);
	}
	bk_options_free(options);
	no_canary_in_log(t);
}

/* ---- Values that open a store -------------------------------------------------------------------
 */

static uint32_t clean_refusals(void)
{
	return THREE(BK_INVALID, BK_UNSUPPORTED, BK_UNAVAILABLE) | TWO(BK_AUTH, BK_NOT_FOUND);
}

/* A node or a binary goes in and comes out, or a call says cleanly that this cannot be. */
static void opens_or_says_why(struct bk_test *t, const struct bk_options *options, const char *name,
			      const char *value)
{
	struct bk_error err = bk_error_init();
	struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_layered *l = NULL;
	struct bk_session *s = NULL;
	bk_status st = bk_open(&l, t->config->plugin, options, t->space[BK_SPACE_A], NULL,
			       BK_DURABLE_NONE, BK_OPEN_CHECK, &err);

	if (st == BK_OK)
		st = l->tables.store.make(l->store, &err);
	if (st == BK_OK)
		st = l->tables.session.open(&s, l->store, &config, &err);
	if (s)
		l->tables.session.close(s);
	if (st == BK_OK)
		st = l->tables.store.unmake(l->store, &err);
	bk_close(l);
	CHECK(t, st == BK_OK || (clean_refusals() & bk_test_bit(st)), "with %s=%s: %s: %s", name,
	      value, bk_test_status_name(st), err.message);
	CHECK(t, st == BK_OK || err.message[0], "with %s=%s: no message", name, value);
}

static void try_value(struct bk_test *t, const struct bk_option *o, const char *value)
{
	struct bk_options *options = fresh(t);
	struct bk_error err = bk_error_init();

	CHECK(t, bk_options_set(options, o->name, value, BK_FROM_USER, &err) == BK_OK, "%s",
	      err.message);
	opens_or_says_why(t, options, o->name, value);
	bk_options_free(options);
}

static void options_choices(struct bk_test *t)
{
	const struct bk_option *o;
	int i;

	for (EACH(t, o)) {
		if (o->type == BK_OPT_BOOL) {
			try_value(t, o, "no");
			try_value(t, o, "yes");
		}
		for (i = 0; o->type == BK_OPT_ENUM && o->choices[i]; i++)
			try_value(t, o, o->choices[i]);
	}
}

static void options_least(struct bk_test *t)
{
	const struct bk_option *o;
	char text[32];

	for (EACH(t, o)) {
		if (o->type < BK_OPT_I64 || o->type > BK_OPT_USEC || !(o->min || o->max))
			continue;
		snprintf(text, sizeof(text), "%" PRId64 "%s", o->min,
			 o->type == BK_OPT_USEC ? "us" : "");
		try_value(t, o, text);
	}
}

static const struct bk_case cases[] = {
	{"bad-values", "text that is no value of its type is refused, naming the option",
	 options_bad_values},
	{"ranges", "a value beyond min or max is refused", options_ranges},
	{"unknown", "an unknown option is refused, the nearest suggested", options_unknown},
	{"required", "a required option may not be left out", options_required},
	{"secret", "a secret is in no error, no inspect, no output", options_secret},
	{"choices", "a store opens with every choice and switch, or says why not", options_choices},
	{"least", "a store opens with the least value of every number, or says why not",
	 options_least},
	{.name = NULL},
};

const struct bk_group bk_group_options = {"options", cases};
