/* expect: it has operation node.get_many but does not declare feature 'get-many' */
#define BASE_GET_MANY base_get_many
#include "base.h"
