/*
 * yaml.c - libyaml's events into a tree; every limit is checked before memory is taken.
 */
#include "matrix/yaml.h"

#include "util/fs.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#define FILE_MAX_BYTES ((size_t)1 << 20)
#define LIST_MAX       1000u
#define DEPTH_MAX      16u

struct builder {
	struct bk_yaml_file *file;
	yaml_parser_t parser;
	struct bk_error *err;
};

bk_status bk_yaml_fail(struct bk_error *err, const struct bk_yaml_file *file,
		       const struct bk_yaml *at, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return bk_fail(err, BK_INVALID, 0, "%s:%u:%u: %s", file->path, at->line, at->column, text);
}

bk_status bk_yaml_unknown(struct bk_error *err, const struct bk_yaml_file *file,
			  const struct bk_yaml *at, const char *what, const char *const *known)
{
	const char *near = bk_suggest_in(at->text, known);
	char list[200] = "";
	size_t i, used = 0;

	if (near)
		return bk_yaml_fail(err, file, at, "%s '%s' is unknown; did you mean '%s'?", what,
				    at->text, near);
	for (i = 0; known[i] && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 known[i]);
	return bk_yaml_fail(err, file, at, "%s '%s' is unknown; known are: %s", what, at->text,
			    list);
}

const struct bk_yaml *bk_yaml_get(const struct bk_yaml *map, const char *key)
{
	const struct bk_yaml *v;

	for (v = map->first; v; v = v->next) {
		if (strcmp(v->key->text, key) == 0)
			return v;
	}
	return NULL;
}

const char *bk_yaml_kind(const struct bk_yaml *value)
{
	return value->type == BK_YAML_LIST  ? "a list"
	       : value->type == BK_YAML_MAP ? "a mapping"
					    : "a single value";
}

static struct bk_yaml place(const yaml_mark_t *mark)
{
	struct bk_yaml at = {.line = (uint32_t)mark->line + 1,
			     .column = (uint32_t)mark->column + 1};

	return at;
}

static bk_status fail_at(struct builder *b, const yaml_mark_t *mark, const char *text)
{
	struct bk_yaml at = place(mark);

	return bk_yaml_fail(b->err, b->file, &at, "%s", text);
}

/* libyaml's own words, and what they mean where a beginner meets them. */
static bk_status parser_failed(struct builder *b)
{
	const yaml_parser_t *p = &b->parser;
	const yaml_mark_t *m = &p->problem_mark;
	struct bk_yaml at = place(m);
	const char *problem = p->problem ? p->problem : "this is not YAML";

	if (p->error == YAML_READER_ERROR)
		return bk_fail(b->err, BK_INVALID, 0,
			       "%s: not a text file in UTF-8 (%s at byte %zu)", b->file->path,
			       problem, p->problem_offset);
	if (m->index < strlen(b->file->text) && b->file->text[m->index] == '\t')
		return bk_yaml_fail(b->err, b->file, &at,
				    "a tab cannot indent or begin a value in YAML; use spaces");
	return bk_yaml_fail(b->err, b->file, &at, "%s%s%s", problem, p->context ? " " : "",
			    p->context ? p->context : "");
}

static bk_status next_event(struct builder *b, yaml_event_t *event)
{
	if (!yaml_parser_parse(&b->parser, event))
		return parser_failed(b);
	return BK_OK;
}

static const char *refused(const yaml_event_t *e)
{
	if (e->type == YAML_ALIAS_EVENT)
		return "an alias (*name) is not supported; write the value out";
	if ((e->type == YAML_SCALAR_EVENT && e->data.scalar.anchor) ||
	    (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.anchor) ||
	    (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.anchor))
		return "an anchor (&name) is not supported; write the value out";
	if ((e->type == YAML_SCALAR_EVENT && e->data.scalar.tag) ||
	    (e->type == YAML_SEQUENCE_START_EVENT && e->data.sequence_start.tag) ||
	    (e->type == YAML_MAPPING_START_EVENT && e->data.mapping_start.tag))
		return "a tag (!name) is not supported";
	return NULL;
}

static bk_status build(struct bk_yaml **out, struct builder *b, yaml_event_t *event,
		       unsigned int depth);

static bk_status append(struct builder *b, struct bk_yaml *parent, struct bk_yaml ***tail,
			struct bk_yaml *child)
{
	**tail = child;
	*tail = &child->next;
	if (++parent->count > LIST_MAX)
		return bk_yaml_fail(b->err, b->file, child, "more than %u entries in %s", LIST_MAX,
				    bk_yaml_kind(parent));
	return BK_OK;
}

static bk_status build_list(struct bk_yaml *list, struct builder *b, unsigned int depth)
{
	struct bk_yaml **tail = &list->first, *child;
	yaml_event_t event;
	bk_status st;

	for (;;) {
		st = next_event(b, &event);
		if (st < 0)
			return st;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return BK_OK;
		}
		st = build(&child, b, &event, depth + 1);
		if (st >= 0)
			st = append(b, list, &tail, child);
		if (st < 0)
			return st;
	}
}

static bk_status build_map(struct bk_yaml *map, struct builder *b, unsigned int depth)
{
	struct bk_yaml **tail = &map->first, *key, *value;
	yaml_event_t event;
	bk_status st;

	for (;;) {
		const struct bk_yaml *there;

		st = next_event(b, &event);
		if (st < 0)
			return st;
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return BK_OK;
		}
		st = build(&key, b, &event, depth + 1);
		if (st < 0)
			return st;
		if (key->type != BK_YAML_SCALAR)
			return bk_yaml_fail(b->err, b->file, key, "a key must be a word, not %s",
					    bk_yaml_kind(key));
		if (strcmp(key->text, "<<") == 0)
			return bk_yaml_fail(b->err, b->file, key,
					    "a merge (<<) is not supported; write the keys out");
		there = bk_yaml_get(map, key->text);
		if (there)
			return bk_yaml_fail(b->err, b->file, key,
					    "key '%s' is there already, on line %u", key->text,
					    there->key->line);
		st = next_event(b, &event);
		if (st >= 0)
			st = build(&value, b, &event, depth + 1);
		if (st < 0)
			return st;
		value->key = key;
		st = append(b, map, &tail, value);
		if (st < 0)
			return st;
	}
}

/* An escape such as "\\e[2J" must not come back on somebody's terminal from the results file. */
static bool has_control(const char *text)
{
	const unsigned char *p;

	for (p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0))
			return true;
	}
	return false;
}

/* Takes over the event. */
static bk_status build(struct bk_yaml **out, struct builder *b, yaml_event_t *event,
		       unsigned int depth)
{
	struct bk_yaml *node;
	const char *why = refused(event);
	bk_status st = BK_OK;

	if (why || depth > DEPTH_MAX) {
		st = fail_at(b, &event->start_mark, why ? why : "nested too deeply");
		goto out;
	}
	node = bk_arena_alloc(&b->file->arena, sizeof(*node));
	if (!node) {
		st = bk_fail(b->err, BK_NOMEM, 0, "%s: out of memory", b->file->path);
		goto out;
	}
	*node = place(&event->start_mark);
	*out = node;
	if (event->type == YAML_SCALAR_EVENT) {
		node->type = BK_YAML_SCALAR;
		node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
		node->text =
			bk_arena_strndup(&b->file->arena, (const char *)event->data.scalar.value,
					 event->data.scalar.length);
		if (strlen(node->text) != event->data.scalar.length)
			st = fail_at(b, &event->start_mark, "a value holds a NUL byte");
		else if (has_control(node->text))
			st = fail_at(
				b, &event->start_mark,
				"a value holds a line end, a tab or another control character");
	} else if (event->type == YAML_SEQUENCE_START_EVENT) {
		node->type = BK_YAML_LIST;
		st = build_list(node, b, depth);
	} else if (event->type == YAML_MAPPING_START_EVENT) {
		node->type = BK_YAML_MAP;
		st = build_map(node, b, depth);
	} else {
		st = fail_at(b, &event->start_mark, "nothing that a matrix knows stands here");
	}
out:
	yaml_event_delete(event);
	return st;
}

static bk_status build_file(struct builder *b)
{
	yaml_event_t event;
	bk_status st;
	int starts = 0;

	for (;;) {
		st = next_event(b, &event);
		if (st < 0)
			return st;
		switch (event.type) {
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			if (++starts > 1) {
				st = fail_at(b, &event.start_mark,
					     "a second document begins here; one a file");
				yaml_event_delete(&event);
				return st;
			}
			break;
		case YAML_STREAM_END_EVENT:
			yaml_event_delete(&event);
			if (!b->file->root)
				return bk_fail(b->err, BK_INVALID, 0, "%s: the file is empty",
					       b->file->path);
			return BK_OK;
		default:
			st = build(&b->file->root, b, &event, 0);
			if (st < 0)
				return st;
			continue;
		}
		yaml_event_delete(&event);
	}
}

bk_status bk_yaml_load(struct bk_yaml_file *out, const char *path, struct bk_error *err)
{
	struct builder b = {.file = out, .err = err};
	struct bk_error why = bk_error_init();
	struct stat sb;
	char *text = NULL;
	size_t len;
	bk_status st;

	memset(out, 0, sizeof(*out));
	out->path = path;
	if (stat(path, &sb) < 0)
		return bk_fail(err, BK_INVALID, errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(sb.st_mode) && !S_ISFIFO(sb.st_mode) && !S_ISCHR(sb.st_mode))
		return bk_fail(err, BK_INVALID, 0, "%s: %s, not a file", path,
			       S_ISDIR(sb.st_mode) ? "this is a folder" : "this is a special file");
	st = bk_fs_read(&text, &len, path, FILE_MAX_BYTES, &why);
	if (st < 0)
		return bk_fail(err, BK_INVALID, why.vendor_code, "%s", why.message);
	/* libyaml counts a byte order mark as a column, and the first key then stands too far right
	 */
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		memmove(text, text + 3, (len -= 3) + 1);
	out->text = bk_arena_strndup(&out->arena, text, len);
	free(text);
	if (!out->text || !yaml_parser_initialize(&b.parser))
		return bk_fail(err, BK_NOMEM, 0, "%s: out of memory", path);
	if (strlen(out->text) != len) {
		st = bk_fail(err, BK_INVALID, 0, "%s: not a text file (NUL byte at %zu)", path,
			     strlen(out->text));
	} else {
		yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
		yaml_parser_set_input_string(&b.parser, (const unsigned char *)out->text, len);
		st = build_file(&b);
	}
	yaml_parser_delete(&b.parser);
	if (st < 0)
		bk_arena_free(&out->arena);
	return st;
}
