/*
 * services.c - `bakeoff services`, `reset`, `teardown`: what was provisioned, and its end.
 *
 * The one invariant: without an id teardown ends what provision left, never what an exec or a run
 * of somebody else is using.
 */
#include "cmd/servers.h"
#include "util/buf.h"
#include "util/plain.h"

#include <bakeoff/backend_util.h>

#include <jansson.h>
#include <stdlib.h>
#include <time.h>

static const char *services_state(const struct bk_service_info *info)
{
	if (info->existing)
		return "placed";
	return info->alive ? "running" : "dead";
}

static void services_when(char out[32], uint64_t unix_s)
{
	time_t t = (time_t)unix_s;
	struct tm tm;

	out[0] = '\0';
	if (unix_s && localtime_r(&t, &tm))
		strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm);
}

static int services_json(const struct bk_service_list *list)
{
	json_t *items = json_array(), *all;
	size_t i;

	for (i = 0; i < list->count; i++) {
		const struct bk_service_info *s = &list->items[i];

		json_array_append_new(
			items,
			json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:i, s:b, s:b, s:b}", "id",
				  s->id, "backend", s->backend, "purpose", s->purpose, "folder",
				  s->folder, "where", s->where, "created",
				  (json_int_t)s->created_unix_s, "expires",
				  (json_int_t)s->expires_unix_s, "keeper", (int)s->keeper, "alive",
				  s->alive, "detached", s->detached, "existing", s->existing));
	}
	all = json_pack("{s:i, s:o}", "schema", 1, "services", items);
	if (!all || json_dumpf(all, stdout, JSON_INDENT(2)) != 0) {
		json_decref(all);
		return bk_cmd_fail("out of memory");
	}
	puts("");
	json_decref(all);
	return BK_EXIT_OK;
}

static int services_text(const struct bk_service_list *list)
{
	char since[32], until[32];
	struct bk_plain plain;
	int width = 2;
	size_t i;

	if (list->count == 0) {
		puts("nothing runs");
		return BK_EXIT_OK;
	}
	for (i = 0; i < list->count; i++) {
		int len = (int)strlen(list->items[i].id);

		width = len > width ? len : width;
	}
	bk_plain_begin(&plain);
	if (!plain.file)
		return bk_cmd_fail("out of memory");
	fprintf(plain.file, "%-*s  %-19s  %-19s  %-8s  %s\n", width, "ID", "SINCE", "UNTIL",
		"STATE", "WHERE AND WHAT FOR");
	for (i = 0; i < list->count; i++) {
		const struct bk_service_info *s = &list->items[i];

		services_when(since, s->created_unix_s);
		services_when(until, s->expires_unix_s);
		fprintf(plain.file, "%-*s  %-19s  %-19s  %-8s  %s (%s)\n", width, s->id, since,
			until[0]                     ? until
			: s->detached || s->existing ? "torn down"
						     : "its starter ends",
			services_state(s), s->where, s->purpose);
	}
	return bk_plain_end(&plain, stdout) < 0 ? bk_cmd_fail("out of memory") : BK_EXIT_OK;
}

static int services_exec(const struct bk_cmd_args *args)
{
	const char *format = bk_cmd_flag(args, "format");
	struct bk_error err = bk_error_init();
	struct bk_service_list list;
	int status;

	if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0)
		return bk_cmd_usage("services: --format is '%.40s', expected text or json", format);
	bk_service_sweep();
	if (bk_service_list(&list, &err) != BK_OK)
		return bk_cmd_fail("services: %s", err.message);
	status =
		format && strcmp(format, "json") == 0 ? services_json(&list) : services_text(&list);
	bk_service_list_free(&list);
	return status;
}

static int reset_exec(const struct bk_cmd_args *args)
{
	struct bk_error err = bk_error_init();
	int status = BK_EXIT_OK;
	size_t i;

	for (i = 0; i < bk_cmd_operand_count(args); i++) {
		const char *id = bk_cmd_operand(args, i);
		bk_status st = bk_service_reset(id, &err);

		if (st == BK_NOT_FOUND)
			return bk_cmd_usage("reset: %s", err.message);
		if (st != BK_OK)
			status = bk_cmd_servers_failed("reset", id, &err);
	}
	return status;
}

/* Once more is fine: what is gone is gone. */
static int teardown_one(const char *id, bool forget)
{
	struct bk_error err = bk_error_init();
	bk_status st = forget ? bk_service_forget(id, &err) : bk_service_teardown(id, &err);

	if (st == BK_NOT_FOUND) {
		bk_cmd_fail("teardown: nothing runs as '%.60s'", id); /* said, not meant */
		return BK_EXIT_OK;
	}
	return st == BK_OK ? BK_EXIT_OK : bk_cmd_servers_failed("teardown", id, &err);
}

static int teardown_all(void)
{
	struct bk_error err = bk_error_init();
	struct bk_service_list list;
	int status = BK_EXIT_OK;
	size_t i;

	if (bk_service_list(&list, &err) != BK_OK)
		return bk_cmd_fail("teardown: %s", err.message);
	for (i = 0; i < list.count; i++) {
		const struct bk_service_info *s = &list.items[i];

		if (!s->detached && s->alive)
			continue;
		if (teardown_one(s->id, false) != BK_EXIT_OK)
			status = BK_EXIT_FAILED;
	}
	bk_service_list_free(&list);
	return status;
}

static int teardown_exec(const struct bk_cmd_args *args)
{
	bool forget = bk_cmd_flag(args, "forget") != NULL;
	int status = BK_EXIT_OK;
	size_t i;

	if (forget && bk_cmd_operand_count(args) == 0)
		return bk_cmd_usage("teardown: --forget which?  bakeoff teardown --forget ID");
	bk_service_sweep();
	if (bk_cmd_operand_count(args) == 0)
		return teardown_all();
	for (i = 0; i < bk_cmd_operand_count(args); i++) {
		if (teardown_one(bk_cmd_operand(args, i), forget) != BK_EXIT_OK)
			status = BK_EXIT_FAILED;
	}
	return status;
}

static const struct bk_flag services_flags[] = {
	{.name = "format", .arg = "text|json", .help = "text for people (default), or JSON"},
	{.name = NULL},
};

const struct bk_cmd bk_cmd_services = {
	.name = "services",
	.operands = "",
	.summary = "list the private servers that run, and the databases made elsewhere",
	.details = "Also removes what is left of servers whose keeper was killed.\n",
	.flags = services_flags,
	.exec = services_exec,
};

const struct bk_cmd bk_cmd_reset = {
	.name = "reset",
	.operands = "ID...",
	.summary = "bring a provisioned database back to its beginning",
	.details = "Drops it and makes it again, empty or from its schema, under the same name and "
		   "password. Connections to it are cut. `bakeoff services` lists the ids.\n",
	.operands_min = 1,
	.operands_max = (size_t)-1,
	.exec = reset_exec,
};

static const struct bk_flag teardown_flags[] = {
	{.name = "forget",
	 .help = "with ID: do not try to reach its server, which is gone for good"},
	{.name = NULL},
};

const struct bk_cmd bk_cmd_teardown = {
	.name = "teardown",
	.operands = "[ID...]",
	.summary = "end what provision left running",
	.details = "Without ID: all of it. With --url provisioned databases are dropped from their "
		   "server, if they bear bakeoff's mark. Twice is fine.\n",
	.flags = teardown_flags,
	.operands_max = (size_t)-1,
	.exec = teardown_exec,
};
