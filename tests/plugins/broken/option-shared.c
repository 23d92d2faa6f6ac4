/* expect: option 'y': shares bytes of the struct with option 'x' */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64), BASE_OPTION("y", BK_OPT_BOOL, .offset = 7)
#include "base.h"
