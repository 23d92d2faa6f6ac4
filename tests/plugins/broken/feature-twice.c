/* expect: feature 'nodes' is both native and emulated */
#define BASE_EMULATED BK_F_NODES
#include "base.h"
