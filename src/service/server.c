/*
 * server.c - the processes of a service: started in order, stopped in the opposite order.
 *
 * The one invariant: after bk_keeper_stop() no process of the server is left, nor any that it
 * started: the keeper is the reaper of all of them and kills what remains.
 */
#include "service/keeper.h"

#include "service/net.h"
#include "service/proc.h"
#include "service/segments.h"
#include "service/spawn.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SRV_TRIES_TCP 3

void bk_keeper_describe_end(struct bk_keeper *k, const struct bk_server *server,
			    struct bk_error *err)
{
	char how[64], tail[400];

	bk_keeper_log_line(tail, sizeof(tail), k, server->log_path, server->log_from);
	bk_fail(err, BK_UNAVAILABLE, 0, "the server process %s ended with %s%s: %s",
		server->desc->name, bk_spawn_describe(how, sizeof(how), server->status),
		k->up ? "" : " before it was ready", tail[0] ? tail : "(its log is empty)");
}

/* -c key=value for each setting that applies, and for each option of the backend that is one. */
static bk_status srv_put_setting(struct bk_keeper *k, char ***argv, size_t *count, const char *form,
				 const char *key, const char *value, struct bk_error *err)
{
	struct bk_values with = {0};
	char **more = realloc(*argv, (*count + 2) * sizeof(**argv)), *text = NULL;
	bk_status st = bk_expand_new(&text, value, &k->run->values, 0, err);

	if (more)
		*argv = more;
	if (st == BK_OK &&
	    (!more || !bk_values_set(&with, "key", key) || !bk_values_set(&with, "value", text)))
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st == BK_OK)
		st = bk_expand_new(&more[*count], form, &with, 0, err);
	if (st == BK_OK)
		more[++*count] = NULL;
	free(text);
	bk_values_free(&with);
	return st;
}

static bk_status srv_argv(char ***out, struct bk_keeper *k, const struct bk_process *p,
			  struct bk_error *err)
{
	const struct bk_service *service = k->run->service;
	const struct bk_setting *s = service->settings;
	const struct bk_pair *o;
	char **argv = NULL;
	size_t count = 0, i;
	bk_status st = bk_expand_argv(&argv, p->argv, &k->run->values, err);

	while (st == BK_OK && argv[count])
		count++;
	for (i = 0; st == BK_OK && p->setting_argv && s && s[i].key; i++) {
		if (bk_setting_counts(s, i, k->run->mask))
			st = srv_put_setting(k, &argv, &count, p->setting_argv, s[i].key,
					     s[i].value, err);
	}
	for (o = service->options; st == BK_OK && p->setting_argv && o && o->key; o++) {
		char *value = bk_service_setting_text(k->run->options, o->key);

		if (value)
			st = srv_put_setting(k, &argv, &count, p->setting_argv, o->value, value,
					     err);
		free(value);
	}
	if (st != BK_OK) {
		bk_strings_free(argv);
		return st;
	}
	*out = argv;
	return BK_OK;
}

static bk_status srv_open_log(struct bk_server *server, struct bk_keeper *k, int *out,
			      struct bk_error *err)
{
	struct bk_buf path = BK_BUF_INIT;
	struct stat sb;
	int fd;

	if (!server->log_path) {
		bk_buf_putf(&path, "%s/log/%s.log", k->run->folder, server->desc->name);
		server->log_path = bk_buf_steal(&path);
		if (!server->log_path)
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	fd = open(server->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return bk_fail(err, bk_fs_status(errno), errno, "cannot write %s: %s",
			       server->log_path, strerror(errno));
	server->log_from = fstat(fd, &sb) == 0 ? sb.st_size : 0;
	*out = fd;
	return BK_OK;
}

static bk_status srv_spawn(struct bk_keeper *k, struct bk_server *server, const char *notify,
			   struct bk_error *err)
{
	struct bk_spawn spawn = {.cwd = k->run_folder, .in = -1, .out = -1, .err = -1};
	struct bk_identity identity = k->run->identity;
	char **argv = NULL, **env = NULL;
	bk_status st = srv_argv(&argv, k, server->desc, err);

	identity.map_nobody = false; /* a server needs no entry in the user database */
	if (st == BK_OK)
		st = bk_programs_resolve(&k->run->programs, argv, err);
	if (st == BK_OK)
		st = bk_keeper_environment(&env, k, notify, err);
	if (st == BK_OK)
		st = srv_open_log(server, k, &spawn.out, err);
	if (st == BK_OK) {
		spawn.in = open("/dev/null", O_RDONLY | O_CLOEXEC);
		spawn.path = argv[0];
		spawn.argv = argv;
		spawn.env = env;
		spawn.identity = &identity;
		spawn.death_signal =
			server->desc->drop_signal ? (int)server->desc->drop_signal : SIGKILL;
		st = bk_spawn(&server->pid, &server->pidfd, &spawn, err);
	}
	if (st == BK_OK) {
		server->last_pid = server->pid;
		server->start = bk_proc_start(server->pid);
		server->ended = false;
	}
	if (spawn.in >= 0)
		close(spawn.in);
	if (spawn.out >= 0)
		close(spawn.out);
	bk_strings_free(argv);
	bk_strings_free(env);
	return st;
}

static bk_status srv_start_one(struct bk_keeper *k, struct bk_server *server, bool before,
			       struct bk_error *err)
{
	char *path = NULL;
	int notify = -1;
	bk_status st = BK_OK;

	if (before)
		st = bk_keeper_commands(k, server->desc->before, false, err);
	if (st == BK_OK && (server->desc->ready & BK_READY_NOTIFY))
		notify = bk_keeper_notify_socket(k, &path);
	if (st == BK_OK)
		st = srv_spawn(k, server, path, err);
	if (st == BK_OK)
		st = bk_keeper_save_state(k, err); /* a sweep must find it from now on */
	if (st == BK_OK)
		st = bk_keeper_await_ready(k, server, notify, err);
	if (st == BK_OK)
		bk_segments_note(k->shm_files, server->pid);
	if (notify >= 0)
		close(notify);
	if (path)
		unlink(path);
	free(path);
	return st;
}

static bk_status srv_choose_ports(struct bk_keeper *k, struct bk_error *err)
{
	static const char *const names[BK_SERVICE_PORTS] = {"port", "port2", "port3", "port4"};
	const struct bk_service *service = k->run->service;
	uint16_t ports[BK_SERVICE_PORTS];
	char host[16], text[16];
	bk_status st;
	size_t i;

	st = bk_net_host(host,
			 (service->flags & BK_SERVICE_LOCALHOST) || !(k->run->mask & BK_WHEN_TCP),
			 err);
	if (st == BK_OK)
		st = bk_net_ports(ports, BK_SERVICE_PORTS, host, err);
	if (st == BK_OK && !bk_values_set(&k->run->values, "host", host))
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (i = 0; st == BK_OK && i < BK_SERVICE_PORTS; i++) {
		snprintf(text, sizeof(text), "%u", (unsigned)ports[i]);
		if (!bk_values_set(&k->run->values, names[i], text))
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	return st;
}

/* Somebody else took a port between our look and the server's bind. */
static bool srv_lost_port(const struct bk_keeper *k)
{
	const char *port = bk_values_get(&k->run->values, "port");

	return (k->run->mask & BK_WHEN_TCP) &&
	       !bk_net_port_is_free(bk_values_get(&k->run->values, "host"),
				    (uint16_t)strtoul(port, NULL, 10));
}

/* What an earlier process that did not end well left: its pid file, its sockets. */
static void srv_clear_traces(struct bk_keeper *k)
{
	struct bk_error ignored = bk_error_init();
	char *path;
	size_t i;

	for (i = 0; i < k->server_count; i++) {
		const char *file = k->servers[i].desc->ready_file;

		if (file && bk_expand_new(&path, file, &k->run->values, 0, &ignored) == BK_OK) {
			unlink(path);
			free(path);
		}
	}
	bk_keeper_clear_run(k);
}

struct bk_server *bk_keeper_ended(struct bk_keeper *k)
{
	size_t i;

	for (i = 0; i < k->server_count; i++) {
		if (k->servers[i].pid == 0 && k->servers[i].last_pid != 0)
			return &k->servers[i];
	}
	return NULL;
}

static bk_status srv_start_all(struct bk_keeper *k, uint32_t how, struct bk_error *err)
{
	bk_status st = BK_OK;
	size_t i;

	srv_clear_traces(k);
	st = bk_keeper_write_files(k, err);
	for (i = 0; i < k->server_count; i++)
		k->servers[i].last_pid = 0;
	for (i = 0; st == BK_OK && i < k->server_count; i++)
		st = srv_start_one(k, &k->servers[i], (how & BK_START_DATA) && !k->run->template,
				   err);
	return st;
}

bk_status bk_keeper_start(struct bk_keeper *k, uint32_t how, struct bk_error *err)
{
	bk_status st = BK_OK;
	int tries;

	for (tries = 1;; tries++) {
		if (how & BK_START_PORTS)
			st = srv_choose_ports(k, err);
		if (st == BK_OK && (how & BK_START_DATA) && tries == 1) {
			st = bk_keeper_write_files(k, err); /* init may want them */
			if (st == BK_OK)
				st = bk_keeper_fill_data(k, err);
		}
		if (st == BK_OK)
			st = srv_start_all(k, how, err);
		st = bk_keeper_end_late(k, st, err);
		if (st != BK_UNAVAILABLE || !(how & BK_START_PORTS) || tries == SRV_TRIES_TCP ||
		    !srv_lost_port(k))
			break;
		bk_keeper_stop(k, false);
	}
	if (st == BK_OK && (how & BK_START_DATA))
		st = bk_keeper_commands(k, k->run->service->after, k->run->template != NULL, err);
	if (st == BK_OK) {
		k->up = true;
		st = bk_keeper_save_state(k, err);
	}
	return st;
}
