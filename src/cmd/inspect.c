/*
 * inspect.c - `bakeoff inspect PATH|BACKEND|URL|ID`: what a store says of itself.
 *
 * The one invariant: text and JSON are made of the same tree.
 */
#include "cmd/cmd.h"
#include "cmd/inspect_target.h"
#include "cmd/set.h"
#include "util/buf.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>

#define INSPECT_SCHEMA 1

static void inspect_add_option(void *ctx, const struct bk_option *entry, const char *value,
			       enum bk_option_source source)
{
	json_object_set_new(ctx, entry->name, value ? json_string(value) : json_null());
}

static json_t *inspect_features(uint64_t bits)
{
	json_t *names = json_array();
	const struct bk_feature *f;

	for (f = bk_features; f->name; f++) {
		if (bits & f->bit)
			json_array_append_new(names, json_string(f->name));
	}
	return names;
}

/* One schema: docs/inspect.md. */
static json_t *inspect_document(const struct bk_inspect_target *target)
{
	const struct bk_backend *desc = &target->plugin->desc;
	json_t *options = json_object();
	json_t *document;

	bk_options_each(target->options, inspect_add_option, options);
	document = json_pack(
		"{s:i, s:s, s:{s:s, s:s, s:s}, s:{s:o, s:o}, s:s?, s:s?, s:o}", "schema",
		INSPECT_SCHEMA, "bakeoff", BAKEOFF_VERSION, "backend", "name", desc->name,
		"version", desc->version, "file", target->plugin->path, "features", "native",
		inspect_features(target->native), "emulated", inspect_features(target->emulated),
		"folder", target->folder, "space", target->space, "options", options);
	if (document)
		json_object_set(document, "store", bk_tree_root(&target->tree));
	return document;
}

static int inspect_print_json(const struct bk_inspect_target *target)
{
	json_t *document = inspect_document(target);
	char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
	int status = text ? BK_EXIT_OK : bk_cmd_fail("out of memory");

	if (text)
		puts(text);
	free(text);
	json_decref(document);
	return status;
}

static int inspect_print_text(const struct bk_inspect_target *target)
{
	const struct bk_backend *desc = &target->plugin->desc;
	struct bk_buf text = BK_BUF_INIT;
	int status = BK_EXIT_OK;

	bk_buf_putf(&text, "backend %s %s", desc->name, desc->version);
	if (target->folder)
		bk_buf_putf(&text, ", folder %s", target->folder);
	if (target->space)
		bk_buf_putf(&text, ", space %s", target->space);
	bk_buf_puts(&text, "\n");
	bk_tree_put_text(&text, bk_tree_root(&target->tree), 2);
	if (text.failed)
		status = bk_cmd_fail("out of memory");
	else
		bk_plain_puts(text.data, stdout);
	bk_buf_free(&text);
	return status;
}

/* What the user wrote wrong is usage; what the store answers is a failure. */
static int inspect_failed(const struct bk_error *err)
{
	switch (err->status) {
	case BK_INVALID:
	case BK_NOT_FOUND:
	case BK_UNSUPPORTED:
		return bk_cmd_usage("inspect: %s", err->message);
	default:
		return bk_cmd_fail("inspect: %s", err->message);
	}
}

static int inspect_exec(const struct bk_cmd_args *args)
{
	const char *format = bk_cmd_flag(args, "format"), *operand = bk_cmd_operand(args, 0);
	const char *backend = bk_cmd_flag(args, "backend");
	struct bk_inspect_target target = {NULL};
	struct bk_error err = bk_error_init();
	bool json = format && strcmp(format, "json") == 0;
	int status;

	if (format && !json && strcmp(format, "text") != 0)
		return bk_cmd_usage("inspect: --format is '%.40s', expected text or json", format);
	if (!operand && !backend)
		return bk_cmd_usage("inspect: what? bakeoff inspect FOLDER|BACKEND|URL|ID");
	if (bk_inspect_target(&target, operand, backend, args, &err) != BK_OK)
		status = inspect_failed(&err);
	else if (target.tree.failed)
		status = bk_cmd_fail("inspect: out of memory");
	else
		status = json ? inspect_print_json(&target) : inspect_print_text(&target);
	bk_inspect_target_free(&target);
	return status;
}

static const struct bk_flag inspect_flags[] = {
	{.name = "format", .arg = "text|json", .help = "text for people (default), or JSON"},
	{.name = "backend", .arg = "NAME", .help = "whose store it is, where that is not plain"},
	BK_CMD_SET_FLAG,
	{.name = NULL},
};

const struct bk_cmd bk_cmd_inspect = {
	.name = "inspect",
	.operands = "[FOLDER|BACKEND|URL|ID]",
	.summary = "let a store describe itself: product, settings, sizes, counters",
	.details =
		"FOLDER: one that a run left behind. The backend is known by the mark in it, or by "
		"trying those that keep folders; --backend NAME says whose it is.\n"
		"BACKEND, URL: a server, reached with --set or the backend's environment "
		"variables.\n"
		"ID: what provision left running, as `bakeoff services` lists it.\n"
		"\n"
		"Nothing is changed. A line that begins with ! is something to know before trusting "
		"a number.\n"
		"\n"
		"  bakeoff inspect bakeoff-data/my-store\n"
		"  bakeoff inspect --format json --backend NAME --set option=value\n"
		"\n"
		"An existing folder comes before a backend of the same name; --backend NAME alone "
		"means the backend.\n",
	.flags = inspect_flags,
	.operands_max = 1,
	.exec = inspect_exec,
};
