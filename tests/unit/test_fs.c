/*
 * Folders and files: what is removed stays within the tree, and errors name the path.
 */
#include "unit.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char *in(const char *folder, const char *name)
{
	char *path = bk_fs_join(folder, name);

	assert_non_null(path);
	return path;
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	char template[] = "/tmp/bakeoff-fs-XXXXXX";

	*state = strdup(mkdtemp(template));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct bk_error err = bk_error_init();
	bk_status st = bk_fs_remove_tree(*state, &err);

	free(*state);
	return st == BK_OK ? 0 : -1;
}

static void mkdirs(void **state)
{
	struct bk_error err = bk_error_init();
	char *deep = in(*state, "a/b//c/"), *file = in(*state, "file"),
	     *under = in(*state, "file/x");

	assert_int_equal(bk_fs_mkdirs(deep, 0755, &err), BK_OK);
	assert_int_equal(bk_fs_mkdirs(deep, 0755, &err), BK_OK);
	assert_true(bk_fs_is_folder(deep));
	put_file(file, "x");
	assert_int_equal(bk_fs_mkdirs(under, 0755, &err), BK_IO);
	assert_contains(err.message, file);
	assert_int_not_equal(bk_fs_mkdirs("", 0755, &err), BK_OK);
	free(deep);
	free(file);
	free(under);
}

static void read_whole(void **state)
{
	struct bk_error err = bk_error_init();
	char *file = in(*state, "text"), *none = in(*state, "none"), *text;
	size_t len;

	put_file(file, "twelve bytes");
	assert_int_equal(bk_fs_read(&text, &len, file, 12, &err), BK_OK);
	assert_int_equal(len, 12);
	assert_string_equal(text, "twelve bytes");
	free(text);
	assert_int_equal(bk_fs_read(&text, NULL, file, 11, &err), BK_TOO_LARGE);
	assert_contains(err.message, file);
	assert_int_equal(bk_fs_read(&text, NULL, none, 11, &err), BK_NOT_FOUND);
	assert_contains(err.message, none);
	assert_int_equal(bk_fs_read(&text, NULL, *state, 11, &err), BK_INVALID);
	free(file);
	free(none);
}

static void remove_follows_no_link(void **state)
{
	struct bk_error err = bk_error_init();
	char *outside = in(*state, "outside"), *kept = in(*state, "outside/kept");
	char *tree = in(*state, "tree"), *deep = in(*state, "tree/a/b");
	char *file = in(*state, "tree/a/b/f"), *link = in(*state, "tree/a/link");

	assert_int_equal(bk_fs_mkdirs(outside, 0755, &err), BK_OK);
	put_file(kept, "kept");
	assert_int_equal(bk_fs_mkdirs(deep, 0755, &err), BK_OK);
	put_file(file, "gone");
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(bk_fs_remove_tree(tree, &err), BK_OK);
	assert_int_not_equal(access(tree, F_OK), 0);
	assert_int_equal(access(kept, F_OK), 0);
	assert_int_equal(bk_fs_remove_tree(tree, &err), BK_OK);
	assert_int_equal(symlink(outside, tree), 0);
	assert_int_equal(bk_fs_remove_tree(tree, &err), BK_OK);
	assert_int_equal(access(kept, F_OK), 0);
	free(outside);
	free(kept);
	free(tree);
	free(deep);
	free(file);
	free(link);
}

static void join_and_program(void **state)
{
	char *folder = bk_fs_program_folder(), *path;

	assert_non_null(folder);
	assert_true(bk_fs_is_folder(folder));
	free(folder);
	path = in("a/", "b");
	assert_string_equal(path, "a/b");
	free(path);
	path = in("a", "/b");
	assert_string_equal(path, "/b");
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mkdirs),
		cmocka_unit_test(read_whole),
		cmocka_unit_test(remove_follows_no_link),
		cmocka_unit_test(join_and_program),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
