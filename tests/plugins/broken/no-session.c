/* expect: its session table is NULL */
#define BASE_SESSION NULL
#include "base.h"
