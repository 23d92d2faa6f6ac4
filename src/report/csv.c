/*
 * csv.c - see the header.
 */
#include "report/csv.h"

#include <string.h>

void bk_csv_field(FILE *out, const char *text)
{
	if (!text)
		return;
	if (!text[strcspn(text, "\",\r\n")]) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}
