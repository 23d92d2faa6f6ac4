/*
 * session.h - what the tests of more than one backend share: checked calls on a session, and a
 * large collection to walk.
 */
#ifndef BK_TESTS_SESSION_H
#define BK_TESTS_SESSION_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer/open.h"

#include <bakeoff/backend_util.h>

#define E (&last_err)
extern struct bk_error last_err; /* of the last call */

#define ok(call)        test_wants((call), BK_OK, #call, __FILE__, __LINE__)
#define wants(st, call) test_wants((call), (st), #call, __FILE__, __LINE__)
void test_wants(bk_status got, bk_status want, const char *what, const char *file, int line);

struct bk_session *session(struct bk_layered *l, uint64_t timeout_ns);
bk_status try_put(struct bk_layered *l, struct bk_session *s, const char *id, const char *parent,
		  struct bk_slice doc, uint32_t mode);
void put(struct bk_layered *l, struct bk_session *s, const char *id, const char *parent,
	 const char *doc);

/* A node `top` with 60,000 children that name it by the relation `in`: more than a client should
 * hold, with over 300 bytes each. */
void large_make(struct bk_layered *l, struct bk_session *s);
void large_walk_children(struct bk_layered *l, struct bk_session *s);
/* Walks along the children, the links, and the links and back; by how much that raised the peak of
 * this process's memory. */
long large_walks_grow_kib(struct bk_layered *l, struct bk_session *s);

#endif
