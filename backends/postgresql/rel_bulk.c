/*
 * rel_bulk.c - relational layout: the statements that create many nodes, as arrays or by COPY.
 *
 * The invariant: whatever is wrong with a batch raises an error on the server, so that nothing of
 * the batch stays; which node it was is found out afterwards (rel_put_many.c).
 */
#include "rel_bulk.h"

#include <stdlib.h>

#define BULK_SHORT_LIST 16

enum { BULK_IDS, BULK_PATHS, BULK_DOCS, BULK_PARENTS, BULK_A };

/* ---- CREATE ----------------------------------------------------------------------------- */

enum bulk_parent bulk_parent_of(const struct pg_map *map, const struct bk_node *nodes, size_t i)
{
	uint32_t at = pg_map_get(map, nodes[i].parent);

	return at == PG_MAP_NONE ? BULK_OUTSIDE : at < i ? BULK_EARLIER : BULK_LATER;
}

void bulk_map_ids(struct bk_session *s, const struct bk_node *nodes, size_t n)
{
	size_t i;

	pg_map_reset(&s->map, n);
	for (i = 0; i < n; i++)
		pg_map_add(&s->map, nodes[i].id, (uint32_t)i);
}

/* Each parent once: the map is used a second time, after the ids. */
static size_t bulk_add_parents(struct bk_session *s, const struct bk_node *nodes, size_t n,
			       enum bulk_parent which)
{
	struct pg_buffer *b = &s->arrays[BULK_A];
	struct bk_slice last = bk_slice_of("", 0);
	struct pg_map parents = {0};
	size_t i, count = 0;

	pg_array_begin(b);
	for (i = 0; i < n; i++) {
		if (nodes[i].parent.len == 0 || bk_slice_eq(nodes[i].parent, last))
			continue;
		if (bulk_parent_of(&s->map, nodes, i) != which)
			continue;
		if (which == BULK_OUTSIDE) /* what is later for one may be earlier for the next */
			last = nodes[i].parent;
		if (!parents.cap)
			pg_map_reset(&parents, 16);
		if (pg_map_add(&parents, nodes[i].parent, 0) != PG_MAP_NONE)
			continue;
		pg_array_add(b, nodes[i].parent);
		count++;
	}
	pg_array_end(b, count);
	b->failed = b->failed || parents.failed;
	pg_map_free(&parents);
	return count;
}

static void bulk_send_parents(struct bk_session *s, const struct bk_node *nodes, size_t n,
			      enum bulk_parent which, uint64_t item)
{
	struct pg_params p;
	size_t count;

	if (s->map.failed) {
		pg_wire_refuse(&s->wire, BK_NOMEM, item, "out of memory");
		return;
	}
	count = bulk_add_parents(s, nodes, n, which);
	if (count == 0)
		return;
	pg_params_init(&p);
	pg_params_array(&p, &s->arrays[BULK_A]);
	pg_params_int(&p, count);
	pg_send(&s->wire, PG_BULK_PARENTS, &p, pg_take_nothing, item);
}

static void bulk_send_nodes(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint64_t item)
{
	struct pg_buffer *a = s->arrays;
	struct pg_params p;
	size_t i, k;

	for (k = BULK_IDS; k <= BULK_PARENTS; k++)
		pg_array_begin(&a[k]);
	for (i = 0; i < n; i++) {
		pg_array_add(&a[BULK_IDS], nodes[i].id);
		pg_array_add(&a[BULK_PATHS], nodes[i].path);
		pg_array_add(&a[BULK_DOCS], nodes[i].doc);
		pg_array_add_or_null(&a[BULK_PARENTS], nodes[i].parent);
	}
	pg_params_init(&p);
	for (k = BULK_IDS; k <= BULK_PARENTS; k++) {
		pg_array_end(&a[k], n);
		pg_params_array(&p, &a[k]);
	}
	pg_send(&s->wire, PG_BULK_NODES, &p, pg_take_nothing, item);
}

/* A link that stands earlier in the same node's list; long lists by the map. */
static bool bulk_is_repeated(struct pg_map *seen, const struct bk_node *node, size_t k)
{
	const struct bk_link *l = node->links;
	size_t i, first = k;

	if (node->link_count > BULK_SHORT_LIST) {
		first = pg_map_get(seen, l[k].target);
		if (first == PG_MAP_NONE)
			pg_map_add(seen, l[k].target, (uint32_t)k);
		if (first == PG_MAP_NONE)
			return false;
	}
	for (i = node->link_count > BULK_SHORT_LIST ? first : 0; i < k; i++) {
		if (bk_slice_eq(l[i].target, l[k].target) && bk_slice_eq(l[i].rel, l[k].rel))
			return true;
	}
	return false;
}

/* New nodes have no links yet, so what is sent without repetition cannot be in the way. */
static void bulk_send_links(struct bk_session *s, const struct bk_node *nodes, size_t n,
			    uint64_t item)
{
	struct pg_buffer *a = s->arrays;
	struct pg_map seen = {0};
	size_t i, k, count = 0;
	struct pg_params p;

	for (k = 0; k < 3; k++)
		pg_array_begin(&a[k]);
	for (i = 0; i < n; i++) {
		if (nodes[i].link_count > BULK_SHORT_LIST)
			pg_map_reset(&seen, nodes[i].link_count);
		for (k = 0; k < nodes[i].link_count; k++) {
			if (bulk_is_repeated(&seen, &nodes[i], k))
				continue;
			pg_array_add(&a[0], nodes[i].id);
			pg_array_add(&a[1], nodes[i].links[k].rel);
			pg_array_add(&a[2], nodes[i].links[k].target);
			count++;
		}
	}
	a[0].failed = a[0].failed || seen.failed;
	pg_map_free(&seen);
	if (count == 0)
		return;
	pg_params_init(&p);
	for (k = 0; k < 3; k++) {
		pg_array_end(&a[k], count);
		pg_params_array(&p, &a[k]);
	}
	pg_send(&s->wire, PG_BULK_LINKS, &p, pg_take_nothing, item);
}

/* More than one message can hold is sent in portions; they are still one write. */
static size_t bulk_portion(const struct bk_node *nodes, size_t n)
{
	size_t bytes = 0, i, k;

	for (i = 0; i < n && (i == 0 || bytes < PG_MANY_BYTES); i++) {
		bytes += nodes[i].doc.len + nodes[i].id.len + nodes[i].path.len;
		for (k = 0; k < nodes[i].link_count; k++)
			bytes += nodes[i].id.len + nodes[i].links[k].rel.len +
				 nodes[i].links[k].target.len;
	}
	return i;
}

/* Parents outside come last: where a node that was not made is itself the parent of the next, what
 * is reported is why it was not made. */
void bulk_queue_create(struct bk_session *s, const struct bk_node *nodes, size_t n, uint64_t item)
{
	size_t portion, i;

	bulk_map_ids(s, nodes, n);
	bulk_send_parents(s, nodes, n, BULK_LATER, item);
	for (i = 0; i < n; i += portion) {
		portion = bulk_portion(&nodes[i], n - i);
		bulk_send_nodes(s, &nodes[i], portion, item);
		bulk_send_links(s, &nodes[i], portion, item);
	}
	bulk_send_parents(s, nodes, n, BULK_OUTSIDE, item);
}

/* ---- COPY: for large batches whose outcome is waited for anyway
 * -------------------------------------- */

static int bulk_by_id(const void *a, const void *b)
{
	const struct bk_node *const *x = a, *const *y = b;

	return bk_slice_cmp((*x)->id, (*y)->id);
}

/* The nodes in the order of their ids, as the arrays go in; NULL: no memory. */
static const struct bk_node **bulk_sort(const struct bk_node *nodes, size_t n)
{
	const struct bk_node **list = malloc(n * sizeof(*list));
	size_t i;

	for (i = 0; list && i < n; i++)
		list[i] = &nodes[i];
	if (list)
		qsort(list, n, sizeof(*list), bulk_by_id);
	return list;
}

static void bulk_copy_nodes(struct bk_session *s, const struct bk_node **nodes, size_t n)
{
	struct pg_copy c;
	size_t i;

	pg_copy_begin(&c, &s->wire, &s->arrays[BULK_A],
		      "COPY node (size, id, path, doc, parent) FROM STDIN (FORMAT binary)");
	for (i = 0; i < n; i++) {
		pg_copy_row(&c, 5);
		pg_copy_int(&c, nodes[i]->doc.len);
		pg_copy_value(&c, nodes[i]->id);
		pg_copy_value(&c, nodes[i]->path);
		pg_copy_value(&c, nodes[i]->doc);
		if (nodes[i]->parent.len)
			pg_copy_value(&c, nodes[i]->parent);
		else
			pg_copy_null(&c);
	}
	pg_copy_end(&c);
}

static void bulk_copy_links(struct bk_session *s, const struct bk_node **nodes, size_t n)
{
	struct pg_map seen = {0};
	struct pg_copy c;
	size_t i, k, count = 0;

	for (i = 0; i < n; i++)
		count += nodes[i]->link_count;
	if (count == 0)
		return;
	pg_copy_begin(&c, &s->wire, &s->arrays[BULK_A],
		      "COPY link (source, rel, target) FROM STDIN (FORMAT binary)");
	for (i = 0; i < n; i++) {
		if (nodes[i]->link_count > BULK_SHORT_LIST)
			pg_map_reset(&seen, nodes[i]->link_count);
		for (k = 0; k < nodes[i]->link_count; k++) {
			if (bulk_is_repeated(&seen, nodes[i], k))
				continue;
			pg_copy_row(&c, 3);
			pg_copy_value(&c, nodes[i]->id);
			pg_copy_value(&c, nodes[i]->links[k].rel);
			pg_copy_value(&c, nodes[i]->links[k].target);
		}
	}
	if (seen.failed)
		pg_wire_refuse(&s->wire, BK_NOMEM, PG_NO_ITEM, "out of memory");
	pg_copy_end(&c);
	pg_map_free(&seen);
}

/* The parents first, by the pipeline; then the rows, unless one is missing. */
bk_status bulk_copy(struct bk_session *s, const struct bk_node *nodes, size_t n,
		    struct bk_error *err)
{
	const struct bk_node **sorted;

	bulk_map_ids(s, nodes, n);
	bulk_send_parents(s, nodes, n, BULK_LATER, PG_NO_ITEM);
	bulk_send_parents(s, nodes, n, BULK_OUTSIDE, PG_NO_ITEM);
	pg_wire_settle(&s->wire);
	sorted = bulk_sort(nodes, n);
	if (!sorted)
		pg_wire_refuse(&s->wire, BK_NOMEM, PG_NO_ITEM, "out of memory");
	if (!s->wire.failed)
		bulk_copy_nodes(s, sorted, n);
	if (!s->wire.failed)
		bulk_copy_links(s, sorted, n);
	free(sorted);
	return pg_wire_report(&s->wire, "put_many", err);
}
