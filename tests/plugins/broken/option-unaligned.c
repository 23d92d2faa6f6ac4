/* expect: option 'x': its offset 4 is not aligned */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .offset = 4)
#include "base.h"
