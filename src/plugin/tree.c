/*
 * tree.c - a sink that builds JSON.
 *
 * The one invariant: levels[0..depth] are open objects, each within the one before.
 */
#include "plugin/tree.h"

#include "util/buf.h"
#include "util/units.h"

#include <string.h>

static struct bk_tree *tree_of(void *ctx)
{
	return ctx;
}

/* The container `key` of the level in use, made when it is first needed. */
static json_t *tree_part(struct bk_tree *tree, const char *key, json_t *(*make)(void))
{
	json_t *level = tree->levels[tree->depth], *part = json_object_get(level, key);

	if (part || !level)
		return part;
	part = make();
	if (json_object_set_new(level, key, part) != 0) {
		tree->failed = true;
		return NULL;
	}
	return part;
}

/* Takes `value` over. */
static void tree_put(struct bk_tree *tree, const char *name, json_t *value, const char *unit,
		     uint32_t flags)
{
	json_t *entry;
	int bad = 0;

	if (!name || !*name || !value || tree->ignored) {
		tree->faults += tree->ignored == 0;
		json_decref(value);
		return;
	}
	entry = json_object();
	bad |= json_object_set_new(entry, "value", value);
	if (unit && *unit)
		bad |= json_object_set_new(entry, "unit", json_string(unit));
	if (flags & BK_SINK_ESTIMATE)
		bad |= json_object_set_new(entry, "estimate", json_true());
	bad |= json_object_set_new(tree_part(tree, "values", json_object), name, entry);
	tree->faults += bad != 0;
}

static void tree_put_u64(void *ctx, const char *name, uint64_t value, const char *unit,
			 uint32_t flags)
{
	/* JSON integers of the library are signed; what is beyond them is beyond any count */
	json_t *number =
		value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);

	tree_put(tree_of(ctx), name, number, unit, flags);
}

static void tree_put_f64(void *ctx, const char *name, double value, const char *unit,
			 uint32_t flags)
{
	tree_put(tree_of(ctx), name, json_real(value), unit, flags); /* NULL for nan, inf */
}

static void tree_put_str(void *ctx, const char *name, const char *value)
{
	tree_put(tree_of(ctx), name, value ? json_string(value) : NULL, NULL, 0);
}

static void tree_begin(void *ctx, const char *kind, const char *name)
{
	struct bk_tree *tree = tree_of(ctx);
	json_t *item, *items;

	if (tree->ignored || tree->depth + 1 == BK_TREE_DEPTH) {
		tree->ignored++;
		tree->faults++;
		return;
	}
	items = tree_part(tree, "items", json_array);
	item = json_pack("{s:s, s:s}", "kind", kind ? kind : "item", "name", name ? name : "");
	if (!item) {
		tree->faults++;
		item = json_object();
	}
	if (json_array_append_new(items, item) != 0) {
		tree->failed = true;
		tree->ignored++;
		return;
	}
	tree->levels[++tree->depth] = item;
}

static void tree_end(void *ctx)
{
	struct bk_tree *tree = tree_of(ctx);

	if (tree->ignored)
		tree->ignored--;
	else if (tree->depth)
		tree->depth--;
	else
		tree->faults++;
}

static void tree_flag(void *ctx, const char *code, const char *text)
{
	struct bk_tree *tree = tree_of(ctx);
	json_t *flag;

	if (tree->ignored)
		return;
	flag = json_pack("{s:s, s:s}", "code", code ? code : "", "text", text ? text : "");
	if (!flag || json_array_append_new(tree_part(tree, "flags", json_array), flag) != 0)
		tree->faults++;
}

void bk_tree_init(struct bk_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
	tree->sink.struct_size = sizeof(tree->sink);
	tree->sink.ctx = tree;
	tree->sink.put_u64 = tree_put_u64;
	tree->sink.put_f64 = tree_put_f64;
	tree->sink.put_str = tree_put_str;
	tree->sink.begin = tree_begin;
	tree->sink.end = tree_end;
	tree->sink.flag = tree_flag;
	tree->levels[0] = json_object();
	tree->failed = !tree->levels[0];
}

void bk_tree_free(struct bk_tree *tree)
{
	if (!tree)
		return;
	json_decref(tree->levels[0]);
	memset(tree, 0, sizeof(*tree));
}

json_t *bk_tree_root(const struct bk_tree *tree)
{
	return tree->levels[0];
}

/* ---- as text ---------------------------------------------------------------------- */

static void tree_put_number(struct bk_buf *out, double value, const char *unit)
{
	char human[BK_UNITS_MAX];

	if (strcmp(unit, "bytes") == 0 && value >= 1024)
		bk_buf_putf(out, " (%s)", bk_units_human_bytes(human, value));
	else if (strcmp(unit, "ns") == 0 && value >= 1000)
		bk_buf_putf(out, " (%s)", bk_units_human_nsec(human, value));
}

static void tree_put_value(struct bk_buf *out, const json_t *entry)
{
	const json_t *value = json_object_get(entry, "value");
	const char *unit = json_string_value(json_object_get(entry, "unit"));

	unit = unit ? unit : "";
	if (json_is_string(value)) {
		bk_buf_puts(out, json_string_value(value));
		return;
	}
	if (json_is_integer(value))
		bk_buf_putf(out, "%lld", (long long)json_integer_value(value));
	else
		bk_buf_putf(out, "%.6g", json_real_value(value));
	if (*unit && strcmp(unit, "count") != 0 && strcmp(unit, "ratio") != 0)
		bk_buf_putf(out, " %s", unit);
	tree_put_number(out, json_number_value(value), unit);
	if (json_is_true(json_object_get(entry, "estimate")))
		bk_buf_puts(out, ", estimated");
}

void bk_tree_put_text(struct bk_buf *out, const json_t *level, size_t indent)
{
	json_t *values = json_object_get(level, "values"), *entry, *item;
	const char *name;
	size_t width = 0, i;

	json_object_foreach(values, name, entry)
	{
		size_t len = strlen(name);

		width = len > width ? len : width;
	}
	json_array_foreach(json_object_get(level, "flags"), i, item)
	{
		bk_buf_putf(out, "%*s! %s: %s\n", (int)indent, "",
			    json_string_value(json_object_get(item, "code")),
			    json_string_value(json_object_get(item, "text")));
	}
	json_object_foreach(values, name, entry)
	{
		bk_buf_putf(out, "%*s%-*s  ", (int)indent, "", (int)width, name);
		tree_put_value(out, entry);
		bk_buf_puts(out, "\n");
	}
	json_array_foreach(json_object_get(level, "items"), i, item)
	{
		const char *kind = json_string_value(json_object_get(item, "kind"));
		const char *label = json_string_value(json_object_get(item, "name"));

		bk_buf_putf(out, "%*s%s %s\n", (int)indent, "", kind ? kind : "item",
			    label ? label : "");
		bk_tree_put_text(out, item, indent + 2);
	}
}
