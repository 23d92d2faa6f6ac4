/* expect: its node table has a struct_size of 0 bytes */
#define BASE_NODE_SIZE 0
#include "base.h"
