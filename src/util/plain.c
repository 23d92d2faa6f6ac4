/*
 * plain.c - see the header.  Each line is cleaned by the same rule as an error message.
 */
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void bk_plain_puts(char *text, FILE *out)
{
	char *line, *end;

	for (line = text; *line; line = end) {
		bool whole;

		end = line + strcspn(line, "\n");
		whole = *end == '\n';
		*end = '\0';
		bk_clean(line);
		fputs(line, out);
		if (whole) {
			fputc('\n', out);
			end++;
		}
	}
}

void bk_plain_begin(struct bk_plain *plain)
{
	plain->text = NULL;
	plain->len = 0;
	plain->file = open_memstream(&plain->text, &plain->len);
}

int bk_plain_end(struct bk_plain *plain, FILE *out)
{
	int rc = plain->file && fclose(plain->file) == 0 ? 0 : -1;

	if (rc == 0)
		bk_plain_puts(plain->text, out);
	free(plain->text);
	plain->text = NULL;
	return rc;
}
