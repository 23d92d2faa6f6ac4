/*
 * segments.c - /proc/sysvipc/shm and /dev/shm.
 *
 * A server's own notes about its segment (in a file of its data folder) can be of an
 * earlier start or half written; the kernel's list says who made which, for any server.
 */
#include "service/segments.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SGM_SHM "/dev/shm/"

/* When, in seconds since 1970, a process began.  A second early at most. */
static time_t sgm_began(uint64_t start)
{
	struct timespec real, boot;
	long hz = sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_REALTIME, &real);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return real.tv_sec - boot.tv_sec + (time_t)(start / (uint64_t)hz) - 1;
}

size_t bk_segments_remove(pid_t pid, uint64_t start)
{
	FILE *f = fopen("/proc/sysvipc/shm", "re");
	char line[512];
	size_t removed = 0;
	int id, cpid;
	unsigned long attached;
	long changed;

	while (f && fgets(line, sizeof(line), f)) {
		/* key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime */
		if (sscanf(line, "%*d %d %*o %*u %d %*d %lu %*u %*u %*u %*u %*d %*d %ld", &id,
			   &cpid, &attached, &changed) != 4)
			continue;
		if (cpid != (int)pid || attached != 0 || changed < sgm_began(start))
			continue;
		if (shmctl(id, IPC_RMID, NULL) == 0)
			removed++;
	}
	if (f)
		fclose(f);
	return removed;
}

static bool sgm_known(const json_t *names, const char *name)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)names, i, one)
	{
		if (strcmp(json_string_value(one), name) == 0)
			return true;
	}
	return false;
}

void bk_segments_note(json_t *names, pid_t pid)
{
	char path[48], line[4352], *name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		name = strstr(line, " " SGM_SHM);
		if (!name)
			continue;
		name += 1 + strlen(SGM_SHM);
		name[strcspn(name, " \n")] = '\0';
		/* A file deeper down belongs to a folder that is removed as a whole. */
		if (name[0] && !strchr(name, '/') && !sgm_known(names, name))
			json_array_append_new(names, json_string(name));
	}
	if (f)
		fclose(f);
}

void bk_segments_remove_files(const json_t *names, uid_t uid)
{
	char path[512];
	struct stat sb;
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)names, i, one)
	{
		const char *name = json_string_value(one);

		if (!name || !name[0] || name[0] == '.' || strchr(name, '/'))
			continue;
		snprintf(path, sizeof(path), SGM_SHM "%s", name);
		if (lstat(path, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_uid == uid)
			unlink(path);
	}
}
