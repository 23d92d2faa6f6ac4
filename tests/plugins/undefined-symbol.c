/* A backend whose client library is not there: a symbol that nobody defines. */
extern int nobody_defines_this(void);

#define BASE_RETURN (nobody_defines_this() ? (const struct bk_backend *)0 : 0)
#include "base.h"
