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
			*known[i].sum += value;
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

static void add(uint64_t *sum, uint64_t *said, uint64_t says)
{
	__atomic_fetch_add(sum, says - *said, __ATOMIC_RELAXED);
	*said = says;
}

void bk_traffic_add(struct bk_traffic *sum, struct bk_traffic *said,
		    const struct bk_session_ops *ops, struct bk_session *session)
{
	struct bk_traffic now = {0};
	const struct bk_sink sink = {
		.struct_size = sizeof(sink),
		.ctx = &now,
		.put_u64 = take_u64,
		.put_f64 = take_f64,
		.put_str = take_str,
		.begin = take_str,
		.end = take_end,
		.flag = take_str,
	};

	if (!sum)
		return;
	ops->counters(session, &sink);
	add(&sum->requests, &said->requests, now.requests);
	add(&sum->retries, &said->retries, now.retries);
	add(&sum->reconnects, &said->reconnects, now.reconnects);
	add(&sum->sent_bytes, &said->sent_bytes, now.sent_bytes);
	add(&sum->received_bytes, &said->received_bytes, now.received_bytes);
}
