/*
 * object.h - an object with one binary: two nodes and a stream of bytes, written in an order that a
 * crash cannot turn into a node without its binary.
 *
 * Order of an ingest: the binary first, then both nodes (together where the store can).  A crash in
 * between leaves a binary that no node names, an orphan, which listing finds; never a node whose
 * binary is missing.  When one store holds both and its transactions cover binaries, one
 * transaction covers all.
 */
#ifndef BK_REPO_OBJECT_H
#define BK_REPO_OBJECT_H

#include "repo/ingest.h"

/* How a binary gets to its store. */
enum bk_protocol {
	BK_PROTOCOL_DIRECT, /* streamed once */
	BK_PROTOCOL_STAGED, /* hashed into a local file, looked for (stat), streamed from the file
			       when it is not there: what the published system did */
};

struct bk_object {
	const char *parent; /* path of the container */
	const char *name;
	const char *title;
	const char *sha256; /* hex, of the content */
	const char *key;    /* of the binary; ignored when it stays inside the node */
	uint64_t size_bytes;
	bool inlined; /* the content goes into the node's document */
};

/* Gives the bytes [offset, offset + *len) with *len at most what is left and > 0; valid until the
 * next call. */
typedef const void *bk_content_fn(void *ctx, uint64_t offset, size_t *len);

struct bk_staging { /* for BK_PROTOCOL_STAGED */
	const char *folder;
	uint32_t worker;
};

/* Stores the object.  EXISTS from the store of nodes comes through. */
bk_status bk_object_ingest(struct bk_ingest *ingest, struct bk_repo_session *session,
			   const struct bk_object *object, bk_content_fn *content, void *ctx,
			   enum bk_protocol protocol, const struct bk_staging *staging,
			   struct bk_error *err);

/* Reads the content back, from the node or the store of binaries, in pieces of at most `cap`
 * bytes to `fn`, which returns false to end with CORRUPT.  *first_ns: from the call until the
 * first byte. */
bk_status bk_object_read(struct bk_repo_session *session, const struct bk_object *object,
			 struct bk_slice path, void *buf, size_t cap,
			 bool (*fn)(void *ctx, uint64_t offset, const void *data, size_t len),
			 void *ctx, uint64_t *first_ns, struct bk_error *err);

#endif
