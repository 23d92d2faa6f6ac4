/*
 * env.c - what a scenario is given for one trial: seeds, meters, and a way to make caches cold.
 */
#include "run/session.h"

#include "host/host.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <string.h>

#define CHILL_ENGINE "engine caches dropped"

static bk_status chill_store(const struct bk_layered *store, const char **word,
			     struct bk_error *err)
{
	uint32_t reached = BK_CHILL_CANNOT;
	bk_status st;

	*word = "engine caches kept";
	if (!bk_repo_has(store, BK_F_CHILL))
		return BK_OK;
	st = store->tables.store.chill(store->store, &reached, err);
	if (st >= 0 && reached == BK_CHILL_DROPPED)
		*word = CHILL_ENGINE;
	return st;
}

static struct bk_dataset *chilled_dataset(struct bk_run_state *s)
{
	size_t i;

	for (i = 0; i < s->dataset_count; i++) {
		if (&s->datasets[i].repo == s->metered)
			return &s->datasets[i];
	}
	return NULL;
}

/* A private server is stopped and started: nothing of it stays warm but the page cache, which goes
 * next. */
static bk_status chill(void *host, char *reached, size_t size, struct bk_error *err)
{
	struct bk_run_state *s = host;
	struct bk_dataset *d = chilled_dataset(s);
	const char *engine = "engine caches kept";
	bool restarted = false;
	bk_status st = BK_OK;

	if (d && (s->stores[d->variant].nodes.server || s->stores[d->variant].binaries.server)) {
		size_t variant = d->variant;

		bk_datasets_lapse(s, variant);
		st = bk_variant_stores_restart(&restarted, &s->stores[variant], err);
		engine = "server restarted";
	} else {
		st = chill_store(s->metered->nodes, &engine, err);
	}
	if (st < 0)
		return st;
	snprintf(reached, size, "%s, %s", engine, bk_host_drop_pages(s->folder));
	return restarted ? bk_dataset_reopen(s, d, err) : BK_OK;
}

struct bk_env bk_run_env(struct bk_run_state *s, size_t variant, const struct bk_case *c,
			 const struct bk_repo *repo, uint32_t round)
{
	struct bk_buf key = BK_BUF_INIT, name = BK_BUF_INIT;
	struct bk_env env = {
		.c = c,
		.repo = repo,
		.durability = s->m->durability,
		.scratch = s->folder,
		.stop = &s->monitor.stop,
		.progress = &s->monitor.progress,
		.progress_total = &s->monitor.progress_total,
		.chill = chill,
		.meter_begin = bk_meter_begin,
		.meter_end = bk_meter_end,
		.meter_report = bk_meter_report,
		.host = s,
	};

	bk_case_data_key(&key, c);
	bk_case_name(&name, c);
	env.data_seed = bk_rng_derive(bk_rng_derive(s->m->seed, "data"), bk_buf_str(&key));
	env.order_seed = bk_rng_derive_u64(
		bk_rng_derive(bk_rng_derive(s->m->seed, "requests"), bk_buf_str(&name)), round);
	s->metered = repo;
	s->metered_stores = &s->stores[variant];
	memset(&s->meter, 0, sizeof(s->meter));
	bk_buf_free(&key);
	bk_buf_free(&name);
	return env;
}
