/*
 * object.c - ingest of one object with a binary, and reading it back.
 */
#include "repo/object.h"

#include "repo/document.h"
#include "repo/vocab.h"
#include "util/clock.h"

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

/* ---- Reading back ---------------------------------------------------------------- */

static bk_status read_stream(struct bk_repo_session *session, const struct bk_object *object,
			     struct bk_slice key, void *buf, size_t cap,
			     bool (*fn)(void *, uint64_t, const void *, size_t), void *ctx,
			     uint64_t start_ns, uint64_t *first_ns, struct bk_error *err)
{
	const struct bk_binary_ops *ops = &session->repo->binaries->tables.binary;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *reader;
	uint64_t offset = 0;
	bk_status st;
	size_t n;

	session->round_trips++;
	st = ops->read_open(&reader, session->binaries, key, 0, object->size_bytes, &info, err);
	if (st < 0)
		return st;
	*first_ns = bk_clock_ns() - start_ns;
	while ((st = ops->read(reader, buf, cap, &n, err)) == BK_OK) {
		if (offset == 0)
			*first_ns = bk_clock_ns() - start_ns;
		if (!fn(ctx, offset, buf, n)) {
			st = bk_fail(err, BK_CORRUPT, 0,
				     "wrong answer: binary '%.*s' differs after byte %" PRIu64,
				     (int)key.len, (const char *)key.data, offset);
			break;
		}
		offset += n;
	}
	ops->read_close(reader);
	if (st < 0)
		return st;
	if (offset != object->size_bytes || info.size_bytes != object->size_bytes)
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: binary '%.*s' is %" PRIu64
			       " bytes (said to be %" PRIu64 ") where %" PRIu64 " were stored",
			       (int)key.len, (const char *)key.data, offset, info.size_bytes,
			       object->size_bytes);
	return BK_OK;
}

static bk_status check_content_node(struct bk_slice *key, struct bk_slice *data,
				    struct bk_buf *copy, const struct bk_node *node,
				    const struct bk_object *object, struct bk_error *err)
{
	struct bk_doc_record r;
	struct bk_slice doc;

	bk_buf_put(copy, node->doc.data, node->doc.len); /* views lapse at the next call */
	doc = bk_slice_of(copy->data, copy->len);
	if (bk_doc_find(&r, doc, BK_DOC_LITERAL, BK_HAS_DIGEST) <= 0 ||
	    !bk_slice_eq(r.object, bk_slice_str(object->sha256)))
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: the digest of '%s' is not its own", object->name);
	*key = *data = bk_slice_of(NULL, 0);
	if (object->inlined && bk_doc_find(&r, doc, BK_DOC_DATA, "") > 0)
		*data = r.object;
	else if (!object->inlined && bk_doc_find(&r, doc, BK_DOC_LITERAL, BK_IDENTIFIER) > 0)
		*key = r.object;
	else
		return bk_fail(err, BK_CORRUPT, 0,
			       "wrong answer: '%s' does not say where its content is",
			       object->name);
	return BK_OK;
}

bk_status bk_object_read(struct bk_repo_session *session, const struct bk_object *object,
			 struct bk_slice path, void *buf, size_t cap,
			 bool (*fn)(void *ctx, uint64_t offset, const void *data, size_t len),
			 void *ctx, uint64_t *first_ns, struct bk_error *err)
{
	uint64_t start_ns = bk_clock_ns();
	struct bk_buf content_path = BK_BUF_INIT, copy = BK_BUF_INIT;
	unsigned char id[BK_REPO_ID_LEN];
	struct bk_slice key, data;
	struct bk_node node;
	bk_status st;

	bk_buf_put(&content_path, path.data, path.len);
	bk_buf_puts(&content_path, "/content");
	session->round_trips++;
	st = bk_repo_nodes(session->repo)
		     ->get(&node, session->nodes,
			   bk_repo_id(session->repo, id,
				      bk_slice_of(content_path.data, content_path.len)),
			   BK_WANT_DOC, err);
	if (st >= 0)
		st = check_content_node(&key, &data, &copy, &node, object, err);
	if (st >= 0 && object->inlined) {
		*first_ns = bk_clock_ns() - start_ns;
		if (data.len != object->size_bytes || !fn(ctx, 0, data.data, data.len))
			st = bk_fail(err, BK_CORRUPT, 0,
				     "wrong answer: the content of '%s' differs", object->name);
	} else if (st >= 0) {
		st = read_stream(session, object, key, buf, cap, fn, ctx, start_ns, first_ns, err);
	}
	bk_buf_free(&content_path);
	bk_buf_free(&copy);
	return st;
}
