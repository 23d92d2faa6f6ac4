/* expect: option 'x': it has choices, expected with BK_OPT_ENUM only */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .choices = base_choices)
#include "base.h"
