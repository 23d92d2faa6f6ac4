/* expect: so the file's name is expected to be bk-somebody-else.so */
#define BASE_DECLARED_NAME "somebody-else"
#include "base.h"
