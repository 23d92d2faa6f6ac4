/*
 * list.c - what runs, and reaching it by its id.
 */
#include "service/service.h"

#include "service/state.h"
#include "service/values.h"
#include "util/redact.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <unistd.h>

static char *lst_where(const json_t *state)
{
	const json_t *v = json_object_get(state, "values");
	struct bk_buf text = BK_BUF_INIT;

	if ((bk_state_u64(state, "mask") & BK_WHEN_TCP) && bk_state_text(v, "host")[0])
		bk_buf_putf(&text, "%s:%s", bk_state_text(v, "host"), bk_state_text(v, "port"));
	else if (bk_state_text(v, "socket")[0])
		bk_buf_puts(&text, bk_state_text(v, "socket"));
	else
		bk_buf_puts(&text, bk_state_text(state, "data"));
	return bk_buf_steal(&text);
}

static bool lst_is_alive(const char *folder)
{
	int lock = bk_state_lock(folder);

	if (lock < 0)
		return true;
	close(lock);
	return false;
}

static bool lst_fill(struct bk_service_info *info, const char *folder, const json_t *state)
{
	const json_t *keeper = json_object_get(state, "keeper");

	memset(info, 0, sizeof(*info));
	info->id = strdup(bk_state_text(state, "id"));
	info->backend = strdup(bk_state_text(state, "backend"));
	info->plugin_path = strdup(bk_state_text(state, "plugin"));
	info->purpose = strdup(bk_state_text(state, "purpose"));
	info->folder = strdup(folder);
	info->url = bk_redact(bk_state_text(state, "url"));
	info->where = lst_where(state);
	info->created_unix_s = bk_state_u64(state, "created");
	info->expires_unix_s = bk_state_u64(state, "expires");
	info->keeper = (pid_t)bk_state_u64(keeper, "pid");
	info->existing = json_is_true(json_object_get(state, "existing"));
	info->detached = json_is_true(json_object_get(state, "detached"));
	info->alive = info->existing || lst_is_alive(folder);
	return info->id && info->backend && info->plugin_path && info->purpose && info->folder &&
	       info->url && info->where;
}

static void lst_info_free(struct bk_service_info *info)
{
	free(info->id);
	free(info->backend);
	free(info->plugin_path);
	free(info->purpose);
	free(info->folder);
	free(info->url);
	free(info->where);
}

void bk_service_list_free(struct bk_service_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		lst_info_free(&list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

bk_status bk_service_list(struct bk_service_list *out, struct bk_error *err)
{
	struct bk_service_list list = {NULL, 0};
	char **ids = bk_state_ids(), *folder;
	bk_status st = ids ? BK_OK : bk_fail(err, BK_NOMEM, 0, "out of memory");
	json_t *state;
	size_t i;

	for (i = 0; st == BK_OK && ids[i]; i++) {
		struct bk_service_info *more =
			realloc(list.items, (list.count + 1) * sizeof(*more));

		if (!more) {
			st = bk_fail(err, BK_NOMEM, 0, "out of memory");
			break;
		}
		list.items = more;
		folder = bk_state_folder(ids[i]);
		state = folder ? bk_state_read(folder) : NULL;
		if (state) {
			if (!lst_fill(&more[list.count], folder, state))
				st = bk_fail(err, BK_NOMEM, 0, "out of memory");
			list.count++;
		}
		json_decref(state);
		free(folder);
	}
	bk_strings_free(ids);
	if (st != BK_OK) {
		bk_service_list_free(&list);
		return st;
	}
	*out = list;
	return BK_OK;
}

static bk_status lst_unknown(const char *id, struct bk_error *err)
{
	char **ids = bk_state_ids();
	const char *near = ids ? bk_suggest_in(id, (const char *const *)ids) : NULL;
	bk_status st;

	if (near)
		st = bk_fail(err, BK_NOT_FOUND, 0, "nothing runs as '%.60s'; did you mean '%s'?",
			     id, near);
	else
		st = bk_fail(err, BK_NOT_FOUND, 0,
			     "nothing runs as '%.60s'; `bakeoff services` lists what does", id);
	bk_strings_free(ids);
	return st;
}

bk_status bk_state_by_id(json_t **out, const char *id, struct bk_error *err)
{
	char *folder = bk_state_folder(id);
	json_t *state = folder ? bk_state_read(folder) : NULL;

	free(folder);
	if (!state)
		return lst_unknown(id, err);
	*out = state;
	return BK_OK;
}

bool bk_service_is_id(const char *id)
{
	char *folder = bk_state_folder(id);
	bool is = folder != NULL;

	free(folder);
	return is;
}

bk_status bk_service_reach(struct bk_plugin **plugin, struct bk_options **options, const char *id,
			   bool admin, struct bk_error *err)
{
	struct bk_plugin *p = NULL;
	struct bk_options *o = NULL;
	const char *name;
	json_t *state, *text;
	bk_status st = bk_state_by_id(&state, id, err);

	if (st != BK_OK)
		return st;
	st = bk_plugin_load(&p, bk_state_text(state, "plugin"), err);
	if (st == BK_OK)
		st = bk_options_new(&o, &p->desc, err);
	if (st == BK_OK) /* what counts was noted when it was made */
		st = bk_options_drop_environment(o, err);
	json_object_foreach(json_object_get(state, admin ? "admin" : "options"), name, text)
	{
		if (st == BK_OK)
			st = bk_options_set(o, name, json_string_value(text), BK_FROM_HARNESS, err);
	}
	json_decref(state);
	if (st != BK_OK) {
		bk_options_free(o);
		bk_plugin_free(p);
		return st;
	}
	*plugin = p;
	*options = o;
	return BK_OK;
}
