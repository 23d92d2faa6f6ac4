/*
 * variants.c - what a variant's name means: the standard ones come from variants.yaml, which is
 * installed beside the program; no backend is named in code.
 */
#include "matrix/parse.h"

#include "plugin/plugin.h"
#include "util/fs.h"
#include "util/suggest.h"

#include <bakeoff/backend_util.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *bk_matrix_file(const char *name)
{
	static const char *const folders[] = {"matrix", "../" BAKEOFF_DATADIR "/bakeoff/matrix"};
	char *program = bk_fs_program_folder(), *path = NULL, *resolved;
	size_t i;

	for (i = 0; program && i < 2; i++) {
		struct bk_buf buf = BK_BUF_INIT;

		bk_buf_putf(&buf, "%s/%s/%s", program, folders[i], name);
		free(path);
		path = bk_buf_steal(&buf);
		if (path && access(path, R_OK) == 0)
			break;
	}
	free(program);
	resolved = path ? realpath(path, NULL) : NULL; /* people read it */
	if (resolved) {
		free(path);
		path = resolved;
	}
	return path;
}

bk_status bk_matrix_standard(struct bk_yaml_file *out, struct bk_arena *arena, struct bk_error *err)
{
	char *found = bk_matrix_file("variants.yaml");
	const char *path = found ? bk_arena_strdup(arena, found) : NULL; /* errors name it later */

	free(found);
	return bk_yaml_load(out, path ? path : "variants.yaml", err);
}

static bk_status parse_options(struct bk_half *out, struct bk_arena *arena,
			       const struct bk_yaml_file *file, const struct bk_yaml *map,
			       struct bk_error *err)
{
	const struct bk_yaml *v;

	out->options = bk_arena_alloc(arena, (map->count + 1) * sizeof(*out->options));
	if (!out->options)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	for (v = map->first; v; v = v->next) {
		struct bk_pair_text *o;

		if (strcmp(v->key->text, "backend") == 0)
			continue;
		if (v->type != BK_YAML_SCALAR)
			return bk_yaml_fail(err, file, v,
					    "option '%s' takes a single value, not %s",
					    v->key->text, bk_yaml_kind(v));
		o = &out->options[out->option_count++];
		o->name = v->key->text;
		o->value = v->text;
		o->at = v->key;
		o->file = file;
	}
	return BK_OK;
}

static bk_status parse_half(struct bk_half *out, struct bk_arena *arena,
			    const struct bk_yaml_file *file, const struct bk_yaml *v,
			    struct bk_error *err)
{
	const struct bk_yaml *backend;

	memset(out, 0, sizeof(*out));
	out->at = v;
	out->file = file;
	if (v->type == BK_YAML_SCALAR) {
		out->backend = v->text;
		return BK_OK;
	}
	if (v->type != BK_YAML_MAP)
		return bk_yaml_fail(err, file, v,
				    "'%s' takes {backend: NAME, option: value ...}, not %s",
				    v->key->text, bk_yaml_kind(v));
	backend = bk_yaml_get(v, "backend");
	if (!backend || backend->type != BK_YAML_SCALAR)
		return bk_yaml_fail(err, file, v,
				    "'%s' does not say which backend: {backend: NAME}",
				    v->key->text);
	out->backend = backend->text;
	return parse_options(out, arena, file, v, err);
}

static bool valid_name(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.");

	return len && !name[len] && len <= 64;
}

bk_status bk_variant_parse(struct bk_variant *out, struct bk_arena *arena,
			   const struct bk_yaml_file *file, const struct bk_yaml *map,
			   struct bk_error *err)
{
	static const char *const keys[] = {"name", "nodes", "binaries", NULL};
	const struct bk_yaml *v;
	bk_status st = BK_OK;

	memset(out, 0, sizeof(*out));
	out->at = map;
	for (v = map->first; v && st >= 0; v = v->next) {
		if (strcmp(v->key->text, "name") == 0) {
			if (v->type != BK_YAML_SCALAR || !valid_name(v->text))
				return bk_yaml_fail(err, file, v,
						    "a variant's name is 1 to 64 of a-z 0-9 - _ .");
			out->name = v->text;
		} else if (strcmp(v->key->text, "nodes") == 0) {
			st = parse_half(&out->nodes, arena, file, v, err);
		} else if (strcmp(v->key->text, "binaries") == 0) {
			st = parse_half(&out->binaries, arena, file, v, err);
		} else {
			return bk_yaml_unknown(err, file, v->key, "key", keys);
		}
	}
	if (st < 0)
		return st;
	if (!out->name)
		return bk_yaml_fail(err, file, map, "a variant needs a name");
	if (!out->nodes.backend)
		return bk_yaml_fail(err, file, map,
				    "variant '%s' does not say where its nodes live: "
				    "nodes: {backend: NAME}",
				    out->name);
	return BK_OK;
}

static bk_status from_standard(struct bk_variant *out, const struct bk_yaml_file *standard,
			       struct bk_arena *arena, const char *name, struct bk_error *err)
{
	const struct bk_yaml *v;

	if (standard->root->type != BK_YAML_LIST)
		return bk_yaml_fail(err, standard, standard->root,
				    "this is to be a list of variants");
	for (v = standard->root->first; v; v = v->next) {
		const struct bk_yaml *n = v->type == BK_YAML_MAP ? bk_yaml_get(v, "name") : NULL;

		if (n && n->type == BK_YAML_SCALAR && strcmp(n->text, name) == 0)
			return bk_variant_parse(out, arena, standard, v, err);
	}
	return BK_NOT_FOUND;
}

/* A backend alone is a variant of its own name. */
static bk_status from_backend(struct bk_variant *out, struct bk_arena *arena, const char *name,
			      struct bk_error *err)
{
	struct bk_plugin *plugin;
	bk_status st = bk_plugin_find(&plugin, name, err);

	if (st < 0)
		return st;
	memset(out, 0, sizeof(*out));
	out->name = out->nodes.backend = bk_arena_strdup(arena, name);
	if ((plugin->desc.native | plugin->desc.emulated) & BK_F_BINARIES)
		out->binaries.backend = out->name;
	bk_plugin_free(plugin);
	return BK_OK;
}

bk_status bk_variant_named(struct bk_variant *out, const struct bk_yaml_file *standard,
			   struct bk_arena *arena, const char *name, struct bk_error *err)
{
	bk_status st = from_standard(out, standard, arena, name, err);
	struct bk_suggest suggest;
	const struct bk_yaml *v;

	if (st != BK_NOT_FOUND)
		return st;
	if (from_backend(out, arena, name, err) >= 0)
		return BK_OK;
	bk_suggest_init(&suggest, name);
	for (v = standard->root->first; v; v = v->next) {
		const struct bk_yaml *n = v->type == BK_YAML_MAP ? bk_yaml_get(v, "name") : NULL;

		if (n && n->type == BK_YAML_SCALAR)
			bk_suggest_offer(&suggest, n->text);
	}
	/* a backend of that name that does not load says more than "unknown" */
	if (err->status != BK_NOT_FOUND)
		return err->status;
	return bk_fail(err, BK_NOT_FOUND, 0, "variant '%s' is unknown%s%s%s", name,
		       suggest.best ? "; did you mean '" : "", suggest.best ? suggest.best : "",
		       suggest.best ? "'?"
				    : "; it is neither in variants.yaml nor a backend that "
				      "`bakeoff backends` lists ($BAKEOFF_BACKENDS adds folders)");
}

bk_status bk_variant_find(struct bk_variant *out, struct bk_yaml_file *standard,
			  struct bk_arena *arena, const char *name, struct bk_error *err)
{
	bk_status st = bk_matrix_standard(standard, arena, err);

	return st < 0 ? st : bk_variant_named(out, standard, arena, name, err);
}
