/*
 * key.c - the key of a binary, and the name of its file; see key.h.
 *
 * The one invariant: nothing that a key holds can leave the folder: '/', '.' at the beginning and
 * all other bytes with a meaning are written as %XX or stand behind '='.
 */
#include "key.h"

#include "hash.h"

#define KEY_PIECE   240u
#define KEY_HEX_MIN 40u

static bool key_is_digit(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool key_is_digest(struct bk_slice key)
{
	const unsigned char *p = key.data;

	if (key.len < KEY_HEX_MIN || key.len > KEY_PIECE)
		return false;
	for (size_t i = 0; i < key.len; i++) {
		if (!key_is_digit(p[i]))
			return false;
	}
	return true;
}

static bool key_is_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '.' || c == '_' || c == '-';
}

static void key_push(struct file_buf *out, char c)
{
	out->data[out->len++] = c;
}

/* The bytes of a key in pieces, each of which begins with '=', so that none is '.' or '..'. */
static void key_encode(struct file_buf *out, struct bk_slice key)
{
	const unsigned char *p = key.data;
	size_t piece = 1;

	key_push(out, '=');
	for (size_t i = 0; i < key.len; i++) {
		char text[3] = {(char)p[i]};
		int n = 1;

		if (!key_is_plain(p[i])) {
			text[0] = '%';
			text[1] = "0123456789ABCDEF"[p[i] >> 4];
			text[2] = "0123456789ABCDEF"[p[i] & 15];
			n = 3;
		}
		if (piece + (size_t)n > KEY_PIECE) {
			key_push(out, '+');
			key_push(out, '/');
			key_push(out, '=');
			piece = 1;
		}
		for (int j = 0; j < n; j++)
			key_push(out, text[j]);
		piece += (size_t)n;
	}
}

bk_status file_key_check(struct bk_slice key, struct bk_error *err)
{
	if (key.len == 0 || memchr(key.data, 0, key.len))
		return bk_fail(err, BK_INVALID, 0, "a key must not be empty nor hold a NUL");
	if (key.len > FILE_KEY_MAX)
		return bk_fail(err, BK_TOO_LARGE, 0, "a key has %zu bytes, at most %u are allowed",
			       key.len, FILE_KEY_MAX);
	return BK_OK;
}

bk_status file_key_to_name(struct file_buf *out, struct bk_slice key, uint64_t levels,
			   struct bk_error *err)
{
	static const char top[] = "binaries/";
	bool digest = key_is_digest(key);
	char hash[16];
	const char *digits = digest ? key.data : hash;

	out->len = 0;
	/* Three characters a byte, three more a piece. */
	if (!file_buf_room(out, 128 + 3 * key.len + key.len / 16))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for a file name");
	memcpy(out->data, top, sizeof(top) - 1);
	out->len = sizeof(top) - 1;
	if (!digest)
		file_hex(hash, file_hash(0, key), 16);
	for (uint64_t i = 0; i < levels; i++) {
		key_push(out, digits[2 * i]);
		key_push(out, digits[2 * i + 1]);
		key_push(out, '/');
	}
	if (digest) {
		memcpy(out->data + out->len, key.data, key.len);
		out->len += key.len;
	} else {
		key_encode(out, key);
	}
	key_push(out, '\0');
	out->len--;
	return BK_OK;
}

static int key_nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool file_key_from_name(struct file_buf *out, const char *name, bool whole)
{
	size_t len = strlen(name);

	if (*name != '=') {
		if (!whole || !key_is_digest(bk_slice_of(name, len)) || !file_buf_room(out, len))
			return false;
		memcpy(out->data + out->len, name, len);
		out->len += len;
		return true;
	}
	if (!file_buf_room(out, len))
		return false;
	for (const char *p = name + 1; *p; p++) {
		char c = *p;

		if (c == '+' && !p[1])
			break; /* more follows in this folder */
		if (c == '%') {
			int high = key_nibble(p[1]), low = high < 0 ? -1 : key_nibble(p[2]);

			if (low < 0)
				return false;
			c = (char)(high << 4 | low);
			p += 2;
		} else if (!key_is_plain((unsigned char)c)) {
			return false;
		}
		key_push(out, c);
	}
	return true;
}
