/*
 * outcome.c - what a trial yields, and what is known of each metric.
 */
#include "scenario/scenario.h"

#include "load/load.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct bk_metric_kind kinds[] = {
	{"time_to_last", "seconds from the request to the last triple, median of the timed reads",
	 false, false},
	{"time_to_first", "seconds from the request to the first triple, median", false, false},
	{"reads_per_s", "resources read a second", true, false},
	{"throughput", "payload megabytes (10^6 bytes) a second", true, false},
	{"objects_per_s", "objects stored a second", true, false},
	{"load.objects_per_s", "objects stored a second while loading one a transaction", true,
	 false},
	{"load.seconds", "seconds that loading the data set took; not compared", false, true},
	{"settle.seconds", "seconds until the store was quiet after loading", false, true},
	{"latency.p50", "median latency of one operation, seconds", false, false},
	{"latency.p90", "90th percentile of it", false, false},
	{"latency.p99", "99th percentile of it", false, false},
	{"latency.p99.9", "99.9th percentile of it", false, false},
	{"latency.mean", "mean of it", false, false},
	{"first_byte.p50", "median time to the first byte of a binary read back, seconds", false,
	 false},
	{"triples", "triples that one read writes", false, true},
	{"nodes.touched", "distinct nodes that one read names", false, true},
	{"cache.hits", "nodes found in the node cache by one timed read", false, true},
	{"cache.misses", "nodes loaded from the store by one timed read", false, true},
	{"round_trips", "calls to the store by one timed read", false, true},
	{"reads", "timed reads in the trial", false, true},
	{"operations", "operations done in the timed part", false, true},
	{"failed", "operations that failed in the timed part", false, true},
	{"retried", "operations tried again in the timed part", false, true},
	{"read_latency.p50", "median time to read a whole binary back, seconds", false, false},
	{"orphans", "binaries that no node names", false, true},
	{"cpu.harness", "CPU seconds of bakeoff, embedded stores included", false, false},
	{"cpu.server", "CPU seconds of the private server's processes", false, false},
	{"cpu_per_gb", "CPU seconds of both for 10^9 bytes of payload", false, false},
	{"memory.server", "bytes resident of the private server at the end", false, true},
	{"memory.harness.peak", "bytes resident of bakeoff, highest in the run so far", false,
	 true},
	{"written", "bytes that bakeoff and the private server sent to the disk", false, false},
	{"write_amplification", "bytes written for a byte of payload", false, false},
	{"log.written", "bytes that the store wrote to its log", false, false},
	{"stored", "bytes that the stores occupy afterwards", false, false},
	{"requests", "requests sent by the sessions", false, true},
	{"requests_per_object", "requests for one object", false, true},
	{"requests.retried", "requests that a backend sent again by itself", false, true},
	{"reconnects", "connections made anew", false, true},
	{"network.sent", "bytes sent to the store", false, true},
	{"network.received", "bytes received from it", false, true},
	{"inlined", "binaries kept inside their node", false, true},
};

const struct bk_metric_kind *bk_metric_kind(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	return NULL;
}

void bk_outcome_init(struct bk_outcome *out)
{
	memset(out, 0, sizeof(*out));
	out->first_failure = bk_error_init();
}

void bk_outcome_free(struct bk_outcome *out)
{
	size_t i;

	for (i = 0; i < out->histogram_count; i++)
		bk_histogram_free(out->histograms[i].histogram);
	for (i = 0; i < out->series_count; i++)
		free(out->series[i].values);
	free(out->metrics);
	free(out->histograms);
	free(out->series);
	bk_outcome_init(out);
}

/* Room for one more; the arrays are short, so each grows by one. */
static void *one_more(struct bk_outcome *out, void *array, size_t count, size_t size)
{
	void *larger = realloc(array, (count + 1) * size);

	if (larger)
		memset((char *)larger + count * size, 0, size);
	else
		out->failed = true;
	return larger;
}

void bk_outcome_metric(struct bk_outcome *out, const char *name, const char *unit, double value)
{
	struct bk_metric *m = one_more(out, out->metrics, out->metric_count, sizeof(*m));

	if (!m)
		return;
	out->metrics = m;
	m += out->metric_count++;
	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->unit, sizeof(m->unit), "%s", unit);
	m->value = value;
}

/* Copies. */
static void add_histogram(struct bk_outcome *out, const char *name, const struct bk_histogram *h)
{
	struct bk_named_histogram *n =
		one_more(out, out->histograms, out->histogram_count, sizeof(*n));

	if (!n)
		return;
	out->histograms = n;
	n += out->histogram_count;
	n->histogram = bk_histogram_new();
	if (!n->histogram) {
		out->failed = true;
		return;
	}
	out->histogram_count++;
	memcpy(n->histogram, h, sizeof(*h));
	snprintf(n->name, sizeof(n->name), "%s", name);
}

void bk_outcome_latency(struct bk_outcome *out, const char *name, const struct bk_histogram *h)
{
	static const struct {
		const char *suffix;
		double q;
	} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};
	char metric[48];
	size_t i;

	add_histogram(out, name, h);
	if (h->count == 0)
		return;
	snprintf(metric, sizeof(metric), "%s.mean", name);
	bk_outcome_metric(out, metric, "s", bk_histogram_mean(h) / 1e9);
	for (i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
		if (i && bk_histogram_beyond(h, percentiles[i].q) < 100)
			break;
		snprintf(metric, sizeof(metric), "%s.%s", name, percentiles[i].suffix);
		bk_outcome_metric(out, metric, "s",
				  (double)bk_histogram_quantile(h, percentiles[i].q) / 1e9);
	}
}

void bk_outcome_load(struct bk_outcome *out, const struct bk_load_result *result)
{
	size_t i;

	bk_outcome_metric(out, "operations", "count", (double)result->done);
	bk_outcome_metric(out, "failed", "count", (double)result->failed);
	bk_outcome_metric(out, "retried", "count", (double)result->retried);
	for (i = 0; i < BK_LOAD_STATUSES; i++)
		out->failed_by_status[i] += result->failed_by_status[i];
	if (result->failed)
		out->first_failure = result->first_error;
}

void bk_outcome_series(struct bk_outcome *out, const char *name, const char *unit,
		       const double *values, size_t count)
{
	struct bk_series *s = one_more(out, out->series, out->series_count, sizeof(*s));

	if (!s)
		return;
	out->series = s;
	s += out->series_count;
	s->values = malloc((count + 1) * sizeof(double));
	if (!s->values) {
		out->failed = true;
		return;
	}
	out->series_count++;
	if (count)
		memcpy(s->values, values, count * sizeof(double));
	s->count = count;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->unit, sizeof(s->unit), "%s", unit);
}

const struct bk_metric *bk_outcome_find(const struct bk_outcome *out, const char *name)
{
	size_t i;

	for (i = 0; i < out->metric_count; i++) {
		if (strcmp(out->metrics[i].name, name) == 0)
			return &out->metrics[i];
	}
	return NULL;
}
