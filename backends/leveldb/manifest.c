/*
 * manifest.c - LevelDB's MANIFEST, read from outside: which tables stand in which level.
 *
 * It is a log in blocks of 32 KiB; each record adds and drops tables.  Nothing is opened that
 * LevelDB would notice: no lock, no recovery, no new log.  Checksums are not verified, lengths
 * are; whatever does not fit ends the reading with false.
 */
#include "store.h"

#include <stdlib.h>

#define BLOCK  32768u
#define HEADER 7u

enum record_kind { RECORD_FULL = 1, RECORD_FIRST, RECORD_MIDDLE, RECORD_LAST };
enum edit_tag {
	EDIT_COMPARATOR = 1,
	EDIT_LOG_NUMBER = 2,
	EDIT_NEXT_FILE = 3,
	EDIT_LAST_SEQUENCE = 4,
	EDIT_COMPACT_POINTER = 5,
	EDIT_DROP_FILE = 6,
	EDIT_ADD_FILE = 7,
	EDIT_PREVIOUS_LOG = 9
};

struct table {
	uint64_t number, size; /* number 0: empty slot */
	uint32_t level;
};

struct tables { /* by number; open addressing */
	struct table *v;
	size_t cap, used;
};

static struct table *table_slot(struct tables *t, uint64_t number)
{
	size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->cap - 1);

	while (t->v[at].number && t->v[at].number != number)
		at = (at + 1) & (t->cap - 1);
	return &t->v[at];
}

static bool tables_grow(struct tables *t)
{
	struct tables bigger = {NULL, t->cap ? t->cap * 2 : 256, t->used};
	size_t i;

	bigger.v = calloc(bigger.cap, sizeof(*bigger.v));
	if (!bigger.v)
		return false;
	for (i = 0; i < t->cap; i++) {
		if (t->v[i].number)
			*table_slot(&bigger, t->v[i].number) = t->v[i];
	}
	free(t->v);
	*t = bigger;
	return true;
}

static bool add_table(struct ldb_manifest *m, struct tables *t, uint64_t level, uint64_t number,
		      uint64_t size)
{
	struct table *slot;

	if (level >= LDB_LEVELS || number == 0 || (t->used * 2 >= t->cap && !tables_grow(t)))
		return false;
	slot = table_slot(t, number);
	t->used += slot->number == 0;
	slot->number = number;
	slot->size = size;
	slot->level = (uint32_t)level;
	m->files[level]++;
	m->bytes[level] += size;
	return true;
}

/* The slot stays: what was dropped counts in no level any more. */
static bool drop_table(struct ldb_manifest *m, struct tables *t, uint64_t level, uint64_t number)
{
	struct table *slot;

	if (level >= LDB_LEVELS || t->cap == 0)
		return false;
	slot = table_slot(t, number);
	if (slot->number == 0 || slot->level != level)
		return false;
	m->files[level]--;
	m->bytes[level] -= slot->size;
	slot->level = LDB_LEVELS;
	return true;
}

static bool take(struct bk_slice *rest, uint64_t *out)
{
	const uint8_t *p = rest->data;
	size_t i;

	*out = 0;
	for (i = 0; i < rest->len && i < 10; i++) {
		*out |= (uint64_t)(p[i] & 0x7f) << 7 * i;
		if (!(p[i] & 0x80)) {
			*rest = bk_slice_of(p + i + 1, rest->len - i - 1);
			return true;
		}
	}
	return false;
}

static bool take_text(struct bk_slice *rest, struct bk_slice *out)
{
	uint64_t len;

	if (!take(rest, &len) || len > rest->len)
		return false;
	*out = bk_slice_of(rest->data, (size_t)len);
	*rest = bk_slice_of((const char *)rest->data + len, rest->len - (size_t)len);
	return true;
}

static bool apply(struct ldb_manifest *m, struct tables *t, struct bk_slice edit)
{
	uint64_t tag, a, b, c;
	struct bk_slice text;

	while (edit.len > 0) {
		if (!take(&edit, &tag))
			return false;
		switch (tag) {
		case EDIT_COMPARATOR:
			if (!take_text(&edit, &text))
				return false;
			snprintf(m->comparator, sizeof(m->comparator), "%.*s", (int)text.len,
				 (const char *)text.data);
			break;
		case EDIT_LOG_NUMBER:
			if (!take(&edit, &m->log_number))
				return false;
			break;
		case EDIT_LAST_SEQUENCE:
			if (!take(&edit, &m->last_sequence))
				return false;
			break;
		case EDIT_NEXT_FILE:
		case EDIT_PREVIOUS_LOG:
			if (!take(&edit, &a))
				return false;
			break;
		case EDIT_COMPACT_POINTER:
			if (!take(&edit, &a) || !take_text(&edit, &text))
				return false;
			break;
		case EDIT_DROP_FILE:
			if (!take(&edit, &a) || !take(&edit, &b) || !drop_table(m, t, a, b))
				return false;
			break;
		case EDIT_ADD_FILE:
			if (!take(&edit, &a) || !take(&edit, &b) || !take(&edit, &c) ||
			    !take_text(&edit, &text) || !take_text(&edit, &text) ||
			    !add_table(m, t, a, b, c))
				return false;
			break;
		default:
			return false;
		}
	}
	return true;
}

/* One block's records; a record that goes on in the next block gathers in `whole`. */
static bool read_block(struct ldb_manifest *m, struct tables *t, struct ldb_buf *whole,
		       const uint8_t *block, size_t n)
{
	size_t at = 0;

	while (n - at >= HEADER) {
		size_t len = block[at + 4] | (size_t)block[at + 5] << 8;
		uint8_t kind = block[at + 6];

		if (kind == 0 && len == 0)
			return true; /* filled up with zeros */
		if (kind > RECORD_LAST || n - at - HEADER < len)
			return false;
		if (kind == RECORD_FULL || kind == RECORD_FIRST)
			ldb_buf_reset(whole);
		ldb_buf_add(whole, block + at + HEADER, len);
		if (whole->failed || ((kind == RECORD_FULL || kind == RECORD_LAST) &&
				      !apply(m, t, ldb_buf_slice(whole))))
			return false;
		at += HEADER + len;
	}
	return true;
}

bool ldb_manifest_read(struct ldb_manifest *out, const char *path)
{
	FILE *f = fopen(path, "rbe");
	uint8_t *block = malloc(BLOCK);
	struct ldb_manifest m = {0};
	struct tables tables = {0};
	struct ldb_buf whole = {0};
	bool ok = f && block;
	size_t n;

	while (ok && (n = fread(block, 1, BLOCK, f)) > 0)
		ok = read_block(&m, &tables, &whole, block, n);
	if (ok && ferror(f))
		ok = false;
	if (ok)
		*out = m;
	if (f)
		fclose(f);
	free(block);
	free(tables.v);
	ldb_buf_free(&whole);
	return ok;
}
