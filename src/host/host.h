/*
 * host.h - what machine this is, and what it costs to wake a process on it.
 */
#ifndef BK_HOST_HOST_H
#define BK_HOST_HOST_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <stddef.h>

struct bk_wakeup { /* nanoseconds for one round trip between two processes; 0: not measured */
	double free_ns, pinned_ns;
};
/* A ping-pong over pipes, both sides asleep in between: wherever the kernel puts them, and both on
 * one core.  Takes about a tenth of a second. */
struct bk_wakeup bk_host_wakeup(void);

/* JSON: CPU model, cores allowed, memory, kernel, file system and mount options of `folder`, clock,
 * wake-up cost, pinning; malloc'd; NULL: no memory. */
char *bk_host_describe(const char *folder, const struct bk_wakeup *wakeup);

struct bk_mount {
	char type[32]; /* "ext4", "tmpfs"; "" when not known */
	char options[160];
	char point[256];
};
void bk_host_mount(struct bk_mount *out, const char *path);

/* Bytes free for us on the file system of `path`; UINT64_MAX when not known. */
uint64_t bk_host_disk_free(const char *path);

/* Write back the file system of `folder` and drop its pages from the cache: all of them where that
 * is permitted, else those of the files beneath `folder`.  Returns what was reached, in words. */
const char *bk_host_drop_pages(const char *folder);

#endif
