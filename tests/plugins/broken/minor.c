/* expect: its ABI minor is 9 (0.9), this bakeoff speaks 0.1 */
#define BASE_MINOR 9
#include "base.h"
