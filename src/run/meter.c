/*
 * meter.c - what a timed part cost: CPU, bytes to the disk, log bytes, requests, memory.
 *
 * The store's own counters are asked for outside the stretch that is metered.  What cannot be known
 * (the processes of a server that was reached by URL) is left out, never guessed.
 */
#include "run/session.h"

#include "host/usage.h"

#include <bakeoff/backend_util.h>

#include <string.h>

struct sum { /* of one counter over the stores of a repository */
	const char *name;
	double value;
	bool found;
	int depth;
};

static void sum_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	struct sum *s = ctx;

	(void)unit;
	(void)flags;
	if (s->depth == 0 && strcmp(name, s->name) == 0) {
		s->value += (double)value;
		s->found = true;
	}
}

static void sum_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	sum_u64(ctx, name, value > 0 ? (uint64_t)value : 0, unit, flags);
}

static void sum_text(void *ctx, const char *a, const char *b)
{
	(void)ctx, (void)a, (void)b;
}

static void sum_begin(void *ctx, const char *kind, const char *name)
{
	struct sum *s = ctx;

	(void)kind;
	(void)name;
	s->depth++;
}

static void sum_end(void *ctx)
{
	struct sum *s = ctx;

	s->depth--;
}

static struct sum ask(const struct bk_repo *repo, uint32_t what, const char *name)
{
	struct sum s = {.name = name};
	struct bk_error ignored = bk_error_init();
	const struct bk_sink sink = {
		.struct_size = sizeof(sink),
		.ctx = &s,
		.put_u64 = sum_u64,
		.put_f64 = sum_f64,
		.put_str = sum_text,
		.begin = sum_begin,
		.end = sum_end,
		.flag = sum_text,
	};

	repo->nodes->tables.store.inspect(repo->nodes->store, what, &sink, &ignored);
	if (repo->binaries && repo->binaries != repo->nodes)
		repo->binaries->tables.store.inspect(repo->binaries->store, what, &sink, &ignored);
	return s;
}

/* Both halves' servers; false: one of them is not ours to look at. */
static bool server_usage(struct bk_service_usage *out, const struct bk_variant_stores *stores)
{
	const struct bk_store_half *halves[2] = {&stores->nodes, &stores->binaries};
	struct bk_error ignored = bk_error_init();
	struct bk_service_usage one;
	size_t h;

	memset(out, 0, sizeof(*out));
	for (h = 0; h < 2; h++) {
		if (!halves[h]->plugin || !halves[h]->plugin->desc.service)
			continue;
		if (!halves[h]->server || bk_service_usage(&one, halves[h]->server, &ignored) < 0)
			return false;
		out->cpu_ns += one.cpu_ns;
		out->write_bytes += one.write_bytes;
		out->rss_bytes += one.rss_bytes;
	}
	return true;
}

static bool has_server(const struct bk_variant_stores *stores)
{
	return (stores->nodes.plugin && stores->nodes.plugin->desc.service) ||
	       (stores->binaries.plugin && stores->binaries.plugin->desc.service);
}

void bk_meter_begin(void *host)
{
	struct bk_run_state *s = host;
	struct bk_meter *m = &s->meter;

	m->log_bytes = ask(s->metered, BK_INSPECT_COUNTERS, "log.bytes").value;
	m->traffic = *s->metered->traffic;
	m->server_known = server_usage(&m->server, s->metered_stores);
	bk_usage_self(&m->self);
}

static void add(struct bk_outcome *out, const char *name, const char *unit, double value,
		double divisor)
{
	bk_outcome_metric(out, name, unit, value / divisor);
}

static void add_traffic(struct bk_outcome *out, const struct bk_traffic *before,
			const struct bk_traffic *after, double divisor)
{
	uint64_t requests = after->requests - before->requests;

	if (!requests)
		return;
	add(out, "requests", "count", (double)requests, divisor);
	add(out, "requests.retried", "count", (double)(after->retries - before->retries), divisor);
	add(out, "reconnects", "count", (double)(after->reconnects - before->reconnects), divisor);
	if (after->sent_bytes != before->sent_bytes)
		add(out, "network.sent", "bytes", (double)(after->sent_bytes - before->sent_bytes),
		    divisor);
	if (after->received_bytes != before->received_bytes)
		add(out, "network.received", "bytes",
		    (double)(after->received_bytes - before->received_bytes), divisor);
}

void bk_meter_end(void *host, struct bk_outcome *out, double payload_bytes, double divisor)
{
	struct bk_run_state *s = host;
	struct bk_meter *m = &s->meter;
	struct bk_service_usage server;
	struct bk_usage self;
	struct sum log;
	double written, cpu;
	bool server_known;

	bk_usage_self(&self);
	server_known = server_usage(&server, s->metered_stores) && m->server_known;
	log = ask(s->metered, BK_INSPECT_COUNTERS, "log.bytes");
	cpu = (double)(self.cpu_ns - m->self.cpu_ns) / 1e9;
	written = (double)(self.written_bytes - m->self.written_bytes);
	add(out, "cpu.harness", "s", cpu, divisor);
	if (has_server(s->metered_stores) && server_known) {
		add(out, "cpu.server", "s", (double)(server.cpu_ns - m->server.cpu_ns) / 1e9,
		    divisor);
		bk_outcome_metric(out, "memory.server", "bytes", (double)server.rss_bytes);
	}
	cpu += (double)(server.cpu_ns - m->server.cpu_ns) / 1e9;
	written += (double)(server.write_bytes - m->server.write_bytes);
	bk_outcome_metric(out, "memory.harness.peak", "bytes", (double)self.peak_bytes);
	if (server_known && self.written_bytes != UINT64_MAX) {
		add(out, "written", "bytes", written, divisor);
		if (payload_bytes > 0)
			bk_outcome_metric(out, "write_amplification", "ratio",
					  written / payload_bytes);
	}
	if (server_known && payload_bytes > 0)
		bk_outcome_metric(out, "cpu_per_gb", "s", cpu * 1e9 / payload_bytes);
	if (log.found)
		add(out, "log.written", "bytes", log.value - m->log_bytes, divisor);
	add_traffic(out, &m->traffic, s->metered->traffic, divisor);
}

void bk_meter_stored(struct bk_run_state *s, struct bk_outcome *out)
{
	struct sum stored = ask(s->metered, BK_INSPECT_SIZE, "storage.bytes");

	if (stored.found)
		bk_outcome_metric(out, "stored", "bytes", stored.value);
}
