/* expect: its thread model is 4, expected one of BK_THREADS_* */
#define BASE_THREADS 4
#include "base.h"
