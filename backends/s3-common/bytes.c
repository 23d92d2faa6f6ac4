/*
 * bytes.c - see bytes.h.
 */
#include "bytes.h"

#define BYT_FIRST ((size_t)64 * 1024)

static bool byt_is_text(const unsigned char *p, size_t len)
{
	char one[5];
	size_t n, most;

	while (len) {
		most = len < 4 ? len : 4;
		memcpy(one, p, most);
		one[most] = '\0';
		n = bk_utf8_len(one);
		if (n == 0 || n > len)
			return false;
		p += n;
		len -= n;
	}
	return true;
}

bk_status s3_key_check(const struct s3_site *site, struct bk_slice key, size_t most,
		       struct bk_error *err)
{
	if (key.len == 0)
		return bk_fail(err, BK_INVALID, 0, "%s: the key is empty", site->backend);
	if (key.len > most)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "%s: a key of %zu bytes; with its prefix it may have %zu",
			       site->backend, key.len, most);
	if (!byt_is_text(key.data, key.len))
		return bk_fail(err, BK_INVALID, 0, "%s: the key is not UTF-8, or holds a NUL",
			       site->backend);
	return BK_OK;
}

/* ---- Read ---------------------------------------------------------------------------------- */

void s3_intake_empty(struct s3_intake *in)
{
	in->room = in->got = 0;
	s3_buf_reset(&in->spill);
	in->spill_at = 0;
}

void s3_intake_aim(struct s3_intake *in, void *buf, size_t cap)
{
	in->to = buf;
	in->room = cap;
	in->got = 0;
}

bool s3_intake_take(struct s3_intake *in, const void *data, size_t len, size_t most)
{
	size_t now = len < in->room ? len : in->room, later = len - now;

	if (later > most - in->spill.len)
		return false;
	if (later) {
		s3_buf_put(&in->spill, (const char *)data + now, later);
		if (in->spill.failed)
			return false;
	}
	if (now)
		memcpy(in->to + in->got, data, now);
	in->got += now;
	in->room -= now;
	return true;
}

size_t s3_intake_give(struct s3_intake *in, void *buf, size_t cap)
{
	size_t n = in->got;

	in->got = 0;
	if (n)
		return n;
	n = in->spill.len - in->spill_at;
	n = n < cap ? n : cap;
	if (n)
		memcpy(buf, in->spill.data + in->spill_at, n);
	in->spill_at += n;
	if (in->spill_at == in->spill.len)
		s3_intake_empty(in);
	return n;
}

/* ---- Written ------------------------------------------------------------------------------- */

bool s3_hold_put(struct s3_hold *hold, const void *data, size_t len, uint64_t declared_bytes,
		 uint64_t trusted, uint64_t most)
{
	size_t need = hold->len + len, cap = hold->cap ? hold->cap : BYT_FIRST;
	unsigned char *bigger;

	if (need > hold->cap) {
		if (declared_bytes <= trusted && declared_bytes >= need)
			cap = (size_t)declared_bytes;
		while (cap < need)
			cap = cap * 2 < most ? cap * 2 : (size_t)most;
		bigger = realloc(hold->data, cap);
		if (!bigger)
			return false;
		hold->data = bigger;
		hold->cap = cap;
	}
	if (len)
		memcpy(hold->data + hold->len, data, len);
	hold->len += len;
	return true;
}

bk_status s3_put_check(const struct s3_site *site, bool open, uint32_t mode, uint64_t size_bytes,
		       uint64_t most, struct bk_error *err)
{
	if (open)
		return bk_fail(err, BK_STATE, 0, "%s: put: the session has a writer open",
			       site->backend);
	if (mode != BK_PUT_CREATE && mode != BK_PUT_UPSERT)
		return bk_fail(err, BK_INVALID, 0, "%s: put: mode must be create or upsert",
			       site->backend);
	if (size_bytes != BK_SIZE_UNKNOWN && size_bytes > most)
		return bk_fail(err, BK_TOO_LARGE, 0,
			       "%s: put: %llu bytes; an object may have %llu GiB here",
			       site->backend, (unsigned long long)size_bytes,
			       (unsigned long long)most >> 30);
	return BK_OK;
}

bk_status s3_put_whole(const struct s3_site *site, uint64_t declared_bytes, uint64_t written_bytes,
		       struct bk_error *err)
{
	if (declared_bytes == BK_SIZE_UNKNOWN || declared_bytes == written_bytes)
		return BK_OK;
	return bk_fail(err, BK_INVALID, 0, "%s: finish: %llu bytes were declared, %llu written",
		       site->backend, (unsigned long long)declared_bytes,
		       (unsigned long long)written_bytes);
}
