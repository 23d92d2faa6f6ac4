/*
 * compare_print.c - a comparison as text or Markdown, or in one of the forms of compare_data.c: the
 * same figures in each.
 */
#include "report/compare_print.h"

#include "report/progress.h"
#include "report/published.h"
#include "util/buf.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* "12.3 ms (11.9 .. 12.8) x2.41 L" */
static void cell_text(struct bk_buf *buf, const struct bk_comparison_row *row,
		      const struct bk_comparison_cell *cell)
{
	char median[BK_FIGURE_MAX], min[BK_FIGURE_MAX], max[BK_FIGURE_MAX], ratio[BK_FIGURE_MAX];

	if (!cell->present) {
		bk_buf_puts(buf, "-");
		return;
	}
	if (cell->summary.n == 0) {
		bk_buf_puts(buf, cell->failed ? cell->status : "-");
		return;
	}
	bk_figure_format(median, cell->summary.median, row->unit);
	bk_buf_puts(buf, median);
	if (cell->summary.n > 1) {
		bk_figure_format(min, cell->summary.min, row->unit);
		bk_figure_format(max, cell->summary.max, row->unit);
		bk_buf_putf(buf, " (%s..%s)", min, max);
	}
	if (!isnan(cell->ratio)) {
		bk_figure_format(ratio, cell->ratio, "ratio");
		bk_buf_putf(buf, " x%s", ratio);
	}
	if (cell->marks && cell->marks[0])
		bk_buf_puts(buf, cell->marks[0] == 'l' ? " L" : " E");
	if (cell->from_cache && !row->counts)
		bk_buf_puts(buf, " C");
	if (cell->failed)
		bk_buf_putf(buf, " !%" PRIu32, cell->failed);
}

static void print_head(FILE *out, const struct bk_comparison *c, const char *bullet)
{
	json_t *host = json_loads(c->host, 0, NULL), *wake = json_object_get(host, "wakeup_ns");
	const char *cpu = json_string_value(json_object_get(host, "cpu"));
	json_t *data = json_object_get(host, "data");
	const char *fs = json_string_value(json_object_get(data, "filesystem"));
	size_t i;

	fprintf(out,
		"%sRun %" PRId64 ": %s, started %s, %s, %" PRIu32
		" round%s, durability %s, seed %s%s%s\n",
		bullet, c->run, c->matrix, c->started, c->status, c->rounds,
		c->rounds == 1 ? "" : "s", c->durability, c->seed, c->note ? "; " : "",
		c->note ? c->note : "");
	fprintf(out, "%sHost: %s, %" JSON_INTEGER_FORMAT " cores allowed, data on %s", bullet,
		cpu ? cpu : "unknown CPU",
		json_integer_value(json_object_get(host, "cores_allowed")), fs ? fs : "?");
	if (wake)
		fprintf(out, "; waking a process costs %.1f us a round trip, %.1f us on one core",
			json_number_value(json_object_get(wake, "free")) / 1e3,
			json_number_value(json_object_get(wake, "pinned")) / 1e3);
	fputc('\n', out);
	for (i = 0; i < c->variant_count; i++)
		fprintf(out, "%s%s = %s%s\n", bullet, c->variants[i].name, c->variants[i].product,
			i == c->reference ? "  (reference)" : "");
	json_decref(host);
}

static bool any_cell(const struct bk_comparison *c,
		     bool (*test)(const struct bk_comparison_cell *cell))
{
	size_t i, k;

	for (i = 0; i < c->row_count; i++) {
		for (k = 0; k < c->variant_count; k++) {
			if (test(&c->rows[i].cells[k]))
				return true;
		}
	}
	return false;
}

static bool is_looped(const struct bk_comparison_cell *cell)
{
	return cell->present && cell->marks && cell->marks[0] == 'l';
}

static bool is_emulated(const struct bk_comparison_cell *cell)
{
	return cell->present && cell->marks && cell->marks[0] == 'e';
}

static bool is_from_cache(const struct bk_comparison_cell *cell)
{
	return cell->present && cell->from_cache;
}

static bool has_failed(const struct bk_comparison_cell *cell)
{
	return cell->present && cell->failed;
}

static bool fails_alike(const struct bk_comparison_cell *a, const struct bk_comparison_cell *b)
{
	return has_failed(b) && a->error && b->error && strcmp(a->status, b->status) == 0 &&
	       strcmp(a->error, b->error) == 0;
}

/* What fails every case of a variant, a refused durability for one, is told once. */
static void print_failures(FILE *out, const struct bk_comparison *c, const char *bullet)
{
	size_t i, j, k, alike;

	for (i = 0; i < c->row_count; i++) {
		for (k = 0; k < c->variant_count; k++) {
			const struct bk_comparison_cell *cell = &c->rows[i].cells[k];

			if (!has_failed(cell))
				continue;
			for (j = 0; j < i && !fails_alike(cell, &c->rows[j].cells[k]); j++)
				;
			if (j < i)
				continue;
			for (alike = 0, j = i + 1; j < c->row_count; j++)
				alike += fails_alike(cell, &c->rows[j].cells[k]);
			fprintf(out, "%s%s/%s: %s in %" PRIu32 " of %" PRIu32 " rounds: %s", bullet,
				c->variants[k].name, c->rows[i].kase, cell->status, cell->failed,
				c->rounds, cell->error);
			if (alike)
				fprintf(out, "; so do %zu other cases of %s", alike,
					c->variants[k].name);
			fputc('\n', out);
		}
	}
}

static void print_notes(FILE *out, const struct bk_comparison *c, const char *bullet)
{
	size_t i, k;

	for (i = 0; i < c->row_count; i++) {
		for (k = 0; k < c->variant_count; k++) {
			const struct bk_comparison_cell *cell = &c->rows[i].cells[k];

			if (cell->present && cell->note)
				fprintf(out, "%s%s/%s: %s\n", bullet, c->variants[k].name,
					c->rows[i].kase, cell->note);
		}
	}
}

static void print_foot(FILE *out, const struct bk_comparison *c, const char *bullet)
{
	fprintf(out,
		"%sMedian of the rounds (smallest..largest), x ratio to %s (median of the rounds' "
		"ratios).  Ratios say what was measured, not yet what can be concluded.\n",
		bullet, c->variant_count ? c->variants[c->reference].name : "?");
	if (any_cell(c, is_looped))
		fprintf(out, "%sL: the store cannot do it; bakeoff made it of single calls.\n",
			bullet);
	if (any_cell(c, is_emulated))
		fprintf(out, "%sE: the engine cannot do it; the backend made it up.\n", bullet);
	if (any_cell(c, is_from_cache))
		fprintf(out,
			"%sC: answered from the node cache alone; it says what the cache costs, nothing "
			"about the store.\n",
			bullet);
	if (any_cell(c, has_failed))
		fprintf(out, "%s!n: n trials failed, which are left out of the figures:\n", bullet);
	print_failures(out, c, bullet);
	bk_published_print(out, c, bullet);
	print_notes(out, c, bullet);
}

static void pad(FILE *out, const char *text, size_t width, bool right)
{
	size_t len = strlen(text);

	fprintf(out, "%*s%s", right && len < width ? (int)(width - len) : 0, "", text);
	if (!right && len < width)
		fprintf(out, "%*s", (int)(width - len), "");
}

/* Column 0 is the case, 1 the metric, the others the variants. */
static char **make_texts(const struct bk_comparison *c, size_t columns)
{
	char **texts = calloc((c->row_count + 1) * columns, sizeof(*texts));
	size_t i, k;

	for (i = 0; texts && i <= c->row_count; i++) {
		for (k = 0; k < columns; k++) {
			struct bk_buf buf = BK_BUF_INIT;
			const struct bk_comparison_row *row = i ? &c->rows[i - 1] : NULL;

			if (k == 0)
				bk_buf_puts(&buf, row ? row->kase : "case");
			else if (k == 1)
				bk_buf_puts(&buf, row ? row->metric : "metric");
			else if (!row)
				bk_buf_puts(&buf, c->variants[k - 2].name);
			else
				cell_text(&buf, row, &row->cells[k - 2]);
			texts[i * columns + k] = bk_buf_steal(&buf);
		}
	}
	return texts;
}

/* The cases, with the columns from..to-1 of the variants. */
static void print_block(FILE *out, const struct bk_comparison *c, char *const *texts,
			const size_t *width, size_t from, size_t to, bool markdown)
{
	size_t columns = c->variant_count + 2, i, k;

	for (i = 0; i <= c->row_count; i++) {
		for (k = 0; k < to; k = k == 1 ? from : k + 1) {
			fputs(markdown ? (k ? " | " : "| ") : (k ? "  " : ""), out);
			pad(out, texts[i * columns + k] ? texts[i * columns + k] : "", width[k],
			    k > 1);
		}
		fputs(markdown ? " |\n" : "\n", out);
		for (k = 0; markdown && i == 0 && k < columns; k++)
			fprintf(out, "%s%s%s", k ? " " : "| ", k > 1 ? "---: |" : "--- |",
				k + 1 == columns ? "\n" : "");
	}
	fputc('\n', out);
}

/* What fits beside each other, at least one variant; a reader of a file or pipe has room. */
static size_t fitting(const size_t *width, size_t from, size_t columns)
{
	size_t used = width[0] + 2 + width[1], to = from;
	struct winsize size;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return columns;
	do
		used += 2 + width[to++];
	while (to < columns && used + 2 + width[to] <= size.ws_col);
	return to;
}

static void print_table(FILE *out, const struct bk_comparison *c, bool markdown)
{
	size_t columns = c->variant_count + 2, i, to, *width = calloc(columns, sizeof(*width));
	char **texts = make_texts(c, columns);

	for (i = 0; texts && width && i < (c->row_count + 1) * columns; i++) {
		size_t len = strlen(texts[i] ? texts[i] : "");

		if (len > width[i % columns])
			width[i % columns] = len;
	}
	print_head(out, c, markdown ? "- " : "");
	fputc('\n', out);
	for (i = 2; texts && width && i < columns; i = to) {
		to = markdown ? columns : fitting(width, i, columns);
		print_block(out, c, texts, width, i, to, markdown);
	}
	print_foot(out, c, markdown ? "- " : "");
	for (i = 0; texts && i < (c->row_count + 1) * columns; i++)
		free(texts[i]);
	free(texts);
	free(width);
}

void bk_comparison_print(FILE *out, const struct bk_comparison *c, enum bk_format format)
{
	switch (format) {
	case BK_FORMAT_CSV:
		bk_comparison_csv(out, c);
		break;
	case BK_FORMAT_JSON:
		bk_comparison_json(out, c);
		break;
	case BK_FORMAT_MARKDOWN:
	case BK_FORMAT_TABLE:
		print_table(out, c, format == BK_FORMAT_MARKDOWN);
		break;
	}
}
