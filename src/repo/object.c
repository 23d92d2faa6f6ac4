/*
 * object.c - ingest of one object with a binary.
 */
#include "repo/object.h"

#include "repo/document.h"
#include "repo/vocab.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STAGING_BUFFER ((size_t)256 << 10)

/* ---- The binary ---------------------------------------------------------------- */

static bk_status stream(struct bk_repo_session *session, const char *key, uint64_t size,
			bk_content_fn *content, void *ctx, struct bk_error *err)
{
	const struct bk_binary_ops *ops = &session->repo->binaries->tables.binary;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *writer;
	uint64_t offset = 0;
	bk_status st;

	session->round_trips++;
	st = ops->write_open(&writer, session->binaries, bk_slice_str(key), size, BK_PUT_UPSERT,
			     err);
	if (st < 0)
		return st;
	while (offset < size) {
		size_t len = size - offset < SIZE_MAX ? (size_t)(size - offset) : SIZE_MAX;
		const void *data = content(ctx, offset, &len);

		if (!data || len == 0) {
			ops->abort(writer);
			return bk_fail(err, BK_IO, errno,
				       "cannot read back what was staged for '%s'", key);
		}
		st = ops->write(writer, data, len, err);
		if (st < 0) {
			ops->abort(writer);
			return st;
		}
		offset += len;
	}
	return ops->finish(writer, &info, err);
}

struct staged {
	int fd;
	unsigned char *buf;
};

static const void *staged_content(void *ctx, uint64_t offset, size_t *len)
{
	struct staged *s = ctx;
	ssize_t n =
		pread(s->fd, s->buf, *len < STAGING_BUFFER ? *len : STAGING_BUFFER, (off_t)offset);

	if (n <= 0)
		return NULL;
	*len = (size_t)n;
	return s->buf;
}

/* The content into the file, its digest into `hex`. */
static bk_status hash_to_file(char hex[65], int fd, const struct bk_object *object,
			      bk_content_fn *content, void *ctx, struct bk_error *err)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0, k;
	uint64_t offset = 0;
	bk_status st = BK_OK;

	if (!md || EVP_DigestInit_ex(md, EVP_sha256(), NULL) != 1) {
		st = bk_fail(err, BK_INTERNAL, 0, "cannot compute a SHA-256");
		goto out;
	}
	while (offset < object->size_bytes) {
		size_t n = (size_t)(object->size_bytes - offset);
		const char *data = content(ctx, offset, &n);
		size_t written = 0;

		EVP_DigestUpdate(md, data, n);
		while (written < n) {
			ssize_t w = write(fd, data + written, n - written);

			if (w < 0) {
				st = bk_fail(err, errno == ENOSPC ? BK_NO_SPACE : BK_IO, errno,
					     "cannot stage '%s': %s", object->name,
					     strerror(errno));
				goto out;
			}
			written += (size_t)w;
		}
		offset += n;
	}
	EVP_DigestFinal_ex(md, digest, &len);
	for (k = 0; k < len && k < 32; k++)
		snprintf(hex + 2 * k, 3, "%02x", digest[k]);
out:
	EVP_MD_CTX_free(md);
	return st;
}

static bk_status stage_and_store(char key[65], struct bk_repo_session *session,
				 const struct bk_object *object, bk_content_fn *content, void *ctx,
				 const struct bk_staging *staging, struct bk_error *err)
{
	const struct bk_binary_ops *ops = &session->repo->binaries->tables.binary;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct staged s = {.fd = -1, .buf = malloc(STAGING_BUFFER)};
	char path[4096];
	bk_status st;

	snprintf(path, sizeof(path), "%s/staged-%u", staging->folder, staging->worker);
	s.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (s.fd < 0 || !s.buf) {
		st = bk_fail(err, BK_IO, errno, "cannot stage in '%s': %s", path, strerror(errno));
		goto out;
	}
	st = hash_to_file(key, s.fd, object, content, ctx, err);
	if (st < 0)
		goto out;
	session->round_trips++;
	st = ops->stat(session->binaries, bk_slice_str(key), &info, err);
	if (st == BK_NOT_FOUND)
		st = stream(session, key, object->size_bytes, staged_content, &s, err);
out:
	if (s.fd >= 0) {
		close(s.fd);
		unlink(path);
	}
	free(s.buf);
	return st;
}

/* ---- The nodes -------------------------------------------------------------------- */

static void put_number(struct bk_buf *doc, const char *predicate, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	bk_doc_puts(doc, BK_DOC_LITERAL, predicate, text);
}

static bk_status put_content_node(struct bk_ingest *ingest, const char *path,
				  const struct bk_object *object, const char *key,
				  bk_content_fn *content, void *ctx, struct bk_error *err)
{
	struct bk_buf doc = BK_BUF_INIT;
	bk_status st;

	bk_doc_puts(&doc, BK_DOC_TYPE, "", "content");
	put_number(&doc, BK_EXTENT, object->size_bytes);
	bk_doc_puts(&doc, BK_DOC_LITERAL, BK_HAS_DIGEST, object->sha256);
	bk_doc_puts(&doc, BK_DOC_LITERAL, BK_FORMAT, "application/octet-stream");
	if (object->inlined) {
		size_t len = (size_t)object->size_bytes;
		const void *data = len ? content(ctx, 0, &len) : "";

		bk_doc_put(&doc, BK_DOC_DATA, bk_slice_of("", 0), bk_slice_of(data, len));
	} else {
		bk_doc_puts(&doc, BK_DOC_LITERAL, BK_IDENTIFIER, key);
	}
	st = doc.failed ? bk_fail(err, BK_NOMEM, 0, "out of memory for an object")
			: bk_ingest_put(ingest, path, "content", bk_slice_of(doc.data, doc.len),
					NULL, 0, err);
	bk_buf_free(&doc);
	return st;
}

static bk_status put_nodes(struct bk_ingest *ingest, const struct bk_object *object,
			   const char *key, bk_content_fn *content, void *ctx, struct bk_error *err)
{
	struct bk_buf doc = BK_BUF_INIT, copy = BK_BUF_INIT;
	const char *path;
	bk_status st;

	bk_doc_puts(&doc, BK_DOC_TYPE, "", "object");
	bk_doc_puts(&doc, BK_DOC_LITERAL, BK_TITLE, object->title);
	st = bk_ingest_post(&path, ingest, object->parent, object->name,
			    bk_slice_of(doc.data, doc.len), NULL, 0, err);
	if (st >= 0) {
		bk_buf_puts(&copy, path);
		st = put_content_node(ingest, bk_buf_str(&copy), object, key, content, ctx, err);
	}
	if (st >= 0)
		st = bk_ingest_end_object(ingest, err);
	else
		bk_ingest_drop(ingest);
	bk_buf_free(&doc);
	bk_buf_free(&copy);
	return st;
}

static bk_status store_all(struct bk_ingest *ingest, struct bk_repo_session *session,
			   const struct bk_object *object, bk_content_fn *content, void *ctx,
			   enum bk_protocol protocol, const struct bk_staging *staging,
			   struct bk_error *err)
{
	char digest[65] = "";
	const char *key = object->key;
	bk_status st = BK_OK;

	if (!object->inlined && protocol == BK_PROTOCOL_STAGED) {
		st = stage_and_store(digest, session, object, content, ctx, staging, err);
		key = digest;
	} else if (!object->inlined) {
		st = stream(session, key, object->size_bytes, content, ctx, err);
	}
	return st < 0 ? st : put_nodes(ingest, object, key, content, ctx, err);
}

bk_status bk_object_ingest(struct bk_ingest *ingest, struct bk_repo_session *session,
			   const struct bk_object *object, bk_content_fn *content, void *ctx,
			   enum bk_protocol protocol, const struct bk_staging *staging,
			   struct bk_error *err)
{
	const struct bk_repo *repo = session->repo;
	const struct bk_txn_ops *txn = &repo->nodes->tables.txn;
	struct bk_error ignored = bk_error_init();
	uint32_t isolation = 0;
	bk_status st;

	if (object->inlined || repo->binaries != repo->nodes ||
	    !bk_repo_has(repo->nodes, BK_F_TXN) || !bk_repo_has(repo->nodes, BK_F_TXN_BINARIES))
		return store_all(ingest, session, object, content, ctx, protocol, staging, err);
	session->round_trips++;
	st = txn->begin(session->nodes, &isolation, 0, err);
	if (st < 0)
		return st;
	bk_ingest_in_txn(ingest, true);
	st = store_all(ingest, session, object, content, ctx, protocol, staging, err);
	bk_ingest_in_txn(ingest, false);
	session->round_trips++;
	if (st < 0) {
		txn->rollback(session->nodes, &ignored);
		return st;
	}
	return txn->commit(session->nodes, err);
}
