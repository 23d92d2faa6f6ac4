/* expect: feature 'get-many' is declared but operation node.get_many is NULL */
#define BASE_NATIVE (BK_F_NODES | BK_F_GET_MANY)
#include "base.h"
