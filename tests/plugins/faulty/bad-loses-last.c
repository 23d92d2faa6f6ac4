/*
 * Fault: up to 64 puts are kept in this process until they are written, or until the session
 * closes.
 */
#include "sound.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The log that the store writes is one in memory; `real_fd` gets it later. */
struct later {
	int real_fd, memory_fd;
	uint64_t written;
	unsigned puts;
};

static void write_out(struct bk_session *s)
{
	struct later *later = s->extra;
	size_t len;
	char *bytes;

	if (!later || s->store->log_bytes <= later->written)
		return;
	len = (size_t)(s->store->log_bytes - later->written);
	bytes = malloc(len);
	if (!bytes || pread(later->memory_fd, bytes, len, (off_t)later->written) < 0 ||
	    pwrite(later->real_fd, bytes, len, (off_t)later->written) < 0)
		abort();
	free(bytes);
	later->written = s->store->log_bytes;
}

static bk_status bad_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
			 struct bk_error *err)
{
	bk_status st = snd_put(s, node, mode, err);
	struct later *later = s->extra;

	if (later && ++later->puts % 64 == 0)
		write_out(s);
	return st;
}

static bk_status bad_session_open(struct bk_session **out, struct bk_store *store,
				  const struct bk_session_config *config, struct bk_error *err)
{
	bool first = store->log_fd < 0;
	bk_status st = snd_session_open(out, store, config, err);
	struct later *later;

	if (st != BK_OK || !first)
		return st;
	later = calloc(1, sizeof(*later));
	if (!later)
		abort();
	later->real_fd = store->log_fd;
	later->written = store->log_bytes;
	later->memory_fd = store->log_fd = memfd_create("log", MFD_CLOEXEC);
	(*out)->extra = later;
	return BK_OK;
}

static void bad_session_close(struct bk_session *s)
{
	struct later *later = s->extra;

	write_out(s);
	if (later) {
		s->store->log_fd = later->real_fd;
		close(later->memory_fd);
		free(later);
	}
	snd_session_close(s);
}

SND_BACKEND("bad-loses-last",
	    "fault: up to 64 puts are kept in this process before they are written", SND_STORE(),
	    SND_SESSION(.open = bad_session_open, .close = bad_session_close), SND_TXN(),
	    SND_NODE(.put = bad_put), SND_BINARY());
