/*
 * backends.c - `bakeoff backends [NAME]`: what can be driven, and every option of one backend.
 *
 * The one invariant: a refused backend is named with its reason and hides no other.
 */
#include "cmd/cmd.h"

#include "plugin/plugin.h"
#include "plugin/value.h"
#include "util/buf.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>

#define BACKENDS_WIDTH 96

static void backends_feature_names(struct bk_buf *out, uint64_t bits)
{
	const struct bk_feature *f;
	const char *comma = "";

	for (f = bk_features; f->name; f++) {
		if (!(bits & f->bit))
			continue;
		bk_buf_putf(out, "%s%s", comma, f->name);
		comma = ", ";
	}
}

static void backends_put_features(struct bk_buf *out, const char *label, uint64_t bits)
{
	struct bk_buf names = BK_BUF_INIT;

	if (!bits)
		return;
	bk_buf_putf(&names, "%s: ", label);
	backends_feature_names(&names, bits);
	bk_buf_put_wrapped(out, bk_buf_str(&names), 4, BACKENDS_WIDTH);
	bk_buf_free(&names);
}

static void backends_put_list(struct bk_buf *out, const struct bk_plugin_list *list)
{
	size_t i, refused = 0;

	for (i = 0; i < list->count; i++) {
		const struct bk_plugin_entry *entry = &list->entries[i];

		if (!entry->plugin) {
			refused++;
			continue;
		}
		bk_buf_putf(out, "%s %s  %s\n", entry->name, entry->plugin->desc.version,
			    entry->plugin->desc.summary);
		backends_put_features(out, "native", entry->plugin->desc.native);
		backends_put_features(out, "emulated", entry->plugin->desc.emulated);
	}
	if (refused)
		bk_buf_putf(out, "%srefused:\n", refused < list->count ? "\n" : "");
	for (i = 0; i < list->count; i++) {
		if (!list->entries[i].plugin)
			bk_buf_putf(out, "  %s: %s\n", list->entries[i].name,
				    list->entries[i].refusal.message);
	}
}

static int backends_print(struct bk_buf *text)
{
	int status = text->failed ? bk_cmd_fail("out of memory") : BK_EXIT_OK;

	if (status == BK_EXIT_OK)
		bk_plain_puts(text->data, stdout);
	bk_buf_free(text);
	return status;
}

static int backends_list(void)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin_list list = {NULL, 0};
	struct bk_buf text = BK_BUF_INIT;

	if (bk_plugin_list_load(&list, &err) != BK_OK)
		return bk_cmd_fail("%s", err.message);
	if (list.count == 0)
		bk_buf_puts(&text,
			    "no backends were found; set BAKEOFF_BACKENDS to the folder that "
			    "holds them (`bakeoff doctor` shows where was looked)\n");
	backends_put_list(&text, &list);
	bk_plugin_list_free(&list);
	return backends_print(&text);
}

/* ---- one backend ----------------------------------------------------------------- */

static void backends_put_kind(struct bk_buf *out, const struct bk_option *o)
{
	char bound[32];
	size_t i;

	if (o->type == BK_OPT_ENUM) {
		for (i = 0; o->choices[i]; i++)
			bk_buf_putf(out, "%s%s", i ? "|" : "", o->choices[i]);
		return;
	}
	bk_buf_puts(out, bk_value_type_name(o->type));
	if (o->min == 0 && o->max == 0)
		return;
	bk_value_format_bound(bound, o, o->min);
	if (o->max == INT64_MAX) {
		bk_buf_putf(out, ", at least %s", bound);
		return;
	}
	bk_buf_putf(out, ", %s to ", bound);
	bk_value_format_bound(bound, o, o->max);
	bk_buf_puts(out, bound);
}

static void backends_put_option(struct bk_buf *out, const struct bk_option *o)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} notes[] = {
		{BK_OPTF_REQUIRED, "required"},
		{BK_OPTF_SECRET, "secret: never shown"},
		{BK_OPTF_DURABILITY, "changes what a commit promises"},
		{BK_OPTF_FOLDER, "filled in by bakeoff unless set"},
		{BK_OPTF_URL, "a URL on the command line lands here"},
	};
	size_t i;

	bk_buf_putf(out, "  %s  (", o->name);
	backends_put_kind(out, o);
	bk_buf_puts(out, ")\n");
	bk_buf_put_wrapped(out, o->help, 6, BACKENDS_WIDTH);
	if (o->def)
		bk_buf_putf(out, "      default: %s\n",
			    o->flags & BK_OPTF_SECRET ? "(secret)" : o->def);
	if (o->env)
		bk_buf_putf(out, "      environment: %s\n", o->env);
	for (i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (o->flags & notes[i].flag)
			bk_buf_putf(out, "      %s\n", notes[i].text);
	}
}

static void backends_put_meanings(struct bk_buf *out, const struct bk_backend *desc)
{
	const struct bk_feature *f;

	bk_buf_puts(out, "\nfeatures:\n");
	for (f = bk_features; f->name; f++) {
		const char *how = desc->native & f->bit     ? "native"
				  : desc->emulated & f->bit ? "emulated"
							    : NULL;

		if (how)
			bk_buf_putf(out, "  %-14s %-8s  %s\n", f->name, how, f->meaning);
	}
}

static void backends_put_one(struct bk_buf *out, const struct bk_plugin *plugin)
{
	static const char *const threads[] = {"", "sessions run in parallel", "one call at a time",
					      "one session at a time"};
	const struct bk_backend *desc = &plugin->desc;
	const struct bk_option *o;
	size_t i;

	bk_buf_putf(out, "%s %s  %s\n\nfile: %s\nthreads: %s\n", desc->name, desc->version,
		    desc->summary, plugin->path, threads[desc->threads]);
	for (i = 0; desc->schemes && desc->schemes[i]; i++)
		bk_buf_putf(out, "%s%s://...", i ? ", " : "URL: ", desc->schemes[i]);
	if (i)
		bk_buf_puts(out, "\n");
	if (desc->service)
		bk_buf_puts(out, "service: can start a private server\n");
	backends_put_meanings(out, desc);
	if (!desc->options || !desc->options->name) {
		bk_buf_puts(out, "\nno options\n");
		return;
	}
	bk_buf_puts(out, "\noptions (--set option=value):\n");
	for (o = desc->options; o->name; o++)
		backends_put_option(out, o);
}

static int backends_one(const char *name)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin *plugin = NULL;
	struct bk_buf text = BK_BUF_INIT;

	if (bk_plugin_given(&plugin, name, &err) != BK_OK)
		return bk_cmd_usage("%s", err.message);
	backends_put_one(&text, plugin);
	bk_plugin_free(plugin);
	return backends_print(&text);
}

static int backends_exec(const struct bk_cmd_args *args)
{
	const char *name = bk_cmd_operand(args, 0);

	return name ? backends_one(name) : backends_list();
}

const struct bk_cmd bk_cmd_backends = {
	.name = "backends",
	.operands = "[NAME|FILE.so]",
	.summary = "list the backends, or the options of one",
	.details =
		"Without NAME: every backend on the search path with its version and its features; "
		"those that cannot be used are named with the reason.\n"
		"\n"
		"With NAME: its features and its options, with type, range, default and the "
		"environment variable that supplies one.\n"
		"\n"
		"The search path is $BAKEOFF_BACKENDS (folders, separated by colons), then backends/ "
		"beside the program, then the installed folder.\n",
	.operands_max = 1,
	.exec = backends_exec,
};
