/*
 * dryrun.c - a matrix's cells with their bill.
 */
#include "report/dryrun.h"

#include "util/units.h"

#include <inttypes.h>
#include <string.h>

void bk_dryrun_print(FILE *out, const struct bk_matrix *m, struct bk_results *earlier)
{
	char text[BK_UNITS_MAX], total_text[BK_UNITS_MAX];
	uint64_t total = 0;
	double known = 0;
	size_t unknown = 0, i;
	int width = 40;

	for (i = 0; i < m->cell_count; i++) {
		int len = (int)strlen(m->cells[i].name);

		width = len > width ? len : width;
	}

	fprintf(out,
		"%s: %zu variants, %zu cells, %" PRIu32 " rounds, durability %s, seed %" PRIu64
		"\n\n",
		m->name, m->variant_count, m->cell_count, m->rounds,
		bk_durability_name(m->durability), m->seed);
	fprintf(out, "%-*s  %10s  %s\n", width, "cell", "data", "seconds a trial");
	for (i = 0; i < m->cell_count; i++) {
		const struct bk_case *c = &m->cases[m->cells[i].kase];
		uint64_t bytes = c->scenario->bytes ? c->scenario->bytes(c) : 0;
		double seconds =
			earlier ? bk_results_earlier_seconds(earlier, m->cells[i].name) : -1;

		total += bytes;
		fprintf(out, "%-*s  %10s  ", width, m->cells[i].name,
			bk_units_human_bytes(text, (double)bytes));
		if (seconds >= 0) {
			fprintf(out, "%.2f\n", seconds);
			known += seconds * m->rounds;
		} else {
			fprintf(out, "not known yet\n");
			unknown++;
		}
	}
	fprintf(out, "\ndata at most %s", bk_units_human_bytes(total_text, (double)total));
	if (unknown == m->cell_count)
		fprintf(out, "; time not known yet\n");
	else
		fprintf(out, "; about %.0f s by earlier trials%s\n", known,
			unknown ? ", and the cells whose time is not known yet" : "");
}
