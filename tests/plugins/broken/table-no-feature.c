/* expect: it has a txn table but does not declare feature 'txn' */
#define BASE_TXN &base_txn
#include "base.h"
