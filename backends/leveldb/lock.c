/*
 * lock.c - stripes: locks by hash of an id or a path.
 *
 * A writer holds them from its first check to the end of its write; that is what keeps ids and
 * paths unique and parents in place.  A parent's stripe is taken shared, so that many writers can
 * fill one collection at once and LevelDB can join their syncs.  Taken in rising order: no
 * deadlock.  Calls that touch many nodes take the gate instead of many stripes; a session that is
 * the only one needs none.
 */
#include "store.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

static inline uint64_t fold(uint64_t a, uint64_t b)
{
	wide p = (wide)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t ldb_hash(char kind, struct bk_slice name)
{
	const unsigned char *p = name.data;
	uint64_t h = UINT64_C(0xa0761d6478bd642f) ^ (uint64_t)(unsigned char)kind, w;
	size_t n = name.len;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = fold(h ^ w, UINT64_C(0xe7037ed1a0b428db));
	}
	w = 0;
	if (n)
		memcpy(&w, p, n);
	h = fold(h ^ w, UINT64_C(0x8ebc6af09c88c6e3));
	return fold(h ^ name.len, UINT64_C(0x589965cc75374cc3));
}

static int lock_init(pthread_rwlock_t *lock)
{
	pthread_rwlockattr_t attr;
	int rc;

	pthread_rwlockattr_init(&attr);
	/* Else a steady stream of writers under one parent could keep out its removal for good. */
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	rc = pthread_rwlock_init(lock, &attr);
	pthread_rwlockattr_destroy(&attr);
	return rc;
}

bool ldb_stripes_init(struct bk_store *store)
{
	uint32_t i;

	store->stripes = calloc(LDB_STRIPES, sizeof(*store->stripes));
	if (!store->stripes)
		return false;
	lock_init(&store->gate);
	for (i = 0; i < LDB_STRIPES; i++)
		lock_init(&store->stripes[i].lock);
	return true;
}

void ldb_stripes_free(struct bk_store *store)
{
	uint32_t i;

	if (!store->stripes)
		return;
	for (i = 0; i < LDB_STRIPES; i++)
		pthread_rwlock_destroy(&store->stripes[i].lock);
	pthread_rwlock_destroy(&store->gate);
	free(store->stripes);
}

void ldb_locks_add(struct ldb_locks *l, uint64_t hash, bool exclusive)
{
	uint16_t stripe = (uint16_t)(hash % LDB_STRIPES);
	uint32_t i;

	if (l->whole)
		return;
	for (i = l->count; i > 0 && l->want[i - 1].stripe >= stripe; i--) {
		if (l->want[i - 1].stripe == stripe) {
			l->want[i - 1].exclusive |= exclusive;
			return;
		}
	}
	if (l->count == LDB_HELD_MAX) {
		l->whole = true;
		return;
	}
	memmove(&l->want[i + 1], &l->want[i], (l->count - i) * sizeof(l->want[0]));
	l->want[i].stripe = stripe;
	l->want[i].exclusive = exclusive;
	l->count++;
}

void ldb_locks_take(struct bk_store *store, struct ldb_locks *l)
{
	uint32_t i;

	l->held = true;
	if (l->whole) {
		pthread_rwlock_wrlock(&store->gate);
		return;
	}
	pthread_rwlock_rdlock(&store->gate);
	l->alone = store->sessions == 1;
	if (l->alone)
		return;
	for (i = 0; i < l->count; i++) {
		pthread_rwlock_t *lock = &store->stripes[l->want[i].stripe].lock;

		if (l->want[i].exclusive)
			pthread_rwlock_wrlock(lock);
		else
			pthread_rwlock_rdlock(lock);
	}
}

static void raise_to(_Atomic uint64_t *at, uint64_t value)
{
	uint64_t old = atomic_load(at);

	while (old < value && !atomic_compare_exchange_weak(at, &old, value))
		;
}

void ldb_locks_drop(struct bk_store *store, struct ldb_locks *l, bool wrote)
{
	/* A transaction that begins from here on has a snapshot with the write in it. */
	bool noted = wrote && atomic_load(&store->txns) > 0;
	uint64_t now = noted ? atomic_fetch_add(&store->clock, 1) + 1 : 0;
	uint32_t i;

	if (!l->held)
		return;
	l->held = false;
	if (l->whole) {
		if (noted)
			raise_to(&store->whole, now);
	} else if (!l->alone) {
		for (i = l->count; i-- > 0;) {
			if (noted)
				raise_to(&store->stripes[l->want[i].stripe].changed, now);
			pthread_rwlock_unlock(&store->stripes[l->want[i].stripe].lock);
		}
	}
	pthread_rwlock_unlock(&store->gate);
}

void ldb_locks_session(struct bk_store *store, int change)
{
	pthread_rwlock_wrlock(&store->gate);
	store->sessions += (uint32_t)change;
	pthread_rwlock_unlock(&store->gate);
}

bool ldb_changed_since(struct bk_store *store, uint64_t hash, uint64_t clock)
{
	return atomic_load(&store->stripes[hash % LDB_STRIPES].changed) > clock ||
	       atomic_load(&store->whole) > clock;
}
