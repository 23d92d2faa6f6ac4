/* expect: its service has a struct_size of 8 bytes */
#include <bakeoff/backend.h>

static const struct bk_service service = {.struct_size = 8};
#define BASE_SERVICE &service
#include "base.h"
