/*
 * service.c - a private PostgreSQL, as data.
 *
 * The invariant: the socket's folder is closed to everybody else, so who gets there is trusted;
 * over TCP only the password counts, which no command line and no log of the server ever holds.
 */
#include "pg.h"

#include <signal.h>

#define SVC_SOCKET_PORT "5432" /* with a socket only: part of its file's name, nothing else */

static const char *const svc_programs[] = {"postgres", "initdb", "psql", NULL};
static const char *const svc_search[] = {"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",
					 "/usr/local/pgsql/bin", "/opt/postgresql*/bin", NULL};
static const char *const svc_users[] = {"postgres", NULL};

static const char *const svc_initdb[] = {"initdb",
					 "--pgdata={data}",
					 "--username={user}",
					 "--encoding=UTF8",
					 "--auth-local=trust",
					 "--auth-host=scram-sha-256",
					 "--no-sync",
					 NULL};
static const struct bk_command svc_init[] = {{.argv = svc_initdb}, {.argv = NULL}};

static const char *const svc_postgres[] = {"postgres", "-D", "{data}", NULL};
static const struct bk_process svc_processes[] = {
	{
		.name = "postgres",
		.argv = svc_postgres,
		.setting_argv = "-c{key}={value}",
		.ready = BK_READY_NOTIFY | BK_READY_FILE,
		.ready_file = "{data}/postmaster.pid",
		.ready_line = 8,
		.ready_text = "ready",
		.stop_signal = SIGINT,
		.drop_signal = SIGQUIT,
	},
	{.name = NULL},
};

/* Every server has a password of its own, also those that are copies of one template. */
static const char *const svc_psql[] = {"psql", "-XqAt",  "-h", "{run}",    "-p", "{port}",
				       "-U",   "{user}", "-d", "postgres", "-v", "ON_ERROR_STOP=1",
				       "-f",   "-",      NULL};
static const struct bk_command svc_after[] = {
	{
		.argv = svc_psql,
		.stdin_text = "ALTER ROLE \"{user}\" PASSWORD '{password}';\n",
		.when = BK_WHEN_TCP,
	},
	{.argv = NULL},
};

/* What made the template fills most of a segment of the log, which each copy would copy: the next
 * one is begun, and the old one goes at the shutdown (wal_recycle). */
static const char *const svc_psql_local[] = {
	"psql", "-XqAt",  "-h", "{run}",    "-p", SVC_SOCKET_PORT,
	"-U",   "{user}", "-d", "postgres", "-v", "ON_ERROR_STOP=1",
	"-f",   "-",      NULL};
static const struct bk_command svc_seal[] = {
	{.argv = svc_psql_local, .stdin_text = "SELECT pg_switch_wal();\n"},
	{.argv = NULL},
};

/* `test` is as quick as it gets; `bench` is the server's own defaults.  Durability comes last: it
 * overrides. */
static const struct bk_setting svc_settings[] = {
	{"unix_socket_directories", "{run}", 0},
	{"unix_socket_permissions", "0700", 0},
	{"listen_addresses", "", BK_WHEN_SOCKET},
	{"listen_addresses", "{host}", BK_WHEN_TCP},
	{"port", SVC_SOCKET_PORT, BK_WHEN_SOCKET},
	{"port", "{port}", BK_WHEN_TCP},
	{"password_encryption", "scram-sha-256", 0},
	{"log_statement", "none", 0},
	{"log_min_error_statement", "panic", 0}, /* a failing statement may quote anything */
	{"shared_buffers", "32MB", BK_WHEN_TEST},
	/* in {data}, which goes as a whole: killed, a server leaves its files of /dev/shm behind */
	{"dynamic_shared_memory_type", "mmap", BK_WHEN_TEST},
	/* on tmpfs a segment of zeros written ahead only costs time, at every start */
	{"wal_init_zero", "off", BK_WHEN_TEST},
	{"wal_recycle", "off", BK_WHEN_TEST},
	{"wal_level", "minimal", BK_WHEN_TEST},
	{"max_wal_senders", "0", BK_WHEN_TEST},
	{"fsync", "on", BK_WHEN_MACHINE},
	{"fsync", "off", BK_WHEN_PROCESS | BK_WHEN_NONE},
	{"full_page_writes", "on", BK_WHEN_MACHINE},
	{"full_page_writes", "off", BK_WHEN_TEST | BK_WHEN_NONE},
	{"synchronous_commit", "on", BK_WHEN_MACHINE | BK_WHEN_PROCESS},
	{"synchronous_commit", "off", BK_WHEN_NONE},
	{.key = NULL},
};

static const struct bk_pair svc_options[] = {
	{"shared-buffers", "shared_buffers"},
	{"max-wal-size", "max_wal_size"},
	{"max-connections", "max_connections"},
	{.key = NULL},
};

static const struct bk_setting svc_reach[] = {
	{"host", "{run}", BK_WHEN_SOCKET},
	{"port", SVC_SOCKET_PORT, BK_WHEN_SOCKET},
	{"host", "{host}", BK_WHEN_TCP},
	{"port", "{port}", BK_WHEN_TCP},
	{"password", "{password}", BK_WHEN_TCP},
	{"user", "{user}", 0},
	{"database", "{database}", 0},
	{"database", "postgres", BK_WHEN_ADMIN},
	{.key = NULL},
};

static const struct bk_setting svc_env[] = {
	{"PG*", NULL, 0},
	{"PGHOST", "{run}", BK_WHEN_SOCKET},
	{"PGPORT", SVC_SOCKET_PORT, BK_WHEN_SOCKET},
	{"PGHOST", "{host}", BK_WHEN_TCP},
	{"PGPORT", "{port}", BK_WHEN_TCP},
	{"PGUSER", "{user}", 0},
	{"PGDATABASE", "{database}", 0},
	{"PGPASSFILE", "{run}/pgpass", BK_WHEN_TCP},
	{.key = NULL},
};

static const struct bk_setting svc_files[] = {
	{"pgpass", "*:*:*:{user}:{password}\n", BK_WHEN_TCP},
	{.key = NULL},
};

static const char *const svc_load_argv[] = {"psql", "-Xq", "-v", "ON_ERROR_STOP=1",
					    "-f",   "-",   NULL};
static const struct bk_command svc_load[] = {{.argv = svc_load_argv}, {.argv = NULL}};

/* A server that was shut down cleanly reads no table before somebody connects; it looks through
 * the folder for temporary files alone. */
static const char *const svc_late[] = {"base", NULL};

const struct bk_service pg_service = {
	.struct_size = sizeof(struct bk_service),
	.flags = BK_SERVICE_COPY | BK_SERVICE_SQL,
	.programs = svc_programs,
	.search = svc_search,
	.users = svc_users,
	.init = svc_init,
	.processes = svc_processes,
	.after = svc_after,
	.settings = svc_settings,
	.options = svc_options,
	.reach = svc_reach,
	.env = svc_env,
	.files = svc_files,
	.load = svc_load,
	.socket = "{run}",
	.url_socket = "postgresql://{user}@/{database}?host={run}&port=" SVC_SOCKET_PORT,
	.url_tcp = "postgresql://{user}:{password}@{host}:{port}/{database}",
	.late = svc_late,
	.seal = svc_seal,
};
