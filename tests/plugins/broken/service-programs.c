/* expect: its service names no programs */
#include <bakeoff/backend.h>

static const struct bk_service service = {.struct_size = sizeof(service)};
#define BASE_SERVICE &service
#include "base.h"
