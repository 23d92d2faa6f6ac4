/*
 * mark.c - the owner mark of a store: the comment on its table `mark`.
 *
 * A comment comes into being with its table, in one step, so that there is no moment at which the
 * table is there and the mark is not.
 *
 * The one invariant: ours is only what bears exactly our mark; a table of ours without the table
 * `mark` beside it is somebody else's.
 */
#include "my.h"

#include <stdlib.h>

#define HEAD "bakeoff layout="

static const char *const layouts[] = {"relational", "document"};

void my_encode(char *out, size_t cap, struct bk_slice from)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = from.data;
	size_t n = 0, i;

	for (i = 0; i < from.len && n + 4 < cap; i++) {
		unsigned char c = p[i];

		if ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '-' ||
		    c == '_' || c == '.' || c == ':') {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	out[n] = '\0';
}

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t my_decode(char *text)
{
	char *r = text, *w = text;

	while (*r) {
		if (r[0] == '%' && digit(r[1]) >= 0 && digit(r[2]) >= 0) {
			*w++ = (char)(digit(r[1]) * 16 + digit(r[2]));
			r += 3;
		} else {
			*w++ = *r++;
		}
	}
	*w = '\0';
	return (size_t)(w - text);
}

static void comment(char *out, size_t cap, const struct bk_store *store, uint32_t layout)
{
	char mark[1024];

	my_encode(mark, sizeof(mark), bk_slice_str(store->mark));
	snprintf(out, cap, HEAD "%s mark=%s", layouts[layout], mark);
}

/* The comment of the table `mark`: which layout, if it is ours at all. */
static void read_comment(struct my_mark *out, const struct bk_store *store, const char *text)
{
	char want[1200];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		comment(want, sizeof(want), store, i);
		if (!strcmp(text, want)) {
			out->found = MY_OURS;
			out->layout = i;
			return;
		}
	}
	out->found = MY_STRANGE;
	snprintf(out->other, sizeof(out->other), "table '%smark' with another mark", store->prefix);
}

bk_status my_mark_read(struct my_mark *out, const struct bk_store *store, MYSQL *conn,
		       struct bk_error *err)
{
	struct my_text t = {.failed = false};
	const char *const *name;
	bool marked = false;
	MYSQL_RES *rows;
	MYSQL_ROW row;
	bk_status st;

	memset(out, 0, sizeof(*out));
	st = my_need_database(store, err);
	if (st)
		return st;
	my_text_add(&t, store, conn,
		    "SELECT TABLE_NAME,TABLE_COMMENT FROM information_schema.TABLES "
		    "WHERE TABLE_SCHEMA=DATABASE() AND TABLE_NAME IN (''");
	for (name = my_table_names; *name; name++) {
		char full[64];

		snprintf(full, sizeof(full), "%s%s", store->prefix, *name);
		my_text_add(&t, store, conn, ",%s", full);
	}
	my_text_add(&t, store, conn, ")");
	st = my_text_send(&rows, &t, store, conn, "looking for the store's tables", err);
	if (st)
		return st;
	while ((row = mysql_fetch_row(rows)) != NULL) {
		if (!strcmp(row[0] + strlen(store->prefix), "mark")) {
			marked = true;
			read_comment(out, store, row[1] ? row[1] : "");
		} else if (!marked) {
			out->found = MY_STRANGE;
			snprintf(out->other, sizeof(out->other), "table '%s'", row[0]);
		}
	}
	mysql_free_result(rows);
	return BK_OK;
}

bk_status my_mark_foreign(const struct bk_store *store, const struct my_mark *m,
			  struct bk_error *err)
{
	return bk_fail(
		err, BK_FOREIGN, 0,
		"mysql: database '%s' has a %s that does not bear this store's mark; nothing "
		"was touched (use another space or database, or remove it yourself)",
		store->target.database, m->other);
}

bk_status my_mark_write(struct bk_store *store, MYSQL *conn, struct bk_error *err)
{
	char text[1200];

	comment(text, sizeof(text), store, store->layout);
	return my_run(store, conn, "writing the mark", err,
		      "CREATE TABLE %t (k INT NOT NULL PRIMARY KEY) ENGINE=InnoDB COMMENT=%s",
		      "mark", text);
}
