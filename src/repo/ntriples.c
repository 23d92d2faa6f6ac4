/*
 * ntriples.c - a line is put together in place and hashed where it stands.
 */
#include "repo/ntriples.h"

#include "repo/document.h"
#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define CAPACITY    ((size_t)64 << 10)
#define ESCAPED_MAX 10u /* the longest an input byte can become: \U0000000A */
#define LINE_EXTRAS 64u /* brackets, base, quotes, dot */

bool bk_ntriples_init(struct bk_ntriples *w)
{
	memset(w, 0, sizeof(*w));
	w->buf = malloc(CAPACITY);
	w->cap = CAPACITY;
	return w->buf != NULL;
}

void bk_ntriples_reset(struct bk_ntriples *w)
{
	w->len = 0;
	w->triples = w->sum = w->bytes = w->first_ns = 0;
	w->failed = false;
}

void bk_ntriples_free(struct bk_ntriples *w)
{
	free(w->buf);
	w->buf = NULL;
}

static bool make_room(struct bk_ntriples *w, size_t need)
{
	char *larger;

	if (w->cap - w->len >= need)
		return true;
	w->len = 0; /* what is in the buffer has been counted and hashed */
	if (w->cap >= need)
		return true;
	larger = realloc(w->buf, need);
	if (!larger) {
		w->failed = true;
		return false;
	}
	w->buf = larger;
	w->cap = need;
	return true;
}

static char *put(char *p, const void *data, size_t len)
{
	if (len)
		memcpy(p, data, len);
	return p + len;
}

/* What the grammar's IRIREF leaves out. */
static bool iri_escaped(unsigned char c)
{
	switch (c) {
	case '<':
	case '>':
	case '"':
	case '{':
	case '}':
	case '|':
	case '^':
	case '`':
	case '\\':
		return true;
	default:
		return c <= 0x20;
	}
}

/* Inside <>: written as \u00XX where it may not stand for itself. */
static char *put_iri(char *p, struct bk_slice s)
{
	static const char hex[] = "0123456789ABCDEF";
	const unsigned char *in = s.data;
	size_t i;

	for (i = 0; i < s.len; i++) {
		unsigned char c = in[i];

		if (iri_escaped(c)) {
			p = put(p, "\\u00", 4);
			*p++ = hex[c >> 4];
			*p++ = hex[c & 15];
		} else {
			*p++ = (char)c;
		}
	}
	return p;
}

static char *put_string(char *p, struct bk_slice s)
{
	const char *in = s.data;
	size_t i;

	for (i = 0; i < s.len; i++) {
		switch (in[i]) {
		case '"':
			p = put(p, "\\\"", 2);
			break;
		case '\\':
			p = put(p, "\\\\", 2);
			break;
		case '\n':
			p = put(p, "\\n", 2);
			break;
		case '\r':
			p = put(p, "\\r", 2);
			break;
		default:
			*p++ = in[i];
		}
	}
	return p;
}

static char *begin(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
		   struct bk_slice object)
{
	char *p;

	if (!make_room(w, ESCAPED_MAX * (subject.len + object.len) + predicate.len + LINE_EXTRAS))
		return NULL;
	p = w->buf + w->len;
	p = put(p, "<" BK_URI_BASE, sizeof(BK_URI_BASE));
	p = put_iri(p, subject);
	p = put(p, "> <", 3);
	p = put(p, predicate.data, predicate.len);
	return put(p, "> ", 2);
}

static void end(struct bk_ntriples *w, char *p)
{
	const char *line = w->buf + w->len;
	size_t len;

	p = put(p, " .\n", 3);
	len = (size_t)(p - line);
	w->sum += XXH3_64bits(line, len);
	w->bytes += len;
	w->len += len;
	if (w->triples++ == 0)
		w->first_ns = bk_clock_ns();
}

void bk_ntriples_link(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
		      struct bk_slice object)
{
	char *p = begin(w, subject, predicate, object);

	if (!p)
		return;
	p = put(p, "<" BK_URI_BASE, sizeof(BK_URI_BASE));
	p = put_iri(p, object);
	*p++ = '>';
	end(w, p);
}

void bk_ntriples_uri(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
		     struct bk_slice object)
{
	char *p = begin(w, subject, predicate, object);

	if (!p)
		return;
	*p++ = '<';
	p = put_iri(p, object);
	*p++ = '>';
	end(w, p);
}

void bk_ntriples_literal(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice predicate,
			 struct bk_slice object)
{
	char *p = begin(w, subject, predicate, object);

	if (!p)
		return;
	*p++ = '"';
	p = put_string(p, object);
	*p++ = '"';
	end(w, p);
}

bool bk_ntriples_document(struct bk_ntriples *w, struct bk_slice subject, struct bk_slice doc)
{
	struct bk_doc_record r;
	int rc;

	while ((rc = bk_doc_next(&r, &doc)) > 0) {
		if (r.kind == BK_DOC_LITERAL)
			bk_ntriples_literal(w, subject, r.predicate, r.object);
		else if (r.kind == BK_DOC_URI)
			bk_ntriples_uri(w, subject, r.predicate, r.object);
	}
	return rc == 0;
}
