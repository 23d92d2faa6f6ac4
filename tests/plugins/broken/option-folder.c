/* expect: option 'x': a folder or URL is expected to be BK_OPT_STR */
#define BASE_OPTIONS BASE_OPTION("x", BK_OPT_U64, .flags = BK_OPTF_FOLDER)
#include "base.h"
