/*
 * mark_lock.c - one database, one store: the owner mark is locked while the database is open.
 *
 * LevelDB has a lock of its own, by fcntl, which a process loses as soon as it opens and closes the
 * file once more, as LevelDB does when it refuses a second opening.  This one is flock's, which
 * belongs to the descriptor.
 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Who holds a lock on the file, by the kernel's list; 0: not to be found out. */
static long holder_of(int fd)
{
	FILE *f = fopen("/proc/locks", "re");
	char line[256];
	struct stat st;
	long holder = 0;

	if (!f || fstat(fd, &st) != 0)
		goto out;
	while (!holder && fgets(line, sizeof(line), f)) {
		long pid;
		unsigned long inode;

		if (sscanf(line, "%*s FLOCK %*s %*s %ld %*[^:]:%*[^:]:%lu", &pid, &inode) == 2 &&
		    inode == (unsigned long)st.st_ino)
			holder = pid;
	}
out:
	if (f)
		fclose(f);
	return holder;
}

static bk_status in_use(int fd, const struct bk_store *store, struct bk_error *err)
{
	long pid = holder_of(fd);

	if (pid == (long)getpid())
		bk_fail(err, BK_UNAVAILABLE, EWOULDBLOCK,
			"%s is open already, in another store of this process", store->folder);
	else if (pid > 0)
		bk_fail(err, BK_UNAVAILABLE, EWOULDBLOCK,
			"%s is open in process %ld; wait until it ends, or end it", store->folder,
			pid);
	else
		bk_fail(err, BK_UNAVAILABLE, EWOULDBLOCK, "%s is open in another process",
			store->folder);
	err->flags |= BK_ERR_RETRY;
	return BK_UNAVAILABLE;
}

bk_status ldb_folder_lock(int *fd, const struct bk_store *store, struct bk_error *err)
{
	char *path = ldb_path_of(store->folder, "", LDB_MARK, "");
	bk_status status = BK_OK;
	int mark = -1;

	if (!path)
		return ldb_nomem(err);
	mark = open(path, O_RDONLY | O_CLOEXEC);
	if (mark < 0)
		status = ldb_errno(err, errno, "open the owner mark", path);
	else if (flock(mark, LOCK_EX | LOCK_NB) != 0)
		status = errno == EWOULDBLOCK ? in_use(mark, store, err)
					      : ldb_errno(err, errno, "lock", path);
	if (status == BK_OK)
		*fd = mark;
	else if (mark >= 0)
		close(mark);
	free(path);
	return status;
}
