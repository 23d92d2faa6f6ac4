/*
 * identity.c - the service's own user, nobody, or a namespace.
 */
#include "service/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Within a container only some uids may exist: setuid and chown to others fail. */
static bool idn_mapped(const char *map_file, unsigned long id)
{
	FILE *f = fopen(map_file, "re");
	unsigned long inside, outside, count;
	bool found = false;

	if (!f)
		return true;
	while (!found && fscanf(f, "%lu %lu %lu", &inside, &outside, &count) == 3)
		found = id >= inside && id - inside < count;
	fclose(f);
	return found;
}

static bool idn_may_enter(const struct stat *sb, uid_t uid, gid_t gid)
{
	if (sb->st_uid == uid)
		return sb->st_mode & S_IXUSR;
	if (sb->st_gid == gid)
		return sb->st_mode & S_IXGRP;
	return sb->st_mode & S_IXOTH;
}

/* May this user pass through every folder down to `folder`? */
static bool idn_reaches(const char *folder, uid_t uid, gid_t gid)
{
	char *path = realpath(folder, NULL), *p;
	struct stat sb;
	bool ok = path != NULL;

	for (p = path; ok && p;) {
		p = strchr(p + 1, '/');
		if (p)
			*p = '\0';
		ok = stat(path, &sb) == 0 && idn_may_enter(&sb, uid, gid);
		if (p)
			*p = '/';
	}
	free(path);
	return ok;
}

static bool idn_try(struct bk_identity *out, const char *name, const char *folder)
{
	const struct passwd *pw = getpwnam(name);

	if (!pw || pw->pw_uid == 0 || !idn_mapped("/proc/self/uid_map", pw->pw_uid) ||
	    !idn_mapped("/proc/self/gid_map", pw->pw_gid) ||
	    !idn_reaches(folder, pw->pw_uid, pw->pw_gid))
		return false;
	snprintf(out->user, sizeof(out->user), "%s", name);
	out->uid = pw->pw_uid;
	out->gid = pw->pw_gid;
	out->drop = true;
	return true;
}

void bk_identity_choose(struct bk_identity *out, const struct bk_service *service,
			const char *folder)
{
	const char *const *u;
	const struct passwd *pw;

	memset(out, 0, sizeof(*out));
	out->uid = geteuid();
	out->gid = getegid();
	if (out->uid != 0) {
		pw = getpwuid(out->uid);
		out->map_nobody = !pw;
		if (pw)
			snprintf(out->user, sizeof(out->user), "%s", pw->pw_name);
		else
			snprintf(out->user, sizeof(out->user), "uid %u", (unsigned)out->uid);
		return;
	}
	for (u = service ? service->users : NULL; u && *u; u++) {
		if (idn_try(out, *u, folder))
			return;
	}
	if (idn_try(out, "nobody", folder))
		return;
	out->unmapped = true;
	snprintf(out->user, sizeof(out->user), "nobody (user namespace)");
}

static void idn_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (write(fd, text, strlen(text)) < 0)
			errno = 0; /* the program will say what it misses */
		close(fd);
	}
}

/* Best effort: where namespaces are forbidden the program itself says what is wrong. */
static void idn_become_nobody(const struct bk_identity *identity)
{
	const struct passwd *pw = getpwnam("nobody");
	char text[64];

	if (!pw || unshare(CLONE_NEWUSER) != 0)
		return;
	snprintf(text, sizeof(text), "%u %u 1", (unsigned)pw->pw_uid, (unsigned)identity->uid);
	idn_write("/proc/self/uid_map", text);
	idn_write("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "%u %u 1", (unsigned)pw->pw_gid, (unsigned)identity->gid);
	idn_write("/proc/self/gid_map", text);
}

int bk_identity_enter(const struct bk_identity *identity)
{
	if (identity->drop) {
		if (setgroups(0, NULL) != 0 || setgid(identity->gid) != 0 ||
		    setuid(identity->uid) != 0)
			return errno;
	} else if (identity->unmapped) {
		if (unshare(CLONE_NEWUSER) != 0)
			return errno;
	} else if (identity->map_nobody) {
		idn_become_nobody(identity);
	}
	return 0;
}
