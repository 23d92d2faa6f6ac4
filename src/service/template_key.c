/*
 * template_key.c - what a template depends on, as one hash.
 *
 * The one invariant: whatever shapes the data is in it; what does not is not, or every start would
 * build anew.
 */
#include "service/template.h"

#include "util/fs.h"

#include <bakeoff/backend_util.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <xxhash.h>

#define TPL_LAYOUT "1" /* of a template's folder; raise it when older ones are of no use */

static void tpl_hash(XXH3_state_t *hash, const char *text)
{
	XXH3_128bits_update(hash, text ? text : "\1", text ? strlen(text) + 1 : 2);
}

static void tpl_hash_number(XXH3_state_t *hash, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	tpl_hash(hash, text);
}

/* The program as it is now: another version has another size or time. */
static void tpl_hash_program(XXH3_state_t *hash, const char *path)
{
	char *real = realpath(path, NULL);
	struct stat sb;

	tpl_hash(hash, real ? real : path);
	if (stat(path, &sb) == 0) {
		tpl_hash_number(hash, (uint64_t)sb.st_size);
		tpl_hash_number(hash, (uint64_t)sb.st_mtim.tv_sec);
		tpl_hash_number(hash, (uint64_t)sb.st_mtim.tv_nsec);
	}
	free(real);
}

static void tpl_hash_strings(XXH3_state_t *hash, const char *const *strings)
{
	for (; strings && *strings; strings++)
		tpl_hash(hash, *strings);
	tpl_hash(hash, NULL);
}

static void tpl_hash_commands(XXH3_state_t *hash, const struct bk_command *c)
{
	for (; c && c->argv; c++) {
		tpl_hash_strings(hash, c->argv);
		tpl_hash(hash, c->stdin_text);
		tpl_hash_number(hash, c->when);
		tpl_hash_number(hash, c->flags);
	}
	tpl_hash(hash, NULL);
}

static void tpl_hash_settings(XXH3_state_t *hash, const struct bk_setting *s)
{
	for (; s && s->key; s++) {
		tpl_hash(hash, s->key);
		tpl_hash(hash, s->value);
		tpl_hash_number(hash, s->when);
	}
	tpl_hash(hash, NULL);
}

static bk_status tpl_hash_file(XXH3_state_t *hash, const char *path, struct bk_error *err)
{
	FILE *f = fopen(path, "re");
	char chunk[65536];
	size_t n;
	bool failed;

	if (!f)
		return bk_fail(err, bk_fs_status(errno), errno,
			       "cannot read the schema file %s: %s", path, strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		XXH3_128bits_update(hash, chunk, n);
	failed = ferror(f);
	fclose(f);
	tpl_hash(hash, NULL);
	return failed ? bk_fail(err, BK_IO, 0, "cannot read the schema file %s", path) : BK_OK;
}

static bk_status tpl_hash_run(XXH3_state_t *hash, const struct bk_service_run *run,
			      const char *const *schema, struct bk_error *err)
{
	const struct bk_service *service = run->service;
	const struct bk_process *p;
	const struct bk_pair *pair;
	bk_status st = BK_OK;
	size_t i;

	tpl_hash(hash, TPL_LAYOUT);
	tpl_hash(hash, run->plugin->desc.version);
	tpl_hash_program(hash, run->plugin->path);
	for (i = 0; i < run->programs.count; i++)
		tpl_hash_program(hash, run->programs.items[i].path);
	tpl_hash_commands(hash, service->init);
	tpl_hash_commands(hash, service->after);
	tpl_hash_commands(hash, BK_SERVICE_MEMBER(service, seal));
	for (p = service->processes; p && p->name; p++) {
		tpl_hash_strings(hash, p->argv);
		tpl_hash_commands(hash, p->before);
	}
	tpl_hash_settings(hash, service->settings);
	tpl_hash_settings(hash, service->files);
	for (pair = service->process_env; pair && pair->key; pair++) {
		tpl_hash(hash, pair->key);
		tpl_hash(hash, pair->value);
	}
	for (; st == BK_OK && schema && *schema; schema++)
		st = tpl_hash_file(hash, *schema, err);
	return st;
}

bk_status bk_template_key(char out[BK_TEMPLATE_KEY_MAX], const struct bk_service_run *run,
			  const char *const *schema, struct bk_error *err)
{
	XXH3_state_t *hash = XXH3_createState();
	XXH128_hash_t h;
	bk_status st;

	if (!hash)
		return bk_fail(err, BK_NOMEM, 0, "out of memory");
	XXH3_128bits_reset(hash);
	st = tpl_hash_run(hash, run, schema, err);
	h = XXH3_128bits_digest(hash);
	XXH3_freeState(hash);
	snprintf(out, BK_TEMPLATE_KEY_MAX, "%.48s-%016llx%016llx", run->plugin->desc.name,
		 (unsigned long long)h.high64, (unsigned long long)h.low64);
	return st;
}
