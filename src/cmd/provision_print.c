/*
 * provision_print.c - three ways to write the same variables.
 *
 * The one invariant: whatever is in a value, the reader gets it back byte for byte.
 */
#include "cmd/provision_print.h"

#include "cmd/cmd.h"
#include "util/buf.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>

void bk_provision_item_free(struct bk_provision_item *item)
{
	free(item->id);
	bk_service_env_free(&item->env);
	bk_plugin_free(item->plugin);
}

int bk_provision_format(enum bk_provision_format *out, const char *text)
{
	static const char *const names[] = {"env", "dotenv", "json", NULL};
	const char *near;
	size_t i;

	*out = BK_PROVISION_ENV;
	if (!text)
		return BK_EXIT_OK;
	for (i = 0; names[i]; i++) {
		if (strcmp(names[i], text) == 0) {
			*out = (enum bk_provision_format)i;
			return BK_EXIT_OK;
		}
	}
	near = bk_suggest_in(text, names);
	return bk_cmd_usage("--format is '%.40s', expected env, dotenv or json%s%s%s", text,
			    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool print_is_plain(const char *text)
{
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("_-./:@%+,=", *text))
			return false;
	}
	return true;
}

/* In single quotes nothing means anything but the quote itself. */
static void print_shell(struct bk_buf *out, const char *text)
{
	const char *p;

	bk_buf_puts(out, "'");
	for (p = text; *p; p++) {
		if (*p == '\'')
			bk_buf_puts(out, "'\\''");
		else
			bk_buf_put(out, p, 1);
	}
	bk_buf_puts(out, "'");
}

/* Readers of .env files agree on what needs no quotes; in double quotes they take backslashes. */
static void print_dotenv(struct bk_buf *out, const char *text)
{
	const char *p;

	if (print_is_plain(text)) {
		bk_buf_puts(out, text);
		return;
	}
	bk_buf_puts(out, "\"");
	for (p = text; *p; p++) {
		if (strchr("\"\\$`", *p))
			bk_buf_puts(out, "\\");
		bk_buf_put(out, p, 1);
	}
	bk_buf_puts(out, "\"");
}

static void print_text(struct bk_buf *out, const struct bk_provision_item *item, bool shell)
{
	const struct bk_service_env *env = &item->env;
	size_t i;

	bk_buf_putf(out, "# %s; to end it: bakeoff teardown %s\n", item->backend, item->id);
	for (i = 0; i < env->count; i++) {
		const char *name = env->items[i].name, *value = env->items[i].value;

		if (!value && shell && !strchr(name, '*'))
			bk_buf_putf(out, "unset %s\n", name);
		if (!value)
			continue;
		bk_buf_putf(out, "%s%s=", shell ? "export " : "", name);
		if (shell)
			print_shell(out, value);
		else
			print_dotenv(out, value);
		bk_buf_puts(out, "\n");
	}
}

static json_t *print_json_item(const struct bk_provision_item *item)
{
	json_t *set = json_object(), *unset = json_array();
	size_t i;

	for (i = 0; i < item->env.count; i++) {
		const struct bk_service_variable *v = &item->env.items[i];

		if (v->value)
			json_object_set_new(set, v->name, json_string(v->value));
		else
			json_array_append_new(unset, json_string(v->name));
	}
	return json_pack("{s:s, s:s, s:o, s:o}", "id", item->id, "backend", item->backend, "env",
			 set, "unset", unset);
}

static void print_json(struct bk_buf *out, const struct bk_provision_item *items, size_t count)
{
	json_t *list = json_array(), *all;
	char *text;
	size_t i;

	for (i = 0; i < count; i++)
		json_array_append_new(list, print_json_item(&items[i]));
	all = json_pack("{s:i, s:o}", "schema", 1, "services", list);
	text = all ? json_dumps(all, JSON_INDENT(2)) : NULL;
	if (text)
		bk_buf_putf(out, "%s\n", text);
	else
		out->failed = true;
	free(text);
	json_decref(all);
}

int bk_provision_print(const struct bk_provision_item *items, size_t count,
		       enum bk_provision_format format)
{
	struct bk_buf text = BK_BUF_INIT;
	int status = BK_EXIT_OK;
	size_t i;

	if (format == BK_PROVISION_JSON)
		print_json(&text, items, count);
	for (i = 0; format != BK_PROVISION_JSON && i < count; i++)
		print_text(&text, &items[i], format == BK_PROVISION_ENV);
	if (text.failed)
		status = bk_cmd_fail("out of memory");
	else if (fputs(bk_buf_str(&text), stdout) < 0 || fflush(stdout) != 0)
		status = bk_cmd_fail("cannot write to standard output");
	bk_buf_free(&text);
	return status;
}
