/* expect: option 'y': a second folder beside option 'x' */
#define BASE_OPTIONS                                                                               \
	BASE_OPTION("x", BK_OPT_STR, .offset = 8, .flags = BK_OPTF_FOLDER),                        \
		BASE_OPTION("y", BK_OPT_STR, .offset = 16, .flags = BK_OPTF_FOLDER)
#include "base.h"
