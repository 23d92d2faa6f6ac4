/*
 * rel_read.h - the statements that read nodes, for one and for many: see rel_get.c.
 */
#ifndef BK_MYSQL_REL_READ_H
#define BK_MYSQL_REL_READ_H

#include "rel.h"

/* `many`: WHERE id IN (*), and the id among the columns. */
void my_read_flat(char *text, size_t cap, uint32_t want, bool many);
void my_read_flat_columns(char *out, uint32_t want, bool many);
void my_read_union(char *text, size_t cap, uint32_t want, bool many);
#define MY_UNION_COLUMNS "nbnnbbb"

#endif
