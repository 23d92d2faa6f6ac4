/*
 * env.c - the variables with which clients find a server.
 *
 * The one invariant: what does not apply is unset, so that no variable of an outer environment
 * leads a client to another server.
 */
#include "service/run.h"

#include <bakeoff/backend_util.h>

#include <ctype.h>
#include <stdlib.h>

extern char **environ;

/* Takes value over. */
static bk_status env_put(struct bk_service_env *env, const char *name, char *value, bool secret,
			 struct bk_error *err)
{
	struct bk_service_variable *more =
		realloc(env->items, (env->count + 1) * sizeof(*env->items));

	if (more) {
		env->items = more;
		more[env->count].name = strdup(name);
		more[env->count].value = value;
		more[env->count].secret = secret;
	}
	if (!more || !more[env->count].name) {
		free(value);
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	env->count++;
	return BK_OK;
}

static void env_own_name(char *out, size_t cap, const char *backend, const char *what)
{
	char *p;

	snprintf(out, cap, "BAKEOFF_%s_%s", backend, what);
	for (p = out; *p; p++)
		*p = *p == '-' ? '_' : (char)toupper((unsigned char)*p);
}

/* `text` NULL: unset. */
static bk_status env_own(struct bk_service_env *env, const char *backend, const char *what,
			 const char *text, const struct bk_values *values, uint32_t flags,
			 struct bk_error *err)
{
	bool secret = strcmp(what, "PASSWORD") == 0 || strcmp(what, "URL") == 0;
	char name[128], *value = NULL;
	bk_status st = BK_OK;

	env_own_name(name, sizeof(name), backend, what);
	if (text)
		st = bk_expand_new(&value, text, values, flags, err);
	if (st == BK_OK && value && !value[0]) {
		free(value);
		value = NULL;
	}
	return st == BK_OK ? env_put(env, name, value, secret, err) : st;
}

static bk_status env_table(struct bk_service_env *env, const struct bk_service *service,
			   const struct bk_values *values, uint32_t mask, bool unset,
			   struct bk_error *err)
{
	const struct bk_setting *s = service->env;
	bk_status st = BK_OK;
	char *value;
	size_t i;

	for (i = 0; st == BK_OK && s && s[i].key; i++) {
		if (!bk_setting_counts(s, i, mask) || unset != (s[i].value == NULL))
			continue;
		value = NULL;
		if (s[i].value)
			st = bk_expand_new(&value, s[i].value, values, 0, err);
		if (st == BK_OK)
			st = env_put(env, s[i].key, value,
				     s[i].value && strstr(s[i].value, "{password}"), err);
	}
	return st;
}

struct env_options {
	struct bk_values *values;
	const struct bk_options *options;
	bool ok;
};

static void env_add_option(void *ctx, const struct bk_option *entry, const char *value,
			   enum bk_option_source source)
{
	struct env_options *e = ctx;
	char name[64], *p, *text;

	snprintf(name, sizeof(name), "%s", entry->name);
	for (p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	if (bk_values_get(e->values, name)) /* the table's own names come first */
		return;
	text = bk_service_option_text(e->options, entry->name);
	e->ok = bk_values_set(e->values, name, text ? text : "") && e->ok;
	free(text);
}

bk_status bk_env_values(struct bk_values *out, const struct bk_values *values,
			const struct bk_options *options, struct bk_error *err)
{
	struct bk_values with = {0};
	struct env_options e = {&with, options, true};
	size_t i;

	for (i = 0; i < values->count; i++)
		e.ok = bk_values_set(&with, values->items[i].name, values->items[i].text) && e.ok;
	bk_options_each(options, env_add_option, &e);
	if (!e.ok) {
		bk_values_free(&with);
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	}
	*out = with;
	return BK_OK;
}

/* Whether a client of this service says `value`, such as "{password}": it must, to get there, or
 * it would be told something that opens nothing. */
static bool env_reaches_with(const struct bk_service *service, const char *value)
{
	const struct bk_setting *s = service->reach;

	while (s && s->key && !(s->value && strcmp(s->value, value) == 0))
		s++;
	return s && s->key;
}

bk_status bk_env_fill(struct bk_service_env *out, const struct bk_service *service,
		      const char *name, const struct bk_values *values, uint32_t mask,
		      bool database_url, struct bk_error *err)
{
	bool tcp = mask & BK_WHEN_TCP;
	const char *url = tcp ? service->url_tcp : service->url_socket;
	const char *user = env_reaches_with(service, "{user}") ? "{user}" : NULL;
	const char *password = env_reaches_with(service, "{password}") ? "{password}" : NULL;
	const struct {
		const char *what, *text;
		uint32_t flags;
	} own[] = {{"URL", url, BK_EXPAND_URL},       {"SOCKET", "{socket}", 0},
		   {"DATABASE", "{database}", 0},     {"USER", user, 0},
		   {"PASSWORD", password, 0},         {"HOST", tcp ? "{host}" : NULL, 0},
		   {"PORT", tcp ? "{port}" : NULL, 0}};
	struct bk_service_env env = {NULL, 0};
	bk_status st = env_table(&env, service, values, mask, true, err);
	char *text = NULL;
	size_t i;

	for (i = 0; st == BK_OK && i < sizeof(own) / sizeof(own[0]); i++)
		st = env_own(&env, name, own[i].what, own[i].text, values, own[i].flags, err);
	if (st == BK_OK)
		st = env_table(&env, service, values, mask, false, err);
	if (st == BK_OK && database_url && url && (service->flags & BK_SERVICE_SQL)) {
		st = bk_expand_new(&text, url, values, BK_EXPAND_URL, err);
		if (st == BK_OK)
			st = env_put(&env, "DATABASE_URL", text, true, err);
	}
	if (st != BK_OK) {
		bk_service_env_free(&env);
		return st;
	}
	*out = env;
	return BK_OK;
}

bk_status bk_env_put_id(struct bk_service_env *env, const char *backend, const char *id,
			struct bk_error *err)
{
	char name[128];

	env_own_name(name, sizeof(name), backend, "ID");
	return env_put(env, name, strdup(id), false, err);
}

bk_status bk_service_env(struct bk_service_env *out, const struct bk_service_run *run,
			 bool database_url, struct bk_error *err)
{
	const char *backend = run->plugin->desc.name;
	struct bk_service_env env = {NULL, 0};
	struct bk_values values = {0};
	char name[128];
	bk_status st;

	if (run->service) {
		st = bk_env_values(&values, &run->values, run->options, err);
		if (st == BK_OK)
			st = bk_env_fill(&env, run->service, backend, &values, run->mask,
					 database_url, err);
		bk_values_free(&values);
	} else {
		env_own_name(name, sizeof(name), backend, "PATH");
		st = env_put(&env, name, strdup(bk_service_folder(run)), false, err);
	}
	if (st == BK_OK)
		st = bk_env_put_id(&env, backend, run->id, err);
	if (st != BK_OK) {
		bk_service_env_free(&env);
		return st;
	}
	*out = env;
	return BK_OK;
}

void bk_service_env_free(struct bk_service_env *env)
{
	size_t i;

	for (i = 0; i < env->count; i++) {
		free(env->items[i].name);
		free(env->items[i].value);
	}
	free(env->items);
	memset(env, 0, sizeof(*env));
}

/* "PG*" or a name against "NAME=value" */
static bool env_matches(const char *pattern, const char *line)
{
	size_t len = strlen(pattern), name_len = strcspn(line, "=");

	if (len > 0 && pattern[len - 1] == '*')
		return name_len >= len - 1 && strncmp(line, pattern, len - 1) == 0;
	return name_len == len && strncmp(line, pattern, len) == 0;
}

static void env_remove(char **lines, size_t *count, const char *pattern)
{
	size_t i, kept = 0;

	for (i = 0; i < *count; i++) {
		if (env_matches(pattern, lines[i]))
			free(lines[i]);
		else
			lines[kept++] = lines[i];
	}
	*count = kept;
	lines[kept] = NULL;
}

/* What was there when bakeoff began: what it hid from its own libraries is its user's. */
static size_t env_original(char **lines, size_t cap)
{
	char *const *removed = bk_options_environment_removed();
	size_t count = 0, i;

	for (i = 0; environ && environ[i] && count < cap; i++) {
		lines[count] = strdup(environ[i]);
		count += lines[count] != NULL;
	}
	for (i = 0; removed[i] && count < cap; i++) {
		/* A service manager's socket is for bakeoff itself, not for what it runs. */
		if (strncmp(removed[i], "NOTIFY_SOCKET=", 14) == 0)
			continue;
		lines[count] = strdup(removed[i]);
		count += lines[count] != NULL;
	}
	lines[count] = NULL;
	return count;
}

static bk_status env_apply_one(char **lines, size_t *count, const struct bk_service_env *env,
			       struct bk_error *err)
{
	size_t i;

	for (i = 0; i < env->count; i++) {
		const struct bk_service_variable *v = &env->items[i];
		struct bk_buf line = BK_BUF_INIT;

		env_remove(lines, count, v->name);
		if (!v->value)
			continue;
		bk_buf_putf(&line, "%s=%s", v->name, v->value);
		lines[*count] = bk_buf_steal(&line);
		if (!lines[*count])
			return bk_fail(err, BK_NOMEM, 0, "out of memory");
		lines[++*count] = NULL;
	}
	return BK_OK;
}

bk_status bk_service_env_apply(char ***out, const struct bk_service_env *envs, size_t n,
			       struct bk_error *err)
{
	char *const *removed = bk_options_environment_removed();
	size_t cap = 0, count, i;
	bk_status st = BK_OK;
	char **lines;

	for (i = 0; i < n; i++)
		cap += envs[i].count;
	for (i = 0; environ && environ[i]; i++)
		cap++;
	for (i = 0; removed[i]; i++)
		cap++;
	lines = calloc(cap + 1, sizeof(*lines));
	if (!lines)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	count = env_original(lines, cap);
	for (i = 0; st == BK_OK && i < n; i++)
		st = env_apply_one(lines, &count, &envs[i], err);
	if (st != BK_OK) {
		bk_strings_free(lines);
		return st;
	}
	*out = lines;
	return BK_OK;
}
