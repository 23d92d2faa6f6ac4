/*
 * backend_util.h - optional inline helpers for backends: option tables whose entries are
 * type-checked against the struct they fill, one-line errors, slices.
 *
 * Nothing here is part of the ABI; a backend may leave it out altogether.
 */
#ifndef BK_BACKEND_UTIL_H
#define BK_BACKEND_UTIL_H

#include <bakeoff/backend.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define BK_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define BK_EXPORT            __attribute__((visibility("default")))
#else
#define BK_PRINTF(fmt, args)
#define BK_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors --------------------------------------------------------------- */

/* Bytes of the UTF-8 character at `p`, 0 if there is none (nor a whole one before the NUL). */
static inline size_t bk_utf8_len(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t n, i;

	if (u[0] < 0x80)
		return u[0] != 0;
	n = u[0] >= 0xf0 ? 4 : u[0] >= 0xe0 ? 3 : 2;
	if (u[0] < 0xc2 || u[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
	    (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
		return 0;
	return n;
}

/* Make UTF-8 without control characters of a text that may quote anything: an id, a path, a
 * server's words.  Its length stays.  U+0080 to U+009F command a terminal just as ESC does. */
static inline void bk_clean(char *text)
{
	unsigned char *p = (unsigned char *)text;
	size_t n;

	while (*p) {
		n = bk_utf8_len((const char *)p);
		if (n == 0)
			*p = '?';
		else if (*p < 0x20 || *p == 0x7f)
			*p = ' ';
		else if (*p == 0xc2 && p[1] < 0xa0)
			p[0] = p[1] = ' ';
		p += n ? n : 1;
	}
}

/* The same, without spaces at its end: one line. */
static inline void bk_one_line(char *text)
{
	size_t len;

	bk_clean(text);
	len = strlen(text);
	while (len && text[len - 1] == ' ')
		text[--len] = '\0';
}

/* Fill *err from `status`, a vendor code (errno, SQL error number, HTTP status; 0 if none)
 * and a message: what failed, on what, why.  Line ends become spaces, bytes that are not text
 * become `?`.  Returns `status`, so that a failing operation ends in one line: return bk_fail(err,
 * BK_IO, errno, ...). */
static inline BK_PRINTF(4, 0) bk_status bk_vfail(struct bk_error *err, bk_status status,
						 int64_t vendor, const char *fmt, va_list ap)
{
	err->status = status;
	err->vendor_code = vendor;
	err->item = UINT64_MAX;
	err->flags = 0;
	err->sqlstate[0] = '\0';
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	bk_one_line(err->message);
	return status;
}

static inline BK_PRINTF(4, 5) bk_status
	bk_fail(struct bk_error *err, bk_status status, int64_t vendor, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bk_vfail(err, status, vendor, fmt, ap);
	va_end(ap);
	return status;
}

/* An error struct ready to be passed as `err`. */
static inline struct bk_error bk_error_init(void)
{
	struct bk_error e;

	memset(&e, 0, sizeof(e));
	e.struct_size = (uint32_t)sizeof(e);
	e.item = UINT64_MAX;
	return e;
}

/* ---- Slices ---------------------------------------------------------------- */

static inline struct bk_slice bk_slice_of(const void *data, size_t len)
{
	struct bk_slice s;

	s.data = data;
	s.len = len;
	return s;
}

static inline struct bk_slice bk_slice_str(const char *s)
{
	return bk_slice_of(s, strlen(s));
}

static inline int bk_slice_eq(struct bk_slice a, struct bk_slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Byte order; a prefix comes first. */
static inline int bk_slice_cmp(struct bk_slice a, struct bk_slice b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.data, b.data, n) : 0;

	return c ? c : (a.len > b.len) - (a.len < b.len);
}

/* ---- Option tables --------------------------------------------------------- */

/* offsetof(st, field), refused by the compiler unless the field has type T: the pointer
 * comparison is never evaluated. */
#define BK_OPT_AT(T, st, field)                                                                    \
	((uint32_t)(offsetof(st, field) + 0 * sizeof(&((st *)0)->field == (T *)0)))

/* BK_OPTION_xxx(struct, field, "name", default as a user writes it or NULL, "help", ...)
 * Further members by designator: .env = "NAME", .flags = BK_OPTF_SECRET, .min = 1, .max = 64.
 * BK_OPTION_ENUM takes its NULL-terminated list of choices before the help. */
#define BK_OPTION_(kind, ctype, st, field, nam, dflt, ...)                                         \
	{                                                                                          \
		.name = (nam), .def = (dflt), .type = (kind),                                      \
		.offset = BK_OPT_AT(ctype, st, field), .help = __VA_ARGS__                         \
	}
#define BK_OPTION_BOOL(st, field, nam, dflt, ...)                                                  \
	BK_OPTION_(BK_OPT_BOOL, uint8_t, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_I64(st, field, nam, dflt, ...)                                                   \
	BK_OPTION_(BK_OPT_I64, int64_t, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_U64(st, field, nam, dflt, ...)                                                   \
	BK_OPTION_(BK_OPT_U64, uint64_t, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_BYTES(st, field, nam, dflt, ...)                                                 \
	BK_OPTION_(BK_OPT_BYTES, uint64_t, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_USEC(st, field, nam, dflt, ...)                                                  \
	BK_OPTION_(BK_OPT_USEC, uint64_t, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_F64(st, field, nam, dflt, ...)                                                   \
	BK_OPTION_(BK_OPT_F64, double, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_STR(st, field, nam, dflt, ...)                                                   \
	BK_OPTION_(BK_OPT_STR, const char *, st, field, nam, dflt, __VA_ARGS__)
#define BK_OPTION_ENUM(st, field, nam, dflt, list, ...)                                            \
	{                                                                                          \
		.name = (nam), .def = (dflt), .choices = (list), .type = BK_OPT_ENUM,              \
		.offset = BK_OPT_AT(uint32_t, st, field), .help = __VA_ARGS__                      \
	}
#define BK_OPTION_END                                                                              \
	{                                                                                          \
		.name = NULL                                                                       \
	}

#ifdef __cplusplus
}
#endif
#endif
