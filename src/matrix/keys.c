/*
 * keys.c - the keys of a matrix file, one function each.
 *
 * Every error names the line and the column of the value that it is about.
 */
#include "matrix/parse.h"

#include "results/results.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <string.h>

static const char *const durability_names[] = {"none", "process", "machine", NULL};

const char *bk_durability_name(uint32_t durability)
{
	return durability <= BK_DURABLE_MACHINE ? durability_names[durability] : "?";
}

/* ---- Single values --------------------------------------------------------------- */

static bk_status scalar(const char **out, struct bk_matrix *m, const struct bk_yaml *v,
			struct bk_error *err)
{
	if (v->type != BK_YAML_SCALAR || (!v->quoted && !*v->text))
		return bk_yaml_fail(err, &m->file, v, "'%s' takes a single value%s", v->key->text,
				    v->type == BK_YAML_SCALAR ? "; there is none" : "");
	*out = v->text;
	return BK_OK;
}

static bk_status number(uint64_t *out, struct bk_matrix *m, const struct bk_yaml *v, uint64_t min,
			uint64_t max,
			bk_status (*parse)(uint64_t *, const char *, struct bk_error *),
			struct bk_error *err)
{
	struct bk_error why = bk_error_init();
	const char *text;
	bk_status st = scalar(&text, m, v, err);

	if (st < 0)
		return st;
	if (parse(out, text, &why) < 0)
		return bk_yaml_fail(err, &m->file, v, "%s: %s", v->key->text, why.message);
	if (*out < min || *out > max)
		return bk_yaml_fail(err, &m->file, v,
				    "%s: %s is out of range; %" PRIu64 " to %" PRIu64, v->key->text,
				    text, min, max);
	return BK_OK;
}

static bk_status parse_name(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	return scalar(&m->name, m, v, err);
}

static bk_status parse_rounds(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	uint64_t n;
	bk_status st = number(&n, m, v, 1, BK_ROUNDS_MAX, bk_units_parse_count, err);

	if (st >= 0)
		m->rounds = (uint32_t)n;
	return st;
}

static bk_status parse_seed(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	return number(&m->seed, m, v, 0, UINT64_MAX, bk_units_parse_count, err);
}

static bk_status parse_durability(struct bk_matrix *m, const struct bk_yaml *v,
				  struct bk_error *err)
{
	const char *text;
	bk_status st = scalar(&text, m, v, err);
	uint32_t i;

	if (st < 0)
		return st;
	for (i = 0; durability_names[i]; i++) {
		if (strcmp(durability_names[i], text) == 0) {
			m->durability = i;
			return BK_OK;
		}
	}
	return bk_yaml_unknown(err, &m->file, v, "durability", durability_names);
}

static bk_status parse_reference(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	return scalar(&m->reference, m, v, err); /* checked once the variants are known */
}

static bk_status parse_data(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	m->data_named = true;
	return scalar(&m->data, m, v, err);
}

static bk_status parse_fresh(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	static const char *const words[] = {"true", "false", NULL};
	const char *text = "";
	bk_status st = scalar(&text, m, v, err);

	if (st < 0)
		return st;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return bk_yaml_unknown(err, &m->file, v, "value", words);
	m->fresh = strcmp(text, "true") == 0;
	return BK_OK;
}

static bk_status parse_guards(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	static const char *const keys[] = {"time", "disk_free", NULL};
	const struct bk_yaml *g;
	bk_status st = BK_OK;

	if (v->type != BK_YAML_MAP)
		return bk_yaml_fail(err, &m->file, v,
				    "guards takes {time: 10min, disk_free: 2GiB}");
	for (g = v->first; g && st >= 0; g = g->next) {
		if (strcmp(g->key->text, "time") == 0)
			st = number(&m->guard_time_ns, m, g, 1, UINT64_MAX, bk_units_parse_nsec,
				    err);
		else if (strcmp(g->key->text, "disk_free") == 0)
			st = number(&m->guard_disk_bytes, m, g, 0, UINT64_MAX, bk_units_parse_bytes,
				    err);
		else
			st = bk_yaml_unknown(err, &m->file, g->key, "guard", keys);
	}
	return st;
}

/* ---- Lists ----------------------------------------------------------------------- */

static bk_status as_list(const struct bk_yaml *v, struct bk_matrix *m, bool may_be_empty,
			 struct bk_error *err)
{
	if (v->type != BK_YAML_LIST)
		return bk_yaml_fail(err, &m->file, v,
				    "'%s' takes a list (lines that begin with -), not %s",
				    v->key->text, bk_yaml_kind(v));
	if (v->count == 0 && !may_be_empty)
		return bk_yaml_fail(err, &m->file, v, "the list of %s is empty", v->key->text);
	return BK_OK;
}

static bk_status parse_variants(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	const struct bk_yaml *entry;
	bk_status st = as_list(v, m, false, err);

	if (st < 0)
		return st;
	if (v->count > BK_VARIANTS_MAX)
		return bk_yaml_fail(err, &m->file, v, "more than %u variants", BK_VARIANTS_MAX);
	m->variants = bk_arena_alloc(&m->arena, v->count * sizeof(*m->variants));
	if (!m->variants)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
	for (entry = v->first; entry; entry = entry->next) {
		struct bk_variant *out = &m->variants[m->variant_count];
		size_t i;

		if (entry->type == BK_YAML_MAP) {
			st = bk_variant_parse(out, &m->arena, &m->file, entry, err);
		} else if (entry->type == BK_YAML_SCALAR) {
			struct bk_error why = bk_error_init();

			st = bk_variant_named(out, &m->standard, &m->arena, entry->text, &why);
			if (st < 0)
				return bk_yaml_fail(err, &m->file, entry, "%s", why.message);
		} else {
			st = bk_yaml_fail(err, &m->file, entry, "a variant is a name or a mapping");
		}
		if (st < 0)
			return st;
		out->at = entry;
		for (i = 0; i < m->variant_count; i++) {
			if (strcmp(m->variants[i].name, out->name) == 0)
				return bk_yaml_fail(err, &m->file, entry,
						    "variant '%s' is in the matrix twice",
						    out->name);
		}
		m->variant_count++;
	}
	return BK_OK;
}

static bk_status parse_scenarios(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	bk_status st = as_list(v, m, false, err);

	return st < 0 ? st : bk_matrix_cases(m, v, err);
}

static bk_status parse_exclude(struct bk_matrix *m, const struct bk_yaml *v, struct bk_error *err)
{
	return as_list(v, m, true, err); /* applied when variants and cases are known */
}

/* ---- All -------------------------------------------------------------------------- */

static const struct {
	const char *key;
	bk_status (*parse)(struct bk_matrix *, const struct bk_yaml *, struct bk_error *);
} keys[] = {
	{"name", parse_name},           {"rounds", parse_rounds},
	{"seed", parse_seed},           {"durability", parse_durability},
	{"reference", parse_reference}, {"data", parse_data},
	{"fresh", parse_fresh},         {"guards", parse_guards},
	{"variants", parse_variants},   {"scenarios", parse_scenarios},
	{"exclude", parse_exclude},
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

bk_status bk_matrix_keys(struct bk_matrix *m, struct bk_error *err)
{
	const char *known[KEYS + 1] = {NULL};
	const struct bk_yaml *v;
	bk_status st;
	size_t i;

	if (m->file.root->type != BK_YAML_MAP)
		return bk_yaml_fail(err, &m->file, m->file.root,
				    "a matrix is a mapping with variants: and scenarios:, not %s",
				    bk_yaml_kind(m->file.root));
	for (i = 0; i < KEYS; i++)
		known[i] = keys[i].key;
	for (v = m->file.root->first; v; v = v->next) {
		for (i = 0; i < KEYS && strcmp(keys[i].key, v->key->text) != 0; i++)
			;
		st = i < KEYS ? keys[i].parse(m, v, err)
			      : bk_yaml_unknown(err, &m->file, v->key, "key", known);
		if (st < 0)
			return st;
	}
	if (!m->variant_count || !m->case_count)
		return bk_fail(err, BK_INVALID, 0, "%s: a matrix needs %s", m->file.path,
			       m->variant_count ? "scenarios:" : "variants:");
	return BK_OK;
}
