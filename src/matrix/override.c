/*
 * override.c - what the command line changes in a matrix that is read.
 *
 * Its errors name the flag: there is no line of a file to point at.
 */
#include "matrix/parse.h"

#include "results/results.h"
#include "util/list.h"
#include "util/suggest.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <string.h>

/* ---- Single values and options ---------------------------------------------------- */

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
		return bk_fail(err, BK_INVALID, 0, "--set: write [NAME.]option=value");
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
			"--set '%.*s': no variant and no backend of this matrix is called '%s'",
			(int)(equals - set), set, target ? target : "");
	return BK_OK;
}

bk_status bk_matrix_override(struct bk_matrix *m, const struct bk_matrix_overrides *o,
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

/* ---- --variants -------------------------------------------------------------------- */

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
bk_status bk_matrix_keep_variants(struct bk_matrix *m, const char *list, struct bk_error *err)
{
	bk_status st = check_variant_names(m, list, err);
	size_t i, kept = 0;

	if (st < 0)
		return st;
	for (i = 0; i < m->cell_count; i++) {
		if (bk_list_has(list, m->variants[m->cells[i].variant].name))
			m->cells[kept++] = m->cells[i];
	}
	m->cell_count = kept;
	if (!kept)
		return bk_fail(err, BK_INVALID, 0, "--variants '%s' leaves no cell", list);
	return BK_OK;
}
