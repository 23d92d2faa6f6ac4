/*
 * log.c - the ends of the server's logs, for messages.
 *
 * The one invariant: no password and no captured secret leaves the folder in a message, whatever
 * the server wrote.
 */
#include "service/keeper.h"

#include <bakeoff/backend_util.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_LINE_MAX 330

/* What the harness made up or commands told is secret unless it says where things are. */
static bool log_is_secret(const char *name)
{
	static const char *const open_names[] = {
		"data", "run",  "socket", "host", "port",     "port2",        "port3", "port4",
		"user", "uuid", "uuid2",  "bin",  "database", "database_dns", "url",   NULL};
	size_t i;

	for (i = 0; open_names[i]; i++) {
		if (strcmp(open_names[i], name) == 0)
			return false;
	}
	return true;
}

static void log_blot(char *text, const struct bk_values *values)
{
	size_t i, len;
	char *p;

	for (i = 0; i < values->count; i++) {
		len = strlen(values->items[i].text);
		if (len < 6 || !log_is_secret(values->items[i].name))
			continue;
		for (p = text; (p = strstr(p, values->items[i].text)); p += len)
			memset(p, '*', len);
	}
}

/* The last bytes of a file from `from` on, secrets blotted out. */
static void log_tail(struct bk_buf *out, const struct bk_keeper *k, const char *path, off_t from,
		     size_t max)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char *text = malloc(max + 1), *p;
	struct stat sb;
	ssize_t n = 0;
	size_t i;

	if (fd >= 0 && text && fstat(fd, &sb) == 0) {
		if (sb.st_size - from > (off_t)max)
			from = sb.st_size - (off_t)max;
		n = pread(fd, text, max, from);
	}
	if (n > 0) {
		text[n] = '\0';
		for (i = 0; i < (size_t)n; i++) {
			if (text[i] == '\0')
				text[i] = ' ';
		}
		log_blot(text, &k->run->values);
		p = text;
		if (from > 0 && (size_t)n == max && strchr(text, '\n'))
			p = strchr(text, '\n') + 1; /* a line cut in two */
		bk_buf_puts(out, p);
	}
	free(text);
	if (fd >= 0)
		close(fd);
}

/* Where the trouble begins, if a line says so in one of the words that servers have for it: the
 * last lines of some are about their own orderly end. */
static char *log_trouble(char *text)
{
	static const char *const words[] = {"[ERROR]", "FATAL:", "PANIC:", "ERROR:", NULL};
	char *first = NULL, *p;
	size_t i;

	for (i = 0; words[i]; i++) {
		p = strstr(text, words[i]);
		if (p && (!first || p < first))
			first = p;
	}
	while (first && first > text && first[-1] != '|')
		first--;
	return first;
}

/* As many of its lines as go into `max` bytes, from the end back or from `from` on. */
static char *log_cut(char *text, size_t len, char *from, size_t max)
{
	char *p = from ? from : text, *end;

	if (strlen(p) <= max)
		return p;
	if (!from) {
		p = text + len - max;
		while ((*p & 0xc0) == 0x80)
			p++; /* not from the middle of a letter */
		return strchr(p, '|') ? strchr(p, '|') + 1 : p;
	}
	end = p + max;
	while (end > p && (*end & 0xc0) == 0x80)
		end--;
	*end = '\0';
	if (strrchr(p, '|'))
		*strrchr(p, '|') = '\0';
	return p;
}

void bk_keeper_log_line(char *out, size_t cap, const struct bk_keeper *k, const char *path,
			off_t from)
{
	struct bk_buf tail = BK_BUF_INIT;
	size_t len, max = cap - 1 < LOG_LINE_MAX ? cap - 1 : LOG_LINE_MAX;
	char *p;

	log_tail(&tail, k, path, from, 4096);
	for (p = tail.data; p && *p; p++) {
		if (*p == '\n')
			*p = '|';
	}
	len = tail.len;
	while (len > 0 && strchr("| \r", tail.data[len - 1]))
		tail.data[--len] = '\0';
	p = tail.data;
	if (p) {
		p = log_cut(p, len, len > max ? log_trouble(p) : NULL, max);
		p += strspn(p, "| ");
	}
	snprintf(out, cap, "%s", p ? p : "");
	bk_buf_free(&tail);
}

void bk_keeper_log_all(struct bk_buf *out, const struct bk_keeper *k)
{
	size_t i, before;

	if (k->command_log)
		log_tail(out, k, k->command_log, 0, 4096);
	for (i = 0; i < k->server_count; i++) {
		before = out->len;
		if (k->servers[i].log_path)
			log_tail(out, k, k->servers[i].log_path, k->servers[i].log_from, 8192);
		if (out->len > before && out->data[out->len - 1] != '\n')
			bk_buf_puts(out, "\n");
	}
}
