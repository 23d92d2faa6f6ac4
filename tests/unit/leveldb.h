/*
 * leveldb.h - what the tests of the leveldb backend share: a folder, a store in it, sessions.
 *
 * What every backend must do is for `bakeoff conform`; here stands what only this one promises:
 * its transactions' conflicts, its append, what it says when the disk is full.
 */
#ifndef BK_TESTS_LEVELDB_H
#define BK_TESTS_LEVELDB_H

#include "unit.h"

#include "layer/open.h"

#include <bakeoff/backend_util.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct ldb_test {
	char folder[256]; /* of the test's own, removed at its end */
	struct bk_plugin *plugin;
	struct bk_options *options;
	struct bk_layered *io;
	const struct bk_tables *t;
	struct bk_session *s, *other;
	struct bk_error err;
};

#define OK(x) ldb_want(BK_OK, (x), #x, &t->err, __FILE__, __LINE__)
#define GIVES(status, x)                                                                           \
	ldb_want(BK_##status, (x), #x " gives " #status, &t->err, __FILE__, __LINE__)

static inline void ldb_want(bk_status want, bk_status got, const char *what,
			    const struct bk_error *err, const char *file, int line)
{
	if (got != want) {
		print_error("%s: %d: %s\n", what, (int)got, got < 0 ? err->message : "");
		_fail(file, line);
	}
}

static inline int ldb_remove_entry(const char *path, const struct stat *st, int type,
				   struct FTW *ftw)
{
	return remove(path);
}

static inline void ldb_remove_folder(const char *folder)
{
	nftw(folder, ldb_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static inline bk_status ldb_open(struct bk_layered **out, struct ldb_test *t)
{
	return bk_open(out, t->plugin, t->options, NULL, NULL, BK_DURABLE_MACHINE, BK_OPEN_CHECK,
		       &t->err);
}

static inline struct bk_session *ldb_join(struct ldb_test *t)
{
	const struct bk_session_config config = {.struct_size = sizeof(config)};
	struct bk_session *s;

	OK(t->t->session.open(&s, t->io->store, &config, &t->err));
	return s;
}

static inline void ldb_begin(struct ldb_test *t)
{
	OK(ldb_open(&t->io, t));
	t->t = &t->io->tables;
	OK(t->t->store.make(t->io->store, &t->err));
	t->s = ldb_join(t);
	t->other = ldb_join(t);
}

static inline void ldb_end(struct ldb_test *t)
{
	if (!t->io)
		return;
	if (t->s)
		t->t->session.close(t->s);
	if (t->other)
		t->t->session.close(t->other);
	t->s = t->other = NULL;
	bk_close(t->io);
	t->io = NULL;
}

static inline int ldb_setup(void **state)
{
	struct ldb_test *t = calloc(1, sizeof(*t));
	const char *tmp = getenv("TMPDIR");

	assert_non_null(t);
	t->err = bk_error_init();
	snprintf(t->folder, sizeof(t->folder), "%s/leveldb-test.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(t->folder));
	OK(bk_plugin_find(&t->plugin, "leveldb", &t->err));
	OK(bk_options_new(&t->options, &t->plugin->desc, &t->err));
	OK(bk_options_set(t->options, "path", t->folder, BK_FROM_USER, &t->err));
	*state = t;
	return 0;
}

static inline int ldb_teardown(void **state)
{
	struct ldb_test *t = *state;

	ldb_end(t);
	bk_options_free(t->options);
	bk_plugin_free(t->plugin);
	ldb_remove_folder(t->folder);
	free(t);
	return 0;
}

/* A node whose path is its id. */
static inline struct bk_node ldb_node(const char *id, const char *parent)
{
	struct bk_node node = {.id = bk_slice_str(id), .path = bk_slice_str(id)};

	if (parent)
		node.parent = bk_slice_str(parent);
	return node;
}

static inline bk_status ldb_put(struct ldb_test *t, struct bk_session *s, const char *id,
				const char *parent, const char *doc, uint32_t mode)
{
	struct bk_node node = ldb_node(id, parent);

	node.doc = bk_slice_str(doc);
	return t->t->node.put(s, &node, mode, &t->err);
}

static inline void ldb_has_doc(struct ldb_test *t, const char *id, const char *doc)
{
	struct bk_node node;

	OK(t->t->node.get(&node, t->s, bk_slice_str(id), BK_WANT_DOC, &t->err));
	assert_int_equal(node.doc.len, strlen(doc));
	assert_memory_equal(node.doc.data, doc, node.doc.len);
}

#endif
