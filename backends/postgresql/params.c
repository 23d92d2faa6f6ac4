/*
 * params.c - parameters in the protocol's binary form (see params.h).
 *
 * An empty value and NULL differ: libpq takes a NULL pointer for NULL, so empty values point at "".
 */
#include "pg.h"

#define PG_SQL_BYTEA_ARRAY 1001u
#define ARRAY_HEAD_BYTES   20

void pg_params_init(struct pg_params *p)
{
	p->n = 0;
	p->bytes = 0;
	p->failed = false;
}

static void par_add(struct pg_params *p, Oid type, const void *data, size_t len)
{
	if (p->n == PG_PARAMS_MAX || len > INT32_MAX) {
		p->failed = true;
		return;
	}
	p->types[p->n] = type;
	p->values[p->n] = data;
	p->lengths[p->n] = (int)len;
	p->bytes += len;
	p->n++;
}

void pg_params_bytes(struct pg_params *p, struct bk_slice v)
{
	par_add(p, PG_SQL_BYTEA, v.len ? v.data : "", v.len);
}

void pg_params_bytes_or_null(struct pg_params *p, struct bk_slice v)
{
	par_add(p, PG_SQL_BYTEA, v.len ? v.data : NULL, v.len);
}

void pg_params_text(struct pg_params *p, const char *v)
{
	par_add(p, PG_SQL_TEXT, v, strlen(v));
}

void pg_params_int(struct pg_params *p, uint64_t v)
{
	char *at = p->ints[p->n < PG_PARAMS_MAX ? p->n : 0];

	pg_put_u64(at, v);
	par_add(p, PG_SQL_INT8, at, 8);
}

void pg_params_array(struct pg_params *p, const struct pg_buffer *b)
{
	if (b->failed)
		p->failed = true;
	else
		par_add(p, PG_SQL_BYTEA_ARRAY, b->data, b->len);
}

void pg_array_begin(struct pg_buffer *b)
{
	pg_buffer_reset(b);
	pg_buffer_u32(b, 1); /* dimensions */
	pg_buffer_u32(b, 1); /* nulls may occur */
	pg_buffer_u32(b, PG_SQL_BYTEA);
	pg_buffer_u32(b, 0); /* how many: known at the end */
	pg_buffer_u32(b, 1); /* first subscript */
}

void pg_array_add(struct pg_buffer *b, struct bk_slice v)
{
	pg_buffer_u32(b, (uint32_t)v.len);
	pg_buffer_add(b, v.data, v.len);
}

void pg_array_add_or_null(struct pg_buffer *b, struct bk_slice v)
{
	if (v.len)
		pg_array_add(b, v);
	else
		pg_buffer_u32(b, UINT32_MAX);
}

void pg_array_end(struct pg_buffer *b, size_t count)
{
	if (count == 0 && b->len >= ARRAY_HEAD_BYTES) {
		pg_buffer_set_u32(b, 0, 0); /* an empty array has no dimension */
		b->len = 12;
		return;
	}
	pg_buffer_set_u32(b, 12, (uint32_t)count);
}

void pg_array_links(struct pg_buffer *rels, struct pg_buffer *targets, const struct bk_link *links,
		    size_t count)
{
	size_t i;

	pg_array_begin(rels);
	pg_array_begin(targets);
	for (i = 0; i < count; i++) {
		pg_array_add(rels, links[i].rel);
		pg_array_add(targets, links[i].target);
	}
	pg_array_end(rels, count);
	pg_array_end(targets, count);
}
