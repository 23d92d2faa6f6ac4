/* expect: lie outside the option struct of 0 bytes */
#define BASE_OPTIONS      BASE_OPTION("x", BK_OPT_U64)
#define BASE_OPTIONS_SIZE 0
#include "base.h"
