/*
 * doctor_system.c - the user, the limits and the disk.
 */
#include "cmd/doctor.h"

#include "util/units.h"

#include <errno.h>
#include <linux/magic.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#define DOCTOR_FILES_MIN 1024ull      /* embedded stores keep many files open */
#define DOCTOR_DISK_MIN  (2ull << 30) /* the guard of a run */
#define DOCTOR_SHM_MIN   (64ull << 20)

static void doctor_user(struct bk_doctor *doctor)
{
	const struct passwd *user = getpwuid(geteuid());

	bk_doctor_say(doctor, BK_DOCTOR_OK, "user", NULL, "%s (%lu)%s",
		      user ? user->pw_name : "without a name", (unsigned long)geteuid(),
		      geteuid() == 0 ? "; private servers run as a user of their own" : "");
}

static void doctor_descriptors(struct bk_doctor *doctor)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	if (limit.rlim_cur < DOCTOR_FILES_MIN)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "descriptors",
			      limit.rlim_max >= DOCTOR_FILES_MIN
				      ? "ulimit -n 8192"
				      : "raise the hard limit: nofile in /etc/security/limits.conf",
			      "%llu open files allowed, %llu wanted",
			      (unsigned long long)limit.rlim_cur, DOCTOR_FILES_MIN);
	else
		bk_doctor_say(doctor, BK_DOCTOR_OK, "descriptors", NULL, "%llu open files allowed",
			      (unsigned long long)limit.rlim_cur);
}

static void doctor_shm(struct bk_doctor *doctor)
{
	struct statvfs fs;
	char free_text[BK_UNITS_MAX];
	uint64_t free_bytes;

	if (statvfs("/dev/shm", &fs) != 0 || access("/dev/shm", W_OK) != 0) {
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "/dev/shm",
			      "mount a tmpfs there with mode 1777 (docker run --shm-size=256m)",
			      "cannot be used: %s; database servers need it", strerror(errno));
		return;
	}
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bk_units_human_bytes(free_text, (double)free_bytes);
	if (free_bytes < DOCTOR_SHM_MIN)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "/dev/shm",
			      "remount it larger: mount -o remount,size=256m /dev/shm (docker run "
			      "--shm-size=256m)",
			      "%s free, database servers want 64 MiB", free_text);
	else
		bk_doctor_say(doctor, BK_DOCTOR_OK, "/dev/shm", NULL, "%s free", free_text);
}

static void doctor_disk(struct bk_doctor *doctor)
{
	struct statvfs fs;
	struct statfs kind;
	char free_text[BK_UNITS_MAX];
	uint64_t free_bytes;

	if (statvfs(doctor->folder, &fs) != 0 || statfs(doctor->folder, &kind) != 0) {
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "disk",
			      "make the folder, or name another with --data", "%s: %s",
			      doctor->folder, strerror(errno));
		return;
	}
	if (access(doctor->folder, W_OK | X_OK) != 0)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "disk",
			      "name a folder that you may write to with --data",
			      "%s: cannot be written to: %s", doctor->folder, strerror(errno));
	if (kind.f_type == TMPFS_MAGIC)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "disk",
			      "keep stores on a disk: --data FOLDER",
			      "%s lies in memory (tmpfs); durability means nothing there",
			      doctor->folder);
	free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bk_units_human_bytes(free_text, (double)free_bytes);
	if (free_bytes < DOCTOR_DISK_MIN)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "disk",
			      "free some, or name a folder on another disk with --data",
			      "%s: %s free, runs want 2 GiB", doctor->folder, free_text);
	else
		bk_doctor_say(doctor, BK_DOCTOR_OK, "disk", NULL, "%s: %s free", doctor->folder,
			      free_text);
}

void bk_doctor_system(struct bk_doctor *doctor)
{
	printf("system\n");
	doctor_user(doctor);
	doctor_descriptors(doctor);
	doctor_shm(doctor);
	doctor_disk(doctor);
}
