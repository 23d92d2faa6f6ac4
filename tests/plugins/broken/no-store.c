/* expect: its store table is NULL */
#define BASE_STORE NULL
#include "base.h"
