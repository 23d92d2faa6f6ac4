/*
 * file_fixture.h - a store of the file backend in a folder of its own, for the tests of what only
 * this backend has: files that can be looked at, cut and removed from outside.
 */
#ifndef BK_TESTS_FILE_FIXTURE_H
#define BK_TESTS_FILE_FIXTURE_H

#include "unit.h"

#include "layer/open.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct bk_plugin *plugin;
static struct bk_options *options;
static struct bk_error err;
static char folder[256]; /* of the test; the store's is folder/store */
static struct bk_layered *io;
static const struct bk_tables *t;
static struct bk_session *s;

#define ok(call)                                                                                   \
	do {                                                                                       \
		bk_status ok_status = (call);                                                      \
		if (ok_status != BK_OK)                                                            \
			fail_msg("%s: %d %s", #call, ok_status, err.message);                      \
	} while (0)
#define gives(call, wanted)                                                                        \
	do {                                                                                       \
		bk_status gives_status = (call);                                                   \
		if (gives_status != (wanted))                                                      \
			fail_msg("%s: %d, not %d: %s", #call, gives_status, wanted,                \
				 gives_status < 0 ? err.message : "");                             \
	} while (0)

static inline const char *in_store(const char *name)
{
	static char path[4][600];
	static int turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/store%s%s", folder, *name ? "/" : "", name);
	return path[turn];
}

static inline void set_option(const char *name, const char *value)
{
	ok(bk_options_set(options, name, value, BK_FROM_USER, &err));
}

static inline int fixture_in(const char *where)
{
	err = bk_error_init();
	snprintf(folder, sizeof(folder), "%s/bakeoff-file-XXXXXX", where);
	if (!mkdtemp(folder))
		fail_msg("%s: %s", folder, strerror(errno));
	ok(bk_plugin_find(&plugin, "file", &err));
	ok(bk_options_new(&options, &plugin->desc, &err));
	set_option("path", in_store(""));
	return 0;
}

static inline int fixture_setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	return fixture_in(tmp && *tmp ? tmp : "/tmp");
}

static inline void store_open(uint32_t durability)
{
	ok(bk_open(&io, plugin, options, NULL, NULL, durability, BK_OPEN_CHECK, &err));
	t = &io->tables;
}

static inline bk_status session_try(uint32_t durability)
{
	struct bk_session_config config = {.struct_size = sizeof(config), .durability = durability};

	return t->session.open(&s, io->store, &config, &err);
}

static inline void store_use(uint32_t durability) /* open, make, session */
{
	store_open(durability);
	ok(t->store.make(io->store, &err));
	ok(session_try(durability));
}

static inline void store_leave(void)
{
	if (s)
		t->session.close(s);
	s = NULL;
	bk_close(io);
	io = NULL;
}

static inline int fixture_teardown(void **state)
{
	if (io)
		store_leave();
	bk_options_free(options);
	bk_plugin_free(plugin);
	return bk_fs_remove_tree(folder, &err) == BK_OK ? 0 : -1;
}

static inline bk_status put(const char *id, const char *parent, const char *doc, uint32_t mode,
			    const struct bk_link *links, size_t n)
{
	char path[300];
	struct bk_node node = {.id = bk_slice_str(id),
			       .parent = bk_slice_str(parent),
			       .doc = bk_slice_str(doc),
			       .links = links,
			       .link_count = n};

	snprintf(path, sizeof(path), "/p/%s", id);
	node.path = bk_slice_str(path);
	return t->node.put(s, &node, mode, &err);
}

static inline struct bk_link link_to(const char *rel, const char *target)
{
	struct bk_link link = {bk_slice_str(rel), bk_slice_str(target)};

	return link;
}

/* How many hits one step gives. */
static inline size_t count_hits(const char *start, uint32_t dir, const char *rel)
{
	struct bk_step step = {.rel = bk_slice_str(rel), .dir = dir};
	struct bk_cursor *c;
	struct bk_hit hits[64];
	size_t n, all = 0;
	bk_status st;

	ok(t->node.walk_open(&c, s, bk_slice_str(start), &step, 1, BK_WANT_PATH, &err));
	while ((st = t->node.walk_next(c, hits, 64, &n, &err)) == BK_OK)
		all += n;
	gives(st, BK_END);
	t->node.walk_close(c);
	return all;
}

static inline void write_binary(const char *key, const char *content)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;

	ok(t->binary.write_open(&w, s, bk_slice_str(key), BK_SIZE_UNKNOWN, BK_PUT_UPSERT, &err));
	ok(t->binary.write(w, content, strlen(content), &err));
	ok(t->binary.finish(w, &info, &err));
}

/* The one file below a folder, which must be the only one; empty folders do not count. */
static inline size_t find_files(char *out, size_t cap, const char *below)
{
	struct dirent *e;
	DIR *dir = opendir(below);
	char path[4096];
	size_t n = 0;

	while (dir && (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", below, e->d_name) >= sizeof(path))
			fail_msg("a path below %s is too long", below);
		if (e->d_type == DT_DIR) {
			n += find_files(out, cap, path);
		} else {
			if ((size_t)snprintf(out, cap, "%s", path) >= cap)
				fail_msg("%s is too long", path);
			n++;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

static inline void only_file(char *out, size_t cap, const char *below)
{
	assert_int_equal(find_files(out, cap, below), 1);
}

static inline size_t count_files(const char *below)
{
	char path[4096];

	return find_files(path, sizeof(path), below);
}

static inline void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#endif
