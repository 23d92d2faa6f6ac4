/*
 * lent.c - what a read lends to its caller.
 */
#include "ldb.h"

#define DOC_KEEP (1u << 20) /* a lent document's memory above this is given back */

void ldb_lent_lapse(struct bk_session *s)
{
	struct ldb_lent *l = s->lent == &s->lents[0] ? &s->lents[1] : &s->lents[0];

	s->lent = l;
	if (l->held.owned)
		ldb_value_free(&l->held);
	ldb_arena_reset(&l->arena);
	if (l->doc.cap > DOC_KEEP)
		ldb_buf_free(&l->doc);
	l->links.count = 0;
}

void ldb_lent_free(struct bk_session *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		ldb_value_free(&s->lents[i].held);
		ldb_arena_free(&s->lents[i].arena);
		ldb_buf_free(&s->lents[i].key);
		ldb_buf_free(&s->lents[i].doc);
		ldb_links_free(&s->lents[i].links);
	}
}
