/* expect: its ABI major is 7 (7.1), this bakeoff speaks 0.1 */
#define BASE_MAJOR 7
#include "base.h"
