/*
 * case.c - a scenario with one set of values: its name, its key, its values by name.
 */
#include "scenario/scenario.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bk_case_init(struct bk_case *c, const struct bk_scenario *scenario)
{
	struct bk_error err = bk_error_init();
	size_t i;

	memset(c, 0, sizeof(*c));
	c->scenario = scenario;
	for (i = 0; scenario->params[i]; i++) {
		if (bk_param_parse(&c->values[i], scenario->params[i], scenario->params[i]->def,
				   &err) < 0)
			abort(); /* a default that does not parse; a unit test looks at them all */
	}
}

static bool at_default(const struct bk_param *p, const struct bk_value *v)
{
	struct bk_error err = bk_error_init();
	struct bk_value def;

	return bk_param_parse(&def, p, p->def, &err) >= 0 && strcmp(def.text, v->text) == 0;
}

enum which { OF_NAME, OF_DATA, OF_ALL };

static bool belongs(enum which which, const struct bk_param *p, const struct bk_value *v)
{
	if (which == OF_DATA)
		return p->flags & BK_PARAM_DATA;
	return which == OF_ALL || p->flags & BK_PARAM_SHOWN || !at_default(p, v);
}

static void put_name(struct bk_buf *buf, const struct bk_case *c, enum which which)
{
	const struct bk_param *const *params = c->scenario->params;
	const char *sep = "[";
	size_t i;

	bk_buf_puts(buf, c->scenario->name);
	for (i = 0; params[i]; i++) {
		if (!belongs(which, params[i], &c->values[i]))
			continue;
		bk_buf_putf(buf, "%s%s=%s", sep, params[i]->name, c->values[i].text);
		sep = ",";
	}
	if (*sep == ',')
		bk_buf_puts(buf, "]");
}

void bk_case_name(struct bk_buf *buf, const struct bk_case *c)
{
	put_name(buf, c, OF_NAME);
}

void bk_case_full_name(struct bk_buf *buf, const struct bk_case *c)
{
	put_name(buf, c, OF_ALL);
}

void bk_case_data_key(struct bk_buf *buf, const struct bk_case *c)
{
	put_name(buf, c, OF_DATA);
}

const struct bk_value *bk_case_find(const struct bk_case *c, const char *name)
{
	const struct bk_param *const *params = c->scenario->params;
	size_t i;

	for (i = 0; params[i]; i++) {
		if (strcmp(params[i]->name, name) == 0)
			return &c->values[i];
	}
	return NULL;
}

static const struct bk_value *value_of(const struct bk_case *c, const char *name)
{
	const struct bk_value *value = bk_case_find(c, name);

	if (!value) {
		fprintf(stderr, "bakeoff: scenario %s has no parameter '%s'\n", c->scenario->name,
			name);
		abort();
	}
	return value;
}

uint64_t bk_case_u64(const struct bk_case *c, const char *name)
{
	return value_of(c, name)->u;
}

const char *bk_case_text(const struct bk_case *c, const char *name)
{
	return value_of(c, name)->text;
}

bool bk_case_is(const struct bk_case *c, const char *name, const char *text)
{
	return strcmp(bk_case_text(c, name), text) == 0;
}
