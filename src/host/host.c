/*
 * host.c - reads /proc and asks the kernel; whatever is not known is left out.
 */
#include "host/host.h"

#include <fcntl.h>
#include <ftw.h>
#include <jansson.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

static void add_cpu(json_t *root)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon) {
			colon[strcspn(colon, "\n")] = '\0';
			json_object_set_new(root, "cpu", json_string(colon + 2));
			break;
		}
	}
	if (f)
		fclose(f);
}

static void add_memory(json_t *root)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	if (pages > 0 && size > 0)
		json_object_set_new(root, "memory_bytes",
				    json_integer((json_int_t)pages * (json_int_t)size));
}

static void add_cores(json_t *root)
{
	cpu_set_t set;

	json_object_set_new(root, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		json_object_set_new(root, "cores_allowed", json_integer(CPU_COUNT(&set)));
	json_object_set_new(root, "pinning", json_string("none"));
}

static void add_kernel(json_t *root)
{
	struct utsname u;
	char text[400];

	if (uname(&u) < 0)
		return;
	snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
	json_object_set_new(root, "kernel", json_string(text));
}

void bk_host_mount(struct bk_mount *out, const char *path)
{
	char *real = realpath(path, NULL);
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	size_t best = 0;

	memset(out, 0, sizeof(*out));
	while (real && f && (m = getmntent(f))) {
		size_t len = strlen(m->mnt_dir);
		bool below = strncmp(real, m->mnt_dir, len) == 0 &&
			     (len == 1 || real[len] == '/' || real[len] == '\0');

		/* a later mount on the same point hides an earlier one */
		if (!below || len < best)
			continue;
		best = len;
		snprintf(out->type, sizeof(out->type), "%s", m->mnt_type);
		snprintf(out->options, sizeof(out->options), "%s", m->mnt_opts);
		snprintf(out->point, sizeof(out->point), "%s", m->mnt_dir);
	}
	if (f)
		endmntent(f);
	free(real);
}

uint64_t bk_host_disk_free(const char *path)
{
	struct statvfs v;

	return statvfs(path, &v) < 0 ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

char *bk_host_describe(const char *folder, const struct bk_wakeup *wakeup)
{
	json_t *root = json_object();
	struct bk_mount mount;
	char *text;

	add_cpu(root);
	add_cores(root);
	add_memory(root);
	add_kernel(root);
	bk_host_mount(&mount, folder);
	if (mount.type[0])
		json_object_set_new(root, "data",
				    json_pack("{s:s, s:s, s:s}", "filesystem", mount.type,
					      "options", mount.options, "mounted_on", mount.point));
	json_object_set_new(root, "clock", json_string("CLOCK_MONOTONIC, chained"));
	if (wakeup->free_ns > 0)
		json_object_set_new(root, "wakeup_ns",
				    json_pack("{s:f, s:f}", "free", wakeup->free_ns, "pinned",
					      wakeup->pinned_ns));
	text = json_dumps(root, JSON_COMPACT);
	json_decref(root);
	return text;
}

/* ---- Page cache ------------------------------------------------------------------------ */

static int drop_file(const char *path, const struct stat *sb, int type, struct FTW *ftw)
{
	int fd;

	(void)sb;
	(void)ftw;
	if (type != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		close(fd);
	}
	return 0;
}

static bool drop_all(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	bool dropped = fd >= 0 && write(fd, "3\n", 2) == 2;

	if (fd >= 0)
		close(fd);
	return dropped;
}

const char *bk_host_drop_pages(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* dirty pages cannot be dropped; one call for the file system, since each flushes the disk
	 */
	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
	if (drop_all())
		return "page cache dropped";
	return nftw(folder, drop_file, 16, FTW_PHYS | FTW_MOUNT) == 0
		       ? "page cache of the data dropped"
		       : "page cache kept";
}
