/*
 * tap.h - what is printed about the cases (TAP version 14).
 */
#ifndef BK_CONFORM_TAP_H
#define BK_CONFORM_TAP_H

#include "conform/expect.h"
#include "conform/process.h"
#include "conform/select.h"

void bk_tap_head(const struct bk_runner *p, size_t count);

/* One case, counted in `sum` too. */
void bk_tap_result(struct bk_conform_result *sum, const struct bk_conform_config *config,
		   size_t number, const struct bk_selected *s, const struct bk_case_result *r,
		   const struct bk_expect *expect);

/* The names of the features, with `before` in front of the first. */
void bk_tap_features(struct bk_buf *buf, const char *before, uint64_t bits);

#endif
