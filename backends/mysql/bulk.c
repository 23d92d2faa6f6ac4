/*
 * bulk.c - one statement for many rows of parameters.
 *
 * Three ways, best first: array binding (libmariadb and a MariaDB server), VALUES lists of a few
 * lengths (any server, inserts only), row by row.
 *
 * The one invariant: values are borrowed until the rows that hold them have been sent, which
 * my_bulk_next() does by itself when a batch is full, and the caller at the end.
 */
#include "session.h"

#include <stdlib.h>

bk_status my_bulk_init(struct my_bulk *b, struct bk_session *s, enum my_sql which,
		       const char *columns, size_t rows_max, const char *what, struct bk_error *err)
{
	size_t cells;

	memset(b, 0, sizeof(*b));
	b->s = s;
	b->which = which;
	b->columns = columns;
	b->what = what;
	b->width = (unsigned)strlen(columns);
	b->max = rows_max < 1 ? 1 : rows_max > MY_BATCH_MAX ? MY_BATCH_MAX : rows_max;
	b->bytes_max = s->server.packet_bytes / 2 < MY_BATCH_SIZE ? s->server.packet_bytes / 2
								  : MY_BATCH_SIZE;
	cells = b->width * b->max;
	b->num = my_alloc(&s->work, cells * sizeof(*b->num));
	b->data = my_alloc(&s->work, cells * sizeof(*b->data));
	b->len = my_alloc(&s->work, cells * sizeof(*b->len));
	b->null = my_alloc(&s->work, cells);
	if (!b->num || !b->data || !b->len || !b->null)
		return my_nomem(err);
	memset(b->null, 0, cells);
	return BK_OK;
}

void my_bulk_num(struct my_bulk *b, unsigned column, uint64_t v)
{
	size_t cell = column * b->max + b->rows;

	b->num[cell] = v;
	b->null[cell] = b->columns[column] == 'o' && v == 0;
	b->bytes += 9;
}

void my_bulk_bytes(struct my_bulk *b, unsigned column, struct bk_slice v)
{
	size_t cell = column * b->max + b->rows;

	b->data[cell] = v.len ? v.data : "";
	b->len[cell] = (unsigned long)v.len;
	b->bytes += v.len + 9;
}

bk_status my_bulk_room(struct my_bulk *b, size_t bytes, struct bk_error *err)
{
	return b->rows && b->bytes + bytes > b->bytes_max ? my_bulk_send(b, err) : BK_OK;
}

bk_status my_bulk_next(struct my_bulk *b, struct bk_error *err)
{
	b->rows++;
	if (b->rows == b->max || b->bytes >= b->bytes_max)
		return my_bulk_send(b, err);
	return BK_OK;
}

static void bind_row(struct my_bulk *b, MYSQL_BIND *out, size_t row)
{
	unsigned c;

	for (c = 0; c < b->width; c++) {
		size_t cell = c * b->max + row;

		if (b->columns[c] == 'b')
			my_bind_bytes(&out[c], bk_slice_of(b->data[cell], b->len[cell]));
		else if (b->null[cell])
			my_bind_null(&out[c]);
		else
			my_bind_num(&out[c], &b->num[cell]);
	}
}

#ifdef LIBMARIADB
static bk_status send_array(struct my_bulk *b, MYSQL_STMT *stmt, struct bk_error *err)
{
	MYSQL_BIND binds[8];
	unsigned rows = (unsigned)b->rows, none = 0, c;
	bk_status st;

	memset(binds, 0, sizeof(binds));
	for (c = 0; c < b->width; c++) {
		size_t at = c * b->max;

		if (b->columns[c] == 'b') {
			binds[c].buffer_type = MYSQL_TYPE_BLOB;
			binds[c].buffer = (void *)(b->data + at);
			binds[c].length = b->len + at;
		} else {
			binds[c].buffer_type = MYSQL_TYPE_LONGLONG;
			binds[c].is_unsigned = 1;
			binds[c].buffer = b->num + at;
			if (b->columns[c] == 'o')
				binds[c].u.indicator = b->null + at; /* STMT_INDICATOR_NULL is 1 */
		}
	}
	mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &rows);
	st = my_exec(b->s, stmt, binds, b->what, err);
	mysql_stmt_attr_set(stmt, STMT_ATTR_ARRAY_SIZE, &none);
	return st;
}
#endif

static bk_status send_one(struct my_bulk *b, MYSQL_STMT *stmt, size_t row, struct bk_error *err)
{
	MYSQL_BIND binds[8];

	bind_row(b, binds, row);
	return my_exec(b->s, stmt, binds, b->what, err);
}

/* "INSERT ... VALUES (?,?) tail" with its list of values `times` times over. */
static char *repeat(struct bk_session *s, const char *text, size_t times)
{
	const char *list = strstr(text, "VALUES (") + 7, *tail = strchr(list, ')') + 1;
	size_t head = (size_t)(list - text), width = (size_t)(tail - list), i;
	char *out = my_alloc(&s->work, strlen(text) + times * (width + 1) + 1), *w = out;

	if (!out)
		return NULL;
	memcpy(w, text, head);
	w += head;
	for (i = 0; i < times; i++) {
		if (i)
			*w++ = ',';
		memcpy(w, list, width);
		w += width;
	}
	strcpy(w, tail);
	return out;
}

static bk_status send_list(struct my_bulk *b, size_t from, size_t times, struct bk_error *err)
{
	char *text = repeat(b->s, my_sql_text(b->which), times);
	MYSQL_BIND *binds = my_alloc(&b->s->work, sizeof(*binds) * b->width * times);
	MYSQL_STMT *stmt;
	bk_status st;
	size_t i;

	if (!text || !binds)
		return my_nomem(err);
	for (i = 0; i < times; i++)
		bind_row(b, binds + i * b->width, from + i);
	st = my_stmt_text(&stmt, b->s, text, err);
	return st ? st : my_exec(b->s, stmt, binds, b->what, err);
}

static bk_status send_lists(struct my_bulk *b, MYSQL_STMT *stmt, struct bk_error *err)
{
	bool insert = strstr(my_sql_text(b->which), "VALUES (") != NULL;
	size_t row = 0;
	bk_status st = BK_OK;

	while (!st && row < b->rows) {
		size_t left = b->rows - row, times = left >= 100 ? 100 : left >= 10 ? 10 : 1;

		if (!insert || times == 1) {
			st = send_one(b, stmt, row++, err);
			continue;
		}
		st = send_list(b, row, times, err);
		row += times;
	}
	return st;
}

bk_status my_bulk_send(struct my_bulk *b, struct bk_error *err)
{
	MYSQL_STMT *stmt;
	bk_status st;

	if (b->rows == 0)
		return BK_OK;
	st = my_stmt(&stmt, b->s, b->which, err);
	if (st)
		return st;
	if (b->rows == 1)
		st = send_one(b, stmt, 0, err);
#ifdef LIBMARIADB
	else if (b->s->bulk)
		st = send_array(b, stmt, err);
#endif
	else
		st = send_lists(b, stmt, err);
	b->rows = b->bytes = 0;
	if (!st)
		b->s->dirty = true;
	return st;
}
