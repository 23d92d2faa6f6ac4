/*
 * expand.c - scenarios with lists of values into cases, cases and variants into cells.
 */
#include "matrix/parse.h"

#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>

#define CASES_MAX 10000u

static const struct bk_scenario *find_scenario(const struct bk_yaml_file *file,
					       const struct bk_yaml *at, struct bk_error *err)
{
	const struct bk_scenario *s;
	struct bk_suggest suggest;
	size_t i;

	if (at->type != BK_YAML_SCALAR) {
		bk_yaml_fail(err, file, at, "a scenario is named by one word, not %s",
			     bk_yaml_kind(at));
		return NULL;
	}
	s = bk_scenario_find(at->text);
	if (s)
		return s;
	bk_suggest_init(&suggest, at->text);
	for (i = 0; bk_scenarios[i]; i++)
		bk_suggest_offer(&suggest, bk_scenarios[i]->name);
	if (suggest.best)
		bk_yaml_fail(err, file, at, "scenario '%s' is unknown; did you mean '%s'?",
			     at->text, suggest.best);
	else
		bk_yaml_fail(err, file, at,
			     "scenario '%s' is unknown; `bakeoff scenarios` lists them", at->text);
	return NULL;
}

static int param_index(const struct bk_scenario *s, const char *name)
{
	int i;

	for (i = 0; s->params[i]; i++) {
		if (strcmp(s->params[i]->name, name) == 0)
			return i;
	}
	return -1;
}

static bk_status unknown_param(struct bk_error *err, const struct bk_yaml_file *file,
			       const struct bk_yaml *key, const struct bk_scenario *s)
{
	struct bk_suggest suggest;
	size_t i;

	bk_suggest_init(&suggest, key->text);
	for (i = 0; s->params[i]; i++)
		bk_suggest_offer(&suggest, s->params[i]->name);
	if (suggest.best)
		return bk_yaml_fail(err, file, key,
				    "scenario '%s' has no parameter '%s'; did you mean '%s'?",
				    s->name, key->text, suggest.best);
	return bk_yaml_fail(
		err, file, key,
		"scenario '%s' has no parameter '%s'; `bakeoff scenarios %s` lists them", s->name,
		key->text, s->name);
}

static bk_status parse_value(struct bk_value *out, const struct bk_yaml_file *file,
			     const struct bk_param *param, const struct bk_yaml *v,
			     struct bk_error *err)
{
	struct bk_error why = bk_error_init();

	if (v->type != BK_YAML_SCALAR)
		return bk_yaml_fail(err, file, v,
				    "parameter '%s' takes a value or a list of values",
				    param->name);
	if (bk_param_parse(out, param, v->text, &why) < 0)
		return bk_yaml_fail(err, file, v, "%s", why.message);
	return BK_OK;
}

static bk_status add_case(struct bk_matrix *m, const struct bk_case *c, const struct bk_yaml *at,
			  struct bk_error *err)
{
	struct bk_buf name = BK_BUF_INIT;
	struct bk_case *cases;
	char **names;
	size_t i;

	bk_case_name(&name, c);
	for (i = 0; i < m->case_count; i++) {
		if (strcmp(m->case_names[i], bk_buf_str(&name)) == 0) {
			bk_status st =
				bk_yaml_fail(err, &m->file, at, "case %s is in the matrix twice",
					     bk_buf_str(&name));
			bk_buf_free(&name);
			return st;
		}
	}
	if (m->case_count == CASES_MAX) {
		bk_buf_free(&name);
		return bk_yaml_fail(err, &m->file, at, "more than %u cases", CASES_MAX);
	}
	if ((m->case_count & (m->case_count - 1)) == 0) {
		size_t room = m->case_count ? m->case_count * 2 : 1;

		cases = realloc(m->cases, room * sizeof(*cases));
		if (cases)
			m->cases = cases;
		names = realloc(m->case_names, room * sizeof(*names));
		if (names)
			m->case_names = names;
		if (!cases || !names) {
			bk_buf_free(&name);
			return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
		}
	}
	m->cases[m->case_count] = *c;
	m->case_names[m->case_count] = bk_arena_strdup(&m->arena, bk_buf_str(&name));
	m->case_count++;
	bk_buf_free(&name);
	return BK_OK;
}

/* Every combination: the last parameter written changes fastest. */
static bk_status cross(struct bk_matrix *m, struct bk_case *c, const struct bk_yaml *param,
		       const struct bk_yaml *at, struct bk_error *err)
{
	const struct bk_yaml *v;
	bk_status st = BK_OK;
	int i;

	while (param && strcmp(param->key->text, "name") == 0)
		param = param->next;
	if (!param)
		return add_case(m, c, at, err);
	i = param_index(c->scenario, param->key->text);
	if (param->type != BK_YAML_LIST) {
		st = parse_value(&c->values[i], &m->file, c->scenario->params[i], param, err);
		return st < 0 ? st : cross(m, c, param->next, at, err);
	}
	for (v = param->first; v && st >= 0; v = v->next) {
		st = parse_value(&c->values[i], &m->file, c->scenario->params[i], v, err);
		if (st >= 0)
			st = cross(m, c, param->next, at, err);
	}
	return st;
}

static bk_status expand_scenario(struct bk_matrix *m, const struct bk_yaml *entry,
				 struct bk_error *err)
{
	const struct bk_yaml *name = entry, *p;
	const struct bk_scenario *s;
	struct bk_case c;

	if (entry->type == BK_YAML_MAP) {
		name = bk_yaml_get(entry, "name");
		if (!name)
			return bk_yaml_fail(err, &m->file, entry,
					    "a scenario needs a name: - name: ...");
	}
	s = find_scenario(&m->file, name, err);
	if (!s)
		return err->status;
	for (p = entry->type == BK_YAML_MAP ? entry->first : NULL; p; p = p->next) {
		if (strcmp(p->key->text, "name") == 0)
			continue;
		if (param_index(s, p->key->text) < 0)
			return unknown_param(err, &m->file, p->key, s);
		if (p->type == BK_YAML_LIST && p->count == 0)
			return bk_yaml_fail(err, &m->file, p, "the list of '%s' is empty",
					    p->key->text);
	}
	bk_case_init(&c, s);
	return cross(m, &c, entry->type == BK_YAML_MAP ? entry->first : NULL, entry, err);
}

bk_status bk_matrix_cases(struct bk_matrix *m, const struct bk_yaml *scenarios,
			  struct bk_error *err)
{
	const struct bk_yaml *entry;
	bk_status st = BK_OK;

	for (entry = scenarios->first; entry && st >= 0; entry = entry->next)
		st = expand_scenario(m, entry, err);
	return st;
}

/* ---- Cells ------------------------------------------------------------------------ */

static bk_status check_exclude(struct bk_matrix *m, const struct bk_yaml *entry,
			       struct bk_error *err)
{
	const struct bk_yaml *scenario, *v;
	const struct bk_scenario *s = NULL;
	size_t i;

	if (entry->type != BK_YAML_MAP || entry->count == 0)
		return bk_yaml_fail(
			err, &m->file, entry,
			"an exclusion is {variant: ..., scenario: ..., parameter: value}");
	scenario = bk_yaml_get(entry, "scenario");
	if (scenario && !(s = find_scenario(&m->file, scenario, err)))
		return err->status;
	for (v = entry->first; v; v = v->next) {
		const char *key = v->key->text;

		if (strcmp(key, "scenario") == 0)
			continue;
		if (v->type != BK_YAML_SCALAR)
			return bk_yaml_fail(err, &m->file, v, "'%s' takes a single value here",
					    key);
		if (strcmp(key, "variant") == 0) {
			for (i = 0; i < m->variant_count; i++) {
				if (strcmp(m->variants[i].name, v->text) == 0)
					break;
			}
			if (i == m->variant_count)
				return bk_yaml_fail(err, &m->file, v,
						    "variant '%s' is not in this matrix", v->text);
		} else if (!s) {
			return bk_yaml_fail(err, &m->file, v->key,
					    "parameter '%s' without a scenario: say which one",
					    key);
		} else if (param_index(s, key) < 0) {
			return unknown_param(err, &m->file, v->key, s);
		} else {
			struct bk_value value;
			bk_status st = parse_value(&value, &m->file, s->params[param_index(s, key)],
						   v, err);

			if (st < 0)
				return st;
		}
	}
	return BK_OK;
}

static bool excluded(const struct bk_matrix *m, const struct bk_yaml *entry, size_t variant,
		     const struct bk_case *c)
{
	const struct bk_yaml *v;
	struct bk_error err = bk_error_init();

	for (v = entry->first; v; v = v->next) {
		if (strcmp(v->key->text, "variant") == 0) {
			if (strcmp(v->text, m->variants[variant].name) != 0)
				return false;
		} else if (strcmp(v->key->text, "scenario") == 0) {
			if (strcmp(v->text, c->scenario->name) != 0)
				return false;
		} else {
			int i = param_index(c->scenario, v->key->text);
			struct bk_value value;

			if (i < 0 ||
			    bk_param_parse(&value, c->scenario->params[i], v->text, &err) < 0 ||
			    strcmp(value.text, c->values[i].text) != 0)
				return false;
		}
	}
	return true;
}

/* A name leaves out what is at its default; a pattern may speak of it all the same. */
static bool full_name_matches(const struct bk_matrix *m, size_t variant, size_t kase,
			      const char *only)
{
	struct bk_buf name = BK_BUF_INIT;
	bool matches;

	bk_buf_putf(&name, "%s/", m->variants[variant].name);
	bk_case_full_name(&name, &m->cases[kase]);
	matches = bk_matrix_glob(only, bk_buf_str(&name));
	bk_buf_free(&name);
	return matches;
}

static bool wanted(const struct bk_matrix *m, const struct bk_yaml *exclude, size_t variant,
		   size_t kase, const char *name, const char *only)
{
	const struct bk_yaml *entry;

	for (entry = exclude ? exclude->first : NULL; entry; entry = entry->next) {
		if (excluded(m, entry, variant, &m->cases[kase]))
			return false;
	}
	return !only || bk_matrix_glob(only, name) || full_name_matches(m, variant, kase, only);
}

bk_status bk_matrix_cells(struct bk_matrix *m, const struct bk_yaml *exclude, const char *only,
			  struct bk_error *err)
{
	const struct bk_yaml *entry;
	bk_status st;
	size_t k, v;

	for (entry = exclude ? exclude->first : NULL; entry; entry = entry->next) {
		st = check_exclude(m, entry, err);
		if (st < 0)
			return st;
	}
	m->cells = calloc(m->case_count * m->variant_count + 1, sizeof(*m->cells));
	if (!m->cells)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
	for (k = 0; k < m->case_count; k++) {
		for (v = 0; v < m->variant_count; v++) {
			char *name = bk_arena_printf(&m->arena, "%s/%s", m->variants[v].name,
						     m->case_names[k]);

			if (!name)
				return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
			if (wanted(m, exclude, v, k, name, only))
				m->cells[m->cell_count++] = (struct bk_cell){v, k, name};
		}
	}
	if (m->cell_count)
		return BK_OK;
	if (only)
		return bk_fail(err, BK_INVALID, 0,
			       "--only '%s' matches none of %zu cells; they are called like %s",
			       only, m->case_count * m->variant_count,
			       m->case_count && m->variant_count
				       ? bk_arena_printf(&m->arena, "%s/%s", m->variants[0].name,
							 m->case_names[0])
				       : "VARIANT/SCENARIO[...]");
	return bk_fail(err, BK_INVALID, 0, "%s: every cell is excluded", m->file.path);
}
