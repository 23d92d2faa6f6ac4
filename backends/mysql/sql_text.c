/*
 * sql_text.c - statements that cannot be prepared: on tables, databases and accounts.
 *
 * The one invariant: whatever is not a word of ours is quoted here, by the client library, for the
 * connection that will run the statement.
 */
#include "my.h"

/* "@node" becomes `main_node`. */
bool my_expand(struct my_buf *out, const char *prefix, const char *text)
{
	out->len = 0;
	while (*text) {
		size_t plain = strcspn(text, "@"), name;

		if (!my_buf_add(out, text, plain))
			return false;
		text += plain;
		if (!*text)
			break;
		name = strspn(++text, "abcdefghijklmnopqrstuvwxyz");
		if (!my_buf_add(out, "`", 1) || !my_buf_add(out, prefix, strlen(prefix)) ||
		    !my_buf_add(out, text, name) || !my_buf_add(out, "`", 1))
			return false;
		text += name;
	}
	return my_buf_add(out, "", 1);
}

static void raw(struct my_text *t, const char *s, size_t len)
{
	if (!t->failed && !my_buf_add(&t->buf, s, len))
		t->failed = true;
}

static void name(struct my_text *t, struct bk_slice s, bool wildcards)
{
	const char *p = s.data;
	size_t i;

	raw(t, "`", 1);
	for (i = 0; i < s.len; i++) {
		if (p[i] == '`')
			raw(t, "`", 1);
		if (wildcards && (p[i] == '_' || p[i] == '%' || p[i] == '\\'))
			raw(t, "\\", 1);
		raw(t, p + i, 1);
	}
	raw(t, "`", 1);
}

static void quoted(struct my_text *t, MYSQL *conn, struct bk_slice s)
{
	if (t->failed || !my_buf_reserve(&t->buf, s.len * 2 + 3)) {
		t->failed = true;
		return;
	}
	t->buf.data[t->buf.len++] = '\'';
	t->buf.len += mysql_real_escape_string(conn, t->buf.data + t->buf.len, s.data,
					       (unsigned long)s.len);
	t->buf.data[t->buf.len++] = '\'';
}

static void number(struct my_text *t, uint64_t v)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);

	raw(t, digits, (size_t)n);
}

static void table(struct my_text *t, const struct bk_store *store, const char *s)
{
	raw(t, "`", 1);
	raw(t, store->prefix, strlen(store->prefix));
	raw(t, s, strlen(s));
	raw(t, "`", 1);
}

static void vadd(struct my_text *t, const struct bk_store *store, MYSQL *conn, const char *fmt,
		 va_list ap)
{
	while (*fmt) {
		size_t plain = strcspn(fmt, "%");

		raw(t, fmt, plain);
		fmt += plain;
		if (!*fmt)
			return;
		switch (fmt[1]) {
		case 'n':
			name(t, va_arg(ap, struct bk_slice), false);
			break;
		case 'g':
			name(t, va_arg(ap, struct bk_slice), true);
			break;
		case 't':
			table(t, store, va_arg(ap, const char *));
			break;
		case 's':
			quoted(t, conn, bk_slice_str(va_arg(ap, const char *)));
			break;
		case 'b':
			quoted(t, conn, va_arg(ap, struct bk_slice));
			break;
		case 'u':
			number(t, va_arg(ap, uint64_t));
			break;
		default:
			t->failed = true;
			return;
		}
		fmt += 2;
	}
}

void my_text_add(struct my_text *t, const struct bk_store *store, MYSQL *conn, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vadd(t, store, conn, fmt, ap);
	va_end(ap);
}

bk_status my_text_send(MYSQL_RES **out, struct my_text *t, const struct bk_store *store,
		       MYSQL *conn, const char *what, struct bk_error *err)
{
	MYSQL_RES *rows;
	bk_status st;

	if (t->failed) {
		st = my_nomem(err);
	} else if (mysql_real_query(conn, t->buf.data, (unsigned long)t->buf.len)) {
		st = my_fail_conn(err, store, conn, what);
	} else {
		rows = mysql_store_result(conn);
		st = !rows && mysql_field_count(conn) ? my_fail_conn(err, store, conn, what)
						      : BK_OK;
		if (out && !st)
			*out = rows;
		else if (rows)
			mysql_free_result(rows);
	}
	my_buf_free(&t->buf);
	t->failed = false;
	return st;
}

bk_status my_run(const struct bk_store *store, MYSQL *conn, const char *what, struct bk_error *err,
		 const char *fmt, ...)
{
	struct my_text t = {.failed = false};
	va_list ap;

	va_start(ap, fmt);
	vadd(&t, store, conn, fmt, ap);
	va_end(ap);
	return my_text_send(NULL, &t, store, conn, what, err);
}

bk_status my_ask(MYSQL_RES **out, const struct bk_store *store, MYSQL *conn, const char *what,
		 struct bk_error *err, const char *fmt, ...)
{
	struct my_text t = {.failed = false};
	va_list ap;

	va_start(ap, fmt);
	vadd(&t, store, conn, fmt, ap);
	va_end(ap);
	return my_text_send(out, &t, store, conn, what, err);
}
