/* expect: option 'x': stands in the table twice */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64), BASE_OPTION("x", BK_OPT_U64, .offset = 8)
#include "base.h"
