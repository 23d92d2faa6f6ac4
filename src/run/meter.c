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

static void look(struct bk_meter_stand *out, const struct bk_run_state *s)
{
	struct sum log = ask(s->metered, BK_INSPECT_COUNTERS, "log.bytes");

	out->log_bytes = log.value;
	out->log_known = log.found;
	out->traffic = *s->metered->traffic;
	out->server_known = server_usage(&out->server, s->metered_stores);
	bk_usage_self(&out->self);
}

void bk_meter_begin(void *host)
{
	struct bk_run_state *s = host;

	look(&s->meter.before, s);
}

static void add_traffic(struct bk_traffic *sum, const struct bk_traffic *before,
			const struct bk_traffic *after)
{
	sum->requests += after->requests - before->requests;
	sum->retries += after->retries - before->retries;
	sum->reconnects += after->reconnects - before->reconnects;
	sum->sent_bytes += after->sent_bytes - before->sent_bytes;
	sum->received_bytes += after->received_bytes - before->received_bytes;
}

void bk_meter_end(void *host)
{
	struct bk_run_state *s = host;
	struct bk_meter *m = &s->meter;
	const struct bk_meter_stand *before = &m->before;
	struct bk_meter_stand after;
	struct bk_usage self;

	bk_usage_self(&self); /* without what asking costs */
	look(&after, s);
	m->cpu_s += (double)(self.cpu_ns - before->self.cpu_ns) / 1e9;
	m->written_unknown |= self.written_bytes == UINT64_MAX;
	m->written_bytes += (double)(self.written_bytes - before->self.written_bytes);
	m->server_unknown |= !before->server_known || !after.server_known;
	m->server_cpu_s += (double)(after.server.cpu_ns - before->server.cpu_ns) / 1e9;
	m->written_bytes += (double)(after.server.write_bytes - before->server.write_bytes);
	m->server_rss_bytes = (double)after.server.rss_bytes;
	m->log_unknown |= !before->log_known || !after.log_known;
	m->log_bytes += after.log_bytes - before->log_bytes;
	add_traffic(&m->traffic, &before->traffic, &after.traffic);
}

static void add(struct bk_outcome *out, const char *name, const char *unit, double value,
		double divisor)
{
	bk_outcome_metric(out, name, unit, value / divisor);
}

static void report_traffic(struct bk_outcome *out, const struct bk_traffic *sum, double divisor)
{
	if (!sum->requests)
		return;
	add(out, "requests", "count", (double)sum->requests, divisor);
	add(out, "requests.retried", "count", (double)sum->retries, divisor);
	add(out, "reconnects", "count", (double)sum->reconnects, divisor);
	if (sum->sent_bytes)
		add(out, "network.sent", "bytes", (double)sum->sent_bytes, divisor);
	if (sum->received_bytes)
		add(out, "network.received", "bytes", (double)sum->received_bytes, divisor);
}

void bk_meter_report(void *host, struct bk_outcome *out, double payload_bytes, double divisor)
{
	struct bk_run_state *s = host;
	struct bk_meter *m = &s->meter;
	struct bk_usage self;

	bk_usage_self(&self);
	bk_outcome_metric(out, "memory.harness.peak", "bytes", (double)self.peak_bytes);
	add(out, "cpu.harness", "s", m->cpu_s, divisor);
	if (has_server(s->metered_stores) && !m->server_unknown) {
		add(out, "cpu.server", "s", m->server_cpu_s, divisor);
		bk_outcome_metric(out, "memory.server", "bytes", m->server_rss_bytes);
	}
	if (!m->server_unknown && !m->written_unknown) {
		add(out, "written", "bytes", m->written_bytes, divisor);
		if (payload_bytes > 0)
			bk_outcome_metric(out, "write_amplification", "ratio",
					  m->written_bytes / payload_bytes);
	}
	if (!m->server_unknown && payload_bytes > 0)
		bk_outcome_metric(out, "cpu_per_gb", "s",
				  (m->cpu_s + m->server_cpu_s) * 1e9 / payload_bytes);
	if (!m->log_unknown)
		add(out, "log.written", "bytes", m->log_bytes, divisor);
	report_traffic(out, &m->traffic, divisor);
	memset(m, 0, sizeof(*m));
}

void bk_meter_stored(struct bk_run_state *s, struct bk_outcome *out)
{
	struct sum stored = ask(s->metered, BK_INSPECT_SIZE, "storage.bytes");

	if (stored.found)
		bk_outcome_metric(out, "stored", "bytes", stored.value);
}
