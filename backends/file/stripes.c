/*
 * stripes.c - locks by hash, of ids, paths, parents and targets.
 *
 * The one invariant: stripes are taken in ascending order, all at once, and never while one is
 * held already; who wants many shuts the gate instead, behind which all others take theirs.
 */
#include "file.h"
#include "hash.h"

void file_stripes_add(struct file_stripes *set, struct bk_slice key)
{
	unsigned i = (unsigned)(file_hash(0, key) % FILE_STRIPES);

	set->bits[i / 64] |= UINT64_C(1) << (i % 64);
}

void file_stripes_all(struct file_stripes *set)
{
	memset(set, 0xff, sizeof(*set));
}

static bool stripes_want_all(const struct file_stripes *set)
{
	int n = 0;

	for (unsigned word = 0; word < FILE_STRIPES / 64; word++)
		n += __builtin_popcountll(set->bits[word]);
	return n > FILE_STRIPES_EACH;
}

void file_stripes_lock(struct bk_store *store, const struct file_stripes *set)
{
	if (stripes_want_all(set)) {
		pthread_rwlock_wrlock(&store->gate);
		return;
	}
	pthread_rwlock_rdlock(&store->gate);
	for (unsigned word = 0; word < FILE_STRIPES / 64; word++) {
		for (uint64_t bits = set->bits[word]; bits; bits &= bits - 1)
			pthread_mutex_lock(
				&store->stripes[word * 64 + (unsigned)__builtin_ctzll(bits)]);
	}
}

void file_stripes_unlock(struct bk_store *store, const struct file_stripes *set)
{
	bool all = stripes_want_all(set);

	for (unsigned word = 0; word < FILE_STRIPES / 64 && !all; word++) {
		for (uint64_t bits = set->bits[word]; bits; bits &= bits - 1)
			pthread_mutex_unlock(
				&store->stripes[word * 64 + (unsigned)__builtin_ctzll(bits)]);
	}
	pthread_rwlock_unlock(&store->gate);
}
