/*
 * spare.c - a copy of the template made ahead.
 *
 * The one invariant: it is taken by renaming, so that only one gets it, and only from a folder that
 * is ours alone.
 */
#include "service/template.h"

#include "service/root.h"
#include "service/state.h"
#include "service/unpack.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ROOT/bakeoff.spare-UID-KEY/data; KEY is of hexadecimal digits at its end, long enough. */
static char *spr_path(const struct bk_service_run *run, const char *tail)
{
	struct bk_buf path = BK_BUF_INIT;
	size_t len = strlen(run->key);

	bk_buf_putf(&path, "%s/" BK_ROOT_PREFIX "spare-%u-%s%s", run->root, (unsigned)geteuid(),
		    run->key + (len > 24 ? len - 24 : 0), tail);
	return bk_buf_steal(&path);
}

/* Somebody else can have made a folder of that name in /tmp. */
static bool spr_is_ours(const char *path)
{
	struct stat sb;

	return path && lstat(path, &sb) == 0 && S_ISDIR(sb.st_mode) && sb.st_uid == geteuid() &&
	       !(sb.st_mode & 077);
}

bool bk_template_take_spare(const struct bk_service_run *run, const char *to)
{
	char *folder = spr_path(run, ""), *ready = spr_path(run, "/data");
	bool taken = spr_is_ours(folder) && ready && rename(ready, to) == 0;

	free(folder);
	free(ready);
	return taken;
}

void bk_template_make_spare(const struct bk_service_run *run, bool (*stop)(void *ctx), void *ctx)
{
	char *folder = spr_path(run, ""), *ready = spr_path(run, "/data");
	struct bk_error ignored = bk_error_init();
	struct bk_unpack how = {.uid = run->identity.drop ? run->identity.uid : (uid_t)-1,
				.gid = run->identity.gid,
				.workers = bk_unpack_workers(),
				.stop = stop,
				.stop_ctx = ctx};
	struct bk_pack pack;
	char *half = spr_path(run, "/half");
	int lock;

	if (!folder || !ready || !half)
		goto out;
	if ((mkdir(folder, 0700) != 0 && errno != EEXIST) || !spr_is_ours(folder))
		goto out;
	lock = bk_state_lock(folder);
	if (lock < 0)
		goto out; /* another keeper is at it */
	if (access(ready, F_OK) != 0 && bk_fs_remove_tree(half, &ignored) == BK_OK) {
		if (bk_pack_open(&pack, run->template, &ignored) != BK_OK ||
		    bk_unpack_tree(&how, &pack, half, &ignored) != BK_OK ||
		    rename(half, ready) != 0)
			bk_fs_remove_tree(half, &ignored);
		bk_pack_close(&pack);
	}
	close(lock);
out:
	free(folder);
	free(ready);
	free(half);
}
