/*
 * test.h - what a case works with: stores, sessions, checks that end the case.
 *
 * The one invariant: the first check that fails ends the process.  A case therefore never cleans
 * up after a failure, and nothing it says later can hide the cause.
 */
#ifndef BK_CONFORM_TEST_H
#define BK_CONFORM_TEST_H

#include "conform/case.h"
#include "conform/conform.h"
#include "layer/open.h"
#include "util/arena.h"
#include "util/rng.h"

#include <bakeoff/backend_util.h>

#include <stdbool.h>

/* Spaces of a case.  The third has the first as a prefix; the fourth is what the first would match
 * as a LIKE pattern. */
enum bk_test_space { BK_SPACE_A, BK_SPACE_B, BK_SPACE_PREFIXED, BK_SPACE_LIKE, BK_SPACE_COUNT };

#define BK_TEST_STORES 8
#define BK_TEST_BOXES  16

/* An open store and one session on it. */
struct bk_box {
	struct bk_test *t;
	struct bk_layered *l;
	const struct bk_tables *ops;
	struct bk_session *s;
	struct bk_arena arena; /* what helpers hand out; lives as long as the box */
};

struct bk_test {
	const struct bk_conform_config *config;
	const struct bk_case *what;
	const struct bk_backend *desc;
	const struct bk_options *options; /* with a folder of our own, if the backend has one */
	uint64_t own;                     /* features of the backend in force */
	uint64_t looped;
	struct bk_limits limits;
	int channel;          /* to the process that prints */
	const char *scratch;  /* folder of this case, for whatever it wants */
	const char *folder;   /* that the store lives in; NULL: no such option */
	const char *log_path; /* where this process's standard output and error go */
	char space[BK_SPACE_COUNT][25];
	bool space_used[BK_SPACE_COUNT];
	uint64_t seed;
	unsigned slow; /* factor for waits: 1, or more under a sanitizer */
	struct bk_layered *stores[BK_TEST_STORES];
	struct bk_box *boxes[BK_TEST_BOXES];
	struct bk_arena arena;
};

/* Where a check stands. */
struct bk_at {
	const char *file;
	int line;
};
#define AT ((struct bk_at){__FILE__, __LINE__})

/* ---- Ends of a case ------------------------------------------------------ */

_Noreturn void bk_test_fail(struct bk_test *t, struct bk_at at, const char *fmt, ...)
	BK_PRINTF(3, 4);
_Noreturn void bk_test_skip(struct bk_test *t, const char *fmt, ...) BK_PRINTF(2, 3);
/* A line for the reader of a failure; nothing when the case passes. */
void bk_test_note(struct bk_test *t, const char *fmt, ...) BK_PRINTF(2, 3);

#define FAIL(t, ...) bk_test_fail(t, AT, __VA_ARGS__)
#define CHECK(t, cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond))                                                                       \
			bk_test_fail(t, AT, __VA_ARGS__);                                          \
	} while (0)

/* ---- Status -------------------------------------------------------------- */

/* An error struct full of a pattern, to see later whether it was touched. */
void bk_test_arm(struct bk_error *err);

/* Sets of statuses, for outcomes of which the contract allows several. */
static inline uint32_t bk_test_bit(bk_status st)
{
	return st > 1 || st < -18 ? 0 : 1u << (1 - st);
}
#define ONE(a)         bk_test_bit(a)
#define TWO(a, b)      (ONE(a) | ONE(b))
#define THREE(a, b, c) (TWO(a, b) | ONE(c))

#define BK_ITEM_ANY (UINT64_MAX - 1)

/* Checks that `got` is in `set`, and that *err was treated as the contract says: not touched on
 * success; on failure the same status, one readable line, known flags, and `item`. */
void bk_test_status(struct bk_test *t, struct bk_at at, const char *call, uint32_t set,
		    bk_status got, uint64_t item, const struct bk_error *err);

/* WANT(t, BK_NOT_FOUND, ops->node.remove(s, id, E)): `E` is the error struct of this call. */
#define E (&err_)
#define WANT_IN(t, set, item, got, call)                                                           \
	do {                                                                                       \
		struct bk_error err_;                                                              \
                                                                                                   \
		bk_test_arm(&err_);                                                                \
		(got) = (call);                                                                    \
		bk_test_status(t, AT, #call, set, got, item, &err_);                               \
	} while (0)
#define WANT(t, want, call)                                                                        \
	do {                                                                                       \
		bk_status got_;                                                                    \
                                                                                                   \
		WANT_IN(t, ONE(want), UINT64_MAX, got_, call);                                     \
	} while (0)
/* Any status at all, handed to the caller; *err is checked all the same. */
#define ANY(t, got, call) WANT_IN(t, UINT32_MAX, BK_ITEM_ANY, got, call)

const char *bk_test_status_name(bk_status st);

/* ---- Stores and sessions -------------------------------------------------- */

#define BK_BARE BK_OPEN_RAW /* neither loops nor checks: what the backend itself answers */

/* bk_open() as this run asks for it; closed by bk_test_shut() or at the end of the case. */
bk_status bk_test_try_open(struct bk_layered **out, struct bk_test *t, enum bk_test_space space,
			   const char *mark, uint32_t durability, uint32_t flags,
			   struct bk_error *err);
struct bk_layered *bk_test_open(struct bk_test *t, enum bk_test_space space, uint32_t durability,
				uint32_t flags);
void bk_test_shut(struct bk_test *t, struct bk_layered *l);

/* The usual fixture: space A opened with loops and checks, made, one session. */
struct bk_box *bk_test_box(struct bk_test *t);
struct bk_box *bk_test_box_at(struct bk_test *t, enum bk_test_space space, uint32_t durability,
			      uint32_t flags);
/* One more session on an open store. */
struct bk_box *bk_test_join(struct bk_test *t, struct bk_layered *l, uint32_t durability);
void bk_test_leave(struct bk_box *b);    /* its session; the store stays */
void bk_test_shut_box(struct bk_box *b); /* session and store */

/* The same in storage of the caller's, for a thread: nothing is registered. */
void bk_test_enter(struct bk_box *b, struct bk_test *t, struct bk_layered *l, uint32_t durability,
		   uint32_t worker, uint64_t timeout_ns);
void bk_test_exit(struct bk_box *b);

/* A store that promises `durability`, made, with a session; skips the case when the backend says
 * that it does not offer that much. */
struct bk_box *bk_test_durable(struct bk_test *t, uint32_t durability, uint32_t flags);
/* Close `b`'s store and open it again: a new box, in which what was acknowledged is still there. */
struct bk_box *bk_test_reopen(struct bk_box *b, uint32_t durability, uint32_t flags);

bool bk_test_has(const struct bk_test *t, uint64_t bits); /* own or looped */

/* Closes what is open, unmakes what was made, checks that it went well. */
void bk_test_end(struct bk_test *t);

/* Asks the printing process to crash the server; FAILs when that goes wrong. */
void bk_test_crash_server(struct bk_test *t);

/* ---- Odds and ends --------------------------------------------------------- */

/* Bytes as a reader can stand them: printable, shortened; in `arena`. */
const char *bk_test_show(struct bk_arena *arena, struct bk_slice s);
struct bk_slice bk_test_copy(struct bk_arena *arena, struct bk_slice s);
struct bk_slice bk_test_printf(struct bk_arena *arena, const char *fmt, ...) BK_PRINTF(2, 3);
/* Bytes that depend on the seed and the label only. */
struct bk_slice bk_test_bytes(struct bk_arena *arena, uint64_t label, size_t len);
void bk_test_sleep_ms(unsigned ms);
uint64_t bk_test_now_ns(void);

#endif
