/* expect: option 'x': its type is 99 */
#define BASE_OPTIONS BASE_OPTION("x", 99)
#include "base.h"
