/*
 * service.c - a private server, as data: MariaDB, or else MySQL.
 *
 * Accounts come from an init file, which the server reads as itself before it takes connections, at
 * every start: a copied data folder gets this server's passwords, and none stands in an argument
 * list.  The admin account makes and drops places; its password is the server's {uuid}, which no
 * client is told.
 *
 * The one invariant: nobody gets in without a password but the system's root through the socket.
 */
#include "my.h"

#include <signal.h>

#define ADMIN "bakeoff_admin"

/* One statement a line. */
#define ACCOUNTS(host)                                                                             \
	"CREATE USER IF NOT EXISTS '" ADMIN "'@'" host "' IDENTIFIED BY '{uuid}';\n"               \
	"ALTER USER '" ADMIN "'@'" host "' IDENTIFIED BY '{uuid}';\n"                              \
	"GRANT ALL ON *.* TO '" ADMIN "'@'" host "' WITH GRANT OPTION;\n"                          \
	"ALTER USER IF EXISTS '{user}'@'" host "' IDENTIFIED BY '{password}';\n"

/* What the clients read. */
#define MY_CNF(when, reach)                                                                        \
	{                                                                                          \
		"my.cnf",                                                                          \
			"[client]\n" reach "user={user}\npassword={password}\n"                    \
			"[mysql]\ndatabase={database}\n",                                          \
			when, 0                                                                    \
	}

static const struct bk_setting files[] = {
	{"init.sql", ACCOUNTS("localhost") ACCOUNTS("%"), 0, 0},
	MY_CNF(BK_WHEN_SOCKET, "socket={socket}\n"),
	MY_CNF(BK_WHEN_TCP, "protocol=tcp\nhost={host}\nport={port}\n"),
	{NULL, NULL, 0, 0},
};

static const struct bk_setting env[] = {
	{"MYSQL_*", NULL, 0, 0},
	{"MYSQL_HOME", "{run}", 0, 0},
	{"MYSQL_UNIX_PORT", "{socket}", BK_WHEN_SOCKET, 0},
	{"MYSQL_HOST", "{host}", BK_WHEN_TCP, 0},
	{"MYSQL_TCP_PORT", "{port}", BK_WHEN_TCP, 0},
	{NULL, NULL, 0, 0},
};

static const struct bk_setting reach[] = {
	{"url", "", 0, 0},
	{"tls", "off", 0, 0},
	{"socket", "{socket}", BK_WHEN_SOCKET, 0},
	{"socket", "", BK_WHEN_TCP, 0},
	{"host", "", BK_WHEN_SOCKET, 0},
	{"host", "{host}", BK_WHEN_TCP, 0},
	{"port", "{port}", BK_WHEN_TCP, 0},
	{"database", "{database}", 0, 0},
	{"user", "{user}", 0, 0},
	{"password", "{password}", 0, 0},
	{"database", "", BK_WHEN_ADMIN, 0},
	{"user", ADMIN, BK_WHEN_ADMIN, 0},
	{"password", "{uuid}", BK_WHEN_ADMIN, 0},
	{NULL, NULL, 0, 0},
};

/* Durability belongs to the server's start: see server.c. */
#define COMMON_SETTINGS                                                                            \
	{"skip-name-resolve", "1", 0, 0}, {"character-set-server", "utf8mb4", 0, 0},               \
		{"max-connections", "500", 0, 0}, {"skip-networking", "1", BK_WHEN_SOCKET, 0},     \
		{"skip-networking", "0", BK_WHEN_TCP, 0},                                          \
		{"bind-address", "{host}", BK_WHEN_TCP, 0}, {"port", "{port}", BK_WHEN_TCP, 0},    \
		{"innodb-flush-log-at-trx-commit", "0", BK_WHEN_NONE, 0},                          \
		{"innodb-flush-log-at-trx-commit", "2", BK_WHEN_PROCESS, 0},                       \
		{"innodb-flush-log-at-trx-commit", "1", BK_WHEN_MACHINE, 0},                       \
		{"sync-binlog", "1", BK_WHEN_MACHINE, 0},                                          \
		{"innodb-doublewrite", "0", BK_WHEN_TEST | BK_WHEN_NONE | BK_WHEN_PROCESS, 0},     \
		{"innodb-buffer-pool-size", "32M", BK_WHEN_TEST, 0},                               \
		{"innodb-buffer-pool-size", "128M", BK_WHEN_BENCH, 0},                             \
		{"innodb-buffer-pool-dump-at-shutdown", "0", BK_WHEN_TEST, 0},                     \
		{"innodb-buffer-pool-load-at-startup", "0", BK_WHEN_TEST, 0},                      \
	{                                                                                          \
		"performance-schema", "0", 0, 0                                                    \
	}

static const struct bk_setting mariadb_settings[] = {
	COMMON_SETTINGS,
	{"innodb-log-file-size", "16M", BK_WHEN_TEST, 0},
	{"innodb-log-file-size", "96M", BK_WHEN_BENCH, 0},
	{"aria-pagecache-buffer-size", "8M", BK_WHEN_TEST, 0},
	{"key-buffer-size", "1M", BK_WHEN_TEST, 0},
	{NULL, NULL, 0, 0},
};

static const struct bk_setting other_settings[] = {
	COMMON_SETTINGS,
	{"mysqlx", "0", 0, 0},
	{"disable-log-bin", "1", 0, 0},
	{"secure-file-priv", "{run}", 0, 0}, /* packages name a folder that need not be there */
	{"innodb-redo-log-capacity", "32M", BK_WHEN_TEST, 0},
	{"innodb-redo-log-capacity", "100M", BK_WHEN_BENCH, 0},
	{NULL, NULL, 0, 0},
};

static const struct bk_pair mariadb_options[] = {
	{"buffer-pool", "innodb-buffer-pool-size"},
	{"redo-log", "innodb-log-file-size"},
	{"max-connections", "max-connections"},
	{NULL, NULL},
};
static const struct bk_pair other_options[] = {
	{"buffer-pool", "innodb-buffer-pool-size"},
	{"redo-log", "innodb-redo-log-capacity"},
	{"max-connections", "max-connections"},
	{NULL, NULL},
};

static const char *const users[] = {"mysql", NULL};

/* What both products have in common. */
#define SERVER_ARGV(name)                                                                          \
	name, "--no-defaults", "--datadir={data}", "--socket={socket}",                            \
		"--pid-file={run}/" name ".pid", "--init-file={run}/init.sql"

#define SERVER(server, args)                                                                       \
	{                                                                                          \
		.name = server, .argv = args, .setting_argv = "--{key}={value}",                   \
		.ready = BK_READY_NOTIFY | BK_READY_CONNECT, .stop_signal = SIGTERM                \
	}

#define COMMON_SERVICE                                                                             \
	.flags = BK_SERVICE_COPY | BK_SERVICE_SQL, .users = users, .reach = reach, .env = env,     \
	.socket = "{run}/mysql.sock",                                                              \
	.url_socket = "mysql://{user}:{password}@localhost/{database}?socket={socket}",            \
	.url_tcp = "mysql://{user}:{password}@{host}:{port}/{database}"

/* ---- MySQL ---------------------------------------------------------------------- */

static const char *const other_programs[] = {"mysqld", "mysql", NULL};
static const char *const other_search[] = {"/usr/sbin",       "/usr/libexec",
					   "/opt/mysql*/bin", "/usr/local/mysql*/bin",
					   "/usr/local/bin",  NULL};
static const char *const other_init_argv[] = {"mysqld", "--no-defaults", "--initialize-insecure",
					      "--datadir={data}", NULL};
static const struct bk_command other_init[] = {{.argv = other_init_argv}, {.argv = NULL}};
static const char *const other_argv[] = {SERVER_ARGV("mysqld"), NULL};
static const struct bk_process other_processes[] = {
	SERVER("mysqld", other_argv),
	{.name = NULL},
};
static const struct bk_setting other_files[] = {
	{"init.sql",
	 "ALTER USER 'root'@'localhost' IDENTIFIED BY '{uuid2}';\n" ACCOUNTS("localhost")
		 ACCOUNTS("%"),
	 0, 0},
	MY_CNF(BK_WHEN_SOCKET, "socket={socket}\n"),
	MY_CNF(BK_WHEN_TCP, "protocol=tcp\nhost={host}\nport={port}\n"),
	{NULL, NULL, 0, 0},
};
static const char *const other_load_argv[] = {"mysql", "--defaults-file={run}/my.cnf",
					      "--database={database}", NULL};
static const struct bk_command other_load[] = {{.argv = other_load_argv}, {.argv = NULL}};

static const struct bk_service other_service = {
	.struct_size = sizeof(struct bk_service),
	COMMON_SERVICE,
	.programs = other_programs,
	.search = other_search,
	.init = other_init,
	.processes = other_processes,
	.settings = other_settings,
	.options = other_options,
	.files = other_files,
	.load = other_load,
};

/* ---- MariaDB -----------------------------------------------------------------------------------
 */

static const char *const mariadb_programs[] = {"mariadbd", "mariadb-install-db|mysql_install_db",
					       "mariadb|mysql", NULL};
static const char *const mariadb_search[] = {"/usr/sbin",
					     "/usr/libexec",
					     "/opt/mariadb*/bin",
					     "/opt/mariadb*/scripts",
					     "/usr/local/mariadb*/bin",
					     "/usr/local/mariadb*/scripts",
					     "/usr/local/mysql/bin",
					     "/usr/local/mysql/scripts",
					     NULL};
static const char *const mariadb_init_argv[] = {"mariadb-install-db",
						"--no-defaults",
						"--datadir={data}",
						"--auth-root-authentication-method=socket",
						"--skip-test-db",
						"--skip-name-resolve",
						"--force", /* a host without a name */
						NULL};
static const struct bk_command mariadb_init[] = {{.argv = mariadb_init_argv}, {.argv = NULL}};
static const char *const mariadb_argv[] = {SERVER_ARGV("mariadbd"), NULL};
static const struct bk_process mariadb_processes[] = {
	SERVER("mariadbd", mariadb_argv),
	{.name = NULL},
};
static const char *const mariadb_load_argv[] = {"mariadb", "--defaults-file={run}/my.cnf",
						"--database={database}", NULL};
static const struct bk_command mariadb_load[] = {{.argv = mariadb_load_argv}, {.argv = NULL}};

const struct bk_service my_service = {
	.struct_size = sizeof(struct bk_service),
	COMMON_SERVICE,
	.programs = mariadb_programs,
	.search = mariadb_search,
	.init = mariadb_init,
	.processes = mariadb_processes,
	.settings = mariadb_settings,
	.options = mariadb_options,
	.files = files,
	.load = mariadb_load,
	.alternative = &other_service,
};
