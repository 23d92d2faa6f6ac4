/*
 * key.h - the key of a binary, and the name of its file.
 *
 * 40 to 240 hexadecimal digits, as digests are written: aa/bb/cc/KEY, from the key's own digits.
 * Any other key: fan-out by its xxh3-64, and a name that begins with '=', in which all but
 * A-Z a-z 0-9 . _ - is written %XX.  A name too long for a folder entry is cut into pieces of
 * 240 that all begin with '='; all but the last are folders whose names end with '+'.
 *
 * The one invariant: the key can be read back from the name; no two keys have the same.
 */
#ifndef BK_FILE_KEY_H
#define BK_FILE_KEY_H

#include "record.h"

#define FILE_KEY_MAX 1024u

/* A key that may stand in a store: OK, INVALID, TOO_LARGE. */
bk_status file_key_check(struct bk_slice key, struct bk_error *err);

/* "binaries/aa/bb/cc/NAME", NUL-terminated, in `out`. */
bk_status file_key_to_name(struct file_buf *out, struct bk_slice key, uint64_t levels,
			   struct bk_error *err);
/* Append the key that a name, or one piece of it, stands for to `out`; false: no name of ours.
 * `whole`: not a piece that follows another. */
bool file_key_from_name(struct file_buf *out, const char *name, bool whole);

#endif
