/* expect: its service has no processes */
#include <bakeoff/backend.h>

static const char *const programs[] = {"true", NULL};
static const struct bk_service service = {
	.struct_size = sizeof(service),
	.programs = programs,
};
#define BASE_SERVICE &service
#include "base.h"
