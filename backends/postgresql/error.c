/*
 * error.c - what the server or libpq reports, as one status and one line.
 *
 * The line holds the server's own message and SQLSTATE, never a password: libpq's text about a
 * connection string is not passed on, since it quotes pieces of it.
 */
#include "pg.h"

#include <ctype.h>
#include <stdlib.h>

/* The longest prefix that matches counts: exact codes first, then classes. */
static const struct {
	const char *prefix;
	bk_status status;
} err_map[] = {
	{"23505", BK_EXISTS},      {"23503", BK_NOT_FOUND},   {"40001", BK_CONFLICT},
	{"40P01", BK_CONFLICT},    {"55P03", BK_CONFLICT},    {"40003", BK_UNAVAILABLE},
	{"57P01", BK_UNAVAILABLE}, {"57P02", BK_UNAVAILABLE}, {"57P03", BK_UNAVAILABLE},
	{"57P05", BK_UNAVAILABLE}, {"25P03", BK_UNAVAILABLE}, {"53300", BK_UNAVAILABLE},
	{"53100", BK_NO_SPACE},    {"53200", BK_NOMEM},       {"53400", BK_TOO_LARGE},
	{"42501", BK_AUTH},        {"25006", BK_STATE},       {"25P02", BK_STATE},
	{"3D000", BK_NOT_FOUND},   {"42P04", BK_EXISTS},      {"42710", BK_EXISTS},
	{"42P01", BK_STATE},       {"3F000", BK_STATE},       {"55006", BK_CONFLICT},
	{"58030", BK_IO},          {"0A", BK_UNSUPPORTED},    {"08", BK_UNAVAILABLE},
	{"28", BK_AUTH},           {"22", BK_INVALID},        {"53", BK_NOMEM},
	{"54", BK_TOO_LARGE},      {"XX", BK_CORRUPT},        {"XX002", BK_CORRUPT},
	{"23514", BK_TOO_LARGE},   {"34000", BK_STATE},       {"42", BK_INTERNAL},
};

bk_status pg_status_of(const char *sqlstate)
{
	size_t i;

	for (i = 0; i < sizeof(err_map) / sizeof(*err_map); i++) {
		if (strncmp(sqlstate, err_map[i].prefix, strlen(err_map[i].prefix)) == 0)
			return err_map[i].status;
	}
	return BK_IO;
}

static void err_finish(struct bk_error *err, const char *sqlstate)
{
	snprintf(err->sqlstate, sizeof(err->sqlstate), "%.5s", sqlstate);
	if (err->status == BK_CONFLICT || strcmp(sqlstate, "53300") == 0 ||
	    strcmp(sqlstate, "57P03") == 0)
		err->flags |= BK_ERR_RETRY;
}

/* 57014: somebody has stopped the statement; who, the message says only in the server's language.
 */
static bk_status err_who_stopped(const struct pg_wire *w)
{
	if (atomic_load_explicit(&w->cancelled, memory_order_relaxed))
		return BK_CANCELLED;
	if (w->timeout_ns && w->host->now_ns(w->host->ctx) - w->started_ns >= w->timeout_ns)
		return BK_TIMEOUT;
	return BK_CANCELLED;
}

void pg_error_from_result(struct bk_error *err, const struct pg_wire *w, const PGresult *res)
{
	const char *sqlstate = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *on = PQresultErrorField(res, PG_DIAG_CONSTRAINT_NAME);
	bk_status status;

	if (!sqlstate || !text) { /* libpq's own: the connection broke */
		pg_error_lost(err, w);
		return;
	}
	status = strcmp(sqlstate, "57014") == 0 ? err_who_stopped(w) : pg_status_of(sqlstate);
	if (strcmp(sqlstate, "22012") == 0) { /* how PG_BULK_PARENTS says it */
		bk_fail(err, BK_NOT_FOUND, 0, "the parent of a node is not there");
		return;
	}
	if (strcmp(sqlstate, "42P01") == 0 || strcmp(sqlstate, "3F000") == 0)
		bk_fail(err, status, 0, "%s (SQLSTATE %s); the space has not been made", text,
			sqlstate);
	else
		bk_fail(err, status, 0, "%s%s%s (SQLSTATE %s)", text,
			on && !strstr(text, on) ? ", " : "", on && !strstr(text, on) ? on : "",
			sqlstate);
	err_finish(err, sqlstate);
}

void pg_error_lost(struct bk_error *err, const struct pg_wire *w)
{
	const char *text = w->conn ? PQerrorMessage(w->conn) : "";

	bk_fail(err, BK_UNAVAILABLE, 0, "connection to the server lost%s%s", *text ? ": " : "",
		text);
}

bk_status pg_error_copy(struct bk_error *to, const struct bk_error *from, const char *what)
{
	bk_fail(to, from->status, from->vendor_code, "%s: %s", what, from->message);
	to->item = from->item;
	to->flags = from->flags;
	memcpy(to->sqlstate, from->sqlstate, sizeof(to->sqlstate));
	return to->status;
}

/* ---- connecting ------------------------------------------------------------------------- */

/* With verbose errors libpq writes "FATAL:  28P01: text"; it has no other way to tell the SQLSTATE
 * of a refused connection. */
static const char *err_find_sqlstate(const char *text, char out[6])
{
	const char *p;
	int i, digits;

	for (p = strchr(text, ':'); p; p = strchr(p + 1, ':')) {
		const char *q = p + 1;

		while (*q == ' ')
			q++;
		for (i = digits = 0; i < 5; i++) {
			if (!isdigit((unsigned char)q[i]) && !(q[i] >= 'A' && q[i] <= 'Z'))
				break;
			digits += isdigit((unsigned char)q[i]) != 0;
		}
		if (i == 5 && digits > 0 && q[5] == ':') { /* not FATAL itself */
			memcpy(out, q, 5);
			out[5] = '\0';
			return q;
		}
	}
	return NULL;
}

/* Cut the line LOCATION, which is about the server's source. */
static size_t err_useful_length(const char *text)
{
	const char *end = strstr(text, "\nLOCATION:");

	return end ? (size_t)(end - text) : strlen(text);
}

/* Each piece of a secret of three bytes or more; a URL that is not encoded as it should be is cut
 * where nobody meant to, and libpq then takes half a password for a host or a port and quotes it.
 */
static void err_hide(char *text, const char *secret, size_t len)
{
	static const char cuts[] = ":@/?#&=%,";
	size_t i, from = 0;
	char *at;

	for (i = 0; i <= len; i++) {
		if (i < len && !strchr(cuts, secret[i]))
			continue;
		for (at = text; i - from >= 3 &&
				(at = memmem(at, strlen(at), secret + from, i - from)) != NULL;)
			memset(at, '*', i - from);
		from = i + 1;
	}
}

static void err_hide_secrets(char *text, const struct pg_options *o)
{
	const char *user, *colon, *at, *query;

	if (o->password)
		err_hide(text, o->password, strlen(o->password));
	if (!o->url)
		return;
	user = strstr(o->url, "//");
	at = strrchr(o->url, '@');
	colon = user ? strchr(user, ':') : NULL;
	if (colon && at && colon < at)
		err_hide(text, colon + 1, (size_t)(at - colon - 1));
	query = strstr(o->url, "password=");
	if (query)
		err_hide(text, query + 9, strcspn(query + 9, "&"));
}

bk_status pg_error_connect(struct bk_error *err, PGconn *conn, const struct pg_options *o)
{
	const char *text = PQerrorMessage(conn), *at, *said;
	char sqlstate[6] = "";
	bk_status status = BK_UNAVAILABLE;
	size_t len = err_useful_length(text);

	at = err_find_sqlstate(text, sqlstate);
	if (at) {
		status = pg_status_of(sqlstate);
		said = at + 6;
		while (*said == ' ')
			said++;
		bk_fail(err, status, 0,
			"cannot connect to database '%s' as '%s': %.*s (SQLSTATE %s)",
			PQdb(conn) ? PQdb(conn) : "", PQuser(conn) ? PQuser(conn) : "",
			(int)(len - (size_t)(said - text)), said, sqlstate);
	} else {
		if (PQconnectionNeedsPassword(conn))
			status = BK_AUTH;
		bk_fail(err, status, 0, "cannot connect: %.*s", (int)len, text);
	}
	err_hide_secrets(err->message, o);
	err_finish(err, sqlstate);
	return err->status;
}
