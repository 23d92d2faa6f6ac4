/* expect: feature 'nodes' is declared but the node table is NULL */
#define BASE_NODE NULL
#include "base.h"
