/*
 * error.c - LevelDB's texts to statuses.
 *
 * The C interface hands out text only ("IO error: FILE: No space left on device"): the kind stands
 * in front, the system's own reason at the end.  The text is passed on whole.
 */
#include "error.h"

#include <errno.h>
#include <leveldb/c.h>
#include <stdbool.h>
#include <stdlib.h>

struct cause {
	int errnum;
	bk_status status;
	const char *hint;
};

static const struct cause causes[] = {
	{ENOSPC, BK_NO_SPACE, "free some space, then open the store again"},
	{EDQUOT, BK_NO_SPACE, "the quota is used up; free some space, then open the store again"},
	{EFBIG, BK_NO_SPACE, "a file would pass the size limit (ulimit -f, or the filesystem's)"},
	{EACCES, BK_AUTH, "this user may not do that there"},
	{EPERM, BK_AUTH, "this user may not do that there"},
	{EROFS, BK_AUTH, "the filesystem is read-only"},
	{EMFILE, BK_IO, "raise the limit on open files (ulimit -n) or lower the option open-files"},
	{ENFILE, BK_IO, "the whole machine has run out of open files"},
	{ENOMEM, BK_NOMEM, NULL},
	{EIO, BK_IO, "look at the kernel's log"},
	{EAGAIN, BK_UNAVAILABLE, "another process has it open"},
	{ENOENT, BK_IO, NULL},
	{ENOTDIR, BK_IO, NULL},
};

static const struct cause *cause_of_errno(int errnum)
{
	size_t i;

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		if (causes[i].errnum == errnum)
			return &causes[i];
	}
	return NULL;
}

/* The system's reason is what the text ends in; it comes from strerror(), so the same function
 * says what to look for, in whatever language. */
static const struct cause *cause_of_text(const char *text)
{
	size_t len = strlen(text), i;
	char buf[128];

	for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
		const char *reason = strerror_r(causes[i].errnum, buf, sizeof(buf));
		size_t n = strlen(reason);

		if (n && n <= len && strcmp(text + len - n, reason) == 0)
			return &causes[i];
	}
	return NULL;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

bk_status ldb_error(struct bk_error *err, char *text, const char *what, const char *folder)
{
	const struct cause *cause = NULL;
	bk_status status = BK_IO;
	const char *hint = NULL;

	if (begins(text, "Corruption")) {
		status = BK_CORRUPT;
		hint = "the files do not check out; clear the store, or bring back a copy";
	} else {
		cause = cause_of_text(text);
		if (cause) {
			status = cause->status;
			hint = cause->hint;
		} else if (begins(text, "Invalid argument")) {
			status = BK_INVALID;
		}
	}
	bk_fail(err, status, cause ? cause->errnum : 0, "cannot %s %s: %s%s%s", what, folder, text,
		hint ? "; " : "", hint ? hint : "");
	leveldb_free(text);
	return status;
}

bk_status ldb_errno(struct bk_error *err, int errnum, const char *what, const char *path)
{
	const struct cause *cause = cause_of_errno(errnum);
	char buf[128];

	return bk_fail(err, cause ? cause->status : BK_IO, errnum, "cannot %s %s: %s%s%s", what,
		       path, strerror_r(errnum, buf, sizeof(buf)), cause && cause->hint ? "; " : "",
		       cause && cause->hint ? cause->hint : "");
}

bk_status ldb_nomem(struct bk_error *err)
{
	return bk_fail(err, BK_NOMEM, 0, "out of memory");
}

bk_status ldb_no_node(struct bk_error *err, struct bk_slice id)
{
	char text[LDB_NAME_TEXT];

	return bk_fail(err, BK_NOT_FOUND, 0, "no node with id '%s'", ldb_name(text, id));
}

bk_status ldb_bad_name(struct bk_error *err, struct bk_slice name, const char *what)
{
	if (name.len == 0)
		return bk_fail(err, BK_INVALID, 0, "%s is empty", what);
	return bk_fail(err, BK_TOO_LARGE, 0, "%s has %zu bytes; the limit is %u", what, name.len,
		       LDB_NAME_MAX);
}

/* Length of the character at p, 0 if it is not UTF-8 (overlong forms and surrogates are not). */
static size_t utf8_length(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	size_t i;

	if (n == 0 || n > left || p[0] > 0xf4)
		return 0;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* Eight bytes at a time while they are ASCII and not NUL. */
static bool is_path_text(struct bk_slice s)
{
	const unsigned char *p = s.data;
	size_t i = 0, n;

	while (i < s.len) {
		uint64_t w;

		if (s.len - i >= 8) {
			memcpy(&w, p + i, 8);
			if (!(((w - UINT64_C(0x0101010101010101)) | w) &
			      UINT64_C(0x8080808080808080))) {
				i += 8;
				continue;
			}
		}
		n = utf8_length(p + i, s.len - i);
		if (n == 0 || p[i] == 0)
			return false;
		i += n;
	}
	return true;
}

bk_status ldb_check_path(struct bk_error *err, struct bk_slice path)
{
	char text[LDB_NAME_TEXT];
	bk_status status = ldb_check_name(err, path, "the path");

	if (status == BK_OK && !is_path_text(path))
		status = bk_fail(err, BK_INVALID, 0, "path '%s' is not UTF-8 without NUL",
				 ldb_name(text, path));
	return status;
}

const char *ldb_name(char text[LDB_NAME_TEXT], struct bk_slice name)
{
	const unsigned char *p = name.data;
	size_t at = 0, i;
	bool cut = false, printable = true;

	for (i = 0; i < name.len && printable; i++)
		printable = p[i] >= 0x20 && p[i] < 0x7f;
	text[0] = '\0';
	if (!printable)
		at += (size_t)snprintf(text, LDB_NAME_TEXT, "0x");
	for (i = 0; i < name.len; i++) {
		if (at + 6 > LDB_NAME_TEXT) {
			cut = true;
			break;
		}
		if (printable) {
			text[at++] = (char)p[i];
			text[at] = '\0';
		} else {
			at += (size_t)snprintf(text + at, LDB_NAME_TEXT - at, "%02x", p[i]);
		}
	}
	if (cut)
		snprintf(text + at, LDB_NAME_TEXT - at, "...");
	return text;
}
