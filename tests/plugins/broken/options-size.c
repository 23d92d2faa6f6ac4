/* expect: its options_size is 2097152, expected at most 1 MiB */
#define BASE_OPTIONS      BASE_OPTION("x", BK_OPT_U64)
#define BASE_OPTIONS_SIZE (2u << 20)
#include "base.h"
