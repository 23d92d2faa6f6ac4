/*
 * load.c - schema files, through the store's own client program: a dump may hold what only that
 * understands.
 */
#include "service/run.h"

#include "service/proc.h"
#include "service/spawn.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LD_LIMIT_MS 3600000 /* a schema with data may be large */

/* The last lines of what the client printed, in one, without the password. */
static void ld_tail(char *out, size_t cap, int fd, const char *password)
{
	char text[2048], *p;
	off_t end = lseek(fd, 0, SEEK_END), from;
	ssize_t n;
	size_t len;

	from = end > 300 ? end - 300 : 0;
	n = pread(fd, text, sizeof(text) - 1, from);
	text[n > 0 ? n : 0] = '\0';
	while (password && password[0] && (p = strstr(text, password)))
		memset(p, '*', strlen(password));
	for (p = text; *p; p++) {
		if (*p == '\n')
			*p = p[1] ? '|' : ' ';
	}
	p = text;
	if (from > 0 && strchr(text, '|'))
		p = strchr(text, '|') + 1;
	len = strnlen(p, cap - 1);
	memcpy(out, p, len);
	out[len] = '\0';
}

static bk_status ld_wait(int *status, pid_t pid, int pidfd, const char *file, struct bk_error *err)
{
	bool ended = bk_proc_wait(pidfd, LD_LIMIT_MS);

	if (!ended)
		bk_proc_signal(pidfd, SIGKILL);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	close(pidfd);
	return ended ? BK_OK
		     : bk_fail(err, BK_TIMEOUT, 0, "loading the schema file %s took an hour", file);
}

static bk_status ld_run(const struct bk_programs *programs, const struct bk_command *command,
			const struct bk_values *values, char *const *env, const char *file,
			struct bk_error *err)
{
	struct bk_spawn spawn = {.err = -1, .in = -1, .out = -1, .death_signal = SIGKILL};
	char how[64], tail[310], **argv = NULL;
	int status = 0, pidfd;
	pid_t pid;
	bk_status st = bk_expand_argv(&argv, command->argv, values, err);

	if (st == BK_OK)
		st = bk_programs_resolve(programs, argv, err);
	if (st != BK_OK) {
		bk_strings_free(argv);
		return st;
	}
	spawn.path = argv[0];
	spawn.argv = argv;
	spawn.env = env;
	spawn.in = open(file, O_RDONLY | O_CLOEXEC);
	spawn.out = memfd_create("bakeoff-load", MFD_CLOEXEC);
	if (spawn.in < 0 || spawn.out < 0)
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot read the schema file %s: %s",
			     file, strerror(errno));
	if (st == BK_OK)
		st = bk_spawn(&pid, &pidfd, &spawn, err);
	if (st == BK_OK)
		st = ld_wait(&status, pid, pidfd, file, err);
	if (st == BK_OK && status != 0) {
		ld_tail(tail, sizeof(tail), spawn.out, bk_values_get(values, "password"));
		st = bk_fail(err, BK_INVALID, 0, "schema file %s: %s ended with %s: %s", file,
			     argv[0], bk_spawn_describe(how, sizeof(how), status), tail);
	}
	if (spawn.in >= 0)
		close(spawn.in);
	if (spawn.out >= 0)
		close(spawn.out);
	bk_strings_free(argv);
	return st;
}

bk_status bk_load_schema(const struct bk_service *service, const struct bk_programs *programs,
			 const struct bk_values *values, uint32_t mask, const char *name,
			 const char *const *files, struct bk_error *err)
{
	struct bk_service_env env = {NULL, 0};
	struct bk_values with = {0};
	char **envp = NULL, *path;
	const struct bk_command *c;
	bk_status st = BK_OK;
	size_t i;

	if (!service->load)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "this backend cannot load schema files: it names no client for it");
	for (i = 0; i < values->count; i++) {
		if (!bk_values_set(&with, values->items[i].name, values->items[i].text))
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	if (st == BK_OK && !bk_values_set(&with, "database", name))
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (st == BK_OK)
		st = bk_env_fill(&env, service, "store", &with, mask, false, err);
	if (st == BK_OK)
		st = bk_service_env_apply(&envp, &env, 1, err);
	for (; st == BK_OK && *files; files++) {
		path = realpath(*files, NULL);
		if (!path || !bk_values_set(&with, "value", path))
			st = bk_fail(err, bk_fs_status(errno), errno,
				     "cannot read the schema file %s: %s", *files, strerror(errno));
		for (c = service->load; st == BK_OK && c->argv; c++) {
			if (bk_when(c->when, mask))
				st = ld_run(programs, c, &with, envp, path, err);
		}
		free(path);
	}
	bk_strings_free(envp);
	bk_service_env_free(&env);
	bk_values_free(&with);
	return st;
}
