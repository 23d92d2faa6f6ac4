/* expect: its name is 'Bad_Name', expected 1 to 40 of [a-z0-9-] */
#define BASE_DECLARED_NAME "Bad_Name"
#include "base.h"
