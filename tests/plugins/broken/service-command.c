/* expect: process 'server' of its service has no command */
#include <bakeoff/backend.h>

static const char *const programs[] = {"true", NULL};
static const struct bk_process processes[] = {{.name = "server"}, {.name = NULL}};
static const struct bk_service service = {
	.struct_size = sizeof(service),
	.programs = programs,
	.processes = processes,
};
#define BASE_SERVICE &service
#include "base.h"
