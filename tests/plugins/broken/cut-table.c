/* expect: operation node.remove is NULL */
/* a table may be shorter than ours, but not so short that a required operation is gone */
#define BASE_NODE_SIZE offsetof(struct bk_node_ops, remove)
#include "base.h"
