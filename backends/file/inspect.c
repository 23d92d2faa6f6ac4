/*
 * inspect.c - describes a store from outside: no lock, no index, nothing changed; it may be in use.
 *
 * The one invariant: what is told about the file system holds for the folder itself, wherever it
 * is mounted.
 */
#include "file.h"
#include "mark.h"
#include "mount.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* ---- Sizes ----------------------------------------------------------------------------- */

struct inspect_sum {
	uint64_t files, folders, bytes, stored; /* stored: as the disk counts them */
};

static void inspect_add(struct inspect_sum *sum, int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (fstat(fd, &st) == 0)
		sum->stored += (uint64_t)st.st_blocks * 512;
	sum->folders++;
	while ((e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			inspect_add(sum, fd, e->d_name);
			continue;
		}
		sum->files++;
		sum->bytes += (uint64_t)st.st_size;
		sum->stored += (uint64_t)st.st_blocks * 512;
	}
	closedir(dir);
}

static void inspect_size(struct bk_store *store, int dirfd, const struct bk_sink *sink)
{
	static const char *const parts[] = {"nodes", "binaries", "index", "tmp", "lost"};
	struct inspect_sum sums[5] = {{0}};
	uint64_t stored = 0, inodes = 1;

	for (size_t i = 0; i < 5; i++) {
		inspect_add(&sums[i], dirfd, parts[i]);
		stored += sums[i].stored;
		inodes += sums[i].files + sums[i].folders;
	}
	sink->put_u64(sink->ctx, "storage.bytes", stored, "bytes", 0);
	sink->put_u64(sink->ctx, "storage.inodes", inodes, "count", 0);
	sink->put_u64(sink->ctx, "nodes.count", sums[0].files, "count", 0);
	sink->put_u64(sink->ctx, "nodes.bytes", sums[0].bytes, "bytes", 0);
	sink->put_u64(sink->ctx, "nodes.bytes.allocated", sums[0].stored, "bytes", 0);
	sink->put_u64(sink->ctx, "nodes.folders", sums[0].folders, "count", 0);
	sink->put_u64(sink->ctx, "binaries.count", sums[1].files, "count", 0);
	sink->put_u64(sink->ctx, "binaries.bytes", sums[1].bytes, "bytes", 0);
	sink->put_u64(sink->ctx, "binaries.bytes.allocated", sums[1].stored, "bytes", 0);
	sink->put_u64(sink->ctx, "binaries.folders", sums[1].folders, "count", 0);
	sink->put_u64(sink->ctx, "index.bytes", sums[2].bytes, "bytes", 0);
	sink->put_u64(sink->ctx, "index.files", sums[2].files, "count", 0);
	sink->put_u64(sink->ctx, "unfinished.files", sums[3].files, "count", 0);
	if (sums[4].files) {
		char text[200];

		sink->put_u64(sink->ctx, "lost.files", sums[4].files, "count", 0);
		snprintf(text, sizeof(text),
			 "files of nodes that did not check out after a power cut lie in "
			 "'%.100s/lost'",
			 store->dir);
		sink->flag(sink->ctx, "lost-files", text);
	}
}

/* ---- The file system ---------------------------------------------------------------------- */

static void inspect_flag_mount(const struct file_mount *m, const struct bk_sink *sink)
{
	static const char *const remote[] = {"nfs", "nfs4", "cifs", "smb3", "9p", "ceph", NULL};

	if (strcmp(m->type, "tmpfs") == 0 || strcmp(m->type, "ramfs") == 0)
		sink->flag(
			sink->ctx, "volatile",
			"the folder is in memory: it is gone after a restart, and costs no disk");
	if (strcmp(m->type, "overlay") == 0)
		sink->flag(sink->ctx, "overlay",
			   "the folder is on an overlay (a container's own layer): mount a volume");
	for (size_t i = 0; remote[i]; i++) {
		if (strcmp(m->type, remote[i]) == 0)
			sink->flag(sink->ctx, "remote",
				   "the folder is on another machine: its times are the network's");
	}
	if (file_mount_has(m->super, "nobarrier") || file_mount_has(m->super, "barrier=0"))
		sink->flag(sink->ctx, "barrier-off",
			   "mounted without barriers: an fsync may not reach the disk");
	if (file_mount_lacks_journal(m))
		sink->flag(
			sink->ctx, "journal-less",
			"the file system has no journal: syncs are cheaper than elsewhere, and a "
			"power cut may damage it");
}

static void inspect_filesystem(struct bk_store *store, int dirfd, const struct bk_sink *sink)
{
	char *real = realpath(store->dir, NULL);
	struct file_mount m;
	struct statvfs fs;

	if (real && file_mount_find(&m, real)) {
		sink->put_str(sink->ctx, "filesystem.type", m.type);
		sink->put_str(sink->ctx, "filesystem.mount", m.point);
		sink->put_str(sink->ctx, "filesystem.device", m.source);
		sink->put_str(sink->ctx, "filesystem.options", m.options);
		sink->put_str(sink->ctx, "filesystem.super.options", m.super);
		inspect_flag_mount(&m, sink);
	}
	free(real);
	if (fstatvfs(dirfd, &fs) < 0)
		return;
	sink->put_u64(sink->ctx, "filesystem.free.bytes", (uint64_t)fs.f_bavail * fs.f_frsize,
		      "bytes", 0);
	sink->put_u64(sink->ctx, "filesystem.block.bytes", fs.f_bsize, "bytes", 0);
	if (fs.f_files == 0)
		return; /* inodes are made as needed */
	sink->put_u64(sink->ctx, "filesystem.free.inodes", fs.f_favail, "count", 0);
	if (fs.f_favail < fs.f_files / 20)
		sink->flag(sink->ctx, "inodes-low",
			   "fewer than one in twenty inodes is free: each node takes one");
}

/* ---- Who it is ---------------------------------------------------------------------------- */

/* Does somebody hold the lock?  Asked of the kernel's list, since to try it could make another
 * process fail. */
static bool inspect_is_locked(int dirfd)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	struct stat st;
	bool held = false;

	if (f && fstatat(dirfd, "lock", &st, AT_SYMLINK_NOFOLLOW) == 0) {
		while (!held && fgets(line, sizeof(line), f)) {
			unsigned long long inode;

			held = sscanf(line, "%*d: FLOCK %*s WRITE %*d %*x:%*x:%llu", &inode) == 1 &&
			       inode == (unsigned long long)st.st_ino;
		}
	}
	if (f)
		fclose(f);
	return held;
}

static void inspect_state(int dirfd, const struct bk_sink *sink)
{
	int fd = openat(dirfd, "index/control", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	const char *state = "no index";
	struct file_control_head head;

	if (fd >= 0 && pread(fd, &head, sizeof(head), 0) == (ssize_t)sizeof(head)) {
		uint32_t value = atomic_load(&head.state);
		bool used = inspect_is_locked(dirfd);

		state = used                          ? "in use"
			: value == FILE_STATE_CLEAN   ? "closed"
			: value == FILE_STATE_REBUILD ? "index to be built anew"
						      : "not closed";
		sink->put_u64(sink->ctx, "index.generation", atomic_load(&head.generation), "count",
			      0);
		if (!used && value == FILE_STATE_DIRTY)
			sink->flag(sink->ctx, "unclean",
				   "its last user died; the next one mends it when it opens");
	}
	sink->put_str(sink->ctx, "state", state);
	if (fd >= 0)
		close(fd);
}

static void inspect_identity(struct bk_store *store, int dirfd, const struct file_mark *mark,
			     const struct bk_sink *sink)
{
	sink->put_str(sink->ctx, "product", "files, kept by bakeoff's backend 'file'");
	sink->put_str(sink->ctx, "path", store->root);
	sink->put_str(sink->ctx, "space", store->space);
	sink->put_u64(sink->ctx, "node.levels", mark->node_levels, "count", 0);
	sink->put_u64(sink->ctx, "binary.levels", mark->binary_levels, "count", 0);
	inspect_state(dirfd, sink);
	inspect_filesystem(store, dirfd, sink);
}

bk_status file_store_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
			     struct bk_error *err)
{
	struct file_mark mark;
	bk_status status = file_mark_read(&mark, store->dir, store->mark, err);
	int fd;

	if (status != BK_OK)
		return status;
	if (mark.place == FILE_PLACE_FOREIGN)
		return file_mark_foreign(err, "inspect", store->dir, &mark);
	if (mark.place != FILE_PLACE_OURS) {
		status = file_mark_root(&mark, store->root, err);
		if (status == BK_OK && mark.place == FILE_PLACE_FOREIGN)
			return file_mark_foreign(err, "inspect", store->root, &mark);
		return status != BK_OK ? status
				       : bk_fail(err, BK_NOT_FOUND, ENOENT, "no store is at '%s'",
						 store->dir);
	}
	fd = open(store->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return file_fail(err, errno, "open", store->dir, NULL);
	if (what & BK_INSPECT_IDENTITY)
		inspect_identity(store, fd, &mark, sink);
	if (what & BK_INSPECT_SIZE)
		inspect_size(store, fd, sink);
	close(fd);
	return BK_OK;
}
