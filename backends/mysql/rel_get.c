/*
 * rel_get.c - relational layout: reading one node, and find.
 *
 * A document stands in its node's row; what was appended, or did not fit, in rows of `segment`.
 * One statement reads all that is wanted of a node: a statement has one snapshot, two have two.
 *
 * The one invariant: a document is never put together from two snapshots: a row that says it has
 * segments (`segs`, the number of the next one) is read again together with them.
 */
#include "rel_read.h"

/* ---- The text of a read ----------------------------------------------------------------
 *
 * Flat, no links: version, segs, [id], [doc], [path, parent id].
 * Union, when links or segments are wanted, one kind of row after the other:
 *   0, id, version, segs, path, parent, doc     the node
 *   1, id, seq, 0, '', '', data                 its segments
 *   2, id, 0, 0, rel, target, ''                its links
 */

#define MATCH_ONE  "=?"
#define MATCH_MANY " IN (*)"

void my_read_flat(char *out, size_t cap, uint32_t want, bool many)
{
	snprintf(out, cap, "SELECT n.version,n.segs%s%s%s FROM @node n%s WHERE n.id%s",
		 many ? ",n.id" : "", want & BK_WANT_DOC ? ",n.doc" : "",
		 want & BK_WANT_PATH ? ",n.path,p.id" : "",
		 want & BK_WANT_PATH ? " LEFT JOIN @node p ON p.n=n.parent" : "",
		 many ? MATCH_MANY : MATCH_ONE);
}

void my_read_flat_columns(char *out, uint32_t want, bool many)
{
	*out++ = 'n';
	*out++ = 'n';
	if (many)
		*out++ = 'b';
	if (want & BK_WANT_DOC)
		*out++ = 'b';
	if (want & BK_WANT_PATH) {
		*out++ = 'b';
		*out++ = 'b';
	}
	*out = '\0';
}

void my_read_union(char *out, size_t cap, uint32_t want, bool many)
{
	const char *match = many ? MATCH_MANY : MATCH_ONE;
	int n;

	n = snprintf(out, cap, "SELECT 0,n.id,n.version,n.segs,%s,%s FROM @node n%s WHERE n.id%s",
		     want & BK_WANT_PATH ? "n.path,p.id" : "X'',X''",
		     want & BK_WANT_DOC ? "n.doc" : "X''",
		     want & BK_WANT_PATH ? " LEFT JOIN @node p ON p.n=n.parent" : "", match);
	if (want & BK_WANT_DOC) {
		n += snprintf(out + n, cap - (size_t)n,
			      " UNION ALL SELECT 1,n.id,s.seq,0,X'',X'',s.data FROM @node n "
			      "JOIN @segment s ON s.n=n.n WHERE n.id%s",
			      match);
	}
	if (want & BK_WANT_LINKS) {
		snprintf(out + n, cap - (size_t)n,
			 " UNION ALL SELECT 2,n.id,0,0,l.rel,l.target,X'' FROM @node n "
			 "JOIN @link l ON l.src=n.n WHERE n.id%s",
			 match);
	}
}

/* ---- One node ------------------------------------------------------------------- */

static bk_status get_flat(struct bk_node *out, bool *segmented, struct bk_session *s,
			  struct bk_slice id, uint32_t want, struct bk_error *err)
{
	unsigned at = want & 3; /* PATH, DOC */
	char text[256], columns[8];
	MYSQL_STMT *stmt;
	MYSQL_BIND bind;
	bk_status st = BK_OK;
	unsigned c = 2;

	if (!s->get_flat[at]) {
		my_read_flat(text, sizeof(text), want, false);
		st = my_prepare(&s->get_flat[at], s, text, err);
		if (st)
			return st;
	}
	stmt = s->get_flat[at];
	my_read_flat_columns(columns, want, false);
	my_bind_bytes(&bind, id);
	st = my_exec(s, stmt, &bind, "get", err);
	if (!st)
		st = my_rows(s, stmt, columns, "get", err);
	if (!st)
		st = my_row(s, stmt, columns, "get", err);
	if (st == BK_END)
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: get: no such node");
	if (st)
		return st;
	my_rows_end(stmt);
	out->version = s->col[0].num;
	*segmented = (want & BK_WANT_DOC) && s->col[1].num > 0;
	if (want & BK_WANT_DOC)
		out->doc = my_bytes(s, c++);
	if (want & BK_WANT_PATH) {
		out->path = my_bytes(s, c++);
		out->parent = my_bytes(s, c);
	}
	return BK_OK;
}

/* Links are counted first in a list: their number is known at the end only. */
struct listed_link {
	struct listed_link *next;
	struct bk_link link;
};

static bk_status keep_link(struct listed_link ***tail, struct bk_session *s, struct bk_error *err)
{
	struct listed_link *l = my_alloc(&s->work, sizeof(*l));

	if (!l || !my_copy(&s->views, &l->link.rel, my_bytes(s, 4)) ||
	    !my_copy(&s->views, &l->link.target, my_bytes(s, 5)))
		return my_nomem(err);
	l->next = NULL;
	**tail = l;
	*tail = &l->next;
	return BK_OK;
}

static bk_status link_array(const struct bk_link **out, struct bk_session *s,
			    const struct listed_link *list, size_t n, struct bk_error *err)
{
	struct bk_link *links = my_alloc(&s->views, (n ? n : 1) * sizeof(*links));
	size_t i;

	if (!links)
		return my_nomem(err);
	for (i = 0; i < n; i++, list = list->next)
		links[i] = list->link;
	*out = links;
	return BK_OK;
}

static bk_status take_row(struct bk_node *out, struct bk_session *s, struct listed_link ***tail,
			  bool *found, uint64_t *seq, struct bk_error *err)
{
	switch (s->col[0].num) {
	case 0:
		*found = true;
		out->version = s->col[2].num;
		if (!my_copy(&s->views, &out->path, my_bytes(s, 4)) ||
		    !my_copy(&s->views, &out->parent, my_bytes(s, 5)))
			return my_nomem(err);
		return my_buf_add(&s->doc, my_bytes(s, 6).data, my_bytes(s, 6).len) ? BK_OK
										    : my_nomem(err);
	case 1: /* in order of the primary key (n, seq) */
		if (s->col[2].num < *seq)
			return bk_fail(err, BK_INTERNAL, 0, "mysql: get: segments out of order");
		*seq = s->col[2].num + 1;
		return my_buf_add(&s->doc, my_bytes(s, 6).data, my_bytes(s, 6).len) ? BK_OK
										    : my_nomem(err);
	default:
		out->link_count++;
		return keep_link(tail, s, err);
	}
}

static bk_status get_union(struct bk_node *out, struct bk_session *s, struct bk_slice id,
			   uint32_t want, struct bk_error *err)
{
	struct listed_link *links = NULL, **tail = &links;
	char text[768];
	MYSQL_BIND binds[3];
	MYSQL_STMT *stmt;
	bool found = false;
	uint64_t seq = 0;
	unsigned i;
	bk_status st = BK_OK;

	if (!s->get_union[want & 7]) {
		my_read_union(text, sizeof(text), want, false);
		st = my_prepare(&s->get_union[want & 7], s, text, err);
		if (st)
			return st;
	}
	stmt = s->get_union[want & 7];
	for (i = 0; i < 3; i++)
		my_bind_bytes(&binds[i], id);
	s->doc.len = 0;
	out->link_count = 0;
	st = my_exec(s, stmt, binds, "get", err);
	if (!st)
		st = my_rows(s, stmt, MY_UNION_COLUMNS, "get", err);
	while (!st && !(st = my_row(s, stmt, MY_UNION_COLUMNS, "get", err)))
		st = take_row(out, s, &tail, &found, &seq, err);
	if (st < 0) {
		my_rows_end(stmt);
		return st;
	}
	if (!found)
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: get: no such node");
	if (want & BK_WANT_DOC)
		out->doc = bk_slice_of(s->doc.data, s->doc.len);
	if (want & BK_WANT_LINKS)
		return link_array(&out->links, s, links, out->link_count, err);
	return BK_OK;
}

bk_status my_rel_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		     struct bk_error *err)
{
	struct bk_node node = {0};
	bool segmented = false;
	bk_status st;

	if (!my_copy(&s->views, &node.id, id))
		return my_nomem(err);
	if (want & BK_WANT_LINKS) {
		st = get_union(&node, s, id, want, err);
	} else {
		st = get_flat(&node, &segmented, s, id, want, err);
		if (!st && segmented)
			st = get_union(&node, s, id, want, err);
	}
	if (st)
		return st;
	if (!(want & BK_WANT_PATH))
		node.path = node.parent = bk_slice_of(NULL, 0);
	*out = node;
	return BK_OK;
}

bk_status my_rel_find(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err)
{
	MYSQL_BIND bind;
	bk_status st;

	my_bind_bytes(&bind, path);
	st = my_one(s, MY_SQL_FIND, &bind, "b", "find", err);
	if (st == BK_END)
		return bk_fail(err, BK_NOT_FOUND, 0, "mysql: find: no node has this path");
	if (!st)
		*id_out = my_bytes(s, 0);
	return st;
}
