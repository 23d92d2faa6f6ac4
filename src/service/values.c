/*
 * values.c - names, what they stand for, and text with names in it.
 */
#include "service/values.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <stdlib.h>

bool bk_values_set(struct bk_values *values, const char *name, const char *text)
{
	struct bk_value *items;
	char *copy = strdup(text);
	size_t i;

	if (!copy)
		return false;
	for (i = 0; i < values->count; i++) {
		if (strcmp(values->items[i].name, name) == 0) {
			free(values->items[i].text);
			values->items[i].text = copy;
			return true;
		}
	}
	items = realloc(values->items, (values->count + 1) * sizeof(*items));
	if (items) {
		values->items = items;
		items[values->count].name = strdup(name);
		items[values->count].text = copy;
	}
	if (!items || !items[values->count].name) {
		free(copy);
		return false;
	}
	values->count++;
	return true;
}

const char *bk_values_get(const struct bk_values *values, const char *name)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		if (strcmp(values->items[i].name, name) == 0)
			return values->items[i].text;
	}
	return NULL;
}

void bk_values_free(struct bk_values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		free(values->items[i].name);
		free(values->items[i].text);
	}
	free(values->items);
	memset(values, 0, sizeof(*values));
}

json_t *bk_values_to_json(const struct bk_values *values)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; object && i < values->count; i++) {
		if (json_object_set_new(object, values->items[i].name,
					json_string(values->items[i].text)) != 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

bool bk_values_from_json(struct bk_values *values, const json_t *object)
{
	const char *name;
	json_t *text;

	json_object_foreach((json_t *)object, name, text)
	{
		if (!json_is_string(text) || !bk_values_set(values, name, json_string_value(text)))
			return false;
	}
	return true;
}

static void val_put_encoded(struct bk_buf *out, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (isalnum(c) || strchr("-_.~", c))
			bk_buf_put(out, text, 1);
		else
			bk_buf_putf(out, "%%%02X", c);
	}
}

/* The length of a name between braces at `text` ("{port2}"), or 0. */
static size_t val_name_len(const char *text)
{
	size_t n = 1;

	if (text[0] != '{' || !islower((unsigned char)text[1]))
		return 0;
	while (islower((unsigned char)text[n]) || isdigit((unsigned char)text[n]) || text[n] == '_')
		n++;
	return text[n] == '}' ? n - 1 : 0;
}

bk_status bk_expand(struct bk_buf *out, const char *text, const struct bk_values *values,
		    uint32_t flags, struct bk_error *err)
{
	char name[64];
	const char *p, *value;
	size_t len;

	for (p = text; *p;) {
		len = val_name_len(p);
		if (len == 0 || len >= sizeof(name)) {
			bk_buf_put(out, p++, 1);
			continue;
		}
		memcpy(name, p + 1, len);
		name[len] = '\0';
		value = bk_values_get(values, name);
		if (!value)
			return bk_fail(err, BK_INVALID, 0,
				       "the backend's service table: {%s} in '%s' is unknown", name,
				       text);
		if (flags & BK_EXPAND_URL)
			val_put_encoded(out, value);
		else
			bk_buf_puts(out, value);
		p += len + 2;
	}
	return out->failed ? bk_fail(err, BK_NOMEM, 0, "out of memory") : BK_OK;
}

bk_status bk_expand_new(char **out, const char *text, const struct bk_values *values,
			uint32_t flags, struct bk_error *err)
{
	struct bk_buf buf = BK_BUF_INIT;
	bk_status st;
	char *result;

	bk_buf_puts(&buf, "");
	st = bk_expand(&buf, text, values, flags, err);
	if (st != BK_OK) {
		bk_buf_free(&buf);
		return st;
	}
	result = bk_buf_steal(&buf);
	if (!result)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	*out = result;
	return BK_OK;
}

bk_status bk_expand_argv(char ***out, const char *const *argv, const struct bk_values *values,
			 struct bk_error *err)
{
	size_t n = 0, i;
	char **result;
	bk_status st;

	while (argv[n])
		n++;
	result = calloc(n + 1, sizeof(*result));
	if (!result)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (i = 0; i < n; i++) {
		st = bk_expand_new(&result[i], argv[i], values, 0, err);
		if (st != BK_OK) {
			bk_strings_free(result);
			return st;
		}
	}
	*out = result;
	return BK_OK;
}

void bk_strings_free(char **strings)
{
	size_t i;

	for (i = 0; strings && strings[i]; i++)
		free(strings[i]);
	free(strings);
}

bool bk_when(uint32_t when, uint32_t mask)
{
	static const uint32_t lines[] = {BK_WHEN_TEST | BK_WHEN_BENCH, BK_WHEN_SOCKET | BK_WHEN_TCP,
					 BK_WHEN_NONE | BK_WHEN_PROCESS | BK_WHEN_MACHINE,
					 BK_WHEN_ADMIN};
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if ((when & lines[i]) && !(when & lines[i] & mask))
			return false;
	}
	return true;
}

bool bk_setting_counts(const struct bk_setting *table, size_t at, uint32_t mask)
{
	size_t i;

	if (!bk_when(table[at].when, mask))
		return false;
	for (i = at + 1; table[i].key; i++) {
		if (strcmp(table[i].key, table[at].key) == 0 && bk_when(table[i].when, mask))
			return false;
	}
	return true;
}
