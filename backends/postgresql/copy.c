/*
 * copy.c - COPY ... FROM STDIN BINARY.
 *
 * The invariant: COPY is not possible in pipeline mode, so begin leaves it and end comes back to
 * it; in between the connection is used for nothing else.  A server that refuses a row says so only
 * after the end: until then rows are sent for nothing.
 */
#include "pg.h"

#define CPY_SEND_BYTES (64u * 1024)

static const char cpy_head[19] = "PGCOPY\n\377\r\n"; /* signature, no flags, no extension */

/* The answers up to the end of the command; NULL when it is COPY that begins. */
static void cpy_take_answers(struct pg_copy *c, ExecStatusType wanted)
{
	struct pg_wire *w = c->wire;
	PGresult *res;

	while (!w->dead && pg_wire_ready(w) && (res = PQgetResult(w->conn)) != NULL) {
		ExecStatusType status = PQresultStatus(res);

		if (status != wanted)
			pg_wire_failed(w, res, PG_NO_ITEM);
		PQclear(res);
		if (status == PGRES_COPY_IN) {
			c->open = true;
			return;
		}
	}
}

static void cpy_flush(struct pg_wire *w)
{
	int unsent;

	while (!w->dead && (unsent = PQflush(w->conn)) != 0) {
		if (unsent < 0 || (pg_wire_poll(w, true) && !PQconsumeInput(w->conn)))
			pg_wire_lost(w);
	}
}

static void cpy_send(struct pg_copy *c)
{
	struct pg_wire *w = c->wire;

	if (c->open && !w->failed && !w->dead) {
		if (PQputCopyData(w->conn, c->rows->data, (int)c->rows->len) != 1)
			pg_wire_lost(w);
		cpy_flush(w);
	}
	c->rows->len = 0;
}

void pg_copy_begin(struct pg_copy *c, struct pg_wire *w, struct pg_buffer *rows, const char *sql)
{
	c->wire = w;
	c->rows = rows;
	c->open = false;
	pg_buffer_reset(rows);
	if (w->failed || w->dead)
		return;
	if (!PQexitPipelineMode(w->conn) || !PQsendQuery(w->conn, sql)) {
		pg_wire_lost(w);
		return;
	}
	w->requests++;
	cpy_take_answers(c, PGRES_COPY_IN);
	pg_buffer_add(rows, cpy_head, sizeof(cpy_head));
}

void pg_copy_row(struct pg_copy *c, uint16_t fields)
{
	if (c->rows->len >= CPY_SEND_BYTES)
		cpy_send(c);
	pg_buffer_u16(c->rows, fields);
}

void pg_copy_value(struct pg_copy *c, struct bk_slice v)
{
	pg_buffer_u32(c->rows, (uint32_t)v.len);
	pg_buffer_add(c->rows, v.data, v.len);
}

void pg_copy_null(struct pg_copy *c)
{
	pg_buffer_u32(c->rows, UINT32_MAX);
}

void pg_copy_int(struct pg_copy *c, uint64_t v)
{
	pg_buffer_u32(c->rows, 8);
	pg_buffer_u64(c->rows, v);
}

void pg_copy_end(struct pg_copy *c)
{
	struct pg_wire *w = c->wire;

	pg_buffer_u16(c->rows, UINT16_MAX);
	if (c->rows->failed)
		pg_wire_refuse(w, BK_NOMEM, PG_NO_ITEM, "out of memory");
	cpy_send(c);
	if (c->open && !w->dead) {
		w->requests++;
		if (PQputCopyEnd(w->conn, w->failed ? "given up" : NULL) != 1)
			pg_wire_lost(w);
		cpy_flush(w);
		cpy_take_answers(c, PGRES_COMMAND_OK);
	}
	if (!w->dead && PQpipelineStatus(w->conn) == PQ_PIPELINE_OFF &&
	    !PQenterPipelineMode(w->conn))
		pg_wire_lost(w);
	pg_buffer_reset(c->rows);
}
