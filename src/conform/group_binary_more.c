/*
 * group_binary_more.c - keys of every kind, lists, handles side by side, memory.
 *
 * The one invariant: awkward keys are all in the store at the same time.
 */
#include "conform/binaries.h"
#include "conform/nodes.h"
#include "conform/sanitize.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static const char *const awkward[] = {
	"a",
	"A",
	"a b",
	" a",
	"a ",
	"a+b",
	"a%20b",
	"a%b",
	"a%2Fb",
	"a&b=c",
	"a?b",
	"?",
	"a#b",
	"a:b",
	"a;b",
	"a@b",
	"~a",
	"(a)",
	"a*b",
	"a!b",
	"'a'",
	"[a]",
	"{a}",
	"\\",
	"a\\b",
	"\"a\"",
	"<a>",
	"a|b",
	"a^b",
	"a`b",
	"a,b",
	"a=b",
	"$a",
	"-",
	"--",
	"_",
	"%",
	"%%",
	".hidden",
	"a.",
	"a/b",
	"a/b/c",
	"a/b.c",
	"d/",
	"d/e",
	"e//f",
	"e/f",
	"/lead",
	"lead",
	"g/./h",
	"g/h",
	"i/../j",
	"j",
	"..",
	".",
	"...",
	"../up",
	"x/..",
	"\xc3\xa9",
	"e\xcc\x81",
	"\xe2\x82\xac",
	"\xf0\x9f\x8d\xb0",
	"\xc3\x89",
	"tab\there",
	"line\nend",
	"\x01",
	"\x7f",
	"a\r\nb",
	"bakeoff",
	"key",
	"null",
	"aa/bb/cc",
	"tmp",
	"lock",
	"LOCK",
	"index.html",
	"da39a3ee5e6b4b0d3255bfef95601890afd80709",
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
};

static void keys_awkward(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice keys[LEN(awkward)];
	uint64_t sizes[LEN(awkward)];
	size_t i;

	for (i = 0; i < LEN(awkward); i++) {
		keys[i] = bk_slice_str(awkward[i]);
		sizes[i] = 10 + i;
		STORE(b, keys[i], i, sizes[i]);
	}
	for (i = 0; i < LEN(awkward); i++)
		BINARY(b, keys[i], i, sizes[i]);
	bk_t_list(b, AT, keys, sizes, LEN(awkward), 7);
	for (i = 0; i < LEN(awkward); i += 2)
		bk_t_binary_remove(b, AT, keys[i], BK_OK);
	for (i = 0; i < LEN(awkward); i++) {
		if (i % 2)
			BINARY(b, keys[i], i, sizes[i]);
		else
			NO_BINARY(b, keys[i]);
	}
}

static struct bk_slice repeated(struct bk_box *b, char c, size_t len)
{
	char *p = bk_arena_alloc(&b->arena, len);

	memset(p, c, len);
	return bk_slice_of(p, len);
}

static void keys_longest(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	size_t len = t->limits.key_max < 65536 ? (size_t)t->limits.key_max : 65536, i;
	struct bk_slice keys[4];
	uint64_t sizes[4] = {1, 2, 3, 4};

	CHECK(t, len >= 64, "limits.key_max is %llu", (unsigned long long)t->limits.key_max);
	keys[0] = repeated(b, 'k', len);
	keys[1] = repeated(b, 'k', len);
	((char *)(uintptr_t)keys[1].data)[len - 1] = 'l';
	keys[2] = repeated(b, 'k', len - 1);
	keys[3] = repeated(b, 'k', len);
	for (i = 20; i < len; i += 50)
		((char *)(uintptr_t)keys[3].data)[i] = '/';
	for (i = 0; i < 4; i++)
		STORE(b, keys[i], i, sizes[i]);
	for (i = 0; i < 4; i++)
		BINARY(b, keys[i], i, sizes[i]);
	bk_t_list(b, AT, keys, sizes, 4, 1);
}

static void key_too_long(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key;
	struct bk_writer *w = NULL;
	bk_status st;

	if (t->limits.key_max >= (64u << 20))
		bk_test_skip(t, "limits.key_max is too far to reach");
	key = repeated(b, 'k', (size_t)t->limits.key_max + 1);
	WANT(t, BK_TOO_LARGE, b->ops->binary.write_open(&w, b->s, key, 1, BK_PUT_UPSERT, E));
	CHECK(t, !w, "write_open failed and wrote *out");
	WANT_IN(t, TWO(BK_NOT_FOUND, BK_TOO_LARGE), UINT64_MAX, st,
		b->ops->binary.remove(b->s, key, E));
	bk_t_list(b, AT, NULL, NULL, 0, 10);
}

static void too_large(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");
	struct bk_writer *w = NULL;

	if (t->limits.binary_max == UINT64_MAX || t->limits.binary_max + 1 == BK_SIZE_UNKNOWN)
		bk_test_skip(t, "limits.binary_max is no limit");
	WANT(t, BK_TOO_LARGE,
	     b->ops->binary.write_open(&w, b->s, key, t->limits.binary_max + 1, BK_PUT_UPSERT, E));
	CHECK(t, !w, "write_open failed and wrote *out");
	NO_BINARY(b, key);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static void list_pages(struct bk_test *t)
{
	static const size_t caps[] = {1, 10, 128};
	enum { COUNT = 1100 }; /* more than a page of any server */
	struct bk_box *b = bk_test_box(t);
	struct bk_slice *keys = bk_arena_alloc(&b->arena, COUNT * sizeof(*keys));
	uint64_t *sizes = bk_arena_alloc(&b->arena, COUNT * sizeof(*sizes));
	size_t i;

	for (i = 0; i < COUNT; i++) {
		keys[i] = bk_test_printf(&b->arena, "dir%zu/key%zu", i % 3, i);
		sizes[i] = i % 5;
		STORE(b, keys[i], i, sizes[i]);
	}
	for (i = 0; i < LEN(caps); i++)
		bk_t_list(b, AT, keys, sizes, COUNT, caps[i]);
}

static void list_empty(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_cursor *c = NULL;
	int i;

	bk_t_list(b, AT, NULL, NULL, 0, 10);
	for (i = 0; i < 5; i++) { /* closed before the first page */
		WANT(t, BK_OK, b->ops->binary.list_open(&c, b->s, E));
		b->ops->binary.list_close(c);
	}
	STORE(b, bk_slice_str("key"), 1, 1);
	bk_t_binary_remove(b, AT, bk_slice_str("key"), BK_OK);
	bk_t_list(b, AT, NULL, NULL, 0, 10);
}

/* Keys and sizes of a page last while the session does other things. */
static void list_calls_between(struct bk_test *t)
{
	struct bk_box *b = bk_test_box_at(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	struct bk_slice page[4], copy[4], key;
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_cursor *c = NULL;
	uint64_t sizes[4];
	size_t n, i, seen = 0;
	bk_status st;

	for (i = 0; i < 30; i++)
		STORE(b, bk_test_printf(&b->arena, "k%zu", i), i, i);
	WANT(t, BK_OK, b->ops->binary.list_open(&c, b->s, E));
	for (;;) {
		n = 0;
		WANT_IN(t, TWO(BK_OK, BK_END), UINT64_MAX, st,
			b->ops->binary.list_next(c, page, sizes, 4, &n, E));
		if (st == BK_END)
			break;
		for (i = 0; i < n; i++)
			copy[i] = bk_test_copy(&b->arena, page[i]);
		for (i = 0; i < n; i++) {
			key = bk_test_copy(&b->arena, page[i]);
			WANT(t, BK_OK, b->ops->binary.stat(b->s, key, &info, E));
			CHECK(t, info.size_bytes == sizes[i], "stat and list differ in size");
		}
		for (i = 0; i < n; i++)
			CHECK(t, bk_slice_eq(page[i], copy[i]), "a view of a page changed");
		seen += n;
	}
	b->ops->binary.list_close(c);
	CHECK(t, seen == 30, "%zu keys came, should be 30", seen);
}

/* ---- Handles side by side ----------------------------------------------------------------------
 */

static void writer_and_calls(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), other = bk_slice_str("other");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_writer *w;
	struct bk_node node;
	uint64_t at;

	STORE(b, other, 5, 50000);
	w = WRITE_OPEN(b, key, 500000, BK_PUT_UPSERT);
	for (at = 0; at < 500000; at += 50000) {
		WRITE(b, w, 1, at, 50000);
		WANT(t, BK_OK, b->ops->binary.stat(b->s, other, &info, E));
		if (!bk_test_has(t, BK_F_NODES))
			continue;
		node = bk_node_named(b, "n%llu", (unsigned long long)at);
		node.doc = bk_test_bytes(&b->arena, at, 3000);
		CREATE(b, &node);
		SAME(b, &node);
	}
	BINARY(b, other, 5, 50000); /* a reader beside the writer */
	FINISH(b, w, BK_OK, 500000);
	BINARY(b, key, 1, 500000);
}

static void reader_and_calls(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key"), other = bk_slice_str("other");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	struct bk_reader *r = NULL;
	char buf[20000], want[20000];
	uint64_t at = 0;
	size_t n;
	bk_status st;

	STORE(b, key, 1, 500000);
	WANT(t, BK_OK, b->ops->binary.read_open(&r, b->s, key, 0, BK_SIZE_UNKNOWN, &info, E));
	for (;;) {
		n = 0;
		WANT_IN(t, TWO(BK_OK, BK_END), UINT64_MAX, st,
			b->ops->binary.read(r, buf, sizeof(buf), &n, E));
		if (st == BK_END)
			break;
		bk_content_fill(want, 1, at, n);
		CHECK(t, memcmp(buf, want, n) == 0, "wrong bytes after %llu",
		      (unsigned long long)at);
		at += n;
		WANT(t, BK_OK, b->ops->binary.stat(b->s, key, &info, E));
		if (bk_test_has(t, BK_F_NODES)) {
			struct bk_node node = bk_node_named(b, "n%llu", (unsigned long long)at);

			CREATE(b, &node);
			SAME(b, &node);
		}
		STORE(b, other, at, 1000); /* a writer beside the reader */
	}
	b->ops->binary.read_close(r);
	CHECK(t, at == 500000, "%llu bytes came, should be 500000", (unsigned long long)at);
}

/* A reader shows one binary: the one that it opened, or a failure, whatever becomes of the key. */
static void read_on(struct bk_test *t, struct bk_box *b, struct bk_reader *r, uint64_t size)
{
	char buf[20000], want[20000];
	uint64_t at = 0;
	size_t n;
	bk_status st;

	for (;;) {
		n = 0;
		ANY(t, st, b->ops->binary.read(r, buf, sizeof(buf), &n, E));
		if (st)
			break;
		bk_content_fill(want, 1, at, n);
		CHECK(t, n <= size - at && memcmp(buf, want, n) == 0,
		      "bytes that are not of the binary that was opened, after %llu",
		      (unsigned long long)at);
		at += n;
	}
	CHECK(t, st < 0 || at == size, "END after %llu bytes of %llu", (unsigned long long)at,
	      (unsigned long long)size);
}

static void reader_overtaken(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t), *other = bk_test_join(t, b->l, BK_DURABLE_NONE);
	struct bk_slice key = bk_slice_str("key");
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	const uint64_t size = 3000001;
	struct bk_reader *r;
	int i;

	for (i = 0; i < 3; i++) { /* a shorter one, a longer one, none */
		STORE(b, key, 1, size);
		r = NULL;
		WANT(t, BK_OK,
		     b->ops->binary.read_open(&r, b->s, key, 0, BK_SIZE_UNKNOWN, &info, E));
		if (i < 2)
			STORE(other, key, 2, i ? size + 500000 : 1000000);
		else
			bk_t_binary_remove(other, AT, key, BK_OK);
		read_on(t, b, r, size);
		b->ops->binary.read_close(r);
		if (i < 2)
			BINARY(b, key, 2, i ? size + 500000 : 1000000);
		else
			NO_BINARY(b, key);
	}
}

/* ---- Memory
 * --------------------------------------------------------------------------------------- */

#define STREAM_BYTES (UINT64_C(64) << 20)
#define GROWTH_MOST  (UINT64_C(24) << 20)

static uint64_t status_bytes(const char *name)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "r");
	unsigned long long kib = 0;

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), " %llu", &kib);
	}
	if (f)
		fclose(f);
	return kib * 1024;
}

static void forget_peak(void)
{
	int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

	malloc_trim(0);
	if (fd < 0)
		return;
	if (write(fd, "5", 1) != 1) /* the peak is then that of the whole process: no worse */
		malloc_trim(0);
	close(fd);
}

static void stream_memory(struct bk_test *t)
{
	struct bk_box *b = bk_test_box(t);
	struct bk_slice key = bk_slice_str("key");
	uint64_t before, peak;
	int i;

	if (t->limits.binary_max < STREAM_BYTES)
		bk_test_skip(t, "limits.binary_max is below 64 MiB");
	STORE(b, bk_slice_str("warm"), 1, 1000000);
	BINARY(b, bk_slice_str("warm"), 1, 1000000);
	for (i = 0; i < 2; i++) {
		forget_peak();
		before = status_bytes("VmRSS:");
		if (i == 0)
			STORE(b, key, 7, STREAM_BYTES);
		else
			BINARY(b, key, 7, STREAM_BYTES);
		peak = status_bytes("VmHWM:");
		if (bk_sanitizer_memory())
			continue;
		CHECK(t, peak < before + GROWTH_MOST, "%s 64 MiB took %llu MiB of memory",
		      i ? "reading" : "writing", (unsigned long long)((peak - before) >> 20));
	}
}

#define CASE(name, func, ...)                                                                      \
	{                                                                                          \
		name, __VA_ARGS__, .fn = func, .needs = BK_F_BINARIES                              \
	}

static const struct bk_case cases[] = {
	CASE("keys-awkward", keys_awkward, "keys with spaces, + & % ? #, slashes, dots, accents"),
	CASE("keys-longest", keys_longest, "keys as long as the limit allows"),
	CASE("key-too-long", key_too_long, "a key over limits.key_max: TOO_LARGE"),
	CASE("too-large", too_large, "a size over limits.binary_max: TOO_LARGE"),
	CASE("list-pages", list_pages, "1100 keys, by pages of any size"),
	CASE("list-empty", list_empty, "a list of nothing"),
	CASE("list-calls-between", list_calls_between, "other calls between the pages of a list"),
	CASE("writer-and-calls", writer_and_calls, "get, put, stat and a reader beside a writer"),
	CASE("reader-and-calls", reader_and_calls, "get, put, stat and a writer beside a reader"),
	CASE("reader-overtaken", reader_overtaken,
	     "a reader of what is replaced or removed: the old bytes or a failure",
	     .flags = BK_CASE_TWO),
	CASE("stream-memory", stream_memory, "64 MiB in and out within 24 MiB of memory",
	     .own = BK_F_BINARY_STREAM),
	{.name = NULL},
};

const struct bk_group bk_group_binary_more = {"binary", cases};
