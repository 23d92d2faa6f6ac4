/*
 * service.c - a private redis-server, as data.
 */
#include "rediskv.h"

#include <signal.h>

#define CONF_COMMON                                                                                \
	"dir {data}\nunixsocket {socket}\nunixsocketperm 700\nsupervised auto\n"                   \
	"save 3600 1\nappendonly no\ndaemonize no\n"

static const char *const programs[] = {"redis-server", "redis-cli", NULL};
static const char *const search[] = {"/usr/local/bin", "/opt/redis*/bin", NULL};
static const char *const users[] = {"redis", NULL};

static const struct bk_setting files[] = {
	{"redis.conf", CONF_COMMON "port 0\n", BK_WHEN_SOCKET},
	{"redis.conf", CONF_COMMON "bind {host}\nport {port}\nrequirepass {password}\n",
	 BK_WHEN_TCP},
	{NULL},
};

static const char *const server_argv[] = {"redis-server", "{run}/redis.conf", NULL};
static const struct bk_process processes[] = {
	{
		.name = "redis-server",
		.argv = server_argv,
		.setting_argv = "--{key} {value}",
		.ready = BK_READY_NOTIFY | BK_READY_CONNECT,
		.stop_signal = SIGTERM,
	},
	{.name = NULL},
};

static const struct bk_pair options[] = {{"maxmemory", "maxmemory"}, {NULL}};
static const struct bk_setting settings[] = {
	{"databases", "4", BK_WHEN_TEST},
	{NULL},
};
static const struct bk_setting reach[] = {
	{"socket", "{socket}", BK_WHEN_SOCKET},
	{"host", "{host}", BK_WHEN_TCP},
	{"port", "{port}", BK_WHEN_TCP},
	{"password", "{password}", BK_WHEN_TCP},
	{NULL},
};
static const struct bk_setting env[] = {
	{"REDISCLI_*", NULL},
	{"REDISCLI_AUTH", "{password}", BK_WHEN_TCP},
	{NULL},
};

static const char *const load_socket[] = {"redis-cli", "-e", "-s", "{socket}", NULL};
static const char *const load_tcp[] = {"redis-cli", "-e", "-h", "{host}", "-p", "{port}", NULL};
static const struct bk_command load[] = {
	{.argv = load_socket, .when = BK_WHEN_SOCKET},
	{.argv = load_tcp, .when = BK_WHEN_TCP},
	{.argv = NULL},
};

const struct bk_service rkv_service = {
	.struct_size = sizeof(struct bk_service),
	.flags = BK_SERVICE_COPY,
	.programs = programs,
	.search = search,
	.users = users,
	.processes = processes,
	.settings = settings,
	.options = options,
	.reach = reach,
	.env = env,
	.files = files,
	.load = load,
	.socket = "{run}/redis.sock",
	.url_tcp = "redis://:{password}@{host}:{port}/0",
};
