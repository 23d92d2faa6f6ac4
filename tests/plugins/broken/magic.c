/* expect: begins with 0x12345678, expected the magic 0x31444b42 */
#define BASE_MAGIC 0x12345678u
#include "base.h"
