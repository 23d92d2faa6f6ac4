/*
 * group_binary.c - writing, reading, removing and listing binaries.
 *
 * The one invariant: contents are compared byte by byte; their sizes straddle whatever a store may
 * take for a page, a part or a row.
 */
#include "conform/binaries.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const uint64_t sizes[] = {0,      1,       2,       4095,    4096,    4097,
				 8191,   8192,    65535,   65536,   65537,   262144,
				 262145, 1000000, 1048575, 1048576, 1048577, 3000001};

static struct bk_slice key_of(struct bk_box *b, size_t i)
{
	return bk_test_printf(&b->arena, "key-%zu", i);
}

static void sizes_declared(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	size_t i;

	for (i = 0; i < LEN(sizes); i++)
		bk_t_store(b, AT, key_of(b, i), i, sizes[i], sizes[i], BK_PUT_UPSERT, BK_OK);
	for (i = 0; i < LEN(sizes); i++)
		BINARY(b, key_of(b, i), i, sizes[i]);
}

static void sizes_unknown(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	size_t i;

	for (i = 0; i < LEN(sizes); i++)
		bk_t_store(b, AT, key_of(b, i), i, sizes[i], BK_SIZE_UNKNOWN, BK_PUT_UPSERT, BK_OK);
	for (i = 0; i < LEN(sizes); i++)
		BINARY(b, key_of(b, i), i, sizes[i]);
}

/* The same bytes by writes of any size, empty ones among them, and reads of any size. */
static void chunks(struct bk_test *t)
{
	static const size_t steps[] = {1, 7, 511, 4096, 100003};
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key;
	uint64_t total;
	size_t i, k;

	for (i = 0; i < LEN(steps); i++) {
		struct bk_writer *w;

		key = key_of(b, i);
		total = steps[i] < 100 ? 3000 : 300000;
		w = WRITE_OPEN(b, key, i % 2 ? total : BK_SIZE_UNKNOWN, BK_PUT_UPSERT);
		WANT(t, BK_OK, b->ops->binary.write(w, "", 0, E));
		bk_t_write(b, AT, w, i, 0, total / 2, steps[i]);
		WANT(t, BK_OK, b->ops->binary.write(w, NULL, 0, E));
		bk_t_write(b, AT, w, i, total / 2, total - total / 2, steps[i]);
		FINISH(b, w, BK_OK, total);
		for (k = 0; k < LEN(steps); k++) {
			if (total / steps[k] < 10000)
				bk_t_read(b, AT, key, i, total, 0, BK_SIZE_UNKNOWN, steps[k]);
		}
	}
}

static void size_wrong(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), old = bk_slice_str("old");

	STORE(b, old, 9, 700);
	bk_t_store(b, AT, key, 1, 999, 1000, BK_PUT_UPSERT, BK_INVALID);
	NO_BINARY(b, key);
	bk_t_store(b, AT, key, 1, 0, 1, BK_PUT_UPSERT, BK_INVALID);
	NO_BINARY(b, key);
	bk_t_store(b, AT, old, 1, 300000, 300001, BK_PUT_UPSERT, BK_INVALID);
	BINARY(b, old, 9, 700);
	bk_t_store(b, AT, key, 2, 1000, 1000, BK_PUT_UPSERT, BK_OK);
	BINARY(b, key, 2, 1000);
}

/* One byte too many is refused by the write that brings it, or by finish. */
static void size_exceeded(struct bk_test *t)
{
	static const uint64_t declared[] = {0, 1, 1000, 70000};
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");
	size_t i;

	for (i = 0; i < LEN(declared); i++) {
		struct bk_writer *w = WRITE_OPEN(b, key, declared[i], BK_PUT_UPSERT);
		bk_status st;

		WRITE(b, w, 1, 0, declared[i]);
		WANT_IN(t, TWO(BK_OK, BK_INVALID), UINT64_MAX, st,
			b->ops->binary.write(w, "x", 1, E));
		if (st == BK_OK)
			FINISH(b, w, BK_INVALID, 0);
		else
			b->ops->binary.abort(w);
		NO_BINARY(b, key);
	}
}

static void abort_leaves_nothing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), old = bk_slice_str("old");
	uint64_t size = 700, written;
	struct bk_writer *w;

	STORE(b, old, 9, 700);
	for (written = 0; written <= 2000000; written = written * 100 + 20000) {
		w = WRITE_OPEN(b, key, BK_SIZE_UNKNOWN, BK_PUT_UPSERT);
		WRITE(b, w, 1, 0, written);
		b->ops->binary.abort(w);
		NO_BINARY(b, key);
		w = WRITE_OPEN(b, old, 3000000, BK_PUT_UPSERT);
		WRITE(b, w, 1, 0, written);
		b->ops->binary.abort(w);
		BINARY(b, old, 9, 700);
	}
	bk_t_list(b, AT, &old, &size, 1, 10);
}

static void unseen_before_finish(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_slice key = bk_slice_str("key"), old = bk_slice_str("old");
	uint64_t size = 700;
	struct bk_writer *w;

	STORE(b, old, 9, 700);
	w = WRITE_OPEN(b, key, 500000, BK_PUT_UPSERT);
	WRITE(b, w, 1, 0, 300000);
	NO_BINARY(other, key);
	bk_t_list(other, AT, &old, &size, 1, 10);
	WRITE(b, w, 1, 300000, 200000);
	NO_BINARY(other, key);
	FINISH(b, w, BK_OK, 500000);
	BINARY(other, key, 1, 500000);
	w = WRITE_OPEN(b, old, BK_SIZE_UNKNOWN, BK_PUT_UPSERT);
	WRITE(b, w, 2, 0, 300000);
	BINARY(other, old, 9, 700);
	FINISH(b, w, BK_OK, 300000);
	BINARY(other, old, 2, 300000);
}

static void upsert_replaces(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");
	size_t i;

	for (i = 0; i < LEN(sizes); i++) {
		size_t k = i % 2 ? i : LEN(sizes) - 1 - i; /* larger, smaller, larger, ... */

		STORE(b, key, i, sizes[k]);
		BINARY(b, key, i, sizes[k]);
	}
	bk_t_list(b, AT, &key, &sizes[LEN(sizes) - 1], 1, 10);
}

static void create_exists(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");

	bk_t_store(b, AT, key, 1, 5000, 5000, BK_PUT_CREATE, BK_OK);
	BINARY(b, key, 1, 5000);
	bk_t_store(b, AT, key, 2, 100, 100, BK_PUT_CREATE, BK_EXISTS);
	BINARY(b, key, 1, 5000);
	bk_t_store(b, AT, key, 2, 3000000, BK_SIZE_UNKNOWN, BK_PUT_CREATE, BK_EXISTS);
	BINARY(b, key, 1, 5000);
	bk_t_binary_remove(b, AT, key, BK_OK);
	bk_t_store(b, AT, key, 3, 200, BK_SIZE_UNKNOWN, BK_PUT_CREATE, BK_OK);
	BINARY(b, key, 3, 200);
}

/* Nobody was there at open, somebody is at finish. */
static void create_overtaken(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_slice key = bk_slice_str("key");
	struct bk_writer *w = WRITE_OPEN(b, key, 1000, BK_PUT_CREATE);

	WRITE(b, w, 1, 0, 500);
	bk_t_store(other, AT, key, 2, 77, 77, BK_PUT_CREATE, BK_OK);
	WRITE(b, w, 1, 500, 500);
	FINISH(b, w, BK_EXISTS, 0);
	BINARY(b, key, 2, 77);
}

static void remove_binary(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), other = bk_slice_str("other");
	uint64_t size = 10;

	bk_t_binary_remove(b, AT, key, BK_NOT_FOUND);
	STORE(b, key, 1, 100000);
	STORE(b, other, 2, 10);
	bk_t_binary_remove(b, AT, key, BK_OK);
	NO_BINARY(b, key);
	BINARY(b, other, 2, 10);
	bk_t_binary_remove(b, AT, key, BK_NOT_FOUND);
	bk_t_list(b, AT, &other, &size, 1, 10);
	STORE(b, key, 3, 5);
	BINARY(b, key, 3, 5);
}

static void missing(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);

	NO_BINARY(b, bk_slice_str("key"));
	STORE(b, bk_slice_str("key/longer"), 1, 10);
	NO_BINARY(b, bk_slice_str("key"));
	NO_BINARY(b, bk_slice_str("key/"));
	NO_BINARY(b, bk_slice_str("key/longe"));
}

/* ---- Ranges ------------------------------------------------------------------------------- */

static void ranges(struct bk_test *t)
{
	static const uint64_t totals[] = {1, 5000, 1000000};
	struct bk_box *b = bk_test_box(t);
	struct bk_rng rng;
	size_t i, k;

	bk_rng_init(&rng, t->seed);
	for (i = 0; i < LEN(totals); i++) {
		struct bk_slice key = key_of(b, i);
		uint64_t n = totals[i];

		STORE(b, key, i, n);
		bk_t_read(b, AT, key, i, n, 0, n, 4096);
		bk_t_read(b, AT, key, i, n, 0, 1, 4096);
		bk_t_read(b, AT, key, i, n, n - 1, 1, 4096);
		bk_t_read(b, AT, key, i, n, n - 1, BK_SIZE_UNKNOWN, 4096);
		bk_t_read(b, AT, key, i, n, 0, n + 1000, 65536); /* cut at the end */
		bk_t_read(b, AT, key, i, n, n - 1, UINT64_MAX - 1, 65536);
		for (k = 0; k < 20; k++) {
			uint64_t offset = bk_rng_below(&rng, n);

			bk_t_read(b, AT, key, i, n, offset, 1 + bk_rng_below(&rng, n - offset),
				  1 + bk_rng_below(&rng, 70000));
		}
	}
}

static void range_at_end(struct bk_test *t)
{
	static const uint64_t totals[] = {0, 1, 4096, 300000};
	struct bk_box *b = bk_test_box(t);
	size_t i;

	for (i = 0; i < LEN(totals); i++) {
		struct bk_slice key = key_of(b, i);
		struct bk_binary_info info = {.struct_size = sizeof(info), .size_bytes = 77};
		struct bk_reader *r = NULL;

		STORE(b, key, i, totals[i]);
		bk_t_read(b, AT, key, i, totals[i], totals[i], BK_SIZE_UNKNOWN, 100);
		bk_t_read(b, AT, key, i, totals[i], totals[i], 10, 100);
		WANT(t, BK_INVALID,
		     b->ops->binary.read_open(&r, b->s, key, totals[i] + 1, 10, &info, E));
		WANT(t, BK_INVALID,
		     b->ops->binary.read_open(&r, b->s, key, UINT64_MAX, BK_SIZE_UNKNOWN, &info,
					      E));
		CHECK(t, !r && info.size_bytes == 77, "read_open failed and wrote to an argument");
	}
}

static void reader_closed_early(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");
	char buf[1000];
	int i;

	STORE(b, key, 1, 2000000);
	for (i = 0; i < 20; i++) {
		struct bk_binary_info info = {.struct_size = sizeof(info)};
		struct bk_reader *r = NULL;
		size_t n = 0;

		WANT(t, BK_OK,
		     b->ops->binary.read_open(&r, b->s, key, (uint64_t)i * 1000, BK_SIZE_UNKNOWN,
					      &info, E));
		if (i % 3)
			WANT(t, BK_OK, b->ops->binary.read(r, buf, sizeof(buf), &n, E));
		b->ops->binary.read_close(r);
	}
	BINARY(b, key, 1, 2000000);
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_BINARIES                              \
	}

static const struct bk_case cases[] = {
	CASE("sizes-declared", sizes_declared, "0 to 3,000,001 bytes, their size told before"),
	CASE("sizes-unknown", sizes_unknown, "the same without telling the size"),
	CASE("chunks", chunks, "writes and reads of any size, empty writes among them"),
	CASE("size-wrong", size_wrong, "fewer bytes than told: INVALID at finish, nothing changed"),
	CASE("size-exceeded", size_exceeded, "more bytes than told: INVALID, nothing there"),
	CASE("abort", abort_leaves_nothing, "abort leaves what was there, or nothing"),
	CASE("unseen-before-finish", unseen_before_finish, "others see it whole, after finish",
	     .flags = BK_CASE_TWO),
	CASE("upsert", upsert_replaces, "upsert replaces, larger by smaller and back"),
	CASE("create-exists", create_exists, "create where one is: EXISTS at finish",
	     .own = BK_F_BINARY_CREATE),
	CASE("create-overtaken", create_overtaken, "create that another one overtook: EXISTS",
	     .own = BK_F_BINARY_CREATE, .flags = BK_CASE_TWO),
	CASE("remove", remove_binary, "remove; of what is not there: NOT_FOUND"),
	CASE("missing", missing, "stat and read of what is not there: NOT_FOUND"),
	CASE("ranges", ranges, "ranges at the start, at the end, across it, anywhere"),
	CASE("range-at-end", range_at_end, "offset at the end: END at once; beyond: INVALID"),
	CASE("reader-closed-early", reader_closed_early, "a reader may be closed before its end"),
	{.name = NULL},
};

const struct bk_group bk_group_binary = {"binary", cases};
