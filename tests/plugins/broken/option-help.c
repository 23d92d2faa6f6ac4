/* expect: option 'x': its help is missing */
#define BASE_OPTIONS                                                                               \
	{                                                                                          \
		.name = "x", .type = BK_OPT_U64                                                    \
	}
#include "base.h"
