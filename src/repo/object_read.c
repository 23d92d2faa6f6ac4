/*
 * object_read.c - reading back one object with a binary.
 */
#include "repo/object.h"

#include "repo/document.h"
#include "repo/vocab.h"
#include "util/clock.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>

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
