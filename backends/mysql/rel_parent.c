/*
 * rel_parent.c - relational layout: numbers. Which number a node has, and fresh ones.
 *
 * Each session keeps the numbers of the parents that it met last.  A stale entry does no harm:
 * numbers are never used twice, and the foreign key refuses one that is gone.
 *
 * The one invariant: a number is handed out once, whatever becomes of the transaction: blocks come
 * from an AUTO_INCREMENT counter, which no rollback turns back.
 */
#include "rel.h"

#include <stdlib.h>

bk_status my_number(uint64_t *out, struct bk_session *s, struct bk_error *err)
{
	if (s->number_next == s->number_end) {
		MYSQL_STMT *stmt;
		uint64_t block;
		bk_status st = my_stmt(&stmt, s, MY_SQL_NUMBER, err);

		if (!st)
			st = my_exec(s, stmt, NULL, "reserving numbers", err);
		if (st)
			return st;
		block = mysql_stmt_insert_id(stmt);
		s->number_next = block * MY_BLOCK;
		s->number_end = s->number_next + MY_BLOCK;
	}
	*out = s->number_next++;
	return BK_OK;
}

static struct my_parent *slot(const struct bk_session *s, uint64_t hash)
{
	return &s->parents[hash % MY_PARENTS];
}

uint64_t my_parent_known(const struct bk_session *s, struct bk_slice id)
{
	uint64_t hash = my_hash(id);
	const struct my_parent *p = slot(s, hash);

	return p->n && p->hash == hash && bk_slice_eq(bk_slice_of(p->id, p->len), id) ? p->n : 0;
}

void my_parent_learn(struct bk_session *s, struct bk_slice id, uint64_t n)
{
	uint64_t hash = my_hash(id);
	struct my_parent *p = slot(s, hash);

	if (id.len > p->cap) {
		char *grown = realloc(p->id, id.len);

		if (!grown)
			return;
		p->id = grown;
		p->cap = id.len;
	}
	memcpy(p->id, id.data, id.len);
	p->len = id.len;
	p->hash = hash;
	p->n = n;
}

void my_parents_forget(struct bk_session *s)
{
	size_t i;

	for (i = 0; i < MY_PARENTS; i++)
		s->parents[i].n = 0;
}

bk_status my_parent_find(uint64_t *out, struct bk_session *s, struct bk_slice id,
			 struct bk_error *err)
{
	MYSQL_BIND bind;
	bk_status st;

	my_bind_bytes(&bind, id);
	st = my_one(s, MY_SQL_ID_LOCK, &bind, "n", "looking up the parent", err);
	if (st == BK_END) {
		*out = 0;
		return BK_OK;
	}
	if (!st) {
		*out = s->col[0].num;
		my_parent_learn(s, id, *out);
	}
	return st;
}

/* One query's worth. */
static bk_status find_some(struct bk_session *s, struct my_map *index, const struct bk_slice *ids,
			   uint64_t *numbers, size_t n, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	bk_status st;

	st = my_exec_in(&stmt, s, "SELECT id,n FROM @node WHERE id IN (*) LOCK IN SHARE MODE", ids,
			NULL, n, "looking up parents", err);
	if (!st)
		st = my_rows(s, stmt, "bn", "looking up parents", err);
	while (!st && !(st = my_row(s, stmt, "bn", "looking up parents", err))) {
		struct my_map_entry *e = my_map_at(index, my_bytes(s, 0));

		if (e->used) {
			numbers[e->value] = s->col[1].num;
			my_parent_learn(s, my_bytes(s, 0), s->col[1].num);
		}
	}
	return st == BK_END ? BK_OK : st;
}

bk_status my_parents_find(struct bk_session *s, const struct bk_slice *ids, uint64_t *numbers,
			  size_t n, struct bk_error *err)
{
	struct my_map index;
	bk_status st = BK_OK;
	size_t i, take;

	if (!my_map_init(&index, &s->work, n))
		return my_nomem(err);
	for (i = 0; i < n; i++) {
		struct my_map_entry *e = my_map_at(&index, ids[i]);

		e->used = true;
		e->value = i;
		numbers[i] = 0;
	}
	for (i = 0; i < n && !st; i += take) {
		take = n - i < MY_IN_MAX ? n - i : MY_IN_MAX;
		st = find_some(s, &index, ids + i, numbers, take, err);
	}
	return st;
}
