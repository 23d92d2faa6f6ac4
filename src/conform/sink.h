/*
 * sink.h - a sink that remembers what inspect() and counters() say, and checks its form.
 *
 * The one invariant: the first breach of form is kept in `fault`; the rest is still recorded.
 */
#ifndef BK_CONFORM_SINK_H
#define BK_CONFORM_SINK_H

#include "conform/test.h"

struct bk_said {
	const char *name;
	uint64_t value; /* of put_u64 */
	double real;    /* of put_f64 */
	const char *text;
	char kind; /* 'u', 'f', 's', '!' for a flag */
};
struct bk_record {
	struct bk_sink sink; /* to hand to the backend */
	struct bk_arena *arena;
	struct bk_said *said;
	size_t count, cap;
	int depth; /* of begin() */
	char fault[200];
};

void bk_record_init(struct bk_record *r, struct bk_arena *arena);
const struct bk_said *bk_record_find(const struct bk_record *r, const char *name);
/* After the call: balanced, well-formed. */
void bk_record_check(struct bk_test *t, struct bk_at at, const struct bk_record *r);
/* What the session's counters say now; none has gone back since `before` (may be NULL). */
void bk_record_counters(struct bk_record *out, struct bk_box *b, struct bk_at at,
			const struct bk_record *before);
/* Does any text that was said contain this? */
bool bk_record_mentions(const struct bk_record *r, const char *text);

#endif
