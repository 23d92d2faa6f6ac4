/* expect: it keeps neither nodes nor binaries nor places */
#define BASE_NATIVE 0
#define BASE_NODE   NULL
#include "base.h"
