/*
 * secrets.h - a matrix's text as it may be kept: without what its secret options say.
 */
#ifndef BK_RUN_SECRETS_H
#define BK_RUN_SECRETS_H

#include "run/stores.h"

/* The caller's to free; NULL: no memory. */
char *bk_matrix_text_without_secrets(const struct bk_matrix *matrix,
				     const struct bk_variant_stores *stores);

#endif
