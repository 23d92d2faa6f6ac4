/* expect: option 'x': it is required and has a default */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .flags = BK_OPTF_REQUIRED, .def = "1")
#include "base.h"
