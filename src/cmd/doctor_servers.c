/*
 * doctor_servers.c - private servers: programs, user, folders.
 *
 * The one invariant: a server whose programs are missing is a note, not a problem: nobody has to
 * have all of them.
 */
#include "cmd/doctor.h"

#include "service/service.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>
#include <stdlib.h>

static void doctor_server(struct bk_doctor *doctor, const struct bk_plugin *plugin)
{
	struct bk_error err = bk_error_init();
	struct bk_options *options = NULL;
	char *program = NULL, *user = NULL;
	bk_status st = bk_options_new(&options, &plugin->desc, &err);

	if (st == BK_OK)
		st = bk_service_probe(&program, &user, plugin, options, &err);
	if (st == BK_OK && program && user)
		bk_doctor_say(doctor, BK_DOCTOR_OK, plugin->desc.name, NULL, "%s, run as %s",
			      program, user);
	else
		bk_doctor_say(doctor, BK_DOCTOR_NOTE, plugin->desc.name, NULL, "%s", err.message);
	free(program);
	free(user);
	bk_options_free(options);
}

static void doctor_places(struct bk_doctor *doctor)
{
	struct bk_error err = bk_error_init();
	char *data = NULL, *cache = NULL;

	if (bk_service_where(&data, &cache, &err) != BK_OK) {
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "folders",
			      "make room in /dev/shm or /tmp, or set TMPDIR and XDG_CACHE_HOME",
			      "%s", err.message);
		return;
	}
	bk_doctor_say(doctor, BK_DOCTOR_OK, "data", NULL, "%s", data);
	bk_doctor_say(doctor, BK_DOCTOR_OK, "templates", NULL, "%s", cache);
	free(data);
	free(cache);
}

void bk_doctor_servers(struct bk_doctor *doctor)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin_list list = {NULL, 0};
	size_t i;

	printf("private servers\n");
	if (bk_plugin_list_load(&list, &err) != BK_OK)
		return; /* said with the backends */
	for (i = 0; i < list.count; i++) {
		if (list.entries[i].plugin && list.entries[i].plugin->desc.service)
			doctor_server(doctor, list.entries[i].plugin);
	}
	bk_plugin_list_free(&list);
	doctor_places(doctor);
}
