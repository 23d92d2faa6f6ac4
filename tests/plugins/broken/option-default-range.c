/* expect: option 'x': its default does not parse: '9' is not within 1 to 4 */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .def = "9", .min = 1, .max = 4)
#include "base.h"
