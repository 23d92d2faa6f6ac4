/* expect: it has no version text */
#define BASE_VERSION NULL
#include "base.h"
