/*
 * place.c - databases for other people's tests, on a server that is there.
 *
 * The invariant: a database or a role is dropped only if its comment begins with the mark.  Names
 * and texts are quoted by libpq; a password reaches the server only as its SCRAM verifier, so it
 * can stand in no log.
 *
 * A comment reads "bakeoff place, mark=MARK created=SECONDS".  The role is made and marked first,
 * so a database whose own comment could not be written any more is still known by its owner.
 */
#include "pg.h"

#include <ctype.h>
#include <stdlib.h>
#include <time.h>

#define PLC_PREFIX  "bakeoff place, mark="
#define PLC_CREATED " created="

struct plc_names { /* all from libpq, quoted */
	char *name, *user, *from, *comment, *verifier;
};

static void plc_free(struct plc_names *n)
{
	PQfreemem(n->name);
	PQfreemem(n->user);
	PQfreemem(n->from);
	PQfreemem(n->comment);
	PQfreemem(n->verifier);
}

static char *plc_identifier(struct bk_store *admin, struct bk_slice v)
{
	return PQescapeIdentifier(admin->admin.conn, v.len ? v.data : "", v.len);
}

static BK_PRINTF(4, 5) bk_status plc_say(struct bk_store *admin, const char *what,
					 struct bk_error *err, const char *fmt, ...)
{
	struct pg_buffer sql = {0};
	bk_status status;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !pg_buffer_grow(&sql, (size_t)n + 1))
		return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", what);
	va_start(ap, fmt);
	vsnprintf(sql.data, (size_t)n + 1, fmt, ap);
	va_end(ap);
	status = pg_wire_ask_sql(&admin->admin, sql.data, NULL, what, err);
	pg_buffer_free(&sql);
	return status;
}

/* ---- marks
 * ---------------------------------------------------------------------------------------- */

static bool plc_bears(struct bk_slice comment, struct bk_slice mark)
{
	size_t head = strlen(PLC_PREFIX), tail = strlen(PLC_CREATED);

	if (comment.len < head || memcmp(comment.data, PLC_PREFIX, head) != 0)
		return false;
	comment = bk_slice_of((const char *)comment.data + head, comment.len - head);
	if (comment.len < mark.len || memcmp(comment.data, mark.data, mark.len) != 0)
		return false;
	return comment.len == mark.len ||
	       (comment.len > mark.len + tail &&
		memcmp((const char *)comment.data + mark.len, PLC_CREATED, tail) == 0);
}

static struct bk_slice plc_field(const PGresult *res, int row, int field)
{
	return bk_slice_of(PQgetvalue(res, row, field), (size_t)PQgetlength(res, row, field));
}

/* Comment of the database, its owner, the owner's comment; no row: no such database. */
static const char plc_look[] =
	"SELECT coalesce(shobj_description(d.oid, 'pg_database'), ''), r.rolname::text,"
	" coalesce(shobj_description(r.oid, 'pg_authid'), '')"
	" FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba WHERE d.datname = $1";
static const char plc_look_role[] = "SELECT coalesce(shobj_description(oid, 'pg_authid'), '')"
				    " FROM pg_roles WHERE rolname = $1";

static bk_status plc_ask_name(struct bk_store *admin, const char *sql, struct bk_slice name,
			      const char *what, struct bk_error *err)
{
	struct pg_buffer text = {0};
	struct pg_params p;
	bk_status status;

	pg_buffer_print(&text, "%.*s", (int)name.len, (const char *)name.data);
	if (text.failed)
		return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", what);
	pg_params_init(&p);
	pg_params_text(&p, text.data);
	status = pg_wire_ask_sql(&admin->admin, sql, &p, what, err);
	pg_buffer_free(&text);
	return status;
}

/* ---- create
 * ----------------------------------------------------------------------------------------- */

static bk_status plc_quote(struct plc_names *n, struct bk_store *admin, struct bk_slice name,
			   struct bk_slice mark, struct bk_slice user, struct bk_slice password,
			   struct bk_slice from, struct bk_error *err)
{
	struct pg_buffer comment = {0}, clear_user = {0}, clear_password = {0};
	char *scram = NULL;
	bk_status status = BK_OK;

	memset(n, 0, sizeof(*n));
	pg_buffer_print(&comment, PLC_PREFIX "%.*s" PLC_CREATED "%lld", (int)mark.len,
			(const char *)mark.data, (long long)time(NULL));
	pg_buffer_print(&clear_user, "%.*s", (int)user.len, (const char *)user.data);
	pg_buffer_print(&clear_password, "%.*s", (int)password.len, (const char *)password.data);
	n->name = plc_identifier(admin, name);
	n->user = plc_identifier(admin, user);
	n->from = plc_identifier(admin, from);
	n->comment = comment.failed ? NULL
				    : PQescapeLiteral(admin->admin.conn, comment.data, comment.len);
	if (password.len && !clear_user.failed && !clear_password.failed) {
		scram = PQencryptPasswordConn(admin->admin.conn, clear_password.data,
					      clear_user.data, "scram-sha-256");
		if (scram)
			n->verifier = PQescapeLiteral(admin->admin.conn, scram, strlen(scram));
		PQfreemem(scram);
	}
	if (!n->name || !n->user || !n->from || !n->comment || (password.len && !n->verifier))
		status = bk_fail(err, BK_INVALID, 0,
				 "place: a name that the server's encoding can't hold, or no "
				 "memory");
	if (clear_password.data)
		memset(clear_password.data, 0, clear_password.len);
	pg_buffer_free(&comment);
	pg_buffer_free(&clear_user);
	pg_buffer_free(&clear_password);
	return status;
}

/* CREATEDB's own user must be a member of a role to give it a database. */
static bk_status plc_make_role(struct bk_store *admin, const struct plc_names *n,
			       struct bk_slice user, bool *made, struct bk_error *err)
{
	bk_status status = plc_ask_name(admin, plc_look_role, user, "place", err);

	if (status < 0 || PQntuples(admin->admin.result))
		return status;
	status = plc_say(admin, "place", err, "CREATE ROLE %s LOGIN%s%s", n->user,
			 n->verifier ? " PASSWORD " : "", n->verifier ? n->verifier : "");
	if (status < 0)
		return status;
	*made = true;
	status = plc_say(admin, "place", err, "COMMENT ON ROLE %s IS %s", n->user, n->comment);
	if (status == BK_OK)
		status = plc_say(admin, "place", err, "GRANT %s TO CURRENT_USER", n->user);
	return status;
}

/* The clone's tables belong to the owner of what was cloned: the new owner gets that one's rights.
 */
static bk_status plc_share_owner(struct bk_store *admin, const struct plc_names *n,
				 struct bk_slice from, struct bk_slice user, struct bk_error *err)
{
	char *owner;
	bk_status status = plc_ask_name(admin, plc_look, from, "place", err);

	if (status < 0 || PQntuples(admin->admin.result) == 0 || user.len == 0 ||
	    bk_slice_eq(plc_field(admin->admin.result, 0, 1), user) ||
	    !*PQgetvalue(admin->admin.result, 0, 2)) /* only a role that create() made */
		return status;
	owner = plc_identifier(admin, plc_field(admin->admin.result, 0, 1));
	if (!owner)
		return bk_fail(err, BK_NOMEM, 0, "place: out of memory");
	status = plc_say(admin, "place", err, "GRANT %s TO %s", owner, n->user);
	PQfreemem(owner);
	return status;
}

static void plc_undo(struct bk_store *admin, const struct plc_names *n, bool role, bool database)
{
	struct bk_error ignored = bk_error_init();

	if (database)
		plc_say(admin, "place", &ignored, "DROP DATABASE IF EXISTS %s", n->name);
	if (role)
		plc_say(admin, "place", &ignored, "DROP ROLE IF EXISTS %s", n->user);
}

static bk_status pg_place_create(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
				 struct bk_slice user, struct bk_slice password,
				 struct bk_slice from, struct bk_error *err)
{
	bool role = false, database = false;
	struct plc_names n = {0};
	bk_status status = pg_admin(admin, err);

	if (status == BK_OK)
		status = plc_quote(&n, admin, name, mark, user, password, from, err);
	if (status < 0)
		goto out;
	status = plc_ask_name(admin, plc_look, name, "place", err);
	if (status == BK_OK && PQntuples(admin->admin.result))
		status = bk_fail(err, BK_EXISTS, 0, "place: database '%.*s' exists", (int)name.len,
				 (const char *)name.data);
	if (status == BK_OK && user.len)
		status = plc_make_role(admin, &n, user, &role, err);
	if (status == BK_OK && from.len)
		status = plc_share_owner(admin, &n, from, user, err);
	if (status == BK_OK) {
		status = plc_say(admin, "place", err, "CREATE DATABASE %s%s%s%s%s", n.name,
				 user.len ? " OWNER " : "", user.len ? n.user : "",
				 from.len ? " TEMPLATE " : "", from.len ? n.from : "");
		database = status == BK_OK;
	}
	if (status == BK_OK)
		status = plc_say(admin, "place", err, "COMMENT ON DATABASE %s IS %s", n.name,
				 n.comment);
	if (status < 0)
		plc_undo(admin, &n, role, database);
out:
	plc_free(&n);
	return status;
}

/* ---- drop
 * -------------------------------------------------------------------------------------------- */

static bk_status plc_drop_database(struct bk_store *admin, const char *quoted, struct bk_slice name,
				   struct bk_error *err)
{
	bk_status status;

	if (admin->in_force.version >= 130000)
		return plc_say(admin, "drop", err, "DROP DATABASE %s WITH (FORCE)", quoted);
	status = plc_ask_name(admin,
			      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
			      " WHERE datname = $1 AND pid <> pg_backend_pid()",
			      name, "drop", err);
	return status < 0 ? status : plc_say(admin, "drop", err, "DROP DATABASE %s", quoted);
}

/* The owner goes too if create() made it and nothing else is its own any more. */
static void plc_drop_owner(struct bk_store *admin, struct bk_slice owner)
{
	struct bk_error ignored = bk_error_init();
	char *quoted = plc_identifier(admin, owner);

	if (quoted)
		plc_say(admin, "drop", &ignored, "DROP ROLE %s", quoted);
	PQfreemem(quoted);
}

static bk_status pg_place_drop(struct bk_store *admin, struct bk_slice name, struct bk_slice mark,
			       struct bk_error *err)
{
	struct pg_buffer owner = {0};
	char *quoted = NULL;
	bool marked, owner_marked;
	bk_status status = pg_admin(admin, err);

	if (status == BK_OK)
		status = plc_ask_name(admin, plc_look, name, "drop", err);
	if (status < 0)
		return status;
	if (PQntuples(admin->admin.result) == 0)
		return bk_fail(err, BK_NOT_FOUND, 0, "drop: no database '%.*s'", (int)name.len,
			       (const char *)name.data);
	owner_marked = plc_bears(plc_field(admin->admin.result, 0, 2), mark);
	marked = plc_bears(plc_field(admin->admin.result, 0, 0), mark) ||
		 (owner_marked && PQgetlength(admin->admin.result, 0, 0) == 0);
	if (!marked)
		return bk_fail(err, BK_FOREIGN, 0,
			       "drop: database '%.*s' does not bear the mark '%.*s'; nothing has "
			       "been touched",
			       (int)name.len, (const char *)name.data, (int)mark.len,
			       (const char *)mark.data);
	pg_buffer_add(&owner, PQgetvalue(admin->admin.result, 0, 1),
		      (size_t)PQgetlength(admin->admin.result, 0, 1));
	quoted = plc_identifier(admin, name);
	status = quoted ? plc_drop_database(admin, quoted, name, err)
			: bk_fail(err, BK_NOMEM, 0, "drop: out of memory");
	if (status == BK_OK && owner_marked && !owner.failed)
		plc_drop_owner(admin, pg_buffer_slice(&owner));
	pg_buffer_free(&owner);
	PQfreemem(quoted);
	return status;
}

/* ---- list
 * --------------------------------------------------------------------------------------------- */

static void plc_take(struct bk_place *out, const PGresult *res, int row)
{
	const char *text = PQgetvalue(res, row, 1) + strlen(PLC_PREFIX), *at = NULL, *next;

	for (next = strstr(text, PLC_CREATED); next; next = strstr(next + 1, PLC_CREATED))
		at = next;
	out->name = plc_field(res, row, 0);
	out->mark = bk_slice_of(text, at ? (size_t)(at - text) : strlen(text));
	out->created_unix_s = at ? strtoull(at + strlen(PLC_CREATED), NULL, 10) : 0;
}

/* Views: until the next call on the store. */
static bk_status pg_place_list(struct bk_store *admin, struct bk_place *out, size_t cap, size_t *n,
			       struct bk_error *err)
{
	const PGresult *res;
	int row;
	bk_status status = pg_admin(admin, err);

	if (status == BK_OK)
		status = pg_wire_ask_sql(
			&admin->admin,
			"SELECT datname::text, shobj_description(oid, 'pg_database')"
			" FROM pg_database WHERE"
			" shobj_description(oid, 'pg_database') LIKE '" PLC_PREFIX "%'"
			" ORDER BY datname",
			NULL, "list", err);
	if (status < 0)
		return status;
	res = admin->admin.result;
	*n = (size_t)PQntuples(res);
	for (row = 0; row < PQntuples(res) && (size_t)row < cap; row++)
		plc_take(&out[row], res, row);
	return BK_OK;
}

const struct bk_place_ops pg_place_ops = {
	.struct_size = sizeof(struct bk_place_ops),
	.create = pg_place_create,
	.drop = pg_place_drop,
	.list = pg_place_list,
};
