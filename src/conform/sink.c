/*
 * sink.c - see sink.h.
 *
 * The one invariant: strings are copied at once; the backend's may be gone after the call.
 */
#include "conform/sink.h"

#include <math.h>
#include <stdlib.h>

static void fault(struct bk_record *r, const char *fmt, ...) BK_PRINTF(2, 3);
static void fault(struct bk_record *r, const char *fmt, ...)
{
	va_list ap;

	if (r->fault[0])
		return;
	va_start(ap, fmt);
	vsnprintf(r->fault, sizeof(r->fault), fmt, ap);
	va_end(ap);
}

static struct bk_said *say(struct bk_record *r, char kind, const char *name)
{
	if (r->count == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 64;
		struct bk_said *more = bk_arena_alloc(r->arena, cap * sizeof(*more));

		if (!more)
			abort();
		if (r->count)
			memcpy(more, r->said, r->count * sizeof(*more));
		r->said = more;
		r->cap = cap;
	}
	memset(&r->said[r->count], 0, sizeof(r->said[0]));
	r->said[r->count].kind = kind;
	r->said[r->count].name = bk_arena_strdup(r->arena, name ? name : "");
	return &r->said[r->count++];
}

/* Dotted lower case: words of letters, digits, '-' and '_' with single dots between. */
static void check_name(struct bk_record *r, const char *name)
{
	const char *p;

	if (!name || !name[0]) {
		fault(r, "a value without a name");
		return;
	}
	for (p = name; *p; p++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_.", *p) ||
		    (*p == '.' && (p == name || p[1] == '.' || p[1] == '\0'))) {
			fault(r, "the name '%.80s' is not dotted lower case", name);
			return;
		}
	}
}

static void check_unit(struct bk_record *r, const char *name, const char *unit)
{
	static const char *const units[] = {"bytes", "ns", "count", "ratio"};
	size_t i;

	for (i = 0; unit && i < 4; i++) {
		if (strcmp(unit, units[i]) == 0)
			return;
	}
	fault(r, "%.80s: the unit '%.20s' is none of bytes, ns, count, ratio", name ? name : "",
	      unit ? unit : "(null)");
}

static void record_u64(void *ctx, const char *name, uint64_t value, const char *unit,
		       uint32_t flags)
{
	struct bk_record *r = ctx;

	check_name(r, name);
	check_unit(r, name, unit);
	if (flags & ~BK_SINK_ESTIMATE)
		fault(r, "%.80s: unknown flags %#x", name ? name : "", flags);
	say(r, 'u', name)->value = value;
}

static void record_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	struct bk_record *r = ctx;

	check_name(r, name);
	check_unit(r, name, unit);
	if (flags & ~BK_SINK_ESTIMATE)
		fault(r, "%.80s: unknown flags %#x", name ? name : "", flags);
	if (!isfinite(value))
		fault(r, "%.80s: the value is not a number", name ? name : "");
	say(r, 'f', name)->real = value;
}

static void record_str(void *ctx, const char *name, const char *value)
{
	struct bk_record *r = ctx;

	check_name(r, name);
	if (!value)
		fault(r, "%.80s: a NULL value", name ? name : "");
	say(r, 's', name)->text = bk_arena_strdup(r->arena, value ? value : "");
}

static void record_begin(void *ctx, const char *kind, const char *name)
{
	struct bk_record *r = ctx;

	check_name(r, kind);
	if (!name)
		fault(r, "begin('%.60s') without a name", kind ? kind : "");
	r->depth++;
}

static void record_end(void *ctx)
{
	struct bk_record *r = ctx;

	if (--r->depth < 0)
		fault(r, "end() without begin()");
}

static void record_flag(void *ctx, const char *code, const char *text)
{
	struct bk_record *r = ctx;

	check_name(r, code);
	if (!text || !text[0] || strchr(text, '\n'))
		fault(r, "flag '%.60s': its text is not one line", code ? code : "");
	say(r, '!', code)->text = bk_arena_strdup(r->arena, text ? text : "");
}

void bk_record_init(struct bk_record *r, struct bk_arena *arena)
{
	memset(r, 0, sizeof(*r));
	r->arena = arena;
	r->sink.struct_size = (uint32_t)sizeof(r->sink);
	r->sink.ctx = r;
	r->sink.put_u64 = record_u64;
	r->sink.put_f64 = record_f64;
	r->sink.put_str = record_str;
	r->sink.begin = record_begin;
	r->sink.end = record_end;
	r->sink.flag = record_flag;
}

const struct bk_said *bk_record_find(const struct bk_record *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (strcmp(r->said[i].name, name) == 0)
			return &r->said[i];
	}
	return NULL;
}

void bk_record_check(struct bk_test *t, struct bk_at at, const struct bk_record *r)
{
	if (r->fault[0])
		bk_test_fail(t, at, "%s", r->fault);
	if (r->depth != 0)
		bk_test_fail(t, at, "%d begin() without end()", r->depth);
}

bool bk_record_mentions(const struct bk_record *r, const char *text)
{
	size_t i;

	for (i = 0; i < r->count; i++) {
		if (strstr(r->said[i].name, text) ||
		    (r->said[i].text && strstr(r->said[i].text, text)))
			return true;
	}
	return false;
}

void bk_record_counters(struct bk_record *out, struct bk_box *b, struct bk_at at,
			const struct bk_record *before)
{
	size_t i;

	bk_record_init(out, &b->t->arena);
	b->ops->session.counters(b->s, &out->sink);
	bk_record_check(b->t, at, out);
	for (i = 0; before && i < before->count; i++) {
		const char *name = before->said[i].name;
		const struct bk_said *now = bk_record_find(out, name);

		if (before->said[i].kind != 'u')
			bk_test_fail(b->t, at, "counter %s is not a whole number", name);
		if (!now)
			bk_test_fail(b->t, at, "counter %s disappeared", name);
		if (now->value < before->said[i].value)
			bk_test_fail(b->t, at, "counter %s went back", name);
	}
}
