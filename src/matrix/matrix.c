/*
 * matrix.c - a matrix file from top to bottom: read, changed by the command line, checked as a
 * whole.
 */
#include "matrix/parse.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bk_status check_reference(struct bk_matrix *m, struct bk_error *err)
{
	const char *names[BK_VARIANTS_MAX + 1] = {NULL};
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
	return bk_yaml_unknown(err, &m->file, bk_yaml_get(m->file.root, "reference"),
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

/* A variant of which no cell is left is not opened, and no server is started for it. */
static bk_status drop_idle_variants(struct bk_matrix *m, struct bk_error *err)
{
	size_t index[BK_VARIANTS_MAX], i, k, kept = 0;
	bool reference = false;

	m->idle = bk_arena_alloc(&m->arena, m->variant_count * sizeof(*m->idle));
	if (!m->idle)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the matrix");
	for (i = 0; i < m->variant_count; i++) {
		bool used = false;

		for (k = 0; k < m->cell_count && !used; k++)
			used = m->cells[k].variant == i;
		index[i] = kept;
		if (!used) {
			m->idle[m->idle_count++] = m->variants[i];
			continue;
		}
		reference = reference || strcmp(m->variants[i].name, m->reference) == 0;
		m->variants[kept++] = m->variants[i];
	}
	m->variant_count = kept;
	for (k = 0; k < m->cell_count; k++)
		m->cells[k].variant = index[m->cells[k].variant];
	if (!reference)
		m->reference = m->variants[0].name;
	return BK_OK;
}

/* A matrix that came with bakeoff lies elsewhere once bakeoff is installed. */
static void say_where(const char *path, struct bk_error *err)
{
	const char *slash = strrchr(path, '/');
	char *found;

	if (access(path, F_OK) == 0 || errno != ENOENT)
		return;
	found = bk_matrix_file(slash ? slash + 1 : path);
	if (found && access(found, R_OK) == 0)
		bk_fail(err, err->status, err->vendor_code, "%s: no such file; did you mean %s?",
			path, found);
	free(found);
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
	if (st < 0)
		say_where(path, err);
	if (st >= 0)
		st = bk_matrix_standard(&m->standard, &m->arena, err);
	if (st >= 0)
		st = bk_matrix_keys(m, err);
	if (st >= 0)
		st = check_reference(m, err);
	if (st >= 0)
		st = bk_matrix_override(m, overrides, err);
	if (st >= 0)
		st = bk_matrix_cells(m, bk_yaml_get(m->file.root, "exclude"), overrides->only, err);
	if (st >= 0 && overrides->variants)
		st = bk_matrix_keep_variants(m, overrides->variants, err);
	if (st >= 0)
		st = drop_idle_variants(m, err);
	if (st >= 0)
		st = check_binaries(m, err);
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
