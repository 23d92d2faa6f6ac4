/*
 * secrets.c - every occurrence of a secret's text goes, not only the one that was parsed: comments
 * repeat what was tried.
 */
#include "run/secrets.h"

#include "util/buf.h"
#include "util/redact.h"

#include <stdlib.h>
#include <string.h>

static const struct bk_option *entry_of(const struct bk_store_half *half, const char *name)
{
	const struct bk_option *o = half->plugin ? half->plugin->desc.options : NULL;

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

static char *hide(char *text, const struct bk_half *half, const struct bk_store_half *store)
{
	size_t i;

	for (i = 0; i < half->option_count && text; i++) {
		const struct bk_option *o = entry_of(store, half->options[i].name);
		char *shown;

		if (!o)
			continue;
		if (o->flags & BK_OPTF_SECRET) {
			text = replace_all(text, half->options[i].value, "(secret)");
		} else if (o->flags & BK_OPTF_URL) {
			shown = bk_redact(half->options[i].value);
			text = shown ? replace_all(text, half->options[i].value, shown) : NULL;
			free(shown);
		}
	}
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

		text = hide(text, &m->variants[i].nodes, &stores[i].nodes);
		text = hide(text, &m->variants[i].binaries, binaries);
	}
	return text;
}
