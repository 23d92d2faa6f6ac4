/*
 * backend.c - the descriptor and the options: what the harness sees first.
 *
 * The invariant: all values come from the option struct, which the harness has filled in and
 * checked.
 */
#include "pg.h"

static const char *const opt_layouts[] = {"relational", "document", NULL};
static const char *const opt_binaries[] = {"bytea", "large-object", NULL};

const struct bk_option pg_option_table[] = {
	BK_OPTION_STR(struct pg_options, url, "url", NULL,
		      "the server: postgresql://user:password@host:port/database?parameters",
		      .env = "BAKEOFF_POSTGRESQL_URL", .flags = BK_OPTF_URL | BK_OPTF_SECRET),
	BK_OPTION_STR(struct pg_options, host, "host", NULL,
		      "host name, address, or the folder of the server's socket", .env = "PGHOST"),
	BK_OPTION_STR(struct pg_options, port, "port", NULL,
		      "port (default: that of the URL, else 5432)", .env = "PGPORT"),
	BK_OPTION_STR(struct pg_options, database, "database", NULL,
		      "database (default: that of the URL, else postgres)", .env = "PGDATABASE"),
	BK_OPTION_STR(struct pg_options, user, "user", NULL, "role to connect as", .env = "PGUSER"),
	BK_OPTION_STR(struct pg_options, password, "password", NULL, "the role's password",
		      .env = "PGPASSWORD", .flags = BK_OPTF_SECRET),
	BK_OPTION_STR(struct pg_options, passfile, "passfile", NULL,
		      "file of passwords, mode 0600, as libpq reads it", .env = "PGPASSFILE"),
	BK_OPTION_STR(struct pg_options, sslmode, "sslmode", NULL,
		      "disable, allow, prefer, require, verify-ca or verify-full",
		      .env = "PGSSLMODE"),
	BK_OPTION_USEC(struct pg_options, connect_timeout_us, "connect-timeout", "10s",
		       "time for the server to take a connection", .min = 100000,
		       .max = INT64_C(3600000000)),
	BK_OPTION_ENUM(struct pg_options, layout, "layout", "relational", opt_layouts,
		       "tables: nodes and links in rows of their own, or one row a node with "
		       "links, children and referrers inside, as published"),
	BK_OPTION_ENUM(struct pg_options, binaries, "binaries", "bytea", opt_binaries,
		       "binaries as rows of 256 KiB, or as large objects"),
	BK_OPTION_STR(struct pg_options, bin_dir, "bin-dir", NULL,
		      "folder of the server programs, where several versions are installed"),
	BK_OPTION_STR(struct pg_options, shared_buffers, "shared-buffers", NULL,
		      "the server's page cache, as PostgreSQL writes it: 512MB"),
	BK_OPTION_STR(struct pg_options, max_wal_size, "max-wal-size", NULL,
		      "log between two checkpoints, as PostgreSQL writes it: 4GB"),
	BK_OPTION_STR(struct pg_options, max_connections, "max-connections", NULL,
		      "connections that the server takes"),
	BK_OPTION_END,
};

static const char *const opt_schemes[] = {"postgresql", "postgres", NULL};

static const struct bk_backend pg_backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "postgresql",
	.version = "0.1.0",
	.summary = "nodes and binaries in PostgreSQL, relational or one document a node",
	.native = PG_NATIVE_FEATURES,
	.options = pg_option_table,
	.options_size = sizeof(struct pg_options),
	.store = &pg_store_ops,
	.session = &pg_session_ops,
	.txn = &pg_txn_ops,
	.node = &pg_node_ops,
	.binary = &pg_binary_ops,
	.place = &pg_place_ops,
	.service = &pg_service,
	.schemes = opt_schemes,
};

BK_EXPORT const struct bk_backend *bk_backend(void);
BK_EXPORT const struct bk_backend *bk_backend(void)
{
	return &pg_backend;
}
