/* expect: option 'x': flags 0x8000 mean nothing */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .flags = 0x8000)
#include "base.h"
