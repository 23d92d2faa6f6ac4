/*
 * monitor.c - the thread beside the trials.  It only looks and sets `stop`; it touches no store.
 */
#include "run/session.h"

#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <string.h>

#define TICK_NS UINT64_C(100000000)

static void look(struct bk_monitor *m)
{
	const struct bk_run_events *events = m->config->events;
	uint64_t now = bk_clock_ns();
	int stop = 0;

	if (m->config->interrupted && __atomic_load_n(m->config->interrupted, __ATOMIC_RELAXED))
		stop = BK_STOP_INTERRUPT;
	else if (m->deadline_ns && now > m->deadline_ns)
		stop = BK_STOP_TIME;
	if (stop)
		__atomic_store_n(&m->stop, stop, __ATOMIC_RELAXED);
	m->trial.done = __atomic_load_n(&m->progress, __ATOMIC_RELAXED);
	m->trial.goal = __atomic_load_n(&m->progress_total, __ATOMIC_RELAXED);
	m->trial.phase_seconds = (double)(now - m->phase_start_ns) / 1e9;
	m->trial.run_seconds = (double)(now - m->run_start_ns) / 1e9;
	if (m->trial.cell && events && events->tick)
		events->tick(events->ctx, &m->trial);
}

static void *watch(void *arg)
{
	struct bk_monitor *m = arg;

	pthread_mutex_lock(&m->lock);
	while (!m->ending) {
		struct timespec at;

		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += (long)TICK_NS;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		pthread_cond_timedwait(&m->change, &m->lock, &at);
		if (!m->ending)
			look(m);
	}
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

bk_status bk_monitor_start(struct bk_monitor *m, const struct bk_run_config *config,
			   struct bk_error *err)
{
	int rc;

	memset(m, 0, sizeof(*m));
	m->config = config;
	m->run_start_ns = m->phase_start_ns = bk_clock_ns();
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->change, NULL);
	rc = pthread_create(&m->thread, NULL, watch, m);
	if (rc)
		return bk_fail(err, BK_NOMEM, rc, "cannot start a thread: %s", strerror(rc));
	m->running = true;
	return BK_OK;
}

void bk_monitor_stop(struct bk_monitor *m)
{
	if (!m->running)
		return;
	pthread_mutex_lock(&m->lock);
	m->ending = true;
	pthread_cond_broadcast(&m->change);
	pthread_mutex_unlock(&m->lock);
	pthread_join(m->thread, NULL);
	m->running = false;
}

void bk_monitor_phase(struct bk_monitor *m, const char *phase, uint64_t guard_ns)
{
	uint64_t now = bk_clock_ns();

	pthread_mutex_lock(&m->lock);
	m->trial.phase = phase;
	m->phase_start_ns = now;
	m->deadline_ns = guard_ns ? now + guard_ns : 0;
	__atomic_store_n(&m->progress, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&m->progress_total, 0, __ATOMIC_RELAXED);
	if (bk_monitor_stopped(m) != BK_STOP_INTERRUPT)
		__atomic_store_n(&m->stop, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&m->lock);
}

int bk_monitor_stopped(const struct bk_monitor *m)
{
	return __atomic_load_n(&m->stop, __ATOMIC_RELAXED);
}
