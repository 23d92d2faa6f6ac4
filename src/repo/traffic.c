/*
 * traffic.c - the counters that backends agree on (backend.h, bk_session_ops.counters).
 */
#include "repo/traffic.h"

#include <string.h>

static void take_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	struct bk_traffic *t = ctx;
	const struct {
		const char *name;
		uint64_t *sum;
	} known[] = {
		{"requests", &t->requests},
		{"retries", &t->retries},
		{"reconnects", &t->reconnects},
		{"bytes.sent", &t->sent_bytes},
		{"bytes.received", &t->received_bytes},
	};
	size_t i;

	(void)unit;
	(void)flags;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) == 0)
			__atomic_fetch_add(known[i].sum, value, __ATOMIC_RELAXED);
	}
}

static void take_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	(void)ctx, (void)name, (void)value, (void)unit, (void)flags;
}

static void take_str(void *ctx, const char *name, const char *value)
{
	(void)ctx, (void)name, (void)value;
}

static void take_end(void *ctx)
{
	(void)ctx;
}

void bk_traffic_add(struct bk_traffic *traffic, const struct bk_session_ops *ops,
		    struct bk_session *session)
{
	const struct bk_sink sink = {
		.struct_size = sizeof(sink),
		.ctx = traffic,
		.put_u64 = take_u64,
		.put_f64 = take_f64,
		.put_str = take_str,
		.begin = take_str,
		.end = take_end,
		.flag = take_str,
	};

	if (traffic)
		ops->counters(session, &sink);
}
