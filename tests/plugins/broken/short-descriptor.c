/* expect: struct_size of 16 bytes, expected at least */
#define BASE_SIZE 16
#include "base.h"
