/*
 * suggest.c - the nearest name by edit distance.
 */
#include "util/suggest.h"

#include <ctype.h>
#include <string.h>

#define SUGGEST_MAX 63

static size_t suggest_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int suggest_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

size_t bk_suggest_distance(const char *a, const char *b)
{
	/* Three rows are enough: transposition looks back two. */
	size_t rows[3][SUGGEST_MAX + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *swap;
	size_t na = strlen(a), nb = strlen(b), i, j;

	if (na > SUGGEST_MAX || nb > SUGGEST_MAX)
		return (size_t)-1;
	for (j = 0; j <= nb; j++)
		above[j] = j;
	for (i = 1; i <= na; i++) {
		row[0] = i;
		for (j = 1; j <= nb; j++) {
			size_t cost = suggest_same(a[i - 1], b[j - 1]) ? 0 : 1;

			row[j] = suggest_min(suggest_min(above[j] + 1, row[j - 1] + 1),
					     above[j - 1] + cost);
			if (i > 1 && j > 1 && suggest_same(a[i - 1], b[j - 2]) &&
			    suggest_same(a[i - 2], b[j - 1]))
				row[j] = suggest_min(row[j], before[j - 2] + 1);
		}
		swap = before;
		before = above;
		above = row;
		row = swap;
	}
	return above[nb];
}

void bk_suggest_init(struct bk_suggest *suggest, const char *word)
{
	suggest->word = word;
	suggest->best = NULL;
	suggest->best_distance = strlen(word) / 3 + 2; /* first distance that is too far */
}

void bk_suggest_offer(struct bk_suggest *suggest, const char *name)
{
	size_t distance = bk_suggest_distance(suggest->word, name);

	/* "ab" is not a slip for "xy": at least one letter must have been right. */
	if (distance >= strlen(name) || distance >= suggest->best_distance)
		return;
	suggest->best = name;
	suggest->best_distance = distance;
}

const char *bk_suggest_in(const char *word, const char *const *names)
{
	struct bk_suggest suggest;

	bk_suggest_init(&suggest, word);
	for (; *names; names++)
		bk_suggest_offer(&suggest, *names);
	return suggest.best;
}
