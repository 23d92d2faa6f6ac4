/*
 * figure.c - a number and its unit for people: three significant digits.
 */
#include "report/progress.h"

#include <math.h>
#include <string.h>

static int decimals(double value)
{
	double a = fabs(value);

	if (a >= 0.0995 || a == 0)
		return a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
	return a >= 0.00995 ? 3 : 4;
}

static void seconds(char *out, double value)
{
	static const struct {
		double scale;
		const char *unit;
	} units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
	size_t i = 0;

	while (value != 0 && i < 3 && fabs(value) < units[i].scale * 0.9995)
		i++;
	value /= units[i].scale;
	snprintf(out, BK_FIGURE_MAX, "%.*f %s", decimals(value), value, units[i].unit);
}

void bk_figure_format(char out[BK_FIGURE_MAX], double value, const char *unit)
{
	static const char *const prefix[] = {"", "k", "M", "G", "T"};
	size_t i = 0;

	if (strcmp(unit, "s") == 0) {
		seconds(out, value);
		return;
	}
	if (strcmp(unit, "MB/s") == 0 || strcmp(unit, "ratio") == 0) {
		snprintf(out, BK_FIGURE_MAX, "%.*f%s", decimals(value), value,
			 unit[0] == 'M' ? " MB/s" : "");
		return;
	}
	if (strcmp(unit, "bytes") == 0) {
		while (i < 4 && fabs(value) >= 999.5) {
			value /= 1000;
			i++;
		}
		snprintf(out, BK_FIGURE_MAX, "%.*f %sB",
			 i || value != floor(value) ? decimals(value) : 0, value, prefix[i]);
		return;
	}
	while (i < 4 && fabs(value) >= 99950) {
		value /= 1000;
		i++;
	}
	snprintf(out, BK_FIGURE_MAX, "%.*f%s%s", i || value != floor(value) ? decimals(value) : 0,
		 value, prefix[i], strcmp(unit, "1/s") == 0 ? "/s" : "");
}
