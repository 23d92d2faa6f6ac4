/*
 * Fault: open leaves a file in the folder.
 */
#include "sound.h"
#include <fcntl.h>
#include <unistd.h>

static bk_status bad_open(struct bk_store **out, const struct bk_host *host,
			  const struct bk_store_config *config, const void *opts,
			  struct bk_error *err)
{
	bk_status st = snd_store_open(out, host, config, opts, err);
	char path[4200];
	int fd;

	if (st != BK_OK)
		return st;
	snprintf(path, sizeof(path), "%s/.lock", (*out)->root);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
	return BK_OK;
}

SND_BACKEND("bad-opens-changing", "fault: open leaves a file in the folder",
	    SND_STORE(.open = bad_open), SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
