/*
 * published.c - looks the comparison's variants up in the table of published figures.
 */
#include "report/published.h"

#include "matrix/matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
	char scenario[32], variant[48];
	uint64_t n, size;
	double seconds;
};

static size_t load(struct row *rows, size_t max)
{
	char *path = bk_matrix_file("published.csv");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[256];
	size_t count = 0;

	while (f && count < max && fgets(line, sizeof(line), f)) {
		struct row *r = &rows[count];

		if (sscanf(line, "%31[^,],%" SCNu64 ",%" SCNu64 ",%47[^,],%lf", r->scenario, &r->n,
			   &r->size, r->variant, &r->seconds) == 5)
			count++;
	}
	if (f)
		fclose(f);
	free(path);
	return count;
}

static const struct row *find(const struct row *rows, size_t count, const char *scenario,
			      const char *variant)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(rows[i].scenario, scenario) == 0 &&
		    strcmp(rows[i].variant, variant) == 0)
			return &rows[i];
	}
	return NULL;
}

static bool has_scenario(const struct bk_comparison *c, const char *scenario)
{
	size_t i;

	for (i = 0; i < c->row_count; i++) {
		if (strcmp(c->rows[i].scenario, scenario) == 0)
			return true;
	}
	return false;
}

void bk_published_print(FILE *out, const struct bk_comparison *c, const char *bullet)
{
	struct row rows[256];
	size_t count = load(rows, 256), i;

	for (i = 0; c->variant_count && i < count; i++) {
		const struct row *ref =
			find(rows, count, rows[i].scenario, c->variants[c->reference].name);
		size_t v = 0;

		while (v < c->variant_count && strcmp(c->variants[v].name, rows[i].variant) != 0)
			v++;
		if (!ref || ref == &rows[i] || v == c->variant_count ||
		    !has_scenario(c, rows[i].scenario))
			continue;
		fprintf(out,
			"%sPublished, not measured here: %s took %.1f times as long as %s (as a rate x%.2f) for %s, %" PRIu64
			" x %" PRIu64 " B (%.0f s and %.0f s, over HTTP, other machines).\n",
			bullet, rows[i].variant, rows[i].seconds / ref->seconds, ref->variant,
			ref->seconds / rows[i].seconds, rows[i].scenario, rows[i].n, rows[i].size,
			rows[i].seconds, ref->seconds);
	}
}
