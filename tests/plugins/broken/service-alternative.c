/* expect: '' in `late` of its service is no name of a folder right below {data} */
#include <bakeoff/backend.h>

static const char *const programs[] = {"true", NULL};
static const struct bk_process processes[] = {{.name = "server", .argv = programs}, {.name = NULL}};
static const char *const late[] = {"", NULL};
static const struct bk_service other = {
	.struct_size = sizeof(other),
	.programs = programs,
	.processes = processes,
	.late = late,
};
static const struct bk_service service = {
	.struct_size = sizeof(service),
	.programs = programs,
	.processes = processes,
	.alternative = &other,
};
#define BASE_SERVICE &service
#include "base.h"
