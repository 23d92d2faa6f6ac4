/*
 * in.c - statements with lists of keys: WHERE id IN (?,?,...).
 *
 * The one invariant: a list has one of a few lengths, whatever the number of keys, so that a
 * session prepares few statements; the last key stands in the places left over, which changes
 * nothing in what IN answers.
 */
#include "session.h"

static size_t round_up(size_t n)
{
	static const size_t sizes[] = {1, 8, 32, 128, MY_IN_MAX};
	size_t i = 0;

	while (sizes[i] < n)
		i++;
	return sizes[i];
}

static unsigned lists_in(const char *text)
{
	unsigned n = 0;

	while ((text = strstr(text, "(*)")) != NULL) {
		n++;
		text += 3;
	}
	return n;
}

/* The text with its lists written out, in the session's work arena. */
static char *spell(struct bk_session *s, const char *text, size_t size, unsigned lists)
{
	char *out = my_alloc(&s->work, strlen(text) + lists * (size * 2 + 2) + 1), *w = out;
	size_t i;

	if (!out)
		return NULL;
	while (*text) {
		if (strncmp(text, "(*)", 3) != 0) {
			*w++ = *text++;
			continue;
		}
		*w++ = '(';
		for (i = 0; i < size; i++) {
			if (i)
				*w++ = ',';
			*w++ = '?';
		}
		*w++ = ')';
		text += 3;
	}
	*w = '\0';
	return out;
}

bk_status my_exec_in(MYSQL_STMT **out, struct bk_session *s, const char *text,
		     const struct bk_slice *keys, uint64_t *numbers, size_t n, const char *what,
		     struct bk_error *err)
{
	size_t size = round_up(n), i;
	unsigned lists = lists_in(text), l;
	char *spelt = spell(s, text, size, lists);
	MYSQL_BIND *binds = my_alloc(&s->work, sizeof(*binds) * size * lists);
	bk_status st;

	if (!spelt || !binds)
		return my_nomem(err);
	for (i = 0; i < size; i++) {
		size_t k = i < n ? i : n - 1;

		if (keys)
			my_bind_bytes(&binds[i], keys[k]);
		else
			my_bind_num(&binds[i], &numbers[k]);
	}
	for (l = 1; l < lists; l++)
		memcpy(binds + l * size, binds, sizeof(*binds) * size);
	st = my_stmt_text(out, s, spelt, err);
	if (!st)
		st = my_exec(s, *out, binds, what, err);
	return st;
}
