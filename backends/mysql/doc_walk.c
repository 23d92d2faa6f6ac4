/*
 * doc_walk.c - document layout: walks of one step, out of the lists in the start's row.
 *
 * The one invariant: the lists were copied at open, so that the walk sees one state of them; what
 * a page adds (does the target exist, what is its path) is read page by page.
 */
#include "doc.h"

#include <stdlib.h>

#define PAGE 512u

struct my_doc_walk {
	char *list; /* owned */
	const char *at, *end;
	char *rel; /* owned: the relation wanted */
	size_t rel_len;
	bool pairs, look; /* look: the nodes' rows are needed */
	uint32_t want;
	struct bk_hit hits[PAGE]; /* in the session's cursor_views, and in list */
	size_t count, next;
};

static void walk_free(struct my_doc_walk *w)
{
	free(w->list);
	free(w->rel);
	free(w);
}

static bk_status read_start(struct my_row *row, struct bk_session *s, struct bk_slice start,
			    struct bk_error *err)
{
	struct bk_slice key;
	MYSQL_BIND b;
	bk_status st;

	memset(row, 0, sizeof(*row));
	if (!my_key(&s->work, &key, 'n', start))
		return my_nomem(err);
	my_bind_bytes(&b, key);
	st = my_one(s, MY_SQL_DOC_GET, &b, "b", "walk", err);
	if (st == BK_END)
		return BK_OK;
	return st ? st : my_row_decode(row, my_bytes(s, 0), err);
}

bk_status my_doc_walk_open(struct bk_cursor *c, struct bk_slice start, const struct bk_step *steps,
			   size_t n_steps, uint32_t want, struct bk_error *err)
{
	struct my_doc_walk *w;
	struct my_entries list;
	struct my_row row;
	bk_status st;

	if (n_steps > 1)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "mysql: layout=document walks one step at a time");
	st = read_start(&row, c->s, start, err);
	if (st)
		return st;
	list = steps->dir == BK_CHILDREN ? row.children
	       : steps->dir == BK_OUT    ? row.links
					 : row.referrers;
	if (!row.there)
		list.len = 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return my_nomem(err);
	w->list = malloc(list.len + 1);
	w->rel = malloc(steps->rel.len + 1);
	if (!w->list || !w->rel) {
		walk_free(w);
		return my_nomem(err);
	}
	if (list.len)
		memcpy(w->list, list.data, list.len);
	w->pairs = steps->dir != BK_CHILDREN;
	if (steps->rel.len && w->pairs) {
		memcpy(w->rel, steps->rel.data, steps->rel.len);
		w->rel_len = steps->rel.len;
	}
	w->at = w->list;
	w->end = w->list + list.len;
	w->want = want;
	w->look = (want & BK_WANT_PATH) || steps->dir == BK_OUT;
	c->doc_walk = w;
	return BK_OK;
}

/* The next entries of the list, up to a page. */
static void next_entries(struct my_doc_walk *w)
{
	struct bk_slice rel = bk_slice_of(NULL, 0), id;

	w->count = w->next = 0;
	while (w->count < PAGE) {
		if (w->pairs && !my_entry(&rel, &w->at, w->end))
			return;
		if (!my_entry(&id, &w->at, w->end))
			return;
		if (w->rel_len && !bk_slice_eq(rel, bk_slice_of(w->rel, w->rel_len)))
			continue;
		w->hits[w->count].id = id;
		w->hits[w->count].rel = rel;
		w->hits[w->count].path = bk_slice_of(NULL, 0);
		w->count++;
	}
}

/* Reads the rows of a page; hits on what is no node are left out. */
static bk_status look_up(struct my_doc_walk *w, struct bk_session *s, struct bk_error *err)
{
	struct bk_slice *keys = my_alloc(&s->work, w->count * sizeof(*keys));
	bool *there = my_alloc(&s->work, w->count * sizeof(*there));
	struct bk_slice *paths = my_alloc(&s->work, w->count * sizeof(*paths));
	struct my_map index;
	MYSQL_STMT *stmt;
	size_t n = 0, kept = 0, i;
	bk_status st;

	if (!keys || !there || !paths || !my_map_init(&index, &s->work, w->count))
		return my_nomem(err);
	for (i = 0; i < w->count; i++) {
		struct my_map_entry *e;
		struct bk_slice key;

		if (!my_key(&s->work, &key, 'n', w->hits[i].id))
			return my_nomem(err);
		e = my_map_at(&index, key);
		if (e->used)
			continue;
		e->used = true;
		e->value = n;
		there[n] = false;
		keys[n++] = key;
	}
	st = my_exec_in(&stmt, s, "SELECT id,document FROM @document WHERE id IN (*)", keys, NULL,
			n, "walk", err);
	if (!st)
		st = my_rows(s, stmt, "bb", "walk", err);
	while (!st && !(st = my_row(s, stmt, "bb", "walk", err))) {
		struct my_map_entry *e = my_map_at(&index, my_bytes(s, 0));
		struct my_row row;

		st = my_row_decode(&row, my_bytes(s, 1), err);
		if (!st && e->used && row.there) {
			there[e->value] = true;
			if (!my_copy(&s->cursor_views, &paths[e->value], row.path))
				st = my_nomem(err);
		}
		if (st)
			my_rows_end(stmt);
	}
	if (st != BK_END)
		return st;
	for (i = 0; i < w->count; i++) {
		struct bk_slice key;
		size_t k;

		if (!my_key(&s->work, &key, 'n', w->hits[i].id))
			return my_nomem(err);
		k = (size_t)my_map_at(&index, key)->value;
		if (!there[k])
			continue;
		w->hits[kept] = w->hits[i];
		if (w->want & BK_WANT_PATH)
			w->hits[kept].path = paths[k];
		kept++;
	}
	w->count = kept;
	return BK_OK;
}

bk_status my_doc_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			   struct bk_error *err)
{
	struct my_doc_walk *w = c->doc_walk;
	size_t take;
	bk_status st;

	while (w->next == w->count) {
		my_arena_reset(&c->s->cursor_views);
		next_entries(w);
		if (w->count == 0)
			return BK_END;
		st = w->look ? look_up(w, c->s, err) : BK_OK;
		if (st)
			return st;
	}
	take = w->count - w->next < cap ? w->count - w->next : cap;
	memcpy(out, w->hits + w->next, take * sizeof(*out));
	w->next += take;
	*n = take;
	return BK_OK;
}

void my_doc_walk_close(struct bk_cursor *c)
{
	walk_free(c->doc_walk);
	c->doc_walk = NULL;
}
