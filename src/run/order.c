/*
 * order.c - Williams squares and shuffles.
 */
#include "run/order.h"

#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

size_t bk_williams_rows(size_t n)
{
	return n % 2 ? 2 * n : n;
}

/* The first row is 0, n-1, 1, n-2, 2, ...; row r adds r to each, modulo n; for odd n the second
 * half of the rows are the first half backwards. */
void bk_williams_row(size_t *out, size_t n, size_t row)
{
	size_t i, shift = row % n;
	bool backwards = n % 2 && row >= n;

	for (i = 0; i < n; i++) {
		size_t value = i % 2 ? n - (i + 1) / 2 : i / 2;

		out[backwards ? n - 1 - i : i] = (value + shift) % n;
	}
}

struct group { /* the cells of one case */
	size_t first, count;
	size_t start; /* row of the first round */
	size_t label[64];
};

static size_t make_groups(struct group *groups, const struct bk_matrix *m)
{
	size_t n = 0, i, k;

	for (i = 0; i < m->cell_count; i++) {
		struct group *g = n ? &groups[n - 1] : NULL;

		if (!g || m->cells[g->first].kase != m->cells[i].kase) {
			g = &groups[n++];
			g->first = i;
			g->count = 0;
		}
		g->count++;
	}
	for (i = 0; i < n; i++) {
		struct bk_rng rng;

		bk_rng_init(&rng, bk_rng_derive(bk_rng_derive(m->seed, "order"),
						m->case_names[m->cells[groups[i].first].kase]));
		for (k = 0; k < groups[i].count; k++)
			groups[i].label[k] = k;
		bk_rng_shuffle(&rng, groups[i].label, groups[i].count, sizeof(size_t));
		groups[i].start = (size_t)bk_rng_below(&rng, bk_williams_rows(groups[i].count));
	}
	return n;
}

bk_status bk_order_make(struct bk_order *out, const struct bk_matrix *m, struct bk_error *err)
{
	struct group *groups = calloc(m->case_count, sizeof(*groups));
	size_t *turn = calloc(m->case_count, sizeof(*turn)), *at;
	size_t count, i, k, row[64];
	uint32_t round;

	out->per_round = m->cell_count;
	out->cells = calloc(m->rounds * m->cell_count, sizeof(size_t));
	if (!groups || !turn || !out->cells) {
		free(groups);
		free(turn);
		bk_order_free(out);
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the order of trials");
	}
	count = make_groups(groups, m);
	at = out->cells;
	for (round = 0; round < m->rounds; round++) {
		struct bk_rng rng;

		bk_rng_init(&rng, bk_rng_derive_u64(bk_rng_derive(m->seed, "round"), round));
		for (i = 0; i < count; i++)
			turn[i] = i;
		bk_rng_shuffle(&rng, turn, count, sizeof(size_t));
		for (i = 0; i < count; i++) {
			const struct group *g = &groups[turn[i]];

			bk_williams_row(row, g->count,
					(g->start + round) % bk_williams_rows(g->count));
			for (k = 0; k < g->count; k++)
				*at++ = g->first + g->label[row[k]];
		}
	}
	free(groups);
	free(turn);
	return BK_OK;
}

void bk_order_free(struct bk_order *order)
{
	free(order->cells);
	order->cells = NULL;
}
