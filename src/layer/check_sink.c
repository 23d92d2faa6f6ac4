/*
 * check_sink.c - what a backend says of itself (inspect, counters), checked.
 */
#include "layer/check.h"

#include <bakeoff/backend_util.h>

struct watch {
	struct bk_sink sink; /* what the backend gets; its ctx is this */
	const struct bk_sink *real;
	int depth;
	char fault[200]; /* the first */
};

static const char name_chars[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

static void watch_name(struct watch *w, const char *name)
{
	if (w->fault[0] || (name && *name && name[strspn(name, name_chars)] == '\0'))
		return;
	snprintf(w->fault, sizeof(w->fault), "the name '%.60s' is not dotted lower case",
		 name ? name : "(null)");
}

static void watch_unit(struct watch *w, const char *unit)
{
	static const char *const units[] = {"bytes", "ns", "count", "ratio"};
	size_t i;

	for (i = 0; unit && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(unit, units[i]) == 0)
			return;
	}
	if (!w->fault[0])
		snprintf(w->fault, sizeof(w->fault),
			 "the unit '%.40s' is none of bytes, ns, count, ratio",
			 unit ? unit : "(null)");
}

static void watch_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	struct watch *w = ctx;

	watch_name(w, name);
	watch_unit(w, unit);
	w->real->put_u64(w->real->ctx, name, value, unit, flags);
}

static void watch_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	struct watch *w = ctx;

	watch_name(w, name);
	watch_unit(w, unit);
	w->real->put_f64(w->real->ctx, name, value, unit, flags);
}

static void watch_str(void *ctx, const char *name, const char *value)
{
	struct watch *w = ctx;

	watch_name(w, name);
	if (!value && !w->fault[0])
		snprintf(w->fault, sizeof(w->fault), "the value of '%.60s' is NULL", name);
	w->real->put_str(w->real->ctx, name, value ? value : "");
}

static void watch_begin(void *ctx, const char *kind, const char *name)
{
	struct watch *w = ctx;

	w->depth++;
	w->real->begin(w->real->ctx, kind, name);
}

static void watch_end(void *ctx)
{
	struct watch *w = ctx;

	if (--w->depth < 0 && !w->fault[0])
		snprintf(w->fault, sizeof(w->fault), "end without begin");
	w->real->end(w->real->ctx);
}

static void watch_flag(void *ctx, const char *code, const char *text)
{
	struct watch *w = ctx;

	watch_name(w, code);
	w->real->flag(w->real->ctx, code, text);
}

static void watch_init(struct watch *w, const struct bk_sink *real)
{
	memset(w, 0, sizeof(*w));
	w->sink.struct_size = sizeof(w->sink);
	w->sink.ctx = w;
	w->sink.put_u64 = watch_u64;
	w->sink.put_f64 = watch_f64;
	w->sink.put_str = watch_str;
	w->sink.begin = watch_begin;
	w->sink.end = watch_end;
	w->sink.flag = watch_flag;
	w->real = real;
}

static const char *watch_fault(struct watch *w)
{
	if (w->depth > 0 && !w->fault[0])
		snprintf(w->fault, sizeof(w->fault), "begin without end");
	return w->fault[0] ? w->fault : NULL;
}

bk_status bk_check_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			   struct bk_error *err)
{
	static const char op[] = "store.inspect";
	struct bk_error armed;
	struct watch w;
	bk_status st;

	watch_init(&w, sink);
	bk_check_error_arm(&armed);
	st = bk_check_answer(
		store->pass.next.store.inspect(store->pass.store, what, &w.sink, &armed), &armed,
		false, op, err);
	if (watch_fault(&w))
		return bk_check_breach(err, op, "%s", watch_fault(&w));
	return st;
}

void bk_check_counters(struct bk_session *s, const struct bk_sink *sink)
{
	struct watch w;

	bk_check_thread(s, "session.counters");
	watch_init(&w, sink);
	s->pass.next->session.counters(s->pass.s, &w.sink);
	if (watch_fault(&w))
		snprintf(s->breach, sizeof(s->breach), "session.counters: %s", watch_fault(&w));
}
