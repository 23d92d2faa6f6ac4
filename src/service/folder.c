/*
 * folder.c - a server's folder, made and removed by its keeper.
 *
 *   ROOT/bakeoff.SUFFIX/   0700; 0710 and the server's group when root keeps it
 *     state.json lock control   the keeper's
 *     log/                      0700; what servers and commands print
 *     data/ run/                0700; the property of the user that the server runs as
 */
#include "service/keeper.h"

#include "service/proc.h"
#include "service/root.h"
#include "service/segments.h"
#include "service/state.h"
#include "service/template.h"
#include "service/unpack.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bk_status fld_fail(struct bk_error *err, const char *what, const char *path)
{
	int e = errno;

	return bk_fail(err, bk_fs_status(e), e, "cannot %s %s: %s", what, path, strerror(e));
}

static bk_status fld_give(const struct bk_keeper *k, const char *path, struct bk_error *err)
{
	const struct bk_identity *id = &k->run->identity;

	if (id->drop && chown(path, id->uid, id->gid) != 0)
		return fld_fail(err, "give away", path);
	return BK_OK;
}

static bk_status fld_make_run(struct bk_keeper *k, struct bk_error *err)
{
	bk_status st = BK_OK;

	k->run_folder = bk_fs_join(k->run->folder, "run");
	if (!k->run_folder)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (strlen(k->run_folder) > BK_ROOT_SOCKET_MAX) {
		free(k->run_folder);
		k->run_folder = NULL;
		st = bk_root_short(&k->run_folder, k->run->suffix, k->run->folder, err);
		if (st == BK_OK) /* best effort, as long as it is young nobody removes it */
			k->run_lock = bk_state_lock_folder(k->run_folder);
	} else if (mkdir(k->run_folder, 0700) != 0) {
		st = fld_fail(err, "make folder", k->run_folder);
	}
	return st == BK_OK ? fld_give(k, k->run_folder, err) : st;
}

static bk_status fld_set_values(struct bk_keeper *k, struct bk_error *err)
{
	const struct bk_service *service = k->run->service;
	struct bk_values *v = &k->run->values;
	char *socket = NULL;
	bk_status st = BK_OK;

	if (!bk_values_set(v, "data", k->data) || !bk_values_set(v, "run", k->run_folder))
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	if (service && service->socket)
		st = bk_expand_new(&socket, service->socket, v, 0, err);
	if (st == BK_OK && !bk_values_set(v, "socket", socket ? socket : ""))
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	free(socket);
	return st;
}

bk_status bk_keeper_make_folder(struct bk_keeper *k, struct bk_error *err)
{
	const char *folder = k->run->folder;
	char *log;
	bk_status st = BK_OK;

	if (mkdir(folder, 0700) != 0)
		return fld_fail(err, "make folder", folder);
	k->lock = bk_state_lock(folder);
	if (k->lock < 0)
		return bk_fail(err, BK_IO, errno, "cannot lock %s: %s", folder, strerror(errno));
	if (k->run->identity.drop &&
	    (chown(folder, (uid_t)-1, k->run->identity.gid) != 0 || chmod(folder, 0710) != 0))
		return fld_fail(err, "set the mode of", folder);
	log = bk_fs_join(folder, "log");
	k->command_log = bk_fs_join(folder, "log/commands.log");
	k->data = bk_fs_join(folder, "data");
	if (!log || !k->command_log || !k->data)
		st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	else if (mkdir(log, 0700) != 0)
		st = fld_fail(err, "make folder", log);
	free(log);
	if (st == BK_OK)
		st = fld_make_run(k, err);
	if (st == BK_OK)
		st = fld_set_values(k, err);
	if (st == BK_OK)
		st = bk_keeper_save_state(k, err);
	if (st == BK_OK)
		st = bk_state_register(k->run->id, folder, err);
	return st;
}

bk_status bk_keeper_copy_failed(const struct bk_keeper *k, const struct bk_error *cause,
				struct bk_error *err)
{
	return bk_fail(err, cause->status, cause->vendor_code,
		       "copying the template %s (%llu MiB) to %s: %s", k->run->template,
		       (unsigned long long)(bk_template_bytes(k->run->key) >> 20), k->data,
		       cause->message);
}

static bk_status fld_copy(struct bk_keeper *k, struct bk_error *err)
{
	const struct bk_service_run *run = k->run;
	struct bk_unpack how = {.uid = run->identity.drop ? run->identity.uid : (uid_t)-1,
				.gid = run->identity.gid,
				.workers = bk_unpack_workers(),
				.stop = bk_keeper_stopped,
				.stop_ctx = k};
	struct bk_error cause = bk_error_init();
	bk_status st = BK_OK;

	if (k->pack.fd < 0)
		st = bk_pack_open(&k->pack, run->template, &cause);
	if (st != BK_OK)
		bk_pack_close(&k->pack);
	if (bk_template_take_spare(run, k->data))
		return BK_OK;
	/* What is measured begins with nothing left to copy. */
	if (run->service && run->config.profile == BK_PROFILE_TEST)
		how.late = BK_SERVICE_MEMBER(run->service, late);
	if (st == BK_OK)
		st = bk_unpack_tree(&how, &k->pack, k->data, &cause);
	if (st != BK_OK)
		bk_keeper_copy_failed(k, &cause, err);
	else if (how.late)
		st = bk_keeper_begin_late(k, &how, err);
	return st;
}

/* So that the copy's own write-back is not measured with what the server does. */
static void fld_settle(const struct bk_keeper *k)
{
	int fd = open(k->data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		syncfs(fd);
		close(fd);
	}
}

bk_status bk_keeper_fill_data(struct bk_keeper *k, struct bk_error *err)
{
	bk_status st;

	if (k->run->template) {
		st = fld_copy(k, err);
	} else if (mkdir(k->data, 0700) != 0) {
		st = fld_fail(err, "make folder", k->data);
	} else {
		st = fld_give(k, k->data, err);
		if (st == BK_OK && k->run->service)
			st = bk_keeper_commands(k, k->run->service->init, false, err);
	}
	if (st == BK_OK && k->run->service && k->run->config.profile == BK_PROFILE_BENCH)
		fld_settle(k);
	return st;
}

static bk_status fld_write_file(const struct bk_keeper *k, const char *name, const char *text,
				struct bk_error *err)
{
	const struct bk_identity *id = &k->run->identity;
	char *path = bk_fs_join(k->run_folder, name);
	bk_status st = BK_OK;
	int fd;

	if (!path)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || !bk_fs_write_all(fd, text, strlen(text)))
		st = fld_fail(err, "write", path);
	/* The folder is the server's user's, who can put a link there: not by its name */
	if (st == BK_OK && id->drop && fchown(fd, id->uid, id->gid) != 0)
		st = fld_fail(err, "give away", path);
	if (fd >= 0)
		close(fd);
	free(path);
	return st;
}

bk_status bk_keeper_write_files(struct bk_keeper *k, struct bk_error *err)
{
	const struct bk_setting *files = k->run->service->files;
	char *text;
	bk_status st = BK_OK;
	size_t i;

	for (i = 0; st == BK_OK && files && files[i].key; i++) {
		if (!bk_setting_counts(files, i, k->run->mask))
			continue;
		/* What a command after the start captures is not known yet. */
		st = bk_expand_new(&text, files[i].value, &k->run->values, 0, err);
		if (st != BK_OK)
			break;
		st = fld_write_file(k, files[i].key, text, err);
		free(text);
	}
	return st;
}

void bk_keeper_clear_run(struct bk_keeper *k)
{
	struct dirent *entry;
	DIR *dir = opendir(k->run_folder);

	while (dir && (entry = readdir(dir))) {
		if (strcmp(entry->d_name, BK_ROOT_OWNER_LINK) != 0)
			unlinkat(dirfd(dir), entry->d_name, 0); /* folders stay */
	}
	if (dir)
		closedir(dir);
}

static json_t *fld_processes(const struct bk_keeper *k)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < k->server_count; i++) {
		const struct bk_server *s = &k->servers[i];

		json_array_append_new(list,
				      json_pack("{s:s, s:i, s:I}", "name", s->desc->name, "pid",
						(int)s->pid, "start", (json_int_t)s->start));
	}
	return list;
}

/* The options that reach it, as they will be set by whoever comes by the id. */
static json_t *fld_options(const struct bk_keeper *k, uint32_t mask)
{
	const struct bk_setting *reach = k->run->service ? k->run->service->reach : NULL;
	json_t *options = json_copy(k->run->given);
	struct bk_error ignored = bk_error_init();
	const struct bk_option *folder = bk_options_flagged(k->run->options, BK_OPTF_FOLDER);
	char *text;
	size_t i;

	if (!k->run->service && folder)
		json_object_set_new(options, folder->name, json_string(k->data));
	for (i = 0; reach && reach[i].key; i++) {
		if (!bk_setting_counts(reach, i, mask) ||
		    bk_expand_new(&text, reach[i].value, &k->run->values, 0, &ignored) != BK_OK)
			continue;
		json_object_set_new(options, reach[i].key, json_string(text));
		free(text);
	}
	return options;
}

bk_status bk_keeper_save_state(struct bk_keeper *k, struct bk_error *err)
{
	const struct bk_service_run *run = k->run;
	char boot[40];
	json_t *state = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:b, s:I, s:I, s:I, s:s, s:s, s:s, "
		"s:{s:i, s:I}, s:o, s:O, s:o, s:o, s:o}",
		"layout", 1, "id", run->id, "backend", run->plugin->desc.name, "plugin",
		run->plugin->path, "purpose", run->config.purpose, "boot", bk_proc_boot_id(boot),
		"mask", (int)run->mask, "up", k->up, "detached", !k->attached, "uid",
		(json_int_t)geteuid(), "created", (json_int_t)k->created, "expires",
		(json_int_t)k->expires, "folder", run->folder, "run",
		k->run_folder ? k->run_folder : "", "data", k->data, "keeper", "pid", (int)getpid(),
		"start", (json_int_t)bk_proc_start(getpid()), "processes", fld_processes(k), "shm",
		k->shm_files, "values", bk_values_to_json(&run->values), "options",
		fld_options(k, run->mask), "admin", fld_options(k, run->mask | BK_WHEN_ADMIN));
	bk_status st;

	if (!state)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	json_object_set_new(state, "schema", json_boolean(run->config.schema != NULL));
	json_object_set_new(state, "service_uid", json_integer(run->identity.uid));
	st = bk_state_write(run->folder, state, err);
	json_decref(state);
	return st;
}

void bk_keeper_remove_folder(struct bk_keeper *k)
{
	struct bk_error ignored = bk_error_init();

	if (k->run_folder && strncmp(k->run_folder, k->run->folder, strlen(k->run->folder)) != 0)
		bk_fs_remove_tree(k->run_folder, &ignored);
	bk_unpack_remove(k->run->folder, &ignored);
	bk_state_unregister(k->run->id);
}
