/*
 * pool.c - readers, and what they do together until a read is over.
 *
 * A read is over when the stack is empty and nobody is busy.  With one reader there is no other
 * thread at all.
 */
#include "repo/pool.h"

#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>

static bool stopped(const struct bk_readers *pool)
{
	return pool->config.stop && __atomic_load_n(pool->config.stop, __ATOMIC_RELAXED);
}

/* Until the read is over.  A failure empties the stack: the others find nothing and leave. */
static void work_until_done(struct reader *r)
{
	struct bk_readers *pool = r->pool;
	struct bk_error e = bk_error_init();
	struct chunk *c;

	pthread_mutex_lock(&pool->lock);
	for (;;) {
		bk_status st;

		while (!pool->todo && pool->busy)
			pthread_cond_wait(&pool->change, &pool->lock);
		c = pool->todo;
		if (!c)
			break;
		pool->todo = c->next;
		pool->busy++;
		if (pool->status < 0)
			st = BK_OK; /* drained */
		else {
			pthread_mutex_unlock(&pool->lock);
			st = stopped(pool) ? bk_fail(&e, BK_CANCELLED, 0, "the read was stopped")
					   : bk_visit_chunk(r, c, &e);
			pthread_mutex_lock(&pool->lock);
		}
		if (st < 0 && pool->status >= 0) {
			pool->status = st;
			pool->error = e;
		}
		c->next = pool->spare;
		pool->spare = c;
		if (--pool->busy == 0 && !pool->todo)
			pthread_cond_broadcast(&pool->change);
	}
	pthread_mutex_unlock(&pool->lock);
}

static void note_failure(struct bk_readers *pool, bk_status st, const struct bk_error *e)
{
	pthread_mutex_lock(&pool->lock);
	if (pool->status >= 0) {
		pool->status = st;
		pool->error = *e;
	}
	pthread_mutex_unlock(&pool->lock);
}

static bk_status open_reader(struct reader *r, uint32_t number)
{
	const struct bk_readers_config *config = &r->pool->config;
	struct bk_error e = bk_error_init();
	bk_status st =
		bk_repo_session_open(&r->session, config->repo, number, config->durability, &e);

	if (st >= 0 && !bk_ntriples_init(&r->out))
		st = bk_fail(&e, BK_NOMEM, 0, "out of memory for a reader's buffer");
	if (st < 0)
		note_failure(r->pool, st, &e);
	return st;
}

static void close_reader(struct reader *r)
{
	bk_repo_session_close(&r->session);
	bk_ntriples_free(&r->out);
}

static void *reader_main(void *arg)
{
	struct reader *r = arg;
	struct bk_readers *pool = r->pool;
	uint64_t seen = 0, metered = 0;

	open_reader(r, (uint32_t)(r - pool->readers));
	pthread_mutex_lock(&pool->lock);
	pool->opened++;
	pthread_cond_broadcast(&pool->change);
	while (!pool->closing) {
		if (pool->meterings != metered) {
			metered = pool->meterings;
			bk_repo_session_meter(&r->session);
			pool->metered++;
			pthread_cond_broadcast(&pool->change);
			continue;
		}
		if (pool->generation == seen) {
			pthread_cond_wait(&pool->change, &pool->lock);
			continue;
		}
		seen = pool->generation;
		pthread_mutex_unlock(&pool->lock);
		work_until_done(r);
		pthread_mutex_lock(&pool->lock);
	}
	pthread_mutex_unlock(&pool->lock);
	close_reader(r);
	return NULL;
}

bk_status bk_readers_open(struct bk_readers **out, const struct bk_readers_config *config,
			  struct bk_error *err)
{
	struct bk_readers *pool = calloc(1, sizeof(*pool));
	uint32_t i, started = 0;
	bk_status st;

	if (!pool || !(pool->readers = calloc(config->readers, sizeof(*pool->readers)))) {
		free(pool);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for %u readers", config->readers);
	}
	pool->config = *config;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->change, NULL);
	for (i = 0; i < config->readers; i++)
		pool->readers[i].pool = pool;
	open_reader(&pool->readers[0], 0);
	for (i = 1; i < config->readers && pool->status >= 0; i++) {
		int rc = pthread_create(&pool->readers[i].thread, NULL, reader_main,
					&pool->readers[i]);

		if (rc) {
			struct bk_error e = bk_error_init();

			bk_fail(&e, BK_NOMEM, rc, "cannot start reader %u: %s", i + 1,
				strerror(rc));
			note_failure(pool, e.status, &e);
			break;
		}
		pool->readers[i].running = true;
		started++;
	}
	pthread_mutex_lock(&pool->lock);
	while (pool->opened < started)
		pthread_cond_wait(&pool->change, &pool->lock);
	st = pool->status;
	if (st < 0)
		*err = pool->error;
	pthread_mutex_unlock(&pool->lock);
	if (st < 0) {
		bk_readers_close(pool);
		return st;
	}
	*out = pool;
	return BK_OK;
}

void bk_readers_meter(struct bk_readers *pool)
{
	bk_repo_session_meter(&pool->readers[0].session);
	pthread_mutex_lock(&pool->lock);
	pool->meterings++;
	pool->metered = 0;
	pthread_cond_broadcast(&pool->change);
	while (pool->metered < pool->config.readers - 1)
		pthread_cond_wait(&pool->change, &pool->lock);
	pthread_mutex_unlock(&pool->lock);
}

void bk_readers_close(struct bk_readers *pool)
{
	struct chunk *c, *next;
	uint32_t i;

	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->closing = true;
	pthread_cond_broadcast(&pool->change);
	pthread_mutex_unlock(&pool->lock);
	for (i = 1; i < pool->config.readers; i++) {
		if (pool->readers[i].running)
			pthread_join(pool->readers[i].thread, NULL);
	}
	close_reader(&pool->readers[0]);
	for (c = pool->spare; c; c = next) {
		next = c->next;
		free(c->bytes);
		free(c);
	}
	pthread_cond_destroy(&pool->change);
	pthread_mutex_destroy(&pool->lock);
	free(pool->readers);
	free(pool);
}

static void collect(struct bk_read_result *out, struct bk_readers *pool, uint64_t start_ns,
		    uint64_t trips_before)
{
	uint64_t first = 0;
	uint32_t i;

	for (i = 0; i < pool->config.readers; i++) {
		const struct reader *r = &pool->readers[i];

		out->triples += r->out.triples;
		out->sum += r->out.sum;
		out->round_trips += r->session.round_trips;
		if (r->out.first_ns && (!first || r->out.first_ns < first))
			first = r->out.first_ns;
	}
	out->round_trips -= trips_before;
	out->first_ns = first ? first - start_ns : out->last_ns;
}

/* The start itself is loaded by reader 0: its own properties come first. */
static bk_status begin(struct bk_readers *pool, struct bk_error *err)
{
	struct reader *r = &pool->readers[0];
	unsigned char id[BK_REPO_ID_LEN];
	struct chunk *c;
	bk_status st;

	st = bk_fetch_node(&pool->start, r, bk_repo_id(pool->config.repo, id, pool->read->start),
			   err);
	if (st < 0)
		return st;
	if (!bk_ntriples_document(&r->out, pool->start->path, pool->start->doc))
		return bk_fail(err, BK_CORRUPT, 0, "the document of '%.*s' does not parse",
			       (int)pool->start->path.len, (const char *)pool->start->path.data);
	if (pool->read->hop_count == 0)
		return BK_OK;
	if (pool->access == BK_ACCESS_NATIVE)
		return bk_visit_native(r, err);
	c = bk_pool_chunk(pool, VISIT_ARRIVE, 0);
	if (!c || !bk_chunk_add(c, pool->start->id)) {
		free(c);
		return bk_fetch_no_memory(err);
	}
	pthread_mutex_lock(&pool->lock);
	c->next = NULL;
	pool->todo = c;
	pool->generation++;
	pthread_cond_broadcast(&pool->change);
	pthread_mutex_unlock(&pool->lock);
	work_until_done(r);
	if (pool->status < 0)
		*err = pool->error;
	return pool->status;
}

bk_status bk_readers_read(struct bk_read_result *out, struct bk_readers *pool,
			  const struct bk_read *read, enum bk_access access,
			  struct bk_u64set *touched, struct bk_error *err)
{
	uint64_t start_ns, hits, misses, trips = 0;
	uint32_t i;
	bk_status st;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < pool->config.readers; i++) {
		bk_ntriples_reset(&pool->readers[i].out);
		trips += pool->readers[i].session.round_trips;
	}
	bk_cache_counters(pool->config.cache, &hits, &misses);
	pool->status = BK_OK;
	pool->read = read;
	pool->access = access;
	pool->touched = touched;
	/* small chunks share the work out, large ones save round trips */
	pool->chunk_size = access == BK_ACCESS_BATCHED ? CHUNK_MAX
			   : pool->config.readers > 1  ? 64
						       : CHUNK_MAX;
	start_ns = bk_clock_ns();
	st = begin(pool, err);
	out->last_ns = bk_clock_ns() - start_ns;
	bk_cache_release(pool->config.cache, pool->start);
	pool->start = NULL;
	if (st < 0)
		return st;
	for (i = 0; i < pool->config.readers; i++) {
		if (pool->readers[i].out.failed)
			return bk_fail(err, BK_NOMEM, 0, "out of memory while writing triples");
	}
	collect(out, pool, start_ns, trips);
	bk_cache_counters(pool->config.cache, &out->cache_hits, &out->cache_misses);
	out->cache_hits -= hits;
	out->cache_misses -= misses;
	out->touched = touched ? touched->count : 0;
	return BK_OK;
}
