/* expect: 'data/base' in `late` of its service is no name of a folder right below {data} */
#include <bakeoff/backend.h>

static const char *const programs[] = {"true", NULL};
static const struct bk_process processes[] = {{.name = "server", .argv = programs}, {.name = NULL}};
static const char *const late[] = {"base", "nowhere", "data/base", NULL};
static const struct bk_service service = {
	.struct_size = sizeof(service),
	.programs = programs,
	.processes = processes,
	.late = late,
};
#define BASE_SERVICE &service
#include "base.h"
