/*
 * test_service.c - the parts of src/service that need no server: templates, conditions, URLs,
 * packs, segments, programs, passwords.
 */
#include "unit.h"

#include "service/net.h"
#include "service/proc.h"
#include "service/programs.h"
#include "service/segments.h"
#include "service/spawn.h"
#include "service/unpack.h"
#include "service/url.h"
#include "service/values.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_folder(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/bakeoff-unit.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	struct bk_error err = bk_error_init();

	return bk_fs_remove_tree(folder, &err) == BK_OK ? 0 : -1;
}

static void expansion(void **state)
{
	static const struct {
		const char *text, *url, *plain;
	} cases[] = {
		{"{host}:{port}", "127.0.0.1:5432", "127.0.0.1:5432"},
		{"?host={run}", "?host=%2Frun%2Fx%20y", "?host=/run/x y"},
		{"{ \"json\": {} } {A} {", "{ \"json\": {} } {A} {", "{ \"json\": {} } {A} {"},
		{"", "", ""},
	};
	struct bk_error err = bk_error_init();
	struct bk_values v = {0};
	char *text;
	size_t i;

	assert_true(bk_values_set(&v, "host", "127.0.0.1"));
	assert_true(bk_values_set(&v, "port", "1"));
	assert_true(bk_values_set(&v, "port", "5432"));
	assert_true(bk_values_set(&v, "run", "/run/x y"));
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(bk_expand_new(&text, cases[i].text, &v, 0, &err), BK_OK);
		assert_string_equal(text, cases[i].plain);
		free(text);
		assert_int_equal(bk_expand_new(&text, cases[i].text, &v, BK_EXPAND_URL, &err),
				 BK_OK);
		assert_string_equal(text, cases[i].url);
		free(text);
	}
	assert_int_equal(bk_expand_new(&text, "-p {prot}", &v, 0, &err), BK_INVALID);
	assert_non_null(strstr(err.message, "{prot} in '-p {prot}'"));
	bk_values_free(&v);
}

static void conditions(void **state)
{
	static const struct bk_setting table[] = {
		{"a", "1", 0},
		{"a", "2", BK_WHEN_TCP},
		{"a", "3", BK_WHEN_TCP | BK_WHEN_MACHINE | BK_WHEN_PROCESS},
		{"b", "1", BK_WHEN_ADMIN},
		{NULL},
	};
	const uint32_t socket = BK_WHEN_TEST | BK_WHEN_SOCKET | BK_WHEN_NONE;
	const uint32_t tcp = BK_WHEN_BENCH | BK_WHEN_TCP | BK_WHEN_PROCESS;

	assert_true(bk_when(0, socket));
	assert_true(bk_when(BK_WHEN_TEST | BK_WHEN_BENCH, socket));
	assert_false(bk_when(BK_WHEN_TEST | BK_WHEN_TCP, socket));
	assert_true(bk_setting_counts(table, 0, socket));
	assert_false(bk_setting_counts(table, 1, socket));
	assert_false(bk_setting_counts(table, 0, tcp));
	assert_false(bk_setting_counts(table, 1, tcp));
	assert_true(bk_setting_counts(table, 2, tcp));
	assert_false(bk_setting_counts(table, 3, tcp));
	assert_true(bk_setting_counts(table, 3, tcp | BK_WHEN_ADMIN));
}

static void urls(void **state)
{
	static const struct {
		const char *text, *user, *password, *host, *port, *path, *query;
	} cases[] = {
		{"a://h", "", "", "h", "", "", ""},
		{"a://u@h:1/d", "u", "", "h", "1", "d", ""},
		{"a://u:p%40%2f@h/d?x=1&y=%20", "u", "p@/", "h", "", "d", "x=1&y=%20"},
		{"a://u:p@q@h/d", "u", "p@q", "h", "", "d", ""},
		{"a://[::1]:5432/d", "", "", "::1", "5432", "d", ""},
		{"a:///d?host=/run", "", "", "", "", "d", "host=/run"},
		{"a://%2Frun/d%", "", "", "/run", "", "d%", ""},
	};
	static const char *const gone[] = {"x", NULL};
	struct bk_error err = bk_error_init();
	struct bk_url u;
	char *text;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(bk_url_parse(&u, cases[i].text, &err), BK_OK);
		assert_string_equal(u.scheme, "a");
		assert_string_equal(u.user, cases[i].user);
		assert_string_equal(u.password, cases[i].password);
		assert_string_equal(u.host, cases[i].host);
		assert_string_equal(u.port, cases[i].port);
		assert_string_equal(u.path, cases[i].path);
		assert_string_equal(u.query, cases[i].query);
		bk_url_free(&u);
	}
	assert_int_equal(bk_url_parse(&u, "a://h?x=1&y=%2f&xx=3", &err), BK_OK);
	text = bk_url_query(&u, "y");
	assert_string_equal(text, "/");
	free(text);
	assert_null(bk_url_query(&u, "z"));
	text = bk_url_query_without(&u, gone);
	assert_string_equal(text, "y=%2f&xx=3");
	free(text);
	bk_url_free(&u);
	assert_int_equal(bk_url_parse(&u, "host/path", &err), BK_INVALID);
	assert_int_equal(bk_url_parse(&u, "://host", &err), BK_INVALID);
}

static void put_file(const char *name, off_t size, const char *data, off_t at)
{
	int fd = open(in_folder(name), O_WRONLY | O_CREAT, 0640);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	assert_int_equal(pwrite(fd, data, strlen(data), at), (ssize_t)strlen(data));
	close(fd);
}

static struct bk_pack packed(const char *from, uint64_t want_files)
{
	struct bk_error err = bk_error_init();
	uint64_t files = 0, bytes = 0;
	struct bk_pack pack;
	char path[128];

	snprintf(path, sizeof(path), "%s/pack", folder);
	assert_int_equal(bk_pack_write(path, from, &files, &bytes, &err), BK_OK);
	assert_int_equal(files, want_files);
	assert_int_equal(bk_pack_write(path, from, &files, &bytes, &err), BK_IO); /* it exists */
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_OK);
	return pack;
}

static void fill_with_kinds(void)
{
	char zeros[4096] = {0};
	size_t i;
	int fd;

	assert_int_equal(mkdir(in_folder("from"), 0700), 0);
	assert_int_equal(mkdir(in_folder("from/inner"), 0750), 0);
	assert_int_equal(mkdir(in_folder("from/inner/most"), 0700), 0);
	assert_int_equal(mkdir(in_folder("from/inner/none"), 0700), 0);
	put_file("from/empty", 0, "", 0);
	put_file("from/small", 5, "small", 0);
	put_file("from/inner/holes", 3 << 20, "end", (3 << 20) - 3);
	put_file("from/inner/most/middle", 3 << 20, "middle", 1 << 20);
	assert_int_equal(symlink("../small", in_folder("from/inner/link")), 0);
	assert_int_equal(mkfifo(in_folder("from/inner/fifo"), 0600), 0);
	fd = open(in_folder("from/zeros"), O_WRONLY | O_CREAT, 0600);
	for (i = 0; i < 300; i++) /* more than a buffer */
		assert_int_equal(write(fd, zeros, sizeof(zeros)), (ssize_t)sizeof(zeros));
	assert_int_equal(pwrite(fd, "x", 1, 700000), 1);
	close(fd);
	fd = open(in_folder("from/full"), O_WRONLY | O_CREAT, 0600);
	memset(zeros, 'f', sizeof(zeros));
	for (i = 0; i < 300; i++)
		assert_int_equal(write(fd, zeros, sizeof(zeros) - 1), (ssize_t)sizeof(zeros) - 1);
	close(fd);
}

static void unpacks(void **state)
{
	static const char *const late[] = {"inner", "nowhere", NULL};
	struct bk_error err = bk_error_init();
	char from[96], to[96], a[4096], b[4096];
	struct bk_pack pack;
	struct stat sb;
	size_t i;
	ssize_t n;
	FILE *f;

	fill_with_kinds();
	snprintf(from, sizeof(from), "%s/from", folder);
	pack = packed(from, 6);
	assert_int_equal(unlink(in_folder("from/inner/fifo")), 0); /* is not packed */
	for (i = 0; i < 4; i++) {
		struct bk_unpack how = {
			.uid = (uid_t)-1, .workers = i % 2 ? 3 : 0, .late = i < 2 ? NULL : late};

		snprintf(to, sizeof(to), "%s/to%zu", folder, i);
		assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_OK);
		assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_IO); /* it exists */
		snprintf(b, sizeof(b), "%s/inner/most/middle", to);
		assert_int_equal(access(b, F_OK), how.late ? -1 : 0);
		if (how.late) {
			snprintf(b, sizeof(b), "%s/inner/none", to);
			assert_int_equal(access(b, F_OK), 0); /* folders are there at once */
			snprintf(b, sizeof(b), "%s/small", to);
			assert_int_equal(access(b, F_OK), 0);
			assert_int_equal(bk_unpack_late(&how, &pack, to, &err), BK_OK);
		}
		snprintf(b, sizeof(b), "diff -r %s %s && stat -c '%%a' %s/inner %s/small", from, to,
			 to, to);
		f = popen(b, "r");
		n = (ssize_t)fread(a, 1, sizeof(a) - 1, f);
		a[n > 0 ? n : 0] = '\0';
		assert_int_equal(pclose(f), 0);
		assert_string_equal(a, "750\n640\n");
		snprintf(b, sizeof(b), "%s/inner/holes", to);
		assert_int_equal(stat(b, &sb), 0);
		assert_true(sb.st_blocks * 512 < 64 << 10);
		snprintf(b, sizeof(b), "%s/zeros", to);
		assert_int_equal(stat(b, &sb), 0);
		assert_int_equal(sb.st_size, 300 * 4096);
		assert_true(sb.st_blocks * 512 < 64 << 10);
		snprintf(b, sizeof(b), "%s/inner/link", to);
		n = readlink(b, a, sizeof(a));
		assert_int_equal(n, 8);
	}
	bk_pack_close(&pack);
}

static void unpacks_as_another(void **state)
{
	struct bk_unpack how = {.uid = 65534, .gid = 65533, .workers = 2};
	struct bk_error err = bk_error_init();
	char from[96], to[96], command[256], found[64] = "";
	struct bk_pack pack;
	FILE *f;

	if (geteuid() != 0)
		return; /* only root gives files away */
	fill_with_kinds();
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	pack = packed(from, 6);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_OK);
	bk_pack_close(&pack);
	snprintf(command, sizeof(command), "find %s -printf '%%U:%%G\\n' | sort | uniq -c", to);
	f = popen(command, "r");
	assert_non_null(fgets(found, sizeof(found), f));
	assert_non_null(strstr(found, " 11 65534:65533\n")); /* 4 folders, 6 files, 1 link */
	assert_null(fgets(found, sizeof(found), f));         /* and nobody else's */
	pclose(f);
	assert_int_equal(chown(from, 0, 0), 0); /* this thread is who it was */
}

static void unpacks_many(void **state)
{
	struct bk_unpack how = {.uid = (uid_t)-1, .workers = 2};
	struct bk_error err = bk_error_init();
	char from[96], to[96], name[64], command[256];
	struct bk_pack pack;
	int i, k;

	assert_int_equal(mkdir(in_folder("from"), 0700), 0);
	for (i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "from/%d", i);
		assert_int_equal(mkdir(in_folder(name), 0700), 0);
		for (k = 0; k < 50; k++) {
			snprintf(name, sizeof(name), "from/%d/%d", i, k);
			put_file(name, 10000, name, 5000);
		}
	}
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	pack = packed(from, 400);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_OK);
	snprintf(command, sizeof(command), "diff -r %s %s", from, to);
	assert_int_equal(system(command), 0);
	snprintf(to, sizeof(to), "%s/nowhere/to", folder);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_NOT_FOUND);
	assert_non_null(strstr(err.message, "nowhere/to"));
	bk_pack_close(&pack);
}

static bool at_once(void *ctx)
{
	return true;
}

static void unpacking_called_off(void **state)
{
	struct bk_unpack how = {.uid = (uid_t)-1, .stop = at_once};
	struct bk_error err = bk_error_init();
	struct bk_pack pack;
	char from[96], to[96];

	assert_int_equal(mkdir(in_folder("from"), 0700), 0);
	put_file("from/small", 5, "small", 0);
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	pack = packed(from, 1);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_CANCELLED);
	bk_pack_close(&pack);
}

static void write_pack(const char *path, const char *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

/* Cut anywhere, or with any byte of its head and index changed: refused, or a pack whose every name
 * and number stay within it. */
static void damaged_packs(void **state)
{
	struct bk_error err = bk_error_init();
	char from[96], path[128], data[8192], bad[8192];
	struct bk_pack_head head;
	struct bk_pack pack;
	size_t len, i, e;
	FILE *f;

	assert_int_equal(mkdir(in_folder("from"), 0700), 0);
	assert_int_equal(mkdir(in_folder("from/inner"), 0700), 0);
	put_file("from/small", 5, "small", 0);
	put_file("from/inner/holes", 100000, "end", 50000);
	assert_int_equal(symlink("../small", in_folder("from/inner/link")), 0);
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(path, sizeof(path), "%s/pack", folder);
	pack = packed(from, 2);
	bk_pack_close(&pack);
	f = fopen(path, "r");
	len = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_true(len > sizeof(head) && len < sizeof(data));
	memcpy(&head, data, sizeof(head));
	for (i = 0; i < len; i++) {
		write_pack(path, data, i);
		assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
		bk_pack_close(&pack);
	}
	assert_non_null(strstr(err.message, path));
	for (i = 0; i < len; i++) {
		if (i == sizeof(head))
			i = head.index_at;
		memcpy(bad, data, len);
		bad[i] ^= (char)0xff;
		write_pack(path, bad, len);
		if (bk_pack_open(&pack, path, &err) == BK_OK) {
			for (e = 0; e < pack.count; e++) {
				const struct bk_pack_entry *x = &pack.entries[e];

				assert_true(x->name[0] != '/' && x->data_at <= head.index_at);
				assert_null(strstr(x->name, ".."));
			}
		}
		bk_pack_close(&pack);
	}
	/* A name that leads out of the tree */
	memcpy(bad, data, len);
	for (i = head.index_at; i + 11 < len && memcmp(bad + i, "inner/holes", 11) != 0; i++)
		;
	memcpy(bad + i, "inner/../..", 11);
	write_pack(path, bad, len);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
	bk_pack_close(&pack);
	/* One that is not in the folder that it comes after: a link could be in its way */
	memcpy(bad + i, "outer/holes", 11);
	write_pack(path, bad, len);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
	bk_pack_close(&pack);
	memcpy(bad + i, "inner/ho/es", 11);
	write_pack(path, bad, len);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
	bk_pack_close(&pack);
	assert_int_equal(bk_pack_open(&pack, in_folder("nowhere"), &err), BK_NOT_FOUND);
	bk_pack_close(&pack);
}

/* What is no file is not waited for, and nobody's memory is taken for what a head says. */
static void odd_packs(void **state)
{
	const uint64_t len = UINT64_C(1) << 40;
	struct bk_pack_head head = {
		.magic = BK_PACK_MAGIC, .index_at = sizeof(head), .count = len / 64};
	struct bk_error err = bk_error_init();
	struct bk_pack pack;
	char path[128];

	snprintf(path, sizeof(path), "%s/pack", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
	alarm(0);
	bk_pack_close(&pack);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID);
	bk_pack_close(&pack);
	assert_int_equal(rmdir(path), 0);
	head.index_len = len - sizeof(head);
	write_pack(path, (const char *)&head, sizeof(head));
	assert_int_equal(truncate(path, (off_t)len), 0);
	assert_int_equal(bk_pack_open(&pack, path, &err), BK_INVALID); /* not NOMEM */
	bk_pack_close(&pack);
}

/* The pack becomes shorter between being opened and being read. */
static void shrinking_packs(void **state)
{
	struct bk_unpack how = {.uid = (uid_t)-1, .workers = 2};
	struct bk_error err = bk_error_init();
	char from[96], to[96], path[128];
	struct bk_pack pack;

	fill_with_kinds();
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(path, sizeof(path), "%s/pack", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	pack = packed(from, 6);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_IO);
	assert_non_null(strstr(err.message, "cannot read the template's"));
	assert_null(strstr(err.message, "Success"));
	bk_pack_close(&pack);
}

/* Names of any bytes, modes, links to nowhere, files that are one hole, whatever the umask is */
static void unpacks_odd_names(void **state)
{
	struct bk_unpack how = {.uid = (uid_t)-1, .workers = 2};
	struct bk_error err = bk_error_init();
	char from[96], to[96], a[4096], b[4096], command[256];
	struct bk_pack pack;
	mode_t mask;
	size_t n;
	FILE *f;

	assert_int_equal(mkdir(in_folder("from"), 0755), 0);
	assert_int_equal(mkdir(in_folder("from/\xff\n \001"), 0711), 0);
	put_file("from/\xff\n \001/\\ \"'\t", 9, "x", 1);
	put_file("from/...", 1 << 20, "", 0);
	put_file("from/-rf", 3, "abc", 0);
	assert_int_equal(chmod(in_folder("from/-rf"), 0), 0);
	assert_int_equal(chmod(in_folder("from/..."), 0777), 0);
	assert_int_equal(symlink("/nowhere/\n\xfe", in_folder("from/l")), 0);
	snprintf(from, sizeof(from), "%s/from", folder);
	snprintf(to, sizeof(to), "%s/to", folder);
	if (geteuid() != 0) /* who else could read it? */
		assert_int_equal(chmod(in_folder("from/-rf"), 0600), 0);
	pack = packed(from, 3);
	mask = umask(07);
	assert_int_equal(bk_unpack_tree(&how, &pack, to, &err), BK_OK);
	umask(mask);
	bk_pack_close(&pack);
	snprintf(command, sizeof(command),
		 "cd %s && find . -printf '%%P %%y %%m %%l %%u\\0' | sort -z", from);
	f = popen(command, "r");
	n = fread(a, 1, sizeof(a), f);
	assert_int_equal(pclose(f), 0);
	snprintf(command, sizeof(command),
		 "cd %s && find . -printf '%%P %%y %%m %%l %%u\\0' | sort -z", to);
	f = popen(command, "r");
	assert_int_equal(fread(b, 1, sizeof(b), f), n);
	assert_int_equal(pclose(f), 0);
	assert_true(n > 50);
	assert_memory_equal(a, b, n);
	snprintf(command, sizeof(command), "diff -r --no-dereference %s %s", from, to);
	assert_int_equal(system(command), 0);
}

/* Somebody of the server's user puts links in the place of folders while they are worked on. */
static void *swaps(void *ctx)
{
	const atomic_bool *end = ctx;
	char a[128], b[128];

	snprintf(a, sizeof(a), "%s/to/base", folder);
	snprintf(b, sizeof(b), "%s/to/link", folder);
	while (!atomic_load(end))
		renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
	return NULL;
}

static void fill_victim(const char *where)
{
	char name[64];
	int i;

	assert_int_equal(mkdir(in_folder(where), 0700), 0);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%s/%d", where, i);
		assert_int_equal(mkdir(in_folder(name), 0700), 0);
	}
}

static void removes_behind_no_link(void **state)
{
	struct bk_error err = bk_error_init();
	atomic_bool end = false;
	char to[96], name[64];
	pthread_t thread;
	struct stat sb;
	int i, round;

	snprintf(to, sizeof(to), "%s/to", folder);
	fill_victim("victim");
	for (round = 0; round < 5; round++) {
		assert_int_equal(mkdir(in_folder("to"), 0700), 0);
		fill_victim("to/base");
		assert_int_equal(symlink("../victim", in_folder("to/link")), 0);
		atomic_store(&end, false);
		assert_int_equal(pthread_create(&thread, NULL, swaps, &end), 0);
		for (i = 0; i < 10 && access(to, F_OK) == 0; i++)
			bk_unpack_remove(to, &err);
		atomic_store(&end, true);
		pthread_join(thread, NULL);
		assert_int_equal(bk_unpack_remove(to, &err), BK_OK);
		assert_int_equal(access(to, F_OK), -1);
	}
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "victim/%d", i);
		assert_int_equal(stat(in_folder(name), &sb), 0);
	}
}

/* The same while root unpacks for that user: a process of theirs waits for a folder to be theirs.
 */
static void swap_folder_as(uid_t uid, int ready)
{
	char a[128], b[128];

	if (setuid(uid) != 0 || write(ready, "r", 1) != 1)
		_exit(1);
	snprintf(a, sizeof(a), "%s/to/000", folder);
	snprintf(b, sizeof(b), "%s/to/moved", folder);
	while (symlink("../victim", b) != 0)
		;
	while (access(a, W_OK) != 0 || renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE) != 0)
		;
	_exit(0);
}

static void unpacks_behind_no_link(void **state)
{
	struct bk_unpack how = {.uid = 65534, .gid = 65534, .workers = 1};
	struct bk_error err = bk_error_init();
	char from[96], to[96], name[64];
	struct bk_pack pack;
	struct stat sb;
	pid_t pid;
	int i, round, ready[2];

	if (geteuid() != 0)
		return; /* only root gives files away */
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(mkdir(in_folder("victim"), 0700), 0);
	assert_int_equal(mkdir(in_folder("from"), 0700), 0);
	assert_int_equal(mkdir(in_folder("from/000"), 0750), 0);
	for (i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "from/000/%d", i);
		assert_int_equal(mkdir(in_folder(name), 0750), 0);
	}
	snprintf(from, sizeof(from), "%s/from", folder);
	pack = packed(from, 0);
	for (round = 0; round < 10; round++) {
		snprintf(to, sizeof(to), "%s/to", folder);
		assert_int_equal(pipe(ready), 0);
		pid = fork();
		if (pid == 0)
			swap_folder_as(how.uid, ready[1]);
		assert_int_equal(read(ready[0], name, 1), 1);
		close(ready[0]);
		close(ready[1]);
		bk_unpack_tree(&how, &pack, to, &err); /* may well fail */
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(bk_unpack_remove(to, &err), BK_OK);
		assert_int_equal(stat(in_folder("victim"), &sb), 0);
		assert_int_equal(sb.st_nlink, 2); /* nothing was made in there */
		assert_int_equal(sb.st_mode & 07777, 0700);
		assert_int_equal(sb.st_uid, 0);
	}
	bk_pack_close(&pack);
}

static void passwords(void **state)
{
	struct bk_error err = bk_error_init();
	char a[33], b[33], u[37];
	size_t i;

	assert_int_equal(bk_net_random(a, 32, false, &err), BK_OK);
	assert_int_equal(bk_net_random(b, 32, true, &err), BK_OK);
	assert_int_equal(strlen(a), 32);
	assert_string_not_equal(a, b);
	for (i = 0; i < 32; i++) {
		assert_true(isalnum((unsigned char)a[i]));
		assert_true(islower((unsigned char)b[i]) || isdigit((unsigned char)b[i]));
	}
	assert_int_equal(bk_net_uuid(u, &err), BK_OK);
	assert_int_equal(strlen(u), 36);
	assert_int_equal(u[14], '4');
}

static void ports(void **state)
{
	struct bk_error err = bk_error_init();
	uint16_t p[4];
	char host[16];

	assert_int_equal(bk_net_host(host, false, &err), BK_OK);
	assert_int_equal(strncmp(host, "127.", 4), 0);
	assert_int_equal(bk_net_ports(p, 4, host, &err), BK_OK);
	assert_true(p[0] != p[1] && p[1] != p[2] && p[2] != p[3] && p[0] != p[3]);
	assert_true(bk_net_port_is_free(host, p[0]));
	assert_false(bk_net_connects(host, p[0]));
	assert_int_equal(bk_net_host(host, true, &err), BK_OK);
	assert_string_equal(host, "127.0.0.1");
}

/* Another version's folder comes later in the glob and first in the search. */
static void programs(void **state)
{
	char pattern[128];
	const char *const names[] = {"bk-unit-server|bk-unit-other", "sh", NULL};
	const char *const search[] = {pattern, NULL};
	const char *const missing[] = {"bk-unit-missing", NULL};
	struct bk_service other = {.programs = names, .search = search};
	struct bk_service service = {.programs = missing, .alternative = &other};
	const struct bk_service *chosen = NULL;
	struct bk_error err = bk_error_init();
	struct bk_programs p = {0};
	char *argv[] = {strdup("bk-unit-other"), NULL};

	snprintf(pattern, sizeof(pattern), "%s/*/bin", folder);
	assert_int_equal(mkdir(in_folder("9"), 0700), 0);
	assert_int_equal(mkdir(in_folder("9/bin"), 0700), 0);
	assert_int_equal(mkdir(in_folder("10"), 0700), 0);
	assert_int_equal(mkdir(in_folder("10/bin"), 0700), 0);
	put_file("9/bin/bk-unit-server", 0, "", 0);
	put_file("10/bin/bk-unit-server", 0, "", 0);
	put_file("10/bin/sh", 0, "", 0);
	assert_int_equal(chmod(in_folder("9/bin/bk-unit-server"), 0700), 0);
	assert_int_equal(chmod(in_folder("10/bin/bk-unit-server"), 0700), 0);
	assert_int_equal(chmod(in_folder("10/bin/sh"), 0700), 0);
	assert_int_equal(bk_programs_find(&p, &chosen, &service, "unit", NULL, &err), BK_OK);
	assert_ptr_equal(chosen, &other);
	assert_string_equal(bk_programs_path(&p, "bk-unit-other"),
			    in_folder("10/bin/bk-unit-server"));
	assert_string_equal(bk_programs_path(&p, "sh"), in_folder("10/bin/sh"));
	assert_null(bk_programs_path(&p, "bk-unit"));
	assert_int_equal(bk_programs_resolve(&p, argv, &err), BK_OK);
	assert_string_equal(argv[0], in_folder("10/bin/bk-unit-server"));
	free(argv[0]);
	bk_programs_free(&p);
	assert_int_equal(bk_programs_find(&p, &chosen, &other, "unit", in_folder("9/bin"), &err),
			 BK_OK);
	assert_string_equal(bk_programs_path(&p, "bk-unit-server"),
			    in_folder("9/bin/bk-unit-server"));
	bk_programs_free(&p);
	/* bin-dir without the server is an error, whatever else is installed */
	assert_int_equal(bk_programs_find(&p, &chosen, &other, "unit", "/nowhere", &err),
			 BK_NOT_FOUND);
	assert_non_null(strstr(err.message, "/nowhere (bin-dir)"));
	service.alternative = NULL;
	assert_int_equal(bk_programs_find(&p, &chosen, &service, "unit", NULL, &err), BK_NOT_FOUND);
	assert_non_null(strstr(err.message, "'bk-unit-missing' is not in PATH"));
}

static pid_t sleeper(int *pidfd)
{
	static char *const argv[] = {(char *)"sleep", (char *)"600", NULL};
	static char *const env[] = {NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct bk_spawn spawn = {.path = "/bin/sleep",
				 .argv = argv,
				 .env = env,
				 .cwd = "/",
				 .in = null,
				 .out = null,
				 .err = -1,
				 .death_signal = SIGKILL};
	struct bk_error err = bk_error_init();
	pid_t pid = 0;

	assert_int_equal(bk_spawn(&pid, pidfd, &spawn, &err), BK_OK);
	close(null);
	return pid;
}

/* A child has nothing of ours: no descriptor, no variable, no session. */
static void children(void **state)
{
	static char *const argv[] = {(char *)"/nowhere/server", NULL};
	static char *const env[] = {NULL};
	struct bk_error err = bk_error_init();
	struct bk_spawn spawn = {.path = "/nowhere/server", .argv = argv, .env = env, .err = -1};
	char command[128];
	uint64_t start;
	int fd, other, leak = dup(1);
	pid_t pid = sleeper(&fd);

	snprintf(command, sizeof(command), "test $(ls /proc/%d/fd | wc -l) = 3", (int)pid);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "test ! -s /proc/%d/environ", (int)pid);
	assert_int_equal(system(command), 0);
	assert_int_equal(getsid(pid), pid);
	start = bk_proc_start(pid);
	assert_true(start != 0);
	assert_int_equal(bk_proc_open(pid, start + 1), -1);
	other = bk_proc_open(pid, start);
	assert_true(other >= 0);
	assert_true(bk_proc_mentions(pid, "sleep 600"));
	assert_false(bk_proc_mentions(pid, "sleep 601"));
	assert_false(bk_proc_wait(fd, 0));
	assert_int_equal(bk_proc_signal(other, SIGKILL), 0);
	assert_true(bk_proc_wait(fd, 10000));
	assert_int_equal(bk_proc_start(pid), 0); /* a zombie is no process */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(fd);
	close(other);
	close(leak);
	spawn.in = spawn.out = 0;
	assert_int_equal(bk_spawn(&pid, &fd, &spawn, &err), BK_IO);
	assert_non_null(strstr(err.message, "/nowhere/server: No such file"));
}

/* Made by the process in question and by nobody attached; anybody else's stays. */
static void segments(void **state)
{
	int ours = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	struct shmid_ds ds;
	void *at;

	assert_true(ours >= 0);
	assert_int_equal(bk_segments_remove(getppid(), 1), 0);
	assert_int_equal(shmctl(ours, IPC_STAT, &ds), 0);
	at = shmat(ours, NULL, 0);
	assert_int_equal(bk_segments_remove(getpid(), bk_proc_start(getpid())), 0);
	assert_int_equal(shmctl(ours, IPC_STAT, &ds), 0);
	shmdt(at);
	/* older than the process that is said to have made it: of an earlier one with its pid */
	assert_int_equal(bk_segments_remove(getpid(), bk_proc_start(getpid()) + 1000000), 0);
	assert_int_equal(shmctl(ours, IPC_STAT, &ds), 0);
	assert_int_equal(bk_segments_remove(getpid(), bk_proc_start(getpid())), 1);
	assert_int_equal(shmctl(ours, IPC_STAT, &ds), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expansion),
		cmocka_unit_test(conditions),
		cmocka_unit_test(urls),
		cmocka_unit_test_setup_teardown(unpacks, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(unpacks_as_another, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(unpacks_many, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(unpacking_called_off, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(damaged_packs, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(odd_packs, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(shrinking_packs, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(unpacks_odd_names, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(removes_behind_no_link, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(unpacks_behind_no_link, make_folder, remove_folder),
		cmocka_unit_test(passwords),
		cmocka_unit_test(ports),
		cmocka_unit_test_setup_teardown(programs, make_folder, remove_folder),
		cmocka_unit_test(children),
		cmocka_unit_test(segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
