/*
 * servers.c - several servers begun, awaited and stopped together.
 *
 * The one invariant: a command that fails while it starts them leaves none behind.
 */
#include "cmd/servers.h"

#include "cmd/interrupt.h"
#include "cmd/set.h"
#include "matrix/matrix.h"
#include "util/error_text.h"
#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int bk_cmd_servers_failed(const char *what, const char *name, const struct bk_error *err)
{
	char text[sizeof(err->message) + 32];

	size_t len = strlen(name);

	bk_error_text(text, sizeof(text), err);
	if (strncmp(text, name, len) == 0 && text[len] == ':') /* some backends say who they are */
		return bk_cmd_fail("%s: %s", what, text);
	return bk_cmd_fail("%s: %s: %s", what, name, text);
}

static void srv_note(void *ctx, const char *line)
{
	fprintf(stderr, "bakeoff: %s\n", line);
}

int bk_cmd_servers_time(uint64_t *out, const struct bk_cmd_args *args, const char *flag)
{
	const char *text = bk_cmd_flag(args, flag);
	struct bk_error err = bk_error_init();

	*out = 0;
	if (text && bk_units_parse_nsec(out, text, &err) != BK_OK)
		return bk_cmd_usage("--%s: %s", flag, err.message);
	if (text && *out == 0)
		return bk_cmd_usage("--%s: must be more than 0", flag);
	return BK_EXIT_OK;
}

/* Where the store is would be overruled without a word, and the user left to believe it. */
static bool srv_is_place(const struct bk_cmd_server *s, const char *pair)
{
	static const uint32_t flags[] = {BK_OPTF_FOLDER, BK_OPTF_URL};
	size_t len = strcspn(pair, "="), i;

	for (i = 0; i < 2; i++) {
		const struct bk_option *o = bk_options_flagged(s->options, flags[i]);

		if (o && strlen(o->name) == len && memcmp(o->name, pair, len) == 0)
			return true;
	}
	return false;
}

static int srv_set(struct bk_cmd_servers *servers, const char *pair)
{
	size_t len = strcspn(pair, ".="), i;
	struct bk_error err = bk_error_init();

	/* Option names have no dot, so one before the '=' ends a NAME. */
	if (pair[len] != '.' && servers->count > 1)
		return bk_cmd_usage("--set %.*s: of which backend?  --set NAME.OPTION=VALUE",
				    (int)strcspn(pair, "="), pair);
	for (i = 0; i < servers->count; i++) {
		struct bk_cmd_server *s = &servers->items[i];

		if (pair[len] == '.' && (strlen(s->name) != len || memcmp(s->name, pair, len) != 0))
			continue;
		if (pair[len] == '.')
			pair += len + 1;
		if (bk_options_set_pair(s->options, pair, BK_FROM_USER, &err) != BK_OK)
			return bk_cmd_usage("%s", err.message);
		if (srv_is_place(s, pair))
			return bk_cmd_usage("--set %.*s: says where a store is; a private one gets "
					    "its own place (--data), provision --url uses one that "
					    "exists",
					    (int)strcspn(pair, "="), pair);
		return BK_EXIT_OK;
	}
	return bk_cmd_usage("--set names '%.*s', which is none of the backends here",
			    len > 40 ? 40 : (int)len, pair);
}

static struct bk_cmd_server *srv_named(struct bk_cmd_servers *servers, const char *name)
{
	size_t i;

	for (i = 0; i < servers->count; i++) {
		if (strcmp(servers->items[i].name, name) == 0)
			return &servers->items[i];
	}
	return NULL;
}

/* Takes the plugin over. */
static bk_status srv_add(struct bk_cmd_servers *servers, struct bk_plugin *plugin,
			 struct bk_error *err)
{
	struct bk_cmd_server *s = &servers->items[servers->count++];
	bk_status st;

	s->plugin = plugin;
	s->name = plugin->desc.name;
	st = bk_options_new(&s->options, &plugin->desc, err);
	return st == BK_OK ? bk_options_drop_environment(s->options, err) : st;
}

/* One store of a variant; of several variants on one backend the first one's options count. */
static bk_status srv_add_half(struct bk_cmd_servers *servers, const struct bk_half *half,
			      struct bk_error *err)
{
	struct bk_plugin *plugin;
	bk_status st = BK_OK;
	size_t i;

	if (!half->backend || srv_named(servers, half->backend))
		return BK_OK;
	st = bk_plugin_find(&plugin, half->backend, err);
	if (st == BK_OK)
		st = srv_add(servers, plugin, err);
	for (i = 0; st == BK_OK && i < half->option_count; i++)
		st = bk_options_set(servers->items[servers->count - 1].options,
				    half->options[i].name, half->options[i].value, BK_FROM_USER,
				    err);
	return st;
}

static bk_status srv_add_variant(struct bk_cmd_servers *servers, const char *name,
				 struct bk_error *err)
{
	struct bk_yaml_file standard = {0};
	struct bk_arena arena = {NULL};
	struct bk_variant variant;
	bk_status st = bk_variant_find(&variant, &standard, &arena, name, err);

	if (st == BK_OK) {
		st = srv_add_half(servers, &variant.nodes, err);
		if (st == BK_OK)
			st = srv_add_half(servers, &variant.binaries, err);
	}
	bk_arena_free(&standard.arena);
	bk_arena_free(&arena);
	return st;
}

/* A backend, or else a variant: all that it needs. */
static int srv_load(struct bk_cmd_servers *servers, const char *name)
{
	struct bk_error err = bk_error_init(), second = bk_error_init();
	struct bk_plugin *plugin;
	bk_status st = bk_plugin_given(&plugin, name, &err);

	if (st == BK_OK && srv_named(servers, plugin->desc.name)) {
		bk_plugin_free(plugin);
		return bk_cmd_usage("'%s' is named twice", name);
	}
	if (st == BK_OK)
		st = srv_add(servers, plugin, &err);
	else if (st == BK_NOT_FOUND && !strchr(name, '/') &&
		 srv_add_variant(servers, name, &second) == BK_OK)
		st = BK_OK;
	if (st == BK_OK)
		return BK_EXIT_OK;
	/* The one that knows a name near by. */
	return bk_cmd_usage("%s", strstr(second.message, "did you mean") &&
						  !strstr(err.message, "did you mean")
					  ? second.message
					  : err.message);
}

/* It is read twice, for the template's name and by the store's client: a pipe would not do. */
static int srv_check_schema(const char *path)
{
	struct stat st;
	int e = stat(path, &st) != 0 ? errno : 0;

	if (!e && !S_ISREG(st.st_mode))
		return bk_cmd_usage("--schema: cannot read the schema file %s: it is %s", path,
				    S_ISDIR(st.st_mode) ? "a folder" : "no regular file");
	if (!e && access(path, R_OK) != 0)
		e = errno;
	return e ? bk_cmd_usage("--schema: cannot read the schema file %s: %s", path, strerror(e))
		 : BK_EXIT_OK;
}

/* One of them at least takes a script. */
static int srv_check_loaders(const struct bk_cmd_servers *servers)
{
	size_t i;

	for (i = 0; i < servers->count; i++) {
		if (servers->items[i].plugin->desc.service)
			return BK_EXIT_OK;
	}
	return bk_cmd_usage("--schema: '%s' has no server that could load one",
			    servers->items[0].name);
}

int bk_cmd_servers_config(struct bk_cmd_servers *servers, const struct bk_cmd_args *args,
			  const char *purpose)
{
	struct bk_service_config *c = &servers->config;
	size_t n = bk_cmd_flag_count(args, "schema"), i;

	c->profile = BK_PROFILE_TEST;
	c->durability = BK_DURABLE_NONE;
	c->tcp = bk_cmd_flag(args, "tcp") != NULL;
	c->spare = bk_cmd_flag(args, "spare") != NULL;
	c->data = bk_cmd_flag(args, "data");
	c->purpose = purpose;
	c->interrupted = bk_interrupt_watch_quietly();
	c->note = srv_note;
	servers->schema = calloc(n + 1, sizeof(*servers->schema));
	if (!servers->schema)
		return bk_cmd_fail("out of memory");
	for (i = 0; i < n; i++) {
		servers->schema[i] = bk_cmd_flag_at(args, "schema", i);
		if (srv_check_schema(servers->schema[i]) != BK_EXIT_OK)
			return BK_EXIT_USAGE;
	}
	c->schema = n ? servers->schema : NULL;
	return bk_cmd_servers_time(&c->timeout_ns, args, "timeout");
}

int bk_cmd_servers_parse(struct bk_cmd_servers *servers, const struct bk_cmd_args *args,
			 const char *purpose)
{
	size_t n = bk_cmd_operand_count(args), i;
	int status;

	memset(servers, 0, sizeof(*servers));
	servers->items = calloc(2 * n + 1, sizeof(*servers->items)); /* a variant has two stores */
	if (!servers->items)
		return bk_cmd_fail("out of memory");
	status = bk_cmd_servers_config(servers, args, purpose);
	for (i = 0; status == BK_EXIT_OK && i < n; i++)
		status = srv_load(servers, bk_cmd_operand(args, i));
	if (status == BK_EXIT_OK && servers->config.schema && servers->count)
		status = srv_check_loaders(servers);
	n = bk_cmd_flag_count(args, "set");
	for (i = 0; status == BK_EXIT_OK && i < n; i++)
		status = srv_set(servers, bk_cmd_flag_at(args, "set", i));
	return status;
}

/* The end of the log in full: one line of an error holds too little of it. */
static void srv_complain(const struct bk_cmd_server *s, const struct bk_error *err)
{
	const char *log = s->run ? bk_service_log(s->run) : "";
	const char *from = log + strlen(log);
	int lines = 0;

	bk_cmd_fail("%s: %s", s->name, err->message);
	while (from > log && lines < 12) {
		from--;
		lines += from > log && from[-1] == '\n';
	}
	while (*from) {
		size_t len = strcspn(from, "\n");

		fprintf(stderr, "  %s: %.*s\n", s->name, (int)len, from);
		from += len + (from[len] == '\n');
	}
}

bk_status bk_cmd_servers_start(struct bk_cmd_servers *servers)
{
	struct bk_error err = bk_error_init();
	bk_status st = BK_OK;
	size_t i;

	bk_service_sweep();
	for (i = 0; st == BK_OK && i < servers->count; i++) {
		struct bk_cmd_server *s = &servers->items[i];

		st = bk_service_begin(&s->run, s->plugin, s->options, &servers->config, &err);
		if (st != BK_OK)
			srv_complain(s, &err);
	}
	for (i = 0; st == BK_OK && i < servers->count; i++) {
		st = bk_service_await(servers->items[i].run, &err);
		if (st != BK_OK)
			srv_complain(&servers->items[i], &err);
	}
	if (st != BK_OK)
		bk_cmd_servers_stop(servers);
	return st;
}

void bk_cmd_servers_stop(struct bk_cmd_servers *servers)
{
	size_t i;

	for (i = 0; i < servers->count; i++)
		bk_service_ask_stop(servers->items[i].run);
	for (i = 0; i < servers->count; i++) {
		bk_service_stop(servers->items[i].run);
		servers->items[i].run = NULL;
	}
}

void bk_cmd_servers_free(struct bk_cmd_servers *servers)
{
	size_t i;

	for (i = 0; i < servers->count; i++) {
		bk_options_free(servers->items[i].options);
		bk_plugin_free(servers->items[i].plugin);
	}
	free(servers->items);
	free(servers->schema);
}
