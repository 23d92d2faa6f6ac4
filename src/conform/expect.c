/*
 * expect.c - reading a file of expected failures.
 *
 * The one invariant: a line that cannot be meant is an error with its place, never ignored.
 */
#include "conform/expect.h"

#include "conform/case.h"
#include "util/fs.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <unistd.h>

#define FILE_MOST 1000000

static const char *beside(struct bk_arena *arena, const char *plugin_path)
{
	size_t n = strlen(plugin_path);

	if (n > 3 && strcmp(plugin_path + n - 3, ".so") == 0)
		n -= 3;
	return bk_arena_printf(arena, "%.*s.expect", (int)n, plugin_path);
}

/* The case exists; *best is the nearest name when it does not. */
static int known(struct bk_arena *arena, const char *name, const char **best)
{
	const struct bk_group *const *g;
	const struct bk_case *c;
	struct bk_suggest suggest;

	bk_suggest_init(&suggest, name);
	for (g = bk_conform_groups; *g; g++) {
		for (c = (*g)->cases; c->name; c++) {
			const char *full = bk_arena_printf(arena, "%s.%s", (*g)->name, c->name);

			if (full && strcmp(full, name) == 0)
				return 1;
			if (full)
				bk_suggest_offer(&suggest, full);
		}
	}
	*best = suggest.best;
	return 0;
}

static char *trim(char *s)
{
	char *end;

	while (*s == ' ' || *s == '\t')
		s++;
	end = s + strlen(s);
	while (end > s && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		*--end = '\0';
	return s;
}

static bk_status take_line(struct bk_expect *e, char *text, int line, struct bk_error *err)
{
	char *sep, *name, *reason;
	const char *best = NULL;

	text = trim(text);
	if (text[0] == '\0' || text[0] == '#')
		return BK_OK;
	sep = strchr(text, ':');
	if (!sep)
		return bk_fail(err, BK_INVALID, 0, "%s:%d: want 'group.case: reason', found '%s'",
			       e->path, line, text);
	*sep = '\0';
	name = trim(text);
	reason = trim(sep + 1);
	if (reason[0] == '\0')
		return bk_fail(err, BK_INVALID, 0, "%s:%d: case '%s' has no reason", e->path, line,
			       name);
	if (!known(&e->arena, name, &best))
		return bk_fail(err, BK_INVALID, 0, "%s:%d: case '%s' is unknown%s%s%s", e->path,
			       line, name, best ? "; did you mean '" : "", best ? best : "",
			       best ? "'?" : "");
	if (bk_expect_find(e, name))
		return bk_fail(err, BK_INVALID, 0, "%s:%d: case '%s' stands here twice", e->path,
			       line, name);
	e->list[e->count].name = name;
	e->list[e->count].reason = reason;
	e->list[e->count++].line = line;
	return BK_OK;
}

static bk_status take_text(struct bk_expect *e, char *text, struct bk_error *err)
{
	size_t lines = 1;
	bk_status st = BK_OK;
	char *p, *next;
	int line = 1;

	for (p = text; *p; p++)
		lines += *p == '\n';
	e->list = bk_arena_alloc(&e->arena, lines * sizeof(*e->list));
	if (!e->list)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (p = text; st == BK_OK && p; p = next, line++) {
		next = strchr(p, '\n');
		if (next)
			*next++ = '\0';
		st = take_line(e, p, line, err);
	}
	return st;
}

bk_status bk_expect_read(struct bk_expect *out, const char *path, const char *plugin_path,
			 struct bk_error *err)
{
	char *text = NULL, *copy;
	bk_status st;
	size_t len;

	memset(out, 0, sizeof(*out));
	if (!path) {
		path = beside(&out->arena, plugin_path);
		if (!path)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		if (access(path, F_OK) != 0)
			return BK_OK;
	}
	out->path = path;
	st = bk_fs_read(&text, &len, path, FILE_MOST, err);
	if (st != BK_OK)
		return st;
	copy = bk_arena_strdup(&out->arena, text);
	free(text);
	if (!copy)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	return take_text(out, copy, err);
}

void bk_expect_free(struct bk_expect *expect)
{
	bk_arena_free(&expect->arena);
	memset(expect, 0, sizeof(*expect));
}

const struct bk_expectation *bk_expect_find(const struct bk_expect *expect, const char *name)
{
	size_t i;

	for (i = 0; i < expect->count; i++) {
		if (strcmp(expect->list[i].name, name) == 0)
			return &expect->list[i];
	}
	return NULL;
}
