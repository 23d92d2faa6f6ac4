/*
 * command.c - the programs that a service runs besides its server: to make the data, to make
 * accounts.
 */
#include "service/keeper.h"

#include "service/spawn.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CMD_OUTPUT_MAX ((size_t)1 << 20)
#define CMD_RETRIES    5
#define CMD_PAUSE_NS   UINT64_C(200000000)

static bool cmd_env_put(char ***env, size_t *count, const char *name, const char *value)
{
	struct bk_buf line = BK_BUF_INIT;
	char **more = realloc(*env, (*count + 2) * sizeof(**env));

	if (!more)
		return false;
	*env = more;
	bk_buf_putf(&line, "%s=%s", name, value);
	more[*count] = bk_buf_steal(&line);
	if (!more[*count])
		return false;
	more[++*count] = NULL;
	return true;
}

bk_status bk_keeper_environment(char ***out, const struct bk_keeper *k, const char *notify,
				struct bk_error *err)
{
	static const char *const kept[] = {"PATH", "TZ", "LD_LIBRARY_PATH", NULL};
	const struct bk_pair *pair = k->run->service->process_env;
	char **env = NULL, *value;
	size_t count = 0, i;
	bk_status st = BK_OK;
	bool ok = cmd_env_put(&env, &count, "HOME", k->run_folder) &&
		  cmd_env_put(&env, &count, "TMPDIR", k->run_folder) &&
		  cmd_env_put(&env, &count, "LC_ALL", "C.UTF-8");

	for (i = 0; ok && kept[i]; i++) {
		if (getenv(kept[i]))
			ok = cmd_env_put(&env, &count, kept[i], getenv(kept[i]));
	}
	if (ok && notify)
		ok = cmd_env_put(&env, &count, "NOTIFY_SOCKET", notify);
	for (; ok && pair && pair->key; pair++) {
		st = bk_expand_new(&value, pair->value, &k->run->values, 0, err);
		if (st != BK_OK)
			break;
		ok = cmd_env_put(&env, &count, pair->key, value);
		free(value);
	}
	if (st == BK_OK && !ok)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st != BK_OK) {
		bk_strings_free(env);
		return st;
	}
	*out = env;
	return BK_OK;
}

/* A descriptor from which `text` can be read. */
static int cmd_text_fd(const char *text)
{
	int fd = memfd_create("bakeoff-stdin", MFD_CLOEXEC);

	if (fd >= 0 && (write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
			lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void cmd_read_back(struct bk_buf *text, int fd)
{
	char chunk[8192];
	off_t at = 0;
	ssize_t n;

	while (text->len < CMD_OUTPUT_MAX && (n = pread(fd, chunk, sizeof(chunk), at)) > 0) {
		bk_buf_put(text, chunk, (size_t)n);
		at += n;
	}
}

/* Until it ends; what is in the way of that ends it. */
static bk_status cmd_await(struct bk_keeper *k, int *status, int pidfd, const char *what,
			   uint64_t timeout_ns, struct bk_error *err)
{
	uint64_t until = bk_service_now_ns() + timeout_ns, now;
	bk_status st = BK_OK;

	while (st == BK_OK && k->command != 0) {
		now = bk_service_now_ns();
		if (!bk_keeper_wait(k, NULL, now < until ? (int)((until - now) / 1000000) + 1 : 0))
			st = bk_keeper_check(k, what, err);
		else if (k->command != 0 && bk_service_now_ns() >= until)
			st = bk_fail(err, BK_TIMEOUT, 0, "%s did not end in time", what);
	}
	if (k->command != 0) {
		bk_keeper_note_gone(k, k->command);
		kill(-k->command, SIGKILL); /* it leads a session of its own */
		kill(k->command, SIGKILL);
		k->command = 0; /* reaped like any orphan */
	}
	close(pidfd);
	*status = k->command_status;
	return st;
}

bk_status bk_keeper_run(struct bk_keeper *k, int *status, struct bk_buf *text,
			const char *const *argv, const char *stdin_text, uint64_t timeout_ns,
			struct bk_error *err)
{
	struct bk_spawn spawn = {.cwd = k->run_folder, .in = -1, .out = -1, .err = -1};
	char **args = NULL, **env = NULL, *input = NULL;
	int log = -1, pidfd;
	bk_status st = bk_expand_argv(&args, argv, &k->run->values, err);

	if (st == BK_OK)
		st = bk_programs_resolve(&k->run->programs, args, err);
	if (st == BK_OK && stdin_text)
		st = bk_expand_new(&input, stdin_text, &k->run->values, 0, err);
	if (st == BK_OK)
		st = bk_keeper_environment(&env, k, NULL, err);
	if (st != BK_OK)
		goto out;
	spawn.path = args[0];
	spawn.argv = args;
	spawn.env = env;
	spawn.identity = &k->run->identity;
	spawn.death_signal = SIGKILL;
	log = open(k->command_log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	spawn.in = input ? cmd_text_fd(input) : open("/dev/null", O_RDONLY | O_CLOEXEC);
	spawn.out = text ? memfd_create("bakeoff-stdout", MFD_CLOEXEC) : log;
	spawn.err = log;
	if (log < 0 || spawn.in < 0 || spawn.out < 0) {
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot set up %s: %s", argv[0],
			     strerror(errno));
		goto out;
	}
	st = bk_spawn(&k->command, &pidfd, &spawn, err);
	if (st == BK_OK)
		st = cmd_await(k, status, pidfd, argv[0], timeout_ns, err);
	if (st == BK_OK && text)
		cmd_read_back(text, spawn.out);
out:
	if (spawn.in >= 0)
		close(spawn.in);
	if (text && spawn.out >= 0)
		close(spawn.out);
	if (log >= 0)
		close(log);
	bk_strings_free(args);
	bk_strings_free(env);
	free(input);
	return st;
}

/* "keys.0.secret_key" */
static const char *cmd_dig(const json_t *json, const char *path)
{
	char part[64];

	while (json && *path) {
		size_t len = strcspn(path, ".");

		if (len >= sizeof(part))
			return NULL;
		memcpy(part, path, len);
		part[len] = '\0';
		path += len + (path[len] == '.');
		if (json_is_array(json))
			json = json_array_get(json, (size_t)strtoul(part, NULL, 10));
		else
			json = json_object_get(json, part);
	}
	return json_string_value(json);
}

static bk_status cmd_capture(struct bk_keeper *k, const struct bk_command *c,
			     const struct bk_buf *text, struct bk_error *err)
{
	json_t *json = json_loads(bk_buf_str(text), JSON_DISABLE_EOF_CHECK, NULL);
	const struct bk_pair *pair;
	bk_status st = BK_OK;

	for (pair = c->capture; st == BK_OK && pair->key; pair++) {
		const char *value = cmd_dig(json, pair->value);

		if (!value)
			st = bk_fail(err, BK_CORRUPT, 0, "%s did not print '%s' in its JSON",
				     c->argv[0], pair->value);
		else if (!bk_values_set(&k->run->values, pair->key, value))
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	json_decref(json);
	return st;
}

static bk_status cmd_once(struct bk_keeper *k, const struct bk_command *c, struct bk_error *err)
{
	struct bk_buf text = BK_BUF_INIT;
	char how[64], tail[400];
	struct stat sb;
	off_t from = stat(k->command_log, &sb) == 0 ? sb.st_size : 0;
	uint64_t now = bk_service_now_ns();
	int status = 0;
	bk_status st;

	st = bk_keeper_run(k, &status, c->capture ? &text : NULL, c->argv, c->stdin_text,
			   k->deadline_ns > now ? k->deadline_ns - now : 0, err);
	if (st == BK_OK && status != 0 && !(c->flags & BK_COMMAND_MAY_FAIL)) {
		bk_keeper_log_line(tail, sizeof(tail), k, k->command_log, from);
		st = bk_fail(err, BK_IO, 0, "%s as %s ended with %s: %s", c->argv[0],
			     k->run->identity.user, bk_spawn_describe(how, sizeof(how), status),
			     tail);
	}
	if (st == BK_OK && c->capture)
		st = cmd_capture(k, c, &text, err);
	bk_buf_free(&text);
	return st;
}

static bk_status cmd_one(struct bk_keeper *k, const struct bk_command *c, struct bk_error *err)
{
	int left = c->flags & BK_COMMAND_RETRY ? CMD_RETRIES : 0;
	uint64_t until;
	bk_status st;

	while ((st = cmd_once(k, c, err)) == BK_IO && left-- > 0) {
		until = bk_service_now_ns() + CMD_PAUSE_NS;
		while (bk_service_now_ns() < until && bk_keeper_wait(k, NULL, 20))
			;
		if (k->quit || bk_keeper_ended(k))
			break; /* it will not get better */
	}
	return st;
}

bk_status bk_keeper_commands(struct bk_keeper *k, const struct bk_command *list, bool copied,
			     struct bk_error *err)
{
	bk_status st = BK_OK;

	for (; st == BK_OK && list && list->argv; list++) {
		if (bk_when(list->when, k->run->mask) &&
		    !(copied && (list->flags & BK_COMMAND_TEMPLATE)))
			st = cmd_one(k, list, err);
	}
	return st;
}
