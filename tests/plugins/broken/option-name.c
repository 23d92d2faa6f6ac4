/* expect: option 'Two Words': expected a name of [a-z0-9-] */
#define BASE_OPTIONS BASE_OPTION("Two Words", BK_OPT_U64)
#include "base.h"
