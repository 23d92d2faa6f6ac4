/*
 * error.c - from the server's and the client library's error numbers to bk_status.
 *
 * The one invariant: the store's password never reaches a message, whatever a server or library
 * puts into its own.
 */
#include "my.h"

#include <errmsg.h>
#include <mysqld_error.h>
#include <stdlib.h>

struct mapping {
	unsigned code;
	bk_status status;
	uint32_t flags;
};

/* By number where one product lacks the name. */
static const struct mapping mappings[] = {
	{1062, BK_EXISTS, 0},              /* duplicate key */
	{1586, BK_EXISTS, 0},              /* the same, with the key's name */
	{1213, BK_CONFLICT, BK_ERR_RETRY}, /* deadlock */
	{1205, BK_CONFLICT, BK_ERR_RETRY}, /* lock wait timeout */
	{1020, BK_CONFLICT, BK_ERR_RETRY}, /* changed since the snapshot */
	{1614, BK_CONFLICT, BK_ERR_RETRY}, /* XA: deadlock */
	{3572, BK_CONFLICT, BK_ERR_RETRY}, /* NOWAIT */
	{1451, BK_IN_USE, 0},              /* a parent row with children */
	{1452, BK_NOT_FOUND, 0},           /* no such parent row */
	{1044, BK_AUTH, 0},                /* access denied: database */
	{1045, BK_AUTH, 0},                /* access denied: account, password */
	{1698, BK_AUTH, 0},                /* access denied, no password */
	{1130, BK_AUTH, 0},                /* host not allowed */
	{1142, BK_AUTH, 0},                /* command denied: table */
	{1143, BK_AUTH, 0},                /* command denied: column */
	{1227, BK_AUTH, 0},                /* privilege missing */
	{1410, BK_AUTH, 0},                /* may not create users by GRANT */
	{1820, BK_AUTH, 0},                /* password expired */
	{1862, BK_AUTH, 0},
	{4151, BK_AUTH, 0}, /* account locked (MariaDB) */
	{3118, BK_AUTH, 0}, /* account locked (MySQL) */
	{1524, BK_AUTH, 0}, /* authentication plugin not loaded */
	{CR_AUTH_PLUGIN_CANNOT_LOAD, BK_AUTH, 0},
	{CR_AUTH_PLUGIN_ERR, BK_AUTH, 0},
	{1049, BK_NOT_FOUND, 0},              /* unknown database */
	{1007, BK_EXISTS, 0},                 /* create: database exists */
	{1008, BK_NOT_FOUND, 0},              /* drop: no such database */
	{1146, BK_STATE, 0},                  /* no such table: make() was not called */
	{1040, BK_UNAVAILABLE, BK_ERR_RETRY}, /* too many connections */
	{1203, BK_UNAVAILABLE, BK_ERR_RETRY}, /* the account has too many */
	{1226, BK_UNAVAILABLE, BK_ERR_RETRY}, /* the account is over a limit */
	{1053, BK_UNAVAILABLE, BK_ERR_RETRY}, /* shutdown in progress */
	{1927, BK_UNAVAILABLE, 0},            /* killed (MariaDB) */
	{1317, BK_CANCELLED, 0},              /* KILL QUERY */
	{1969, BK_TIMEOUT, 0},                /* max_statement_time (MariaDB) */
	{3024, BK_TIMEOUT, 0},                /* max_execution_time (MySQL) */
	{1021, BK_NO_SPACE, 0},               /* disk full */
	{1114, BK_NO_SPACE, 0},               /* table full: InnoDB could not extend */
	{1153, BK_TOO_LARGE, 0},              /* packet too large */
	{1301, BK_TOO_LARGE, 0},              /* result over max_allowed_packet */
	{1406, BK_TOO_LARGE, 0},              /* data too long for the column */
	{1118, BK_TOO_LARGE, 0},              /* row size */
	{1071, BK_TOO_LARGE, 0},              /* key too long */
	{CR_NET_PACKET_TOO_LARGE, BK_TOO_LARGE, 0},
	{1290, BK_AUTH, 0},    /* the server runs read-only or without an option */
	{1792, BK_INVALID, 0}, /* a write in a READ ONLY transaction */
	{1836, BK_AUTH, 0},    /* read-only mode */
	{1037, BK_NOMEM, 0},
	{1038, BK_NOMEM, 0},
	{1041, BK_NOMEM, 0},
	{CR_OUT_OF_MEMORY, BK_NOMEM, 0},
	{1034, BK_CORRUPT, 0},
	{1194, BK_CORRUPT, 0},
	{1712, BK_CORRUPT, 0},
	{1064, BK_INTERNAL, 0},               /* syntax: ours is wrong */
	{1461, BK_UNAVAILABLE, BK_ERR_RETRY}, /* max_prepared_stmt_count */
	{CR_CONNECTION_ERROR, BK_UNAVAILABLE, BK_ERR_RETRY},
	{CR_CONN_HOST_ERROR, BK_UNAVAILABLE, BK_ERR_RETRY},
	{CR_UNKNOWN_HOST, BK_UNAVAILABLE, 0},
	{CR_SSL_CONNECTION_ERROR, BK_UNAVAILABLE, 0},
	{CR_SERVER_GONE_ERROR, BK_UNAVAILABLE, 0},
	{CR_SERVER_LOST, BK_UNAVAILABLE, 0},
	{2055, BK_UNAVAILABLE, 0}, /* lost, with the system's reason */
	{CR_MALFORMED_PACKET, BK_UNAVAILABLE, 0},
	{CR_SERVER_HANDSHAKE_ERR, BK_UNAVAILABLE, 0},
};

bool my_lost(unsigned code)
{
	return code == CR_SERVER_GONE_ERROR || code == CR_SERVER_LOST || code == 2055 ||
	       code == 1053 || code == 1927 || code == CR_MALFORMED_PACKET;
}

/* 1030 and friends carry the system's or the engine's number: "Got error 28 ...", "errno: 28". */
static bk_status by_errno(const char *message, bk_status otherwise)
{
	const char *p = strstr(message, "errno: ");

	p = p ? p + 7 : strstr(message, "Got error ");
	if (p && *p == 'G')
		p += 10;
	if (!p)
		return otherwise;
	switch (atoi(p)) {
	case 28:  /* ENOSPC */
	case 122: /* EDQUOT */
	case 135: /* HA_ERR_RECORD_FILE_FULL */
		return BK_NO_SPACE;
	case 126: /* HA_ERR_CRASHED */
		return BK_CORRUPT;
	case 12: /* ENOMEM */
	case 128:
		return BK_NOMEM;
	default:
		return otherwise;
	}
}

static const struct mapping *find(unsigned code)
{
	size_t i;

	for (i = 0; i < sizeof(mappings) / sizeof(*mappings); i++) {
		if (mappings[i].code == code)
			return &mappings[i];
	}
	return NULL;
}

void my_mask(char *text, struct bk_slice secret)
{
	char *p = text, *end = text + strlen(text);

	if (secret.len < 4) /* a shorter one would only garble the message */
		return;
	while ((p = memmem(p, (size_t)(end - p), secret.data, secret.len)) != NULL) {
		memset(p, '*', secret.len);
		p += secret.len;
	}
}

bk_status my_fail(struct bk_error *err, const struct bk_store *store, unsigned code,
		  const char *sqlstate, const char *message, const char *what)
{
	const struct mapping *m = find(code);
	bk_status st = m ? m->status : by_errno(message, BK_IO);

	bk_fail(err, st, (int64_t)code, "mysql: %s: %s (error %u, SQLSTATE %s)", what, message,
		code, sqlstate);
	err->flags = m ? m->flags : 0;
	snprintf(err->sqlstate, sizeof(err->sqlstate), "%s", sqlstate);
	if (store && store->target.password)
		my_mask(err->message, bk_slice_str(store->target.password));
	return st;
}

bk_status my_fail_conn(struct bk_error *err, const struct bk_store *store, MYSQL *conn,
		       const char *what)
{
	return my_fail(err, store, mysql_errno(conn), mysql_sqlstate(conn), mysql_error(conn),
		       what);
}

bk_status my_nomem(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "mysql: out of memory");
}
