/*
 * drive.c - the operations of one backend, one a line from standard input: for tests that break
 * something in between.
 *
 *   drive BACKEND [OPTION=VALUE ...] < SCRIPT
 *
 * A line is a word and its arguments, separated by tabs; in an argument %XX stands for a byte. Each
 * prints one line: what it was, the status, details, and for an error HTTP status, flags,
 * milliseconds and message.  The check layer stands between, so a breach of the contract shows as
 * INTERNAL.
 *
 *   open SPACE [MARK]   make   clear   unmake   close   inspect
 *   session [TIMEOUT_MS]   leave   counters
 *   put KEY SIZE [create] [unknown]   get KEY [OFFSET LEN]   stat KEY   remove KEY   list
 *   wopen KEY SIZE [create]   write N   finish   abort
 *   ropen KEY   read N   rclose
 *   place NAME MARK   drop NAME MARK   places
 *   cancel MS           the next call is cancelled from another thread after so long
 *   sh COMMAND          run by the shell; its status is printed
 *   memory              VmHWM, VmRSS in KiB
 *
 * The one invariant: the byte at position i of a binary is a function of its label and i, the label
 * being its size; what is read is checked against that.
 */
#include "layer/open.h"

#include <bakeoff/backend_util.h>

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20)

struct drive {
	struct bk_plugin *plugin;
	struct bk_options *options;
	struct bk_layered *io;
	struct bk_session *s;
	struct bk_writer *w;
	struct bk_reader *r;
	uint64_t w_at, w_size, r_at, r_size;
	unsigned cancel_ms;
	unsigned char *buf, *want;
	struct bk_error err;
	struct timespec began;
	char *f[8]; /* fields of the line */
	size_t len[8];
	size_t fields;
};

static void fill(unsigned char *out, uint64_t label, uint64_t from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		uint64_t x = ((from + i) / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ label;

		out[i] = (unsigned char)(x >> ((from + i) % 8 * 8));
	}
}

static double elapsed_ms(const struct drive *d)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)(t.tv_sec - d->began.tv_sec) * 1e3 +
	       (double)(t.tv_nsec - d->began.tv_nsec) / 1e6;
}

static const char *status_name(bk_status st)
{
	switch (st) {
#define X(name, value, text)                                                                       \
	case BK_##name:                                                                            \
		return #name;
		BK_STATUS_MAP(X)
#undef X
	default:
		return "?";
	}
}

static void said(const struct drive *d, bk_status st, const char *detail)
{
	if (st >= 0)
		printf("%s\t%s\t%s\n", d->f[0], status_name(st), detail);
	else
		printf("%s\t%s\thttp=%lld%s%s ms=%.0f\t%s\n", d->f[0], status_name(st),
		       (long long)d->err.vendor_code, d->err.flags & BK_ERR_RETRY ? " retry" : "",
		       d->err.flags & BK_ERR_OUTCOME_UNKNOWN ? " unknown" : "", elapsed_ms(d),
		       d->err.message);
	fflush(stdout);
}

static struct bk_slice field(const struct drive *d, size_t i)
{
	return bk_slice_of(d->f[i], d->len[i]);
}

static uint64_t number(const struct drive *d, size_t i, uint64_t otherwise)
{
	return i < d->fields ? strtoull(d->f[i], NULL, 10) : otherwise;
}

static bool has(const struct drive *d, const char *word)
{
	size_t i;

	for (i = 3; i < d->fields; i++) {
		if (strcmp(d->f[i], word) == 0)
			return true;
	}
	return false;
}

/* ---- Store and session ---------------------------------------------------- */

static void do_open(struct drive *d)
{
	bk_status st =
		bk_open(&d->io, d->plugin, d->options, d->f[1], d->fields > 2 ? d->f[2] : NULL,
			BK_DURABLE_NONE, BK_OPEN_CHECK, &d->err);

	said(d, st, "");
}

static void do_session(struct drive *d)
{
	struct bk_session_config config = {.struct_size = sizeof(config)};
	bk_status st;

	config.timeout_ns = number(d, 1, 0) * 1000000;
	st = d->io->tables.session.open(&d->s, d->io->store, &config, &d->err);
	said(d, st, "");
}

static void print_u64(void *ctx, const char *name, uint64_t value, const char *unit, uint32_t flags)
{
	printf("  %s=%llu\n", name, (unsigned long long)value);
}

static void print_f64(void *ctx, const char *name, double value, const char *unit, uint32_t flags)
{
	printf("  %s=%g\n", name, value);
}

static void print_str(void *ctx, const char *name, const char *value)
{
	printf("  %s=%s\n", name, value);
}

static void print_two(void *ctx, const char *a, const char *b)
{
	printf("  [%s %s]\n", a, b);
}

static void print_end(void *ctx)
{
}

static const struct bk_sink printing = {
	.struct_size = sizeof(struct bk_sink),
	.put_u64 = print_u64,
	.put_f64 = print_f64,
	.put_str = print_str,
	.begin = print_two,
	.end = print_end,
	.flag = print_two,
};

static void do_inspect(struct drive *d)
{
	said(d,
	     d->io->tables.store.inspect(
		     d->io->store, BK_INSPECT_IDENTITY | BK_INSPECT_SIZE | BK_INSPECT_COUNTERS,
		     &printing, &d->err),
	     "");
}

static void do_counters(struct drive *d)
{
	said(d, BK_OK, "");
	d->io->tables.session.counters(d->s, &printing);
	fflush(stdout);
}

/* ---- Writing -------------------------------------------------------------- */

static bk_status write_some(struct drive *d, uint64_t n)
{
	bk_status st = BK_OK;

	while (st == BK_OK && n) {
		size_t k = n < CHUNK ? (size_t)n : CHUNK;

		fill(d->buf, d->w_size, d->w_at, k);
		st = d->io->tables.binary.write(d->w, d->buf, k, &d->err);
		d->w_at += k;
		n -= k;
	}
	return st;
}

static bk_status write_open(struct drive *d, uint64_t size, bool unknown)
{
	d->w_at = 0;
	d->w_size = size;
	return d->io->tables.binary.write_open(
		&d->w, d->s, field(d, 1), unknown ? BK_SIZE_UNKNOWN : size,
		has(d, "create") ? BK_PUT_CREATE : BK_PUT_UPSERT, &d->err);
}

static bk_status finish(struct drive *d, char *detail, size_t cap)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	bk_status st = d->io->tables.binary.finish(d->w, &info, &d->err);

	if (st == BK_OK)
		snprintf(detail, cap, "size=%llu", (unsigned long long)info.size_bytes);
	return st;
}

static void do_put(struct drive *d)
{
	uint64_t size = number(d, 2, 0);
	char detail[64] = "";
	bk_status st = write_open(d, size, has(d, "unknown"));

	if (st == BK_OK) {
		st = write_some(d, size);
		if (st == BK_OK)
			st = finish(d, detail, sizeof(detail));
		else
			d->io->tables.binary.abort(d->w);
	}
	said(d, st, detail);
}

static void do_wopen(struct drive *d)
{
	said(d, write_open(d, number(d, 2, 0), has(d, "unknown")), "");
}

static void do_write(struct drive *d)
{
	said(d, write_some(d, number(d, 1, 0)), "");
}

static void do_finish(struct drive *d)
{
	char detail[64] = "";
	bk_status st = finish(d, detail, sizeof(detail));

	said(d, st, detail);
}

/* ---- Reading -------------------------------------------------------------- */

static bk_status read_some(struct drive *d, uint64_t most, uint64_t *got, bool *good)
{
	bk_status st = BK_OK;
	size_t n;

	*got = 0;
	while (*got < most) {
		size_t cap = most - *got < CHUNK ? (size_t)(most - *got) : CHUNK;

		st = d->io->tables.binary.read(d->r, d->buf, cap, &n, &d->err);
		if (st != BK_OK)
			break;
		fill(d->want, d->r_size, d->r_at, n);
		*good = *good && memcmp(d->buf, d->want, n) == 0;
		d->r_at += n;
		*got += n;
	}
	return st;
}

static bk_status read_open(struct drive *d, uint64_t offset, uint64_t len)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	bk_status st = d->io->tables.binary.read_open(&d->r, d->s, field(d, 1), offset, len, &info,
						      &d->err);

	d->r_at = offset;
	d->r_size = info.size_bytes;
	return st;
}

static void do_get(struct drive *d)
{
	char detail[96] = "";
	bool good = true;
	uint64_t got = 0;
	bk_status st = read_open(d, number(d, 2, 0), number(d, 3, BK_SIZE_UNKNOWN));

	if (st == BK_OK) {
		st = read_some(d, UINT64_MAX, &got, &good);
		d->io->tables.binary.read_close(d->r);
		snprintf(detail, sizeof(detail), "%s size=%llu got=%llu", good ? "good" : "WRONG",
			 (unsigned long long)d->r_size, (unsigned long long)got);
	}
	said(d, st == BK_END ? BK_OK : st, detail);
}

static void do_ropen(struct drive *d)
{
	said(d, read_open(d, 0, BK_SIZE_UNKNOWN), "");
}

static void do_read(struct drive *d)
{
	char detail[64];
	bool good = true;
	uint64_t got;
	bk_status st = read_some(d, number(d, 1, 0), &got, &good);

	snprintf(detail, sizeof(detail), "%s got=%llu", good ? "good" : "WRONG",
		 (unsigned long long)got);
	said(d, st, detail);
}

/* ---- The rest ------------------------------------------------------------- */

static void do_stat(struct drive *d)
{
	struct bk_binary_info info = {.struct_size = sizeof(info)};
	bk_status st = d->io->tables.binary.stat(d->s, field(d, 1), &info, &d->err);
	char detail[64];

	snprintf(detail, sizeof(detail), "size=%llu", (unsigned long long)info.size_bytes);
	said(d, st, detail);
}

static void do_list(struct drive *d)
{
	struct bk_slice keys[64];
	uint64_t sizes[64];
	struct bk_cursor *c;
	size_t total = 0, n, i, k;
	bk_status st = d->io->tables.binary.list_open(&c, d->s, &d->err);
	char detail[64];

	while (st == BK_OK) {
		st = d->io->tables.binary.list_next(c, keys, sizes, 64, &n, &d->err);
		for (i = 0; st == BK_OK && i < n; i++, total++) {
			printf("  ");
			for (k = 0; k < keys[i].len; k++) {
				unsigned char b = ((const unsigned char *)keys[i].data)[k];

				printf(b > ' ' && b < 0x7f && b != '%' ? "%c" : "%%%02X", b);
			}
			printf(" %llu\n", (unsigned long long)sizes[i]);
		}
	}
	d->io->tables.binary.list_close(c);
	snprintf(detail, sizeof(detail), "count=%zu", total);
	said(d, st == BK_END ? BK_OK : st, detail);
}

static void do_places(struct drive *d)
{
	struct bk_place places[100];
	size_t n = 0, i;
	bk_status st = d->io->tables.place.list(d->io->store, places, 100, &n, &d->err);

	for (i = 0; i < n; i++)
		printf("  %.*s: %.*s\n", (int)places[i].name.len, (const char *)places[i].name.data,
		       (int)places[i].mark.len, (const char *)places[i].mark.data);
	said(d, st, "");
}

static void do_memory(struct drive *d)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "VmHWM:", 6) == 0 || strncmp(line, "VmRSS:", 6) == 0)
			printf("  %s", line);
	}
	if (f)
		fclose(f);
	said(d, BK_OK, "");
}

static void do_sh(struct drive *d)
{
	char detail[32];

	fflush(stdout);
	snprintf(detail, sizeof(detail), "status=%d", system(d->f[1]));
	said(d, BK_OK, detail);
}

static bool control(struct drive *d, const char *op)
{
	struct bk_slice none = bk_slice_of(NULL, 0);
	struct bk_tables *t = d->io ? &d->io->tables : NULL;

	if (strcmp(op, "make") == 0)
		said(d, t->store.make(d->io->store, &d->err), "");
	else if (strcmp(op, "clear") == 0)
		said(d, t->store.clear(d->io->store, &d->err), "");
	else if (strcmp(op, "unmake") == 0)
		said(d, t->store.unmake(d->io->store, &d->err), "");
	else if (strcmp(op, "place") == 0)
		said(d,
		     t->place.create(d->io->store, field(d, 1), field(d, 2), none, none, none,
				     &d->err),
		     "");
	else if (strcmp(op, "drop") == 0)
		said(d, t->place.drop(d->io->store, field(d, 1), field(d, 2), &d->err), "");
	else if (strcmp(op, "remove") == 0)
		said(d, t->binary.remove(d->s, field(d, 1), &d->err), "");
	else if (strcmp(op, "close") == 0 || strcmp(op, "leave") == 0 || strcmp(op, "abort") == 0 ||
		 strcmp(op, "rclose") == 0) {
		if (op[0] == 'c')
			bk_close(d->io);
		else if (op[0] == 'l')
			t->session.close(d->s);
		else if (op[0] == 'a')
			t->binary.abort(d->w);
		else
			t->binary.read_close(d->r);
		said(d, BK_OK, "");
	} else
		return false;
	return true;
}

static void *cancel_later(void *arg)
{
	struct drive *d = arg;
	struct timespec t = {d->cancel_ms / 1000, (long)(d->cancel_ms % 1000) * 1000000};

	nanosleep(&t, NULL);
	d->io->tables.session.cancel(d->s);
	return NULL;
}

static const struct {
	const char *word;
	void (*run)(struct drive *d);
} words[] = {
	{"open", do_open},       {"session", do_session},
	{"inspect", do_inspect}, {"counters", do_counters},
	{"put", do_put},         {"wopen", do_wopen},
	{"write", do_write},     {"finish", do_finish},
	{"get", do_get},         {"ropen", do_ropen},
	{"read", do_read},       {"stat", do_stat},
	{"list", do_list},       {"places", do_places},
	{"memory", do_memory},   {"sh", do_sh},
};

static bool wants_session(const char *op)
{
	static const char *const ops[] = {"put",   "get",      "stat",  "remove", "list", "wopen",
					  "ropen", "counters", "leave", "cancel", NULL};
	size_t i;

	for (i = 0; ops[i] && strcmp(ops[i], op) != 0; i++)
		;
	return ops[i] != NULL;
}

static void one(struct drive *d)
{
	pthread_t thread;
	bool cancelling = d->cancel_ms != 0;
	size_t i;

	d->err = bk_error_init();
	clock_gettime(CLOCK_MONOTONIC, &d->began);
	if (strcmp(d->f[0], "cancel") == 0) {
		d->cancel_ms = (unsigned)number(d, 1, 1);
		return;
	}
	if (!d->s && wants_session(d->f[0])) {
		printf("%s\tno session\n", d->f[0]);
		exit(1);
	}
	if (cancelling && pthread_create(&thread, NULL, cancel_later, d) != 0)
		abort();
	if (!control(d, d->f[0])) {
		for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
			if (strcmp(words[i].word, d->f[0]) == 0)
				break;
		}
		if (i == sizeof(words) / sizeof(words[0])) {
			fprintf(stderr, "drive: what is '%s'?\n", d->f[0]);
			exit(2);
		}
		words[i].run(d);
	}
	if (cancelling)
		pthread_join(thread, NULL);
	if (cancelling)
		d->cancel_ms = 0;
}

static void split(struct drive *d, char *line)
{
	char *p, *to;
	unsigned code;

	d->fields = 0;
	for (p = strtok(line, "\t\n"); p && d->fields < 8; p = strtok(NULL, "\t\n")) {
		d->f[d->fields] = to = p;
		for (; *p; p++) {
			if (*p == '%' && sscanf(p + 1, "%2x", &code) == 1 && p[1] && p[2]) {
				*to++ = (char)code;
				p += 2;
			} else {
				*to++ = *p;
			}
		}
		*to = '\0';
		d->len[d->fields] = (size_t)(to - d->f[d->fields]);
		d->fields++;
	}
}

int main(int argc, char **argv)
{
	static struct drive d; /* static: what it holds at the end is no leak */
	static char line[8192];
	bk_status st;
	int i;

	if (argc < 2)
		return 2;
	d.err = bk_error_init();
	bk_options_read_environment();
	st = bk_plugin_given(&d.plugin, argv[1], &d.err);
	if (st == BK_OK)
		st = bk_options_new(&d.options, &d.plugin->desc, &d.err);
	for (i = 2; st == BK_OK && i < argc; i++)
		st = bk_options_set_pair(d.options, argv[i], BK_FROM_USER, &d.err);
	d.buf = malloc(CHUNK);
	d.want = malloc(CHUNK);
	if (st != BK_OK || !d.buf || !d.want) {
		fprintf(stderr, "drive: %s\n", d.err.message);
		return 2;
	}
	while (fgets(line, sizeof(line), stdin)) {
		split(&d, line);
		if (d.fields && d.f[0][0] != '#')
			one(&d);
	}
	return 0;
}
