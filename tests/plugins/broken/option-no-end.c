/* expect: its option table has no end within 256 entries */
#define ENTRY(h, l) BASE_OPTION("x" #h #l, BK_OPT_BOOL, .offset = 0x##h##l)
#define ROW(h)                                                                                     \
	ENTRY(h, 0), ENTRY(h, 1), ENTRY(h, 2), ENTRY(h, 3), ENTRY(h, 4), ENTRY(h, 5), ENTRY(h, 6), \
		ENTRY(h, 7), ENTRY(h, 8), ENTRY(h, 9), ENTRY(h, a), ENTRY(h, b), ENTRY(h, c),      \
		ENTRY(h, d), ENTRY(h, e), ENTRY(h, f)
#define BASE_OPTIONS                                                                               \
	ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7), ROW(8), ROW(9), ROW(a),    \
		ROW(b), ROW(c), ROW(d), ROW(e), ROW(f), ROW(10)
#define BASE_OPTIONS_SIZE 512
#include "base.h"
