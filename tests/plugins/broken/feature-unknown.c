/* expect: feature bits 0x4000000000000000 mean nothing */
#define BASE_NATIVE (BK_F_NODES | (UINT64_C(1) << 62))
#include "base.h"
