/* expect: bk_backend() returned NULL */
#define BASE_RETURN NULL
#include "base.h"
