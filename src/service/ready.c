/*
 * ready.c - knowing when a process is up.
 *
 * The one invariant: a sign counts only if our own process gave it; one left by an earlier
 * process of another pid does not.
 */
#include "service/keeper.h"

#include "service/net.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define RDY_LOOK_MS    4 /* between looks at a file or a port */
#define RDY_COMMAND_MS 50

int bk_keeper_notify_socket(struct bk_keeper *k, char **path)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	const struct bk_identity *id = &k->run->identity;
	int fd;

	/* A file in the private folder: an abstract name would be open to every local user. */
	if (snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/notify", k->run_folder) >=
	    (int)sizeof(sun.sun_path))
		return -1;
	unlink(sun.sun_path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0 &&
	    (!id->drop || chown(sun.sun_path, id->uid, id->gid) == 0)) {
		*path = strdup(sun.sun_path);
		if (*path)
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool rdy_notified(int fd)
{
	char text[4096];
	bool ready = false;
	ssize_t n;
	char *line, *save = NULL;

	while (fd >= 0 && (n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) >= 0) {
		text[n] = '\0';
		for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
			ready = ready || strcmp(line, "READY=1") == 0;
	}
	return ready;
}

static char *rdy_trim(char *line)
{
	size_t len;

	line += strspn(line, " \t");
	len = strlen(line);
	while (len > 0 && strchr(" \t\r\n", line[len - 1]))
		line[--len] = '\0';
	return line;
}

static bool rdy_file_says(struct bk_keeper *k, const struct bk_server *server)
{
	struct bk_error ignored = bk_error_init();
	bool ours = false, says = false;
	char line[512], *path = NULL;
	uint32_t n = 0;
	FILE *f = NULL;

	if (bk_expand_new(&path, server->desc->ready_file, &k->run->values, 0, &ignored) == BK_OK)
		f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		n++;
		if (n == 1)
			ours = strtol(line, NULL, 10) == (long)server->pid;
		if (n == server->desc->ready_line)
			says = strcmp(rdy_trim(line), server->desc->ready_text) == 0;
	}
	if (f)
		fclose(f);
	free(path);
	return ours && says;
}

static bool rdy_connects(struct bk_keeper *k)
{
	const struct bk_values *v = &k->run->values;
	const char *socket = bk_values_get(v, "socket"), *port = bk_values_get(v, "port");

	if (k->run->mask & BK_WHEN_TCP)
		return bk_net_connects(bk_values_get(v, "host"), (uint16_t)strtoul(port, NULL, 10));
	return bk_net_connects_unix(socket);
}

static bool rdy_command_says(struct bk_keeper *k, const struct bk_process *p)
{
	struct bk_error ignored = bk_error_init();
	struct bk_buf text = BK_BUF_INIT;
	int status = 0;
	bool says = bk_keeper_run(k, &status, &text, p->ready_argv, NULL, UINT64_C(10000000000),
				  &ignored) == BK_OK &&
		    status == 0 && (!p->ready_text || strstr(bk_buf_str(&text), p->ready_text));

	bk_buf_free(&text);
	return says;
}

static bool rdy_look(struct bk_keeper *k, const struct bk_server *server, int notify)
{
	uint32_t how = server->desc->ready;

	if ((how & BK_READY_NOTIFY) && rdy_notified(notify))
		return true;
	if ((how & BK_READY_FILE) && rdy_file_says(k, server))
		return true;
	if ((how & BK_READY_CONNECT) && rdy_connects(k))
		return true;
	return (how & BK_READY_COMMAND) && rdy_command_says(k, server->desc);
}

bk_status bk_keeper_await_ready(struct bk_keeper *k, struct bk_server *server, int notify,
				struct bk_error *err)
{
	struct pollfd p = {.fd = notify, .events = POLLIN};
	int pause_ms = -1;
	char what[64];
	bk_status st;

	if (server->desc->ready & (BK_READY_FILE | BK_READY_CONNECT))
		pause_ms = RDY_LOOK_MS;
	else if (server->desc->ready & BK_READY_COMMAND)
		pause_ms = RDY_COMMAND_MS;
	snprintf(what, sizeof(what), "starting %s", server->desc->name);
	for (;;) {
		uint64_t now = bk_service_now_ns();
		int left_ms =
			now < k->deadline_ns ? (int)((k->deadline_ns - now) / 1000000) + 1 : 0;

		if (bk_keeper_ended(k)) { /* this one, or one that it needs */
			bk_keeper_describe_end(k, bk_keeper_ended(k), err);
			return err->status;
		}
		if (server->desc->ready == 0 || rdy_look(k, server, notify))
			return BK_OK;
		st = bk_keeper_check(k, what, err);
		if (st != BK_OK)
			return st;
		bk_keeper_wait(k, notify >= 0 ? &p : NULL,
			       pause_ms >= 0 && pause_ms < left_ms ? pause_ms : left_ms);
	}
}
