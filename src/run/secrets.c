/*
 * secrets.c - every occurrence of a secret's text goes, not only the one that was parsed: comments
 * repeat what was tried.
 */
#include "run/secrets.h"

#include "util/buf.h"
#include "util/redact.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>

static const struct bk_option *entry_of(const struct bk_plugin *plugin, const char *name)
{
	const struct bk_option *o = plugin ? plugin->desc.options : NULL;

	while (o && o->name && strcmp(o->name, name) != 0)
		o++;
	return o && o->name ? o : NULL;
}

/* Takes over `text`. */
static char *replace_all(char *text, const char *what, const char *with)
{
	struct bk_buf out = BK_BUF_INIT;
	const char *p = text, *hit;

	if (!text || !*what)
		return text;
	while ((hit = strstr(p, what))) {
		bk_buf_put(&out, p, (size_t)(hit - p));
		bk_buf_puts(&out, with);
		p = hit + strlen(what);
	}
	bk_buf_puts(&out, p);
	free(text);
	return bk_buf_steal(&out);
}

/* What is hidden of an option; NULL: nothing.  Of a backend that is not there, all might be secret.
 * The caller's to free. */
static char *shown_of(const struct bk_plugin *plugin, const struct bk_pair_text *option)
{
	const struct bk_option *o = entry_of(plugin, option->name);
	uint32_t flags = o ? o->flags : plugin ? 0 : BK_OPTF_SECRET;

	if (flags & BK_OPTF_SECRET)
		return strdup("(secret)");
	return flags & BK_OPTF_URL ? bk_redact(option->value) : NULL;
}

/* Does the file hold the value as it is, from the line of its key on?  Escapes, doubled quotes and
 * folded lines write it in another way, which cannot be searched for. */
static bool is_verbatim(const struct bk_matrix *m, const struct bk_pair_text *o)
{
	const char *p = m->file.text, *next;
	uint32_t line;

	if (!o->at || o->file != &m->file)
		return true;
	for (line = 1; line < o->at->line && (next = strchr(p, '\n')); line++)
		p = next + 1;
	return strstr(p, o->value) != NULL;
}

/* What of `value` is not in `shown`: a URL's password, which a comment may repeat alone.  One of a
 * letter or two is in too many words. */
static char *hide_part(char *text, const char *value, const char *shown)
{
	size_t from = 0, value_end = strlen(value), shown_end = strlen(shown);
	char *part;

	while (value[from] && value[from] == shown[from])
		from++;
	while (value_end > from && shown_end > from && value[value_end - 1] == shown[shown_end - 1])
		value_end--, shown_end--;
	if (value_end < from + 4)
		return text;
	part = strndup(value + from, value_end - from);
	text = part ? replace_all(text, part, "*") : NULL;
	free(part);
	return text;
}

static char *hide(char *text, const struct bk_matrix *m, const struct bk_half *half,
		  const struct bk_plugin *plugin)
{
	size_t i;

	for (i = 0; i < half->option_count && text; i++) {
		const struct bk_pair_text *o = &half->options[i];
		char *shown = shown_of(plugin, o);

		if (shown && strcmp(shown, o->value) != 0 && !is_verbatim(m, o)) {
			free(text);
			text = strdup("# not kept: a secret in it is written with escapes, or over "
				      "several lines\n");
		} else if (shown) {
			text = replace_all(text, o->value, shown);
			text = text ? hide_part(text, o->value, shown) : NULL;
		}
		free(shown);
	}
	return text;
}

/* A variant that does not run stands in the file all the same. */
static char *hide_idle(char *text, const struct bk_matrix *m, const struct bk_half *half)
{
	struct bk_error ignored = bk_error_init();
	struct bk_plugin *plugin = NULL;

	if (!half->backend || !text)
		return text;
	if (bk_plugin_find(&plugin, half->backend, &ignored) < 0)
		plugin = NULL;
	text = hide(text, m, half, plugin);
	bk_plugin_free(plugin);
	return text;
}

char *bk_matrix_text_without_secrets(const struct bk_matrix *m,
				     const struct bk_variant_stores *stores)
{
	char *text = strdup(m->file.text);
	size_t i;

	for (i = 0; i < m->variant_count && text; i++) {
		const struct bk_store_half *binaries =
			stores[i].shared ? &stores[i].nodes : &stores[i].binaries;

		text = hide(text, m, &m->variants[i].nodes, stores[i].nodes.plugin);
		text = hide(text, m, &m->variants[i].binaries, binaries->plugin);
	}
	for (i = 0; i < m->idle_count; i++) {
		text = hide_idle(text, m, &m->idle[i].nodes);
		text = hide_idle(text, m, &m->idle[i].binaries);
	}
	return text;
}
