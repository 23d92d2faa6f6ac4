/*
 * place.c - places on a server that exists: made, remembered, brought back, dropped.
 *
 * The one invariant: what is made bears the mark "bakeoff ID", which is written down before the
 * place is made; so whatever happens, teardown finds it and touches nothing else.
 */
#include "service/place.h"

#include "service/net.h"
#include "service/proc.h"
#include "service/run.h"
#include "service/state.h"
#include "service/url.h"
#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PLC_PASSWORD_LEN 24

struct plc { /* one place in the making */
	const struct bk_plugin *plugin;
	const struct bk_options *options;
	const struct bk_service_config *config;
	const struct bk_service *service;
	char id[80], mark[100], name[32], password[PLC_PASSWORD_LEN + 1];
	char *folder, *run, *admin_url, *url;
	struct bk_url parts;
	struct bk_values values;
	uint32_t mask;
};

static void plc_free(struct plc *p)
{
	free(p->folder);
	free(p->run);
	free(p->admin_url);
	free(p->url);
	bk_url_free(&p->parts);
	bk_values_free(&p->values);
}

/* ---- Remembering ------------------------------------------------------------------------------
 */

static bk_status plc_remember(const struct plc *p, pid_t watcher, struct bk_error *err)
{
	uint64_t ttl_s = p->config->ttl_ns / UINT64_C(1000000000);
	json_t *options = json_object(), *state;
	char boot[40];
	bk_status st;

	if (p->url)
		json_object_set_new(options, bk_options_flagged(p->options, BK_OPTF_URL)->name,
				    json_string(p->url));
	state = json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:b, s:b, s:b, s:i, s:I, s:I, s:s, s:s, "
		"s:s, s:s, s:{s:i, s:I}, s:o, s:o, s:o}",
		"layout", 1, "id", p->id, "backend", p->plugin->desc.name, "plugin",
		p->plugin->path, "purpose", p->config->purpose, "boot", bk_proc_boot_id(boot),
		"existing", 1, "detached", 1, "schema", p->config->schema && *p->config->schema,
		"mask", (int)p->mask, "created", (json_int_t)time(NULL), "expires",
		(json_int_t)(ttl_s ? (uint64_t)time(NULL) + ttl_s : 0), "folder", p->folder, "run",
		p->run, "mark", p->mark, "url", p->url ? p->url : "", "keeper", "pid", (int)watcher,
		"start", (json_int_t)bk_proc_start(watcher), "values",
		bk_values_to_json(&p->values), "options", options, "admin",
		bk_service_given(p->options));
	if (!state)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = bk_state_write(p->folder, state, err);
	json_decref(state);
	return st;
}

/* The files that clients are told of. */
static bk_status plc_write_files(const struct plc *p, struct bk_error *err)
{
	const struct bk_setting *files = p->service ? p->service->files : NULL;
	bk_status st = BK_OK;
	char *text, *path;
	size_t i;
	int fd;

	for (i = 0; st == BK_OK && files && files[i].key; i++) {
		struct bk_error unknown = bk_error_init();

		/* One that needs what only a server of our own has is for that server. */
		if (!bk_setting_counts(files, i, p->mask) ||
		    bk_expand_new(&text, files[i].value, &p->values, 0, &unknown) != BK_OK)
			continue;
		path = bk_fs_join(p->run, files[i].key);
		fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
		if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
			st = bk_fail(err, bk_fs_status(errno), errno, "cannot write %s: %s",
				     path ? path : files[i].key, strerror(errno));
		if (fd >= 0)
			close(fd);
		free(path);
		free(text);
	}
	return st;
}

/* ---- Making one -------------------------------------------------------------------------------
 */

/* A part of the URL, else the option of that name, else nothing. */
static bool plc_value(struct plc *p, const char *name, const char *part)
{
	char *text = part && part[0] ? strdup(part) : bk_service_option_text(p->options, name);
	bool ok = bk_values_set(&p->values, name, text ? text : "");

	free(text);
	return ok;
}

static bk_status plc_values(struct plc *p, struct bk_error *err)
{
	char *socket = bk_url_query(&p->parts, "socket"), *host = bk_url_query(&p->parts, "host");
	char *port = bk_url_query(&p->parts, "port");
	bool ok = plc_value(p, "socket", socket) &&
		  plc_value(p, "host", p->parts.host[0] ? p->parts.host : host) &&
		  plc_value(p, "port", p->parts.port[0] ? p->parts.port : port) &&
		  bk_values_set(&p->values, "run", p->run) &&
		  bk_values_set(&p->values, "data", "") && bk_values_set(&p->values, "bin", "") &&
		  bk_values_set(&p->values, "user", p->name) &&
		  bk_values_set(&p->values, "database", p->name) &&
		  bk_values_set(&p->values, "password", p->password);
	char dns[sizeof(p->name)], *c;

	snprintf(dns, sizeof(dns), "%s", p->name);
	for (c = dns; *c; c++)
		*c = *c == '_' ? '-' : *c;
	ok = ok && bk_values_set(&p->values, "database_dns", dns);
	p->mask = BK_WHEN_TEST | BK_WHEN_NONE | (socket ? BK_WHEN_SOCKET : BK_WHEN_TCP);
	free(socket);
	free(host);
	free(port);
	return ok ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

/* The template speaks of a private server: `scheme` and the absence of a port are the given URL's.
 */
static char *plc_as_given(const struct plc *p, const char *url)
{
	const char *rest = strstr(url, "://"), *none;
	struct bk_buf out = BK_BUF_INIT;

	if (!rest)
		return strdup(url);
	bk_buf_puts(&out, p->parts.scheme);
	none = p->parts.port[0] || !p->parts.host[0] ? NULL : strstr(rest + 3, ":/");
	if (none) {
		bk_buf_put(&out, rest, (size_t)(none - rest));
		rest = none + 1;
	}
	bk_buf_puts(&out, rest);
	return bk_buf_steal(&out);
}

/* The new place's URL: as the given one was, but for who and what. */
static bk_status plc_url(struct plc *p, struct bk_error *err)
{
	static const char *const ours[] = {"user", "password", "dbname", "host",
					   "port", "socket",   NULL};
	const char *form = p->mask & BK_WHEN_TCP ? p->service->url_tcp : p->service->url_socket;
	struct bk_buf url = BK_BUF_INIT;
	char *query;
	bk_status st;

	if (!form)
		return BK_OK;
	st = bk_expand(&url, form, &p->values, BK_EXPAND_URL, err);
	query = bk_url_query_without(&p->parts, ours);
	if (st == BK_OK && query && query[0])
		bk_buf_putf(&url, "%c%s", strchr(form, '?') ? '&' : '?', query);
	free(query);
	if (st != BK_OK) {
		bk_buf_free(&url);
		return st;
	}
	p->url = plc_as_given(p, bk_buf_str(&url));
	bk_buf_free(&url);
	return p->url ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
}

static bk_status plc_prepare(struct plc *p, struct bk_error *err)
{
	const struct bk_option *url = bk_options_flagged(p->options, BK_OPTF_URL);
	char suffix[8], *folder;
	bk_status st;

	p->service = p->plugin->desc.service;
	p->admin_url = url ? bk_service_option_text(p->options, url->name) : NULL;
	if (!p->admin_url || !p->service)
		return bk_fail(err, BK_UNSUPPORTED, 0,
			       "backend '%s' is not reached by a URL: nothing can be provisioned "
			       "on its server",
			       p->plugin->desc.name);
	st = bk_url_parse(&p->parts, p->admin_url, err);
	if (st == BK_OK)
		st = bk_net_random(suffix, 6, true, err);
	if (st == BK_OK)
		st = bk_net_random(p->password, PLC_PASSWORD_LEN, false, err);
	if (st == BK_OK)
		st = bk_state_cache(&folder, "instances", err);
	if (st != BK_OK)
		return st;
	snprintf(p->id, sizeof(p->id), "%.64s-%s", p->plugin->desc.name, suffix);
	snprintf(p->mark, sizeof(p->mark), BK_SERVICE_NAME " %s", p->id);
	snprintf(p->name, sizeof(p->name), BK_SERVICE_NAME "_%s", suffix);
	p->folder = bk_fs_join(folder, p->id);
	p->run = p->folder ? bk_fs_join(p->folder, "run") : NULL;
	free(folder);
	if (!p->run)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	st = bk_fs_mkdirs(p->run, 0700, err);
	if (st == BK_OK)
		st = plc_values(p, err);
	if (st == BK_OK)
		st = plc_url(p, err);
	return st;
}

static bk_status plc_with_schema(struct plc *p, struct bk_store *admin, struct bk_error *err)
{
	struct bk_programs programs = {0};
	const struct bk_service *chosen;
	char schema[64], *bin_dir = bk_service_option_text(p->options, "bin-dir");
	bk_status st = bk_programs_find(&programs, &chosen, p->service, p->plugin->desc.name,
					bin_dir, err);

	free(bin_dir);
	if (st != BK_OK)
		return st;
	bk_place_schema_name(schema, p->name);
	st = bk_place_create(p->plugin, admin, schema, p->mark, p->name, p->password, "", err);
	if (st == BK_OK)
		st = bk_load_schema(chosen, &programs, &p->values, p->mask, schema,
				    p->config->schema, err);
	if (st == BK_OK)
		st = bk_place_create(p->plugin, admin, p->name, p->mark, p->name, p->password,
				     schema, err);
	bk_programs_free(&programs);
	return st;
}

static void plc_say_who(struct bk_error *err)
{
	char said[sizeof(err->message)];

	snprintf(said, sizeof(said), "%s", err->message);
	bk_fail(err, BK_AUTH, err->vendor_code,
		"%.380s; the URL must be of someone who may create databases and users", said);
}

/* Drops it when its time is over: a process that sleeps until then. */
static pid_t plc_watch(const struct plc *p)
{
	struct bk_error ignored = bk_error_init();
	struct timespec ttl = {(time_t)(p->config->ttl_ns / UINT64_C(1000000000)),
			       (long)(p->config->ttl_ns % UINT64_C(1000000000))};
	char title[160];
	pid_t pid;
	int null;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	snprintf(title, sizeof(title), "bakeoff: ends %s when its time is over", p->id);
	bk_proc_set_title(title);
	setsid();
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	nanosleep(&ttl, NULL);
	bk_service_teardown(p->id, &ignored);
	_exit(0);
}

static bk_status plc_env(struct bk_service_env *env, const struct plc *p, struct bk_error *err)
{
	struct bk_values values = {0};
	bk_status st = bk_env_values(&values, &p->values, p->options, err);

	if (st == BK_OK)
		st = bk_env_fill(env, p->service, p->plugin->desc.name, &values, p->mask, true,
				 err);
	bk_values_free(&values);
	return st;
}

bk_status bk_service_place(char **id, struct bk_service_env *env, const struct bk_plugin *plugin,
			   const struct bk_options *options, const struct bk_service_config *config,
			   struct bk_error *err)
{
	struct plc place = {.plugin = plugin, .options = options, .config = config}, *p = &place;
	struct bk_error ignored = bk_error_init();
	struct bk_store_config store_config;
	struct bk_store *admin = NULL;
	bool schema = config->schema && *config->schema, tried = false;
	bk_status st = plc_prepare(p, err);

	if (st == BK_OK)
		st = plc_write_files(p, err);
	if (st == BK_OK)
		st = plc_remember(p, 0, err);
	if (st == BK_OK)
		st = bk_place_open(&admin, plugin, options, p->mark, &store_config, err);
	if (st == BK_OK) {
		tried = true;
		st = schema ? plc_with_schema(p, admin, err)
			    : bk_place_create(plugin, admin, p->name, p->mark, p->name, p->password,
					      "", err);
		plugin->tables.store.close(admin);
		if (st == BK_AUTH)
			plc_say_who(err);
	}
	if (st == BK_OK)
		st = plc_env(env, p, err);
	if (st == BK_OK)
		st = bk_env_put_id(env, plugin->desc.name, p->id, err);
	if (st == BK_OK && config->ttl_ns)
		st = plc_remember(p, plc_watch(p), err);
	if (st == BK_OK) {
		*id = strdup(p->id);
		if (!*id)
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	if (st != BK_OK && tried)
		bk_service_teardown(p->id, &ignored);
	else if (st != BK_OK && p->folder)
		bk_fs_remove_tree(p->folder, &ignored);
	plc_free(p);
	return st;
}
