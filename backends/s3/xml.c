/*
 * xml.c - see xml.h.
 */
#include "xml.h"

#include <expat.h>

#define XML_DEEPEST  16
#define XML_PATH_MAX 512

struct xml {
	XML_Parser parser;
	s3_xml_fn fn;
	void *ctx;
	char path[XML_PATH_MAX];
	size_t path_len;
	unsigned depth;
	struct s3_buf text;
	bool refused;
};

static void xml_refuse(struct xml *x)
{
	x->refused = true;
	XML_StopParser(x->parser, XML_FALSE);
}

static void XMLCALL xml_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
	struct xml *x = ctx;
	size_t len = strlen(name);

	if (++x->depth > XML_DEEPEST || x->path_len + len + 2 > XML_PATH_MAX) {
		xml_refuse(x);
		return;
	}
	x->path[x->path_len] = '/';
	memcpy(x->path + x->path_len + 1, name, len + 1);
	x->path_len += len + 1;
	s3_buf_reset(&x->text);
}

static void XMLCALL xml_end(void *ctx, const XML_Char *name)
{
	struct xml *x = ctx;

	if (x->text.failed)
		xml_refuse(x);
	if (x->refused)
		return;
	x->fn(x->ctx, x->path, bk_slice_of(s3_buf_str(&x->text), x->text.len));
	s3_buf_reset(&x->text);
	x->path_len -= strlen(name) + 1;
	x->path[x->path_len] = '\0';
	x->depth--;
}

static void XMLCALL xml_characters(void *ctx, const XML_Char *text, int len)
{
	struct xml *x = ctx;

	s3_buf_put(&x->text, text, (size_t)len);
}

/* S3 has none; entities, and whoever makes them grow, come with it. */
static void XMLCALL xml_doctype(void *ctx, const XML_Char *name, const XML_Char *system_id,
				const XML_Char *public_id, int has_subset)
{
	xml_refuse(ctx);
}

bool s3_xml_parse(struct bk_slice document, s3_xml_fn fn, void *ctx)
{
	struct xml x = {.fn = fn, .ctx = ctx};
	bool ok = false;

	x.parser = XML_ParserCreate("UTF-8");
	if (!x.parser || document.len > INT32_MAX)
		goto done;
	XML_SetUserData(x.parser, &x);
	XML_SetElementHandler(x.parser, xml_start, xml_end);
	XML_SetCharacterDataHandler(x.parser, xml_characters);
	XML_SetStartDoctypeDeclHandler(x.parser, xml_doctype);
	ok = XML_Parse(x.parser, document.data, (int)document.len, 1) == XML_STATUS_OK &&
	     !x.refused;
done:
	if (x.parser)
		XML_ParserFree(x.parser);
	s3_buf_free(&x.text);
	return ok;
}

struct xml_wanted {
	const char *path;
	char *out;
	size_t cap;
	bool found;
};

static void xml_take(void *ctx, const char *path, struct bk_slice text)
{
	struct xml_wanted *w = ctx;
	size_t n = text.len < w->cap - 1 ? text.len : w->cap - 1;

	if (w->found || strcmp(path, w->path) != 0)
		return;
	memcpy(w->out, text.data, n);
	w->out[n] = '\0';
	w->found = true;
}

bool s3_xml_text(struct bk_slice document, const char *path, char *out, size_t cap)
{
	struct xml_wanted w = {path, out, cap, false};

	return s3_xml_parse(document, xml_take, &w) && w.found;
}
