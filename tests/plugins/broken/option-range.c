/* expect: option 'x': its min 5 is above its max 4 */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .min = 5, .max = 4)
#include "base.h"
