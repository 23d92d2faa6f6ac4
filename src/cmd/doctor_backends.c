/*
 * doctor_backends.c - the search path and what was found on it.
 */
#include "cmd/doctor.h"

#include "plugin/options.h"
#include "plugin/plugin.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <stdio.h>

static void doctor_folders(struct bk_doctor *doctor)
{
	char **folders = bk_plugin_folders();
	size_t i;

	for (i = 0; folders && folders[i]; i++) {
		bool there = bk_fs_is_folder(folders[i]);

		/* of the build tree's and the installed folder one is always missing */
		bk_doctor_say(doctor, there ? BK_DOCTOR_OK : BK_DOCTOR_NOTE, "folder", NULL, "%s%s",
			      folders[i], there ? "" : " (not there)");
	}
	bk_plugin_folders_free(folders);
}

void bk_doctor_backends(struct bk_doctor *doctor)
{
	struct bk_error err = bk_error_init();
	struct bk_plugin_list list = {NULL, 0};
	char *const *removed;
	size_t i;

	printf("backends\n");
	doctor_folders(doctor);
	if (bk_plugin_list_load(&list, &err) != BK_OK)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "backends", "try again", "%s",
			      err.message);
	else if (list.count == 0)
		bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, "backends",
			      "set BAKEOFF_BACKENDS to the folder that holds them, or install them",
			      "none was found");
	for (i = 0; i < list.count; i++) {
		const struct bk_plugin_entry *entry = &list.entries[i];

		if (entry->plugin)
			bk_doctor_say(doctor, BK_DOCTOR_OK, entry->name, NULL, "%s, %s",
				      entry->plugin->desc.version, entry->path);
		else
			bk_doctor_say(doctor, BK_DOCTOR_PROBLEM, entry->name,
				      "mend it as the message says, or take the file away", "%s",
				      entry->refusal.message);
	}
	bk_plugin_list_free(&list);
	for (removed = bk_options_environment_removed(); *removed; removed++)
		bk_doctor_say(doctor, BK_DOCTOR_NOTE, "environment", NULL,
			      "%.*s is hidden from client libraries; only options that name it see "
			      "it",
			      (int)strcspn(*removed, "="), *removed);
}
