/*
 * xml.h - the answers of S3, element by element.
 *
 * The one invariant: what is not well-formed, or begins with a document type, is refused as a
 * whole: nothing half-read is acted upon.
 */
#ifndef BK_S3_XML_H
#define BK_S3_XML_H

#include "s3-common/buf.h"

/* At the end of each element: its path, such as "/Error/Code", and the text in it. */
typedef void (*s3_xml_fn)(void *ctx, const char *path, struct bk_slice text);

/* false: not well-formed, deeper than anything that S3 says, or no memory.  `fn` has then seen what
 * came before the fault. */
bool s3_xml_parse(struct bk_slice document, s3_xml_fn fn, void *ctx);

/* One element's text into `out`, cut where it is too long; false: there is no such element. */
bool s3_xml_text(struct bk_slice document, const char *path, char *out, size_t cap);

#endif
