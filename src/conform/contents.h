/*
 * contents.h - a bit of everything that a store can hold, for cases about whole stores.
 *
 * The one invariant: what bk_fill() puts, bk_filled() demands and bk_empty() refuses; nodes only,
 * binaries only or both, as the store offers.
 */
#ifndef BK_CONFORM_CONTENTS_H
#define BK_CONFORM_CONTENTS_H

#include "conform/binaries.h"
#include "conform/nodes.h"

void bk_fill(struct bk_box *b, const char *tag);
void bk_filled(struct bk_box *b, struct bk_at at, const char *tag);
void bk_empty(struct bk_box *b, struct bk_at at, const char *tag);

#endif
