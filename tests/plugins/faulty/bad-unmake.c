/*
 * Fault: unmake leaves a file behind.
 */
#include "sound.h"
#include <fcntl.h>
#include <unistd.h>

static bk_status bad_unmake(struct bk_store *store, struct bk_error *err)
{
	bk_status st = snd_unmake(store, err);
	char path[4200];
	int fd;

	snprintf(path, sizeof(path), "%s/left-behind", store->root);
	fd = st == BK_OK ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	if (fd >= 0)
		close(fd);
	return st;
}

SND_BACKEND("bad-unmake", "fault: unmake leaves a file behind", SND_STORE(.unmake = bad_unmake),
	    SND_SESSION(), SND_TXN(), SND_NODE(), SND_BINARY());
