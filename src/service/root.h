/*
 * root.h - where the folders of servers are made.
 *
 * The one invariant: a folder of ours is 0700 (0710 for the server's own group when root runs it)
 * from its first moment, under a name that nobody could have taken before.
 */
#ifndef BK_SERVICE_ROOT_H
#define BK_SERVICE_ROOT_H

#include "service/service.h"

#define BK_ROOT_PREFIX "bakeoff." /* then six random letters */

/* The folder in which the server's is made, the caller's to free: the one that was asked for, made
 * if it is missing; else tmpfs when it has room for `need_bytes` and some to work in, else
 * $TMPDIR, /tmp. */
bk_status bk_root_choose(char **out, const struct bk_service_config *config, uint64_t need_bytes,
			 struct bk_error *err);

/* A new folder for sockets when the server's own, `folder`, is too deep: their paths end at 107
 * bytes.  A link in it says whose it is, for the sweep.  The caller's to free. */
bk_status bk_root_short(char **out, const char *suffix, const char *folder, struct bk_error *err);
#define BK_ROOT_SOCKETS    "-run"  /* what its name ends with */
#define BK_ROOT_OWNER_LINK "owner" /* in it */
#define BK_ROOT_SOCKET_MAX 72 /* bytes of a folder's path that leave room for a socket's name */

/* Folders in which earlier ones may lie, NULL-terminated; bk_strings_free(). */
char **bk_root_candidates(void);

#endif
