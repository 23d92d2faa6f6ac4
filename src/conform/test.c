/*
 * test.c - the ends of a case, the check of every status, odds and ends.
 *
 * The one invariant: bk_test_fail() may be called by any thread and any child of a case.
 */
#include "conform/test.h"

#include "conform/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATTERN 0xa5

static void test_send(struct bk_test *t, char kind, struct bk_at at, const char *fmt, va_list ap)
{
	struct bk_report msg;
	const char *file = at.file ? at.file : "";
	const char *src = strstr(file, "src/conform/");

	memset(&msg, 0, sizeof(msg));
	msg.kind = kind;
	msg.line = at.line;
	snprintf(msg.file, sizeof(msg.file), "%s", src ? src : file);
	vsnprintf(msg.text, sizeof(msg.text), fmt, ap);
	while (send(t->channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

void bk_test_fail(struct bk_test *t, struct bk_at at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	test_send(t, BK_REPORT_FAIL, at, fmt, ap);
	va_end(ap);
	_exit(1);
}

void bk_test_skip(struct bk_test *t, const char *fmt, ...)
{
	va_list ap;

	bk_test_end(t);
	va_start(ap, fmt);
	test_send(t, BK_REPORT_SKIP, (struct bk_at){NULL, 0}, fmt, ap);
	va_end(ap);
	_exit(0);
}

void bk_test_note(struct bk_test *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	test_send(t, BK_REPORT_NOTE, (struct bk_at){NULL, 0}, fmt, ap);
	va_end(ap);
}

void bk_test_crash_server(struct bk_test *t)
{
	struct bk_report msg;

	memset(&msg, 0, sizeof(msg));
	msg.kind = BK_REPORT_CRASH;
	if (send(t->channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0 ||
	    recv(t->channel, &msg, sizeof(msg), 0) != sizeof(msg))
		FAIL(t, "cannot ask for a crash of the server: %s", strerror(errno));
	if (msg.status != BK_OK)
		FAIL(t, "the crash of the server went wrong: %s", msg.text);
}

/* ---- Status ------------------------------------------------------------------ */

void bk_test_arm(struct bk_error *err)
{
	memset(err, PATTERN, sizeof(*err));
	err->struct_size = (uint32_t)sizeof(*err);
}

const char *bk_test_status_name(bk_status st)
{
	switch (st) {
#define X(name, value, text)                                                                       \
	case BK_##name:                                                                            \
		return #name;
		BK_STATUS_MAP(X)
#undef X
	default:
		return "a status that does not exist";
	}
}

static const char *test_set_text(char *buf, size_t size, uint32_t set)
{
	size_t n = 0;
	bk_status st;

	buf[0] = '\0';
	for (st = 1; st >= -18; st--) {
		if (set & bk_test_bit(st))
			n += (size_t)snprintf(buf + n, n < size ? size - n : 0, "%s%s",
					      n ? " or " : "", bk_test_status_name(st));
	}
	return buf;
}

static void test_untouched(struct bk_test *t, struct bk_at at, const char *call,
			   const struct bk_error *err)
{
	struct bk_error armed;

	bk_test_arm(&armed);
	if (memcmp(&armed, err, sizeof(armed)) != 0)
		bk_test_fail(t, at, "%s: succeeded and wrote to *err", call);
}

/* A message is one line of text, there and terminated. */
static void test_message(struct bk_test *t, struct bk_at at, const char *call,
			 const struct bk_error *err)
{
	const char *p;

	if (!memchr(err->message, '\0', sizeof(err->message)))
		bk_test_fail(t, at, "%s: the message is not terminated", call);
	if (err->message[0] == '\0')
		bk_test_fail(t, at, "%s: %s without a message", call,
			     bk_test_status_name(err->status));
	for (p = err->message; *p; p += bk_utf8_len(p)) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f || !bk_utf8_len(p))
			bk_test_fail(t, at, "%s: the message is not one line of UTF-8: '%s'", call,
				     err->message);
	}
}

void bk_test_status(struct bk_test *t, struct bk_at at, const char *call, uint32_t set,
		    bk_status got, uint64_t item, const struct bk_error *err)
{
	char names[256];

	if (got >= 0)
		test_untouched(t, at, call, err);
	if (!(set & bk_test_bit(got))) {
		test_set_text(names, sizeof(names), set);
		if (set == UINT32_MAX)
			bk_test_fail(t, at, "%s: %s (%d)", call, bk_test_status_name(got), got);
		if (got >= 0)
			bk_test_fail(t, at, "%s: want %s, got %s", call, names,
				     bk_test_status_name(got));
		bk_test_fail(t, at, "%s: want %s, got %s: %.400s", call, names,
			     bk_test_status_name(got), err->message);
	}
	if (got >= 0)
		return;
	if (err->struct_size != sizeof(*err))
		bk_test_fail(t, at, "%s: changed err->struct_size", call);
	if (err->status != got)
		bk_test_fail(t, at, "%s: returned %s and err->status is %d", call,
			     bk_test_status_name(got), err->status);
	test_message(t, at, call, err);
	if (err->flags & ~(BK_ERR_RETRY | BK_ERR_OUTCOME_UNKNOWN))
		bk_test_fail(t, at, "%s: err->flags has unknown bits: %#x", call, err->flags);
	if (!memchr(err->sqlstate, '\0', sizeof(err->sqlstate)) ||
	    (err->sqlstate[0] && strlen(err->sqlstate) != 5))
		bk_test_fail(t, at, "%s: err->sqlstate is neither empty nor five characters", call);
	if (item != BK_ITEM_ANY && err->item != item)
		bk_test_fail(t, at, "%s: err->item is %lld, not %lld (%.300s)", call,
			     (long long)err->item, (long long)item, err->message);
}

/* ---- Odds and ends --------------------------------------------------------------- */

const char *bk_test_show(struct bk_arena *arena, struct bk_slice s)
{
	const unsigned char *p = s.data;
	size_t n = s.len < 40 ? s.len : 40, i, k = 0;
	char text[40 * 4 + 1];

	for (i = 0; i < n; i++) {
		if (p[i] >= 0x20 && p[i] < 0x7f)
			text[k++] = (char)p[i];
		else
			k += (size_t)snprintf(text + k, 5, "\\x%02x", p[i]);
	}
	text[k] = '\0';
	if (n < s.len)
		return bk_arena_printf(arena, "'%s...' (%zu bytes)", text, s.len);
	return bk_arena_printf(arena, "'%s'", text);
}

struct bk_slice bk_test_copy(struct bk_arena *arena, struct bk_slice s)
{
	char *p;

	if (s.len == 0)
		return bk_slice_of(NULL, 0);
	p = bk_arena_alloc(arena, s.len);
	if (!p)
		abort();
	memcpy(p, s.data, s.len);
	return bk_slice_of(p, s.len);
}

struct bk_slice bk_test_printf(struct bk_arena *arena, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return bk_test_copy(arena, bk_slice_str(text));
}

struct bk_slice bk_test_bytes(struct bk_arena *arena, uint64_t label, size_t len)
{
	struct bk_rng rng;
	char *p = bk_arena_alloc(arena, len ? len : 1);

	if (!p)
		abort();
	bk_rng_init(&rng, bk_rng_derive_u64(UINT64_C(0x636f6e666f726d), label));
	bk_rng_fill(&rng, p, len);
	return bk_slice_of(p, len);
}

void bk_test_sleep_ms(unsigned ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
		;
}

uint64_t bk_test_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool bk_test_has(const struct bk_test *t, uint64_t bits)
{
	return ((t->own | t->looped) & bits) == bits;
}
