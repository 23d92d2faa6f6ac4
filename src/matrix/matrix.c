/*
 * matrix.c - a matrix file from top to bottom, and what the command line changes in it.
 */
#include "matrix/parse.h"

#include "results/results.h"
#include "util/suggest.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIANTS_MAX 64u

static const char *const durability_names[] = {"none", "process", "machine", NULL};

const char *bk_durability_name(uint32_t durability)
{
	return durability <= BK_DURABLE_MACHINE ? durability_names[durability] : "?";
}

bk_status bk_matrix_unknown(struct bk_error *err, const struct bk_yaml_file *file,
			    const struct bk_yaml *at, const char *what, const char *const *known)
{
	const char *near = bk_suggest_in(at->text, known);
	char list[200] = "";
	size_t i, used = 0;

	if (near)
		return bk_yaml_fail(err, file, at, "%s '%s' is unknown; did you mean '%s'?", what,
				    at->text, near);
	for (i = 0; known[i] && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 known[i]);
	return bk_yaml_fail(err, file, at, "%s '%s' is unknown; known are: %s", what, at->text,
			    list);
}

/* ---- Single keys ---------------------------------------------------------------- */

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
	return bk_matrix_unknown(err, &m->file, v, "durability", durability_names);
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
		return bk_matrix_unknown(err, &m->file, v, "value", words);
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
			st = bk_matrix_unknown(err, &m->file, g->key, "guard", keys);
	}
	return st;
}

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
	if (v->count > VARIANTS_MAX)
		return bk_yaml_fail(err, &m->file, v, "more than %u variants", VARIANTS_MAX);
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

/* ---- The whole ------------------------------------------------------------------- */

static bk_status parse_keys(struct bk_matrix *m, struct bk_error *err)
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
			      : bk_matrix_unknown(err, &m->file, v->key, "key", known);
		if (st < 0)
			return st;
	}
	if (!m->variant_count || !m->case_count)
		return bk_fail(err, BK_INVALID, 0, "%s: a matrix needs %s", m->file.path,
			       m->variant_count ? "scenarios:" : "variants:");
	return BK_OK;
}

static bk_status check_reference(struct bk_matrix *m, struct bk_error *err)
{
	const char *names[VARIANTS_MAX + 1] = {NULL};
	size_t i;

	for (i = 0; i < m->variant_count; i++)
		names[i] = m->variants[i].name;
	if (!m->reference) {
		m->reference = names[0];
		return BK_OK;
	}
	for (i = 0; i < m->variant_count; i++) {
		if (strcmp(names[i], m->reference) == 0)
			return BK_OK;
	}
	return bk_matrix_unknown(err, &m->file, bk_yaml_get(m->file.root, "reference"),
				 "reference variant", names);
}

/* Scenarios with binaries need a place for them. */
static bk_status check_binaries(const struct bk_matrix *m, struct bk_error *err)
{
	size_t i;

	for (i = 0; i < m->cell_count; i++) {
		const struct bk_variant *v = &m->variants[m->cells[i].variant];

		if (m->cases[m->cells[i].kase].scenario->binaries && !v->binaries.backend)
			return bk_yaml_fail(
				err, &m->file, v->at,
				"variant '%s' has no store of binaries, which %s needs; "
				"add binaries: {backend: NAME} or exclude the pair",
				v->name, m->cells[i].name);
	}
	return BK_OK;
}

static bool in_list(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list) {
		size_t n = strcspn(list, ",");

		if (n == len && strncmp(list, name, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

static bk_status check_variant_names(struct bk_matrix *m, const char *list, struct bk_error *err)
{
	size_t i;

	while (*list) {
		char *name = bk_arena_strndup(&m->arena, list, strcspn(list, ","));
		struct bk_suggest suggest;
		bool found = false;

		if (!name)
			return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
		bk_suggest_init(&suggest, name);
		for (i = 0; i < m->variant_count; i++) {
			bk_suggest_offer(&suggest, m->variants[i].name);
			found = found || strcmp(m->variants[i].name, name) == 0;
		}
		if (!found)
			return bk_fail(err, BK_INVALID, 0,
				       "--variants: '%s' is not in this matrix%s%s%s", name,
				       suggest.best ? "; did you mean '" : "",
				       suggest.best ? suggest.best : "",
				       suggest.best ? "'?" : "; add it to the file's `variants`");
		list += strcspn(list, ",");
		list += *list == ',';
	}
	return BK_OK;
}

/* The cells of other variants are never made; exclusions may still name them. */
static bk_status keep_variants(struct bk_matrix *m, const char *list, struct bk_error *err)
{
	bk_status st = check_variant_names(m, list, err);
	size_t i, kept = 0;

	if (st < 0)
		return st;
	for (i = 0; i < m->cell_count; i++) {
		if (in_list(list, m->variants[m->cells[i].variant].name))
			m->cells[kept++] = m->cells[i];
	}
	m->cell_count = kept;
	if (!kept)
		return bk_fail(err, BK_INVALID, 0, "--variants '%s' leaves no cell", list);
	return BK_OK;
}

/* A variant of which no cell is left is not opened, and no server is started for it. */
static void drop_idle_variants(struct bk_matrix *m)
{
	size_t index[VARIANTS_MAX], i, k, kept = 0;
	bool reference = false;

	for (i = 0; i < m->variant_count; i++) {
		bool used = false;

		for (k = 0; k < m->cell_count && !used; k++)
			used = m->cells[k].variant == i;
		index[i] = kept;
		if (!used)
			continue;
		reference = reference || strcmp(m->variants[i].name, m->reference) == 0;
		m->variants[kept++] = m->variants[i];
	}
	m->variant_count = kept;
	for (k = 0; k < m->cell_count; k++)
		m->cells[k].variant = index[m->cells[k].variant];
	if (!reference)
		m->reference = m->variants[0].name;
}

static bk_status override_number(uint64_t *out, const char *flag, const char *text, uint64_t min,
				 uint64_t max, struct bk_error *err)
{
	struct bk_error why = bk_error_init();

	if (bk_units_parse_count(out, text, &why) < 0)
		return bk_fail(err, BK_INVALID, 0, "%s: %s", flag, why.message);
	if (*out < min || *out > max)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: %s is out of range; %" PRIu64 " to %" PRIu64, flag, text, min,
			       max);
	return BK_OK;
}

static bool add_option(struct bk_matrix *m, struct bk_half *half, const char *name,
		       const char *value, bool *known)
{
	struct bk_pair_text *options =
		bk_arena_alloc(&m->arena, (half->option_count + 2) * sizeof(*options));

	if (!options)
		return false;
	if (half->option_count)
		memcpy(options, half->options, half->option_count * sizeof(*options));
	options[half->option_count] =
		(struct bk_pair_text){.name = name, .value = value, .known = known};
	half->options = options;
	half->option_count++;
	return true;
}

/* NAME is a variant or a backend; without it the option goes to every store (of a backend that has
 * it: the run looks). */
static bk_status apply_set(struct bk_matrix *m, const char *set, struct bk_error *err)
{
	const char *equals = strchr(set, '='), *dot;
	char *target = NULL, *name, *value;
	bool *known = NULL;
	size_t i, applied = 0;

	if (!equals || equals == set)
		return bk_fail(err, BK_INVALID, 0, "--set '%s': write [NAME.]option=value", set);
	dot = memchr(set, '.', (size_t)(equals - set));
	if (dot)
		target = bk_arena_strndup(&m->arena, set, (size_t)(dot - set));
	name = bk_arena_strndup(&m->arena, dot ? dot + 1 : set,
				(size_t)(equals - (dot ? dot + 1 : set)));
	value = bk_arena_strdup(&m->arena, equals + 1);
	if (!target)
		known = bk_arena_alloc(&m->arena, sizeof(*known));
	if (!name || !value || (dot ? !target : !known))
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
	for (i = 0; i < m->variant_count; i++) {
		struct bk_variant *v = &m->variants[i];
		struct bk_half *halves[2] = {&v->nodes, &v->binaries};
		size_t h;

		for (h = 0; h < 2; h++) {
			if (!halves[h]->backend)
				continue;
			if (target && strcmp(target, v->name) != 0 &&
			    strcmp(target, halves[h]->backend) != 0)
				continue;
			if (!add_option(m, halves[h], name, value, known))
				return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
			applied++;
		}
	}
	if (!applied)
		return bk_fail(
			err, BK_INVALID, 0,
			"--set '%s': no variant and no backend of this matrix is called '%s'", set,
			target ? target : "");
	return BK_OK;
}

static bk_status apply(struct bk_matrix *m, const struct bk_matrix_overrides *o,
		       struct bk_error *err)
{
	uint64_t rounds;
	bk_status st = BK_OK;
	size_t i;

	if (o->rounds) {
		st = override_number(&rounds, "--rounds", o->rounds, 1, BK_ROUNDS_MAX, err);
		if (st >= 0)
			m->rounds = (uint32_t)rounds;
	}
	if (o->seed && st >= 0)
		st = override_number(&m->seed, "--seed", o->seed, 0, UINT64_MAX, err);
	if (o->data) {
		m->data = bk_arena_strdup(&m->arena, o->data);
		m->data_named = true;
	}
	for (i = 0; o->sets && o->sets[i] && st >= 0; i++)
		st = apply_set(m, o->sets[i], err);
	return st;
}

bk_status bk_matrix_load(struct bk_matrix *out, const char *path,
			 const struct bk_matrix_overrides *overrides, struct bk_error *err)
{
	struct bk_matrix *m = out;
	bk_status st;

	memset(m, 0, sizeof(*m));
	m->name = "unnamed";
	m->rounds = 3;
	m->seed = 1;
	m->durability = BK_DURABLE_MACHINE;
	m->data = "./bakeoff-data";
	m->guard_time_ns = UINT64_C(600) * 1000000000u;
	m->guard_disk_bytes = UINT64_C(1) << 30;
	st = bk_yaml_load(&m->file, path, err);
	if (st >= 0)
		st = bk_matrix_standard(&m->standard, &m->arena, err);
	if (st >= 0)
		st = parse_keys(m, err);
	if (st >= 0)
		st = check_reference(m, err);
	if (st >= 0)
		st = apply(m, overrides, err);
	if (st >= 0)
		st = bk_matrix_cells(m, bk_yaml_get(m->file.root, "exclude"), overrides->only, err);
	if (st >= 0 && overrides->variants)
		st = keep_variants(m, overrides->variants, err);
	if (st >= 0) {
		drop_idle_variants(m);
		st = check_binaries(m, err);
	}
	if (st < 0)
		bk_matrix_free(m);
	return st;
}

void bk_matrix_free(struct bk_matrix *m)
{
	free(m->cases);
	free(m->case_names);
	free(m->cells);
	bk_arena_free(&m->arena);
	bk_arena_free(&m->file.arena);
	bk_arena_free(&m->standard.arena);
	memset(m, 0, sizeof(*m));
}
