/*
 * folder.c - the folder of a run's data: made, claimed, removed; and what killed runs have left.
 *
 * The one invariant: a folder is swept only if it holds our claim and nobody holds the claim's
 * lock, which the system lets go of with the last process of a run, however it ends.
 */
#include "run/session.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "run-"
/* In it: the results file and the number of the run, a line each. */
#define CLAIM "claim"

/* Under its name only once it is locked: a sweep meets it locked or not at all. */
static bk_status claim(struct bk_run_state *s, struct bk_error *err)
{
	char *path = bk_fs_join(s->folder, CLAIM), *fresh = bk_fs_join(s->folder, CLAIM ".new");
	int fd = -1;

	if (path && fresh)
		fd = open(fresh, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) < 0 || rename(fresh, path) < 0)) {
		close(fd);
		fd = -1;
	}
	s->claim = fd;
	free(path);
	free(fresh);
	return fd >= 0 ? BK_OK
		       : bk_fail(err, bk_fs_status(errno), errno, "cannot claim the folder %s: %s",
				 s->folder, strerror(errno));
}

void bk_run_folder_note(struct bk_run_state *s)
{
	const char *file = bk_results_file(s->config->results);

	if (s->claim >= 0)
		dprintf(s->claim, "%s\n%" PRId64 "\n", file ? file : "", s->run);
}

/* A run of this results file that was killed says `running` for ever otherwise. */
static void close_run(struct bk_run_state *s, int fd)
{
	const char *file = bk_results_file(s->config->results);
	struct bk_error ignored = bk_error_init();
	char text[4200], *end, *rest;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int64_t run;

	text[n > 0 ? n : 0] = '\0';
	end = strchr(text, '\n');
	if (!end || !file)
		return;
	*end = '\0';
	run = strtoll(end + 1, &rest, 10);
	if (*rest == '\n' && run > 0 && strcmp(text, file) == 0)
		bk_results_run_cut(s->config->results, run, &ignored);
}

/* Whoever holds the lock holds the folder. */
static void sweep_one(struct bk_run_state *s, const char *folder)
{
	struct bk_error err = bk_error_init();
	char *path = bk_fs_join(folder, CLAIM);
	struct stat sb;
	int fd = path && lstat(folder, &sb) == 0 && S_ISDIR(sb.st_mode)
			 ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
			 : -1;

	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) {
		close_run(s, fd);
		if (bk_fs_remove_tree(folder, &err) < 0)
			bk_run_message(s,
				       "%s is of a run that was killed, and cannot be removed: %s",
				       folder, err.message);
		else
			bk_run_message(s, "removed %s, which a run that was killed had left",
				       folder);
	}
	close(fd);
}

static void sweep(struct bk_run_state *s)
{
	DIR *dir = opendir(s->m->data);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		char *folder;

		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		folder = bk_fs_join(s->m->data, entry->d_name);
		if (folder)
			sweep_one(s, folder);
		free(folder);
	}
	if (dir)
		closedir(dir);
}

bk_status bk_run_folder_make(struct bk_run_state *s, struct bk_error *err)
{
	char name[64];
	struct tm tm;
	time_t now = time(NULL);
	bk_status st;

	s->claim = -1;
	st = bk_fs_mkdirs(s->m->data, 0700, err);
	if (st < 0)
		return st;
	sweep(s);
	gmtime_r(&now, &tm);
	snprintf(name, sizeof(name), PREFIX "%04d%02d%02d-%02d%02d%02d-%d", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)getpid());
	s->folder = bk_fs_join(s->m->data, name);
	if (!s->folder)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (mkdir(s->folder, 0700) < 0) {
		st = bk_fail(err, bk_fs_status(errno), errno, "cannot make the folder %s: %s",
			     s->folder, strerror(errno));
		free(s->folder);
		s->folder = NULL;
		return st;
	}
	return claim(s, err);
}

static void let_go(struct bk_run_state *s)
{
	char *path = bk_fs_join(s->folder, CLAIM);

	if (path && s->claim >= 0)
		unlink(path);
	if (s->claim >= 0)
		close(s->claim);
	s->claim = -1;
	free(path);
}

void bk_run_folder_keep(struct bk_run_state *s)
{
	if (s->folder)
		let_go(s);
}

/* Folders that the stores left empty; anything else stays, and is named. */
void bk_run_folder_remove(struct bk_run_state *s)
{
	size_t i;

	if (!s->folder)
		return;
	for (i = 0; s->stores && i < s->m->variant_count; i++) {
		char *folder = bk_fs_join(s->folder, s->m->variants[i].name);

		if (s->stores[i].nodes.folder)
			rmdir(s->stores[i].nodes.folder);
		if (s->stores[i].binaries.folder)
			rmdir(s->stores[i].binaries.folder);
		if (folder)
			rmdir(folder);
		free(folder);
	}
	let_go(s);
	if (rmdir(s->folder) < 0)
		bk_run_message(s, "data is left in %s", s->folder);
	rmdir(s->m->data);
}
