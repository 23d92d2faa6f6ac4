/*
 * programs.h - where a service's programs are.
 *
 * The one invariant: with bin-dir the first program is the one in that folder or there is an
 * error; another installed version is never taken instead.
 */
#ifndef BK_SERVICE_PROGRAMS_H
#define BK_SERVICE_PROGRAMS_H

#include <bakeoff/backend.h>

struct bk_programs { /* starts as all zero */
	struct bk_program {
		const char *names; /* "a|b": as in the table */
		char *path;
	} * items;
	size_t count;
	char *folder; /* of the first */
};

/* `service` or the first of its alternatives whose programs are all there; *chosen is that one.
 * `who` is the backend's name, for the message. */
bk_status bk_programs_find(struct bk_programs *out, const struct bk_service **chosen,
			   const struct bk_service *service, const char *who, const char *bin_dir,
			   struct bk_error *err);
void bk_programs_free(struct bk_programs *programs);

/* The path of the program that a table calls `name`, or NULL. */
const char *bk_programs_path(const struct bk_programs *programs, const char *name);
/* argv[0] becomes that path: by a bare name a program may take another installed version for
 * itself, and look for its files there. */
bk_status bk_programs_resolve(const struct bk_programs *programs, char **argv,
			      struct bk_error *err);

#endif
