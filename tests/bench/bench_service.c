/*
 * bench_service.c - what `exec BACKEND -- true` costs beside a bare start and stop of the same
 * server on a folder that is ready: same program, same settings, same user, ready by the same sign,
 * stopped cleanly as a folder that is kept has to be.
 *
 * The settings are those that a provisioned server was started with, read from its command line.
 */
#include "bench.h"

#include "service/identity.h"
#include "service/proc.h"
#include "service/spawn.h"
#include "service/unpack.h"
#include "util/buf.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <fcntl.h>
#include <glob.h>
#include <jansson.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS    15
#define ARGS_MAX 128

struct bare {            /* a server without bakeoff */
	char folder[64]; /* with data/ and run/ */
	char *args[ARGS_MAX + 1];
	char path[4096]; /* of the program */
	struct bk_identity identity;
	int stop_signal;
};

static char *output_of(const char *command)
{
	struct bk_buf text = BK_BUF_INIT;
	FILE *f = popen(command, "re");
	char chunk[4096];
	size_t n;

	while (f && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		bk_buf_put(&text, chunk, n);
	if (!f || pclose(f) != 0)
		bench_die("%s failed", command);
	return bk_buf_steal(&text);
}

static const char *program(void)
{
	static char path[4096];
	const char *backends = getenv("BAKEOFF_BACKENDS"); /* BUILD/backends: see run */

	snprintf(path, sizeof(path), "%s/../bakeoff", backends ? backends : ".");
	return path;
}

/* `text` with every `from` replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
	struct bk_buf out = BK_BUF_INIT;
	const char *hit;

	for (; (hit = strstr(text, from)); text = hit + strlen(from)) {
		bk_buf_put(&out, text, (size_t)(hit - text));
		bk_buf_puts(&out, to);
	}
	bk_buf_puts(&out, text);
	return bk_buf_steal(&out);
}

/* Command line, program and user of a running server, for a folder of our own. */
static void learn(struct bare *b, pid_t pid, const char *folder)
{
	char name[64], line[16384], *p;
	const struct passwd *pw;
	struct stat sb;
	size_t n, count = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	n = (size_t)readlink(name, b->path, sizeof(b->path) - 1);
	b->path[n < sizeof(b->path) ? n : 0] = '\0';
	snprintf(name, sizeof(name), "/proc/%d", (int)pid);
	if (stat(name, &sb) != 0)
		bench_die("the server is gone");
	pw = getpwuid(sb.st_uid);
	b->identity.uid = sb.st_uid;
	b->identity.gid = pw ? pw->pw_gid : sb.st_gid;
	b->identity.drop = geteuid() == 0;
	snprintf(name, sizeof(name), "/proc/%d/cmdline", (int)pid);
	f = fopen(name, "re");
	n = f ? fread(line, 1, sizeof(line) - 1, f) : 0;
	if (f)
		fclose(f);
	line[n] = '\0';
	for (p = line; p < line + n && count < ARGS_MAX; p += strlen(p) + 1)
		b->args[count++] = replaced(p, folder, b->folder);
}

static void give(const struct bare *b, const char *path)
{
	if (b->identity.drop && chown(path, b->identity.uid, b->identity.gid) != 0)
		bench_die("cannot give %s away", path);
}

static void copy_template(struct bare *b, const char *backend)
{
	struct bk_unpack how = {.uid = b->identity.drop ? b->identity.uid : (uid_t)-1,
				.gid = b->identity.gid};
	struct bk_error err = bk_error_init();
	char pattern[4096], data[96];
	struct bk_pack pack;
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/bakeoff/templates/%s-*/data.pack",
		 getenv("XDG_CACHE_HOME"), backend);
	if (glob(pattern, 0, NULL, &found) != 0)
		bench_die("no template %s", pattern);
	snprintf(data, sizeof(data), "%s/data", b->folder);
	bench_check(bk_pack_open(&pack, found.gl_pathv[0], &err), "open", &err);
	bench_check(bk_unpack_tree(&how, &pack, data, &err), "copy", &err);
	bk_pack_close(&pack);
	globfree(&found);
}

static void prepare(struct bare *b, const char *backend, int stop_signal)
{
	char command[8192], run[96], *text;
	const char *folder, *id;
	json_t *all, *state;

	memset(b, 0, sizeof(*b));
	b->stop_signal = stop_signal;
	snprintf(b->folder, sizeof(b->folder), "/dev/shm/bench.XXXXXX");
	if (!mkdtemp(b->folder) || chmod(b->folder, 0711) != 0)
		bench_die("cannot make a folder in /dev/shm");
	snprintf(command, sizeof(command), "%s provision --format json %s", program(), backend);
	text = output_of(command);
	all = json_loads(text, 0, NULL);
	free(text);
	id = json_string_value(
		json_object_get(json_array_get(json_object_get(all, "services"), 0), "id"));
	snprintf(command, sizeof(command), "%s/bakeoff/instances/%s/state.json",
		 getenv("XDG_CACHE_HOME"), id ? id : "");
	state = json_load_file(command, 0, NULL);
	folder = json_string_value(json_object_get(state, "folder"));
	learn(b,
	      (pid_t)json_integer_value(json_object_get(
		      json_array_get(json_object_get(state, "processes"), 0), "pid")),
	      folder);
	snprintf(run, sizeof(run), "%s/run", b->folder);
	if (mkdir(run, 0700) != 0)
		bench_die("cannot make %s", run);
	/* files that its arguments name (an init file) */
	snprintf(command, sizeof(command), "cp %s/run/*.* %s/ 2>/dev/null || true", folder, run);
	free(output_of(command));
	snprintf(command, sizeof(command), "%s teardown %s", program(), id);
	free(output_of(command));
	if (b->identity.drop) {
		snprintf(command, sizeof(command), "chown -R %u:%u %s", b->identity.uid,
			 b->identity.gid, run);
		free(output_of(command));
	}
	copy_template(b, backend);
	json_decref(all);
	json_decref(state);
}

/* READY=1 in a socket of ours. */
static int notify_socket(const struct bare *b, char variable[160])
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s/run/notify", b->folder);
	unlink(sun.sun_path);
	if (bind(fd, (struct sockaddr *)&sun, sizeof(sun)) != 0)
		bench_die("cannot bind %s", sun.sun_path);
	give(b, sun.sun_path);
	snprintf(variable, 160, "NOTIFY_SOCKET=%s", sun.sun_path);
	return fd;
}

static void await_ready(int fd)
{
	char text[4096];

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		ssize_t n;

		if (poll(&p, 1, 60000) != 1)
			bench_die("the bare server does not get ready");
		n = recv(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, "READY=1"))
			return;
	}
}

static double bare_ns(struct bare *b)
{
	char variable[160], cwd[96];
	char *env[] = {variable, (char *)"LC_ALL=C.UTF-8", (char *)"PATH=/usr/bin:/bin", NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd, pidfd;
	struct bk_spawn spawn = {.path = b->path,
				 .argv = b->args,
				 .env = env,
				 .cwd = cwd,
				 .in = null,
				 .out = null,
				 .err = -1,
				 .death_signal = SIGKILL,
				 .identity = &b->identity};
	struct bk_error err = bk_error_init();
	double begun = bench_now_ns();
	pid_t pid;

	snprintf(cwd, sizeof(cwd), "%s/run", b->folder);
	fd = notify_socket(b, variable);
	bench_check(bk_spawn(&pid, &pidfd, &spawn, &err), "spawn", &err);
	await_ready(fd);
	bk_proc_signal(pidfd, b->stop_signal);
	waitpid(pid, NULL, 0);
	close(pidfd);
	close(fd);
	close(null);
	return bench_now_ns() - begun;
}

static double exec_ns(const char *backend, bool spare)
{
	char *argv[] = {(char *)program(),
			(char *)"exec",
			(char *)(spare ? "--spare" : "--timeout=60s"),
			(char *)backend,
			(char *)"--",
			(char *)"true",
			NULL};
	double begun = bench_now_ns();
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		bench_die("%s exec %s failed", program(), backend);
	return bench_now_ns() - begun;
}

/* Until the last one's folder is gone and the next copy is there. */
static void let_copy(void)
{
	struct timespec pause = {0, 20000000};
	glob_t found;
	int i;

	for (i = 0; i < 500; i++) {
		bool ready = glob("/dev/shm/bakeoff.spare-*/data", 0, NULL, &found) == 0;

		globfree(&found);
		nanosleep(&pause, NULL);
		if (ready)
			return;
	}
	bench_die("no spare copy was made");
}

static void own_cache(void)
{
	static char folder[4096];

	if (folder[0])
		return;
	bench_folder(folder, sizeof(folder));
	setenv("XDG_CACHE_HOME", folder, 1);
}

static void forget(struct bare *b)
{
	size_t i;

	for (i = 0; b->args[i]; i++)
		free(b->args[i]);
	bench_remove(b->folder);
}

static double ratio(const char *backend, int stop_signal, bool spare)
{
	double ours[PAIRS], bare[PAIRS], ratios[PAIRS];
	struct bare b;
	size_t i;

	own_cache();
	prepare(&b, backend, stop_signal);
	if (spare)
		exec_ns(backend, true);
	for (i = 0; i < PAIRS; i++) {
		if (spare)
			let_copy();
		ours[i] = exec_ns(backend, spare);
		bare[i] = bare_ns(&b);
		ratios[i] = ours[i] / bare[i];
	}
	forget(&b);
	fprintf(stderr, "bench: %s%s: exec %.0f ms, bare start and stop %.0f ms (medians)\n",
		backend, spare ? ", with a spare copy" : "", bench_median(ours, PAIRS) / 1e6,
		bench_median(bare, PAIRS) / 1e6);
	return bench_median(ratios, PAIRS);
}

static double postgresql_ratio(void)
{
	return ratio("postgresql", SIGINT, false);
}

static double postgresql_spare_ratio(void)
{
	return ratio("postgresql", SIGINT, true);
}

static double mysql_ratio(void)
{
	return ratio("mysql", SIGTERM, false);
}

/* What Debian has for the same job. */
static double virtualenv_ratio(void)
{
	double ours[3], theirs[3];
	size_t i;

	own_cache();
	if (system("command -v pg_virtualenv >/dev/null") != 0)
		bench_die("pg_virtualenv is not installed (package postgresql-common)");
	exec_ns("postgresql", false); /* the template */
	for (i = 0; i < 3; i++) {
		double begun = bench_now_ns();

		free(output_of("pg_virtualenv true 2>&1"));
		theirs[i] = bench_now_ns() - begun;
		ours[i] = exec_ns("postgresql", false);
	}
	return bench_median(ours, 3) / bench_median(theirs, 3);
}

static const struct bench list[] = {
	{"service_postgresql_exec_ratio", 2.0, false, postgresql_ratio},
	{"service_postgresql_exec_spare_ratio", 1.5, false, postgresql_spare_ratio},
	{"service_mysql_exec_ratio", 2.0, false, mysql_ratio},
	{"service_postgresql_virtualenv_ratio", 0.5, false, virtualenv_ratio},
};

int main(int argc, char **argv)
{
	return bench_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
