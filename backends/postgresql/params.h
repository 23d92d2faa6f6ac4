/*
 * params.h - the parameters of one statement, all in binary.
 *
 * Values are borrowed until the statement has been sent; libpq copies them then.
 */
#ifndef BK_PG_PARAMS_H
#define BK_PG_PARAMS_H

#include "buffer.h"

#include <libpq-fe.h>

#define PG_PARAMS_MAX 10

struct pg_params {
	int n;
	Oid types[PG_PARAMS_MAX];
	const char *values[PG_PARAMS_MAX];
	int lengths[PG_PARAMS_MAX];
	char ints[PG_PARAMS_MAX][8];
	size_t bytes;
	bool failed; /* something did not fit */
};

void pg_params_init(struct pg_params *p);
void pg_params_bytes(struct pg_params *p, struct bk_slice v);
void pg_params_bytes_or_null(struct pg_params *p, struct bk_slice v); /* NULL when empty */
void pg_params_text(struct pg_params *p, const char *v);
void pg_params_int(struct pg_params *p, uint64_t v); /* int8 */
/* An array in `b`, as pg_array_begin() and so on have left it. */
void pg_params_array(struct pg_params *p, const struct pg_buffer *b);

/* A one-dimensional array of bytea in the protocol's binary form. */
void pg_array_begin(struct pg_buffer *b);
void pg_array_add(struct pg_buffer *b, struct bk_slice v);
void pg_array_add_or_null(struct pg_buffer *b, struct bk_slice v);
void pg_array_end(struct pg_buffer *b, size_t count);
/* The relations and the targets of a set of links, each once. */
struct bk_link;
void pg_array_links(struct pg_buffer *rels, struct pg_buffer *targets, const struct bk_link *links,
		    size_t count);

#endif
