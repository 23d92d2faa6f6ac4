/* expect: its name is '(null)' */
#define BASE_DECLARED_NAME NULL
#include "base.h"
