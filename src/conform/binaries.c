/*
 * binaries.c - see binaries.h.
 *
 * The one invariant: a content is a function of label and position, so that a part of it can be
 * checked without the rest, and 64 MiB need no 64 MiB.
 */
#include "conform/binaries.h"

#include <stdlib.h>

#define UNTOUCHED UINT64_C(0x5a5a5a5a5a5a5a5a)

static void arm(struct bk_binary_info *info)
{
	memset(info, 0, sizeof(*info));
	info->struct_size = (uint32_t)sizeof(*info);
	info->size_bytes = UNTOUCHED;
}

static uint64_t word_of(uint64_t label, uint64_t index)
{
	uint64_t x = (label + 1) * UINT64_C(0x9e3779b97f4a7c15) + index;

	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void bk_content_fill(void *out, uint64_t label, uint64_t from, size_t len)
{
	unsigned char *p = out;

	while (len) {
		uint64_t word = word_of(label, from / 8);
		size_t skip = (size_t)(from % 8), n = 8 - skip;

		n = n < len ? n : len;
		memcpy(p, (const char *)&word + skip, n);
		p += n;
		from += n;
		len -= n;
	}
}

/* ---- Writing ------------------------------------------------------------------------------- */

struct bk_writer *bk_t_write_open(struct bk_box *b, struct bk_at at, struct bk_slice key,
				  uint64_t size_bytes, uint32_t mode)
{
	struct bk_writer *w = (struct bk_writer *)b;
	struct bk_error err_;

	bk_test_arm(&err_);
	bk_test_status(b->t, at, "write_open", ONE(BK_OK),
		       b->ops->binary.write_open(&w, b->s, key, size_bytes, mode, E), UINT64_MAX,
		       &err_);
	if (!w || w == (struct bk_writer *)b)
		bk_test_fail(b->t, at, "write_open: OK without a writer");
	return w;
}

void bk_t_write(struct bk_box *b, struct bk_at at, struct bk_writer *w, uint64_t label,
		uint64_t from, uint64_t len, size_t chunk)
{
	char *buf = malloc(chunk);
	struct bk_error err_;

	if (!buf)
		abort();
	while (len) {
		size_t n = len < chunk ? (size_t)len : chunk;

		bk_content_fill(buf, label, from, n);
		bk_test_arm(&err_);
		bk_test_status(b->t, at, "write", ONE(BK_OK), b->ops->binary.write(w, buf, n, E),
			       UINT64_MAX, &err_);
		memset(buf, '#', n); /* it may be used again as soon as write() has returned */
		from += n;
		len -= n;
	}
	free(buf);
}

void bk_t_finish(struct bk_box *b, struct bk_at at, struct bk_writer *w, bk_status want,
		 uint64_t size_bytes)
{
	struct bk_binary_info info;
	struct bk_error err_;

	arm(&info);
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "finish", ONE(want), b->ops->binary.finish(w, &info, E),
		       UINT64_MAX, &err_);
	if (want < 0 && info.size_bytes != UNTOUCHED)
		bk_test_fail(b->t, at, "finish: failed and wrote *info");
	if (want == BK_OK && info.size_bytes != size_bytes)
		bk_test_fail(b->t, at, "finish: says %llu bytes, should be %llu",
			     (unsigned long long)info.size_bytes, (unsigned long long)size_bytes);
}

void bk_t_store(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
		uint64_t len, uint64_t declared, uint32_t mode, bk_status want)
{
	struct bk_writer *w = bk_t_write_open(b, at, key, declared, mode);

	bk_t_write(b, at, w, label, 0, len, 65536);
	bk_t_finish(b, at, w, want, len);
}

/* ---- Reading ----------------------------------------------------------------------------------
 */

static void compare(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
		    uint64_t from, const char *got, char *want, size_t n)
{
	size_t i;

	bk_content_fill(want, label, from, n);
	if (memcmp(got, want, n) == 0)
		return;
	for (i = 0; got[i] == want[i]; i++)
		;
	bk_test_fail(b->t, at, "binary %s: byte %llu is %#x, should be %#x",
		     bk_test_show(&b->arena, key), (unsigned long long)(from + i),
		     (unsigned char)got[i], (unsigned char)want[i]);
}

static void read_all(struct bk_box *b, struct bk_at at, struct bk_reader *r, struct bk_slice key,
		     uint64_t label, uint64_t offset, uint64_t expect, size_t cap)
{
	char *buf = malloc(cap), *want = malloc(cap);
	uint64_t got = 0;
	struct bk_error err_;
	bk_status st;
	size_t n;

	if (!buf || !want)
		abort();
	for (;;) {
		n = SIZE_MAX;
		bk_test_arm(&err_);
		st = b->ops->binary.read(r, buf, cap, &n, E);
		bk_test_status(b->t, at, "read", TWO(BK_OK, BK_END), st, UINT64_MAX, &err_);
		if (st == BK_END)
			break;
		if (n < 1 || n > cap)
			bk_test_fail(b->t, at, "read: OK with *n %zu, room was for %zu", n, cap);
		if (n > expect - got)
			bk_test_fail(b->t, at, "binary %s: more than the %llu bytes asked for",
				     bk_test_show(&b->arena, key), (unsigned long long)expect);
		compare(b, at, key, label, offset + got, buf, want, n);
		got += n;
	}
	if (n != SIZE_MAX && n != 0)
		bk_test_fail(b->t, at, "read: END with %zu bytes", n);
	if (got != expect)
		bk_test_fail(b->t, at, "binary %s: END after %llu bytes, should be %llu",
			     bk_test_show(&b->arena, key), (unsigned long long)got,
			     (unsigned long long)expect);
	free(buf);
	free(want);
}

void bk_t_read(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
	       uint64_t total, uint64_t offset, uint64_t len, size_t cap)
{
	struct bk_reader *r = (struct bk_reader *)b;
	struct bk_binary_info info;
	struct bk_error err_;
	uint64_t rest = total - offset;

	arm(&info);
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "read_open", ONE(BK_OK),
		       b->ops->binary.read_open(&r, b->s, key, offset, len, &info, E), UINT64_MAX,
		       &err_);
	if (!r || r == (struct bk_reader *)b)
		bk_test_fail(b->t, at, "read_open: OK without a reader");
	if (info.size_bytes != total)
		bk_test_fail(b->t, at, "read_open: says the binary has %llu bytes, should be %llu",
			     (unsigned long long)info.size_bytes, (unsigned long long)total);
	read_all(b, at, r, key, label, offset, len < rest ? len : rest, cap);
	b->ops->binary.read_close(r);
}

void bk_t_binary(struct bk_box *b, struct bk_at at, struct bk_slice key, uint64_t label,
		 uint64_t len)
{
	struct bk_binary_info info;
	struct bk_error err_;

	arm(&info);
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "stat", ONE(BK_OK), b->ops->binary.stat(b->s, key, &info, E),
		       UINT64_MAX, &err_);
	if (info.size_bytes != len)
		bk_test_fail(b->t, at, "stat of %s: %llu bytes, should be %llu",
			     bk_test_show(&b->arena, key), (unsigned long long)info.size_bytes,
			     (unsigned long long)len);
	bk_t_read(b, at, key, label, len, 0, BK_SIZE_UNKNOWN, 65536);
}

void bk_t_no_binary(struct bk_box *b, struct bk_at at, struct bk_slice key)
{
	struct bk_reader *r = NULL;
	struct bk_binary_info info;
	struct bk_error err_;

	arm(&info);
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "stat", ONE(BK_NOT_FOUND),
		       b->ops->binary.stat(b->s, key, &info, E), UINT64_MAX, &err_);
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "read_open", ONE(BK_NOT_FOUND),
		       b->ops->binary.read_open(&r, b->s, key, 0, BK_SIZE_UNKNOWN, &info, E),
		       UINT64_MAX, &err_);
	if (r || info.size_bytes != UNTOUCHED)
		bk_test_fail(b->t, at, "stat or read_open failed and wrote to an argument");
}

void bk_t_binary_remove(struct bk_box *b, struct bk_at at, struct bk_slice key, bk_status want)
{
	struct bk_error err_;

	bk_test_arm(&err_);
	bk_test_status(b->t, at, "binary.remove", ONE(want), b->ops->binary.remove(b->s, key, E),
		       UINT64_MAX, &err_);
}

/* ---- Listing ----------------------------------------------------------------------------------
 */

struct listed {
	struct bk_slice key;
	uint64_t size;
};

static int listed_cmp(const void *a, const void *b)
{
	return bk_slice_cmp(((const struct listed *)a)->key, ((const struct listed *)b)->key);
}

static size_t list_all(struct bk_box *b, struct bk_at at, struct listed *out, size_t room,
		       size_t cap)
{
	struct bk_slice keys[128];
	uint64_t sizes[128];
	struct bk_cursor *c = NULL;
	struct bk_error err_;
	size_t count = 0, n, i;
	bk_status st;

	cap = cap < 128 ? cap : 128;
	bk_test_arm(&err_);
	bk_test_status(b->t, at, "list_open", ONE(BK_OK), b->ops->binary.list_open(&c, b->s, E),
		       UINT64_MAX, &err_);
	for (;;) {
		n = SIZE_MAX;
		bk_test_arm(&err_);
		st = b->ops->binary.list_next(c, keys, sizes, cap, &n, E);
		bk_test_status(b->t, at, "list_next", TWO(BK_OK, BK_END), st, UINT64_MAX, &err_);
		if (st == BK_END)
			break;
		if (n < 1 || n > cap)
			bk_test_fail(b->t, at, "list_next: OK with *n %zu, room was for %zu", n,
				     cap);
		for (i = 0; i < n; i++) {
			if (count == room)
				bk_test_fail(b->t, at, "the list has more than %zu keys: %s", room,
					     bk_test_show(&b->arena, keys[i]));
			out[count].key = bk_test_copy(&b->arena, keys[i]);
			out[count++].size = sizes[i];
		}
	}
	b->ops->binary.list_close(c);
	return count;
}

void bk_t_list(struct bk_box *b, struct bk_at at, const struct bk_slice *keys,
	       const uint64_t *sizes, size_t n, size_t cap)
{
	struct listed *want = bk_arena_alloc(&b->arena, (n + 1) * sizeof(*want)),
		      *got = bk_arena_alloc(&b->arena, (n + 1) * sizeof(*got));
	size_t count = list_all(b, at, got, n, cap), i;

	for (i = 0; i < n; i++) {
		want[i].key = keys[i];
		want[i].size = sizes[i];
	}
	qsort(want, n, sizeof(*want), listed_cmp);
	qsort(got, count, sizeof(*got), listed_cmp);
	for (i = 0; i < n; i++) {
		if (i >= count || !bk_slice_eq(want[i].key, got[i].key))
			bk_test_fail(b->t, at, "the list has %zu keys, should be %zu; it lacks %s",
				     count, n, bk_test_show(&b->arena, want[i].key));
		if (want[i].size != got[i].size)
			bk_test_fail(b->t, at, "the list gives %s %llu bytes, should be %llu",
				     bk_test_show(&b->arena, got[i].key),
				     (unsigned long long)got[i].size,
				     (unsigned long long)want[i].size);
	}
}
