/* expect: operation node.get is NULL */
#define BASE_GET NULL
#include "base.h"
