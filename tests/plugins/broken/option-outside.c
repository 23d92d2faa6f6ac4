/* expect: lie outside the option struct of */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .offset = sizeof(struct base_options))
#include "base.h"
