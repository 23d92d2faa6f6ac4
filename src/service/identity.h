/*
 * identity.h - as whom a server runs.
 *
 * The one invariant: a server never runs as root.  Where there is no user to run as, it runs in a
 * user namespace in which nobody is root; files then still belong to whoever runs bakeoff.
 */
#ifndef BK_SERVICE_IDENTITY_H
#define BK_SERVICE_IDENTITY_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <sys/types.h>

struct bk_identity {
	char user[64]; /* for people */
	uid_t uid;     /* owner of the files as seen from here */
	gid_t gid;
	bool drop;       /* setuid to it */
	bool unmapped;   /* enter a user namespace without a map: seen as nobody */
	bool map_nobody; /* for commands: a namespace in which this uid, which has no entry in
			  * the user database, is nobody, who has one */
};

/* `folder`: where the server's files will be; a user who cannot reach it is of no use. */
void bk_identity_choose(struct bk_identity *out, const struct bk_service *service,
			const char *folder);

/* In a child that is about to exec.  0, or an errno. */
int bk_identity_enter(const struct bk_identity *identity);

#endif
