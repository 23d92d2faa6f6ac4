/*
 * ntriples.h - writes triples as N-Triples (W3C, 2014) into a buffer that is thrown away, and keeps
 * what the verification needs: how many, and the sum modulo 2^64 of a hash of each line.
 *
 * The sum does not depend on the order of the lines, so readers in parallel add up.
 */
#ifndef BK_REPO_NTRIPLES_H
#define BK_REPO_NTRIPLES_H

#include <bakeoff/backend.h>

#include <stdbool.h>

#define BK_URI_BASE "info:bakeoff/"

struct bk_ntriples {
	char *buf; /* 64 KiB; larger only for a longer line */
	size_t len, cap;
	uint64_t triples, sum, bytes;
	uint64_t first_ns; /* when the first triple was complete; 0: none yet */
	bool failed;       /* out of memory: the triples are not all counted */
};

bool bk_ntriples_init(struct bk_ntriples *w); /* false: out of memory */
void bk_ntriples_reset(struct bk_ntriples *w);
void bk_ntriples_free(struct bk_ntriples *w);

/* Subjects and link objects are paths in the repository; predicates and URIs are whole URIs. */
void bk_ntriples_link(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
		      struct bk_slice object);
void bk_ntriples_uri(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
		     struct bk_slice object);
void bk_ntriples_literal(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
			 struct bk_slice object);
/* Every literal and URI of a document; false when it does not parse. */
bool bk_ntriples_document(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice doc);

#endif
