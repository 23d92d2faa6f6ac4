/* expect: option 'x': BK_OPT_ENUM without choices */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_ENUM)
#include "base.h"
