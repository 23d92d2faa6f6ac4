/*
 * backend.c - the mysql backend's descriptor and options.
 *
 * The one invariant: everything here is constant.
 */
#include "my.h"

BK_EXPORT const struct bk_backend *bk_backend(void);

static const char *const tls_choices[] = {"off", "on", "verify", NULL};
static const char *const layout_choices[] = {"relational", "document", NULL};
static const char *const inserts_choices[] = {"auto", "rows", NULL};
static const char *const schemes[] = {"mysql", "mariadb", NULL};

static const struct bk_option options[] = {
	BK_OPTION_STR(struct my_options, url, "url", NULL,
		      "the server: mysql://user:password@host:port/database?socket=PATH&tls=on",
		      .env = "BAKEOFF_MYSQL_URL", .flags = BK_OPTF_URL | BK_OPTF_SECRET),
	BK_OPTION_STR(struct my_options, socket, "socket", NULL,
		      "path of the server's Unix socket; wins over host", .env = "MYSQL_UNIX_PORT"),
	BK_OPTION_STR(struct my_options, host, "host", NULL, "name or address of the server",
		      .env = "MYSQL_HOST"),
	BK_OPTION_U64(struct my_options, port, "port", NULL, "TCP port; 3306 unless set",
		      .env = "MYSQL_TCP_PORT", .max = 65535),
	BK_OPTION_STR(struct my_options, database, "database", NULL,
		      "database that holds the store's tables; it must exist",
		      .env = "BAKEOFF_MYSQL_DATABASE"),
	BK_OPTION_STR(struct my_options, user, "user", NULL,
		      "account; unless set the one of the system's user",
		      .env = "BAKEOFF_MYSQL_USER"),
	BK_OPTION_STR(struct my_options, password, "password", NULL, "password of the account",
		      .env = "MYSQL_PWD", .flags = BK_OPTF_SECRET),
	BK_OPTION_ENUM(struct my_options, tls, "tls", "off", tls_choices,
		       "off, on (encrypted or refused), verify (and the certificate checked)"),
	BK_OPTION_STR(struct my_options, tls_ca, "tls-ca", NULL,
		      "file with the certificates to trust, PEM; unless set the system's"),
	BK_OPTION_USEC(struct my_options, connect_timeout_us, "connect-timeout", "10s",
		       "longest wait for a connection", .min = 1, .max = 3600000000),
	BK_OPTION_ENUM(struct my_options, layout, "layout", "relational", layout_choices,
		       "relational: tables for nodes and links; document: one row a node"),
	BK_OPTION_BYTES(struct my_options, chunk_bytes, "chunk", "256KiB",
			"bytes of a binary in one row", .min = 4096, .max = 4194304),
	BK_OPTION_ENUM(struct my_options, inserts, "inserts", "auto", inserts_choices,
		       "many rows at once: auto (array binding if it is to be had), rows (VALUES "
		       "lists)"),
	BK_OPTION_STR(struct my_options, bin_dir, "bin-dir", NULL,
		      "folder with the programs of a private server"),
	BK_OPTION_STR(struct my_options, buffer_pool, "buffer-pool", NULL,
		      "private server: InnoDB's cache, as the server writes it: 512M"),
	BK_OPTION_STR(struct my_options, redo_log, "redo-log", NULL,
		      "private server: size of InnoDB's redo log, as the server writes it: 1G"),
	BK_OPTION_STR(struct my_options, max_connections, "max-connections", NULL,
		      "private server: connections that it takes"),
	BK_OPTION_END,
};

static const struct bk_backend backend = {
	.magic = BK_MAGIC,
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.struct_size = sizeof(struct bk_backend),
	.threads = BK_THREADS_PARALLEL,
	.name = "mysql",
	.version = "0.1.0",
	.summary = "nodes and binaries in MariaDB or MySQL (InnoDB)",
	.native = MY_NATIVE,
	.options = options,
	.options_size = sizeof(struct my_options),
	.store = &my_store_ops,
	.session = &my_session_ops,
	.txn = &my_txn_ops,
	.node = &my_node_ops,
	.binary = &my_binary_ops,
	.place = &my_place_ops,
	.service = &my_service,
	.schemes = schemes,
};

const struct bk_backend *bk_backend(void)
{
	return &backend;
}
