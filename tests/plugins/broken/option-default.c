/* expect: option 'x': its default does not parse: '64K' is not a size */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_BYTES, .def = "64K")
#include "base.h"
