/*
 * provision.c - `bakeoff provision`: servers, or places on a server that exists, left running.
 *
 * The one invariant: what is printed works; after a failure nothing is left.
 */
#include "cmd/servers.h"

#include "cmd/provision_print.h"
#include "cmd/set.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>

struct provision {
	struct bk_cmd_servers servers;
	struct bk_provision_item *items;
	size_t count; /* that came about */
};

/* One keeper after the other lets go; a failure takes back what has been let go already. */
static int provision_detach(struct provision *p)
{
	struct bk_error err = bk_error_init();
	size_t i;

	for (i = 0; i < p->servers.count; i++) {
		if (bk_service_detach(p->servers.items[i].run, &err) != BK_OK) {
			bk_cmd_fail("%s: %s", p->servers.items[i].name, err.message);
			return BK_EXIT_FAILED;
		}
		p->servers.items[i].run = NULL;
	}
	return BK_EXIT_OK;
}

static void provision_take_back(struct provision *p)
{
	struct bk_error ignored = bk_error_init();
	size_t i;

	bk_cmd_servers_stop(&p->servers);
	for (i = 0; i < p->count; i++)
		bk_service_teardown(p->items[i].id, &ignored);
}

static int provision_private(struct provision *p)
{
	struct bk_error err = bk_error_init();
	bool url_taken = false;
	size_t i, k;

	if (bk_cmd_servers_start(&p->servers) != BK_OK)
		return BK_EXIT_FAILED;
	for (i = 0; i < p->servers.count; i++) {
		struct bk_cmd_server *s = &p->servers.items[i];
		struct bk_provision_item *item = &p->items[i];

		item->id = strdup(bk_service_id(s->run));
		item->backend = s->name;
		if (!item->id || bk_service_env(&item->env, s->run, !url_taken, &err) != BK_OK)
			return bk_cmd_fail("%s: %s", s->name, item->id ? err.message : "no memory");
		p->count++;
		for (k = 0; k < item->env.count; k++)
			url_taken =
				url_taken || strcmp(item->env.items[k].name, "DATABASE_URL") == 0;
	}
	return provision_detach(p);
}

/* The backend that takes URLs of this scheme. */
static struct bk_plugin *provision_by_scheme(const char *url)
{
	struct bk_error err = bk_error_init();
	size_t len = strstr(url, "://") ? (size_t)(strstr(url, "://") - url) : 0, i, k;
	struct bk_plugin *found = NULL;
	struct bk_plugin_list list;

	if (len == 0 || bk_plugin_list_load(&list, &err) != BK_OK)
		return NULL;
	for (i = 0; !found && i < list.count; i++) {
		struct bk_plugin *plugin = list.entries[i].plugin;
		const char *const *schemes = plugin ? plugin->desc.schemes : NULL;

		for (k = 0; !found && schemes && schemes[k]; k++) {
			if (strlen(schemes[k]) != len || strncmp(schemes[k], url, len) != 0)
				continue;
			found = plugin;
			list.entries[i].plugin = NULL; /* the caller's now */
		}
	}
	bk_plugin_list_free(&list);
	return found;
}

static int provision_failed(const char *name, const struct bk_error *err)
{
	if (err->status == BK_INVALID || err->status == BK_UNSUPPORTED)
		return bk_cmd_usage("%s: %s", name, err->message);
	return bk_cmd_servers_failed("provision", name, err);
}

static int provision_on(struct provision *p, const char *url, const struct bk_cmd_args *args)
{
	struct bk_plugin *plugin = provision_by_scheme(url);
	const struct bk_option *entry;
	struct bk_options *options = NULL;
	struct bk_error err = bk_error_init();
	int status = BK_EXIT_OK;
	bk_status st;

	if (!plugin)
		return bk_cmd_usage("provision: no backend takes URLs like --url %.*s...",
				    (int)(strcspn(url, ":") > 20 ? 20 : strcspn(url, ":")), url);
	st = bk_options_new(&options, &plugin->desc, &err);
	if (st == BK_OK) {
		entry = bk_options_flagged(options, BK_OPTF_URL);
		st = entry ? bk_options_set(options, entry->name, url, BK_FROM_USER, &err)
			   : bk_fail(&err, BK_UNSUPPORTED, 0, "it takes no URL");
	}
	if (st == BK_OK)
		st = bk_cmd_apply_set(options, plugin->desc.name, args, &err);
	if (st == BK_OK)
		st = bk_service_place(&p->items[0].id, &p->items[0].env, plugin, options,
				      &p->servers.config, &err);
	if (st == BK_OK) {
		p->items[0].backend = plugin->desc.name;
		p->count = 1;
	} else {
		status = provision_failed(plugin->desc.name, &err);
	}
	bk_options_free(options);
	p->items[0].plugin = plugin;
	return status;
}

static int provision_exec(const struct bk_cmd_args *args)
{
	const char *url = bk_cmd_flag(args, "url"), *format = bk_cmd_flag(args, "format");
	struct provision p = {.items =
				      calloc(2 * bk_cmd_operand_count(args) + 1, sizeof(*p.items))};
	enum bk_provision_format how;
	int status;
	size_t i;

	if (!p.items)
		return bk_cmd_fail("out of memory");
	status = bk_provision_format(&how, format);
	if (status == BK_EXIT_OK && !url && bk_cmd_operand_count(args) == 0)
		status =
			bk_cmd_usage("provision: of what?  bakeoff provision BACKEND..., or --url");
	if (status == BK_EXIT_OK && url && bk_cmd_operand_count(args) > 0)
		status = bk_cmd_usage("provision: --url says which backend; '%s' is too much",
				      bk_cmd_operand(args, 0));
	if (status == BK_EXIT_OK && url)
		status = bk_cmd_servers_config(&p.servers, args, "provision");
	else if (status == BK_EXIT_OK)
		status = bk_cmd_servers_parse(&p.servers, args, "provision");
	if (status == BK_EXIT_OK)
		status = bk_cmd_servers_time(&p.servers.config.ttl_ns, args, "ttl");
	if (status == BK_EXIT_OK) {
		status = url ? provision_on(&p, url, args) : provision_private(&p);
		if (status == BK_EXIT_OK)
			status = bk_provision_print(p.items, p.count, how);
		if (status != BK_EXIT_OK)
			provision_take_back(&p);
	}
	for (i = 0; i <= 2 * bk_cmd_operand_count(args); i++)
		bk_provision_item_free(&p.items[i]);
	free(p.items);
	bk_cmd_servers_free(&p.servers);
	return status;
}

static const struct bk_flag provision_flags[] = {
	{.name = "url",
	 .arg = "URL",
	 .help = "on a server that exists, as someone who may: a database and a user"},
	{.name = "ttl", .arg = "TIME", .help = "tear down after this time (default: never)"},
	{.name = "format",
	 .arg = "env|dotenv|json",
	 .help = "how to print it: for eval in a shell (default), for a .env file, JSON"},
	BK_CMD_SERVER_FLAGS,
	BK_CMD_SET_FLAG,
	{.name = NULL},
};

const struct bk_cmd bk_cmd_provision = {
	.name = "provision",
	.operands = "[BACKEND|VARIANT...]",
	.summary = "start private servers and leave them running, or make a database on one",
	.details =
		"Without --url: a private server for each backend with an empty database, as exec "
		"starts them, until `bakeoff teardown`, --ttl or shutdown. The variables that lead "
		"there are printed for a shell:\n"
		"\n"
		"  eval \"$(bakeoff provision BACKEND)\"\n"
		"\n"
		"With --url: on a server that exists, a database and a user with random names and a "
		"random password. Teardown removes these and touches nothing else.\n"
		"\n"
		"Everything printed holds passwords. Each server stays under an id; see services, "
		"reset, teardown, inspect.\n",
	.flags = provision_flags,
	.operands_max = (size_t)-1,
	.exec = provision_exec,
};
