/*
 * document.h - what a node's document holds: a sequence of records, each a property.
 *
 * record = kind (1 byte), length of the predicate (u16), length of the object (u32), predicate,
 * object; numbers little-endian.  A document is any number of records, so the concatenation of two
 * documents is one: adding a property is an append, whatever the store makes of it.
 * Links are not in here: they are the node's own.
 */
#ifndef BK_REPO_DOCUMENT_H
#define BK_REPO_DOCUMENT_H

#include <bakeoff/backend.h>

#include "util/buf.h"

#define BK_DOC_TYPE    'T' /* predicate empty, object: "pairtree", "object", "proxy", ... */
#define BK_DOC_LITERAL 'L'
#define BK_DOC_URI     'U'
#define BK_DOC_DATA    'D' /* predicate empty, object: a binary kept inside its node */

#define BK_TYPE_PAIRTREE "pairtree"

struct bk_doc_record {
	char kind;
	struct bk_slice predicate, object;
};

void bk_doc_put(struct bk_buf *buf, char kind, struct bk_slice predicate, struct bk_slice object);
void bk_doc_puts(struct bk_buf *buf, char kind, const char *predicate, const char *object);

/* Takes the first record off *rest.  1: *out is filled in (views into the document); 0: there is
 * none left; -1: what is left is no record. */
int bk_doc_next(struct bk_doc_record *out, struct bk_slice *rest);

/* The first record of that kind and predicate; 1, 0 or -1 as above. */
int bk_doc_find(struct bk_doc_record *out, struct bk_slice doc, char kind, const char *predicate);

#endif
