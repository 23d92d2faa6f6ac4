/*
 * suggest.h - the known name nearest to a mistyped one.
 *
 * The one invariant: nothing is suggested that is farther away than a slip of the fingers, about
 * one letter in three; a wrong suggestion is worse than none.
 */
#ifndef BK_UTIL_SUGGEST_H
#define BK_UTIL_SUGGEST_H

#include <stddef.h>

struct bk_suggest {
	const char *word; /* as typed */
	const char *best; /* borrowed from the caller; NULL: nothing near enough */
	size_t best_distance;
};

void bk_suggest_init(struct bk_suggest *suggest, const char *word);
void bk_suggest_offer(struct bk_suggest *suggest, const char *name);

/* The nearest of a NULL-terminated list, or NULL. */
const char *bk_suggest_in(const char *word, const char *const *names);

/* Damerau-Levenshtein (adjacent transposition counts one), letters' case ignored.  Names longer
 * than 63 bytes are at distance (size_t)-1 from everything. */
size_t bk_suggest_distance(const char *a, const char *b);

#endif
