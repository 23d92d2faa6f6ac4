/*
 * params.c - the shared parameters, and the parsing of any parameter's value.
 */
#include "scenario/params.h"

#include "util/units.h"

#include <bakeoff/backend_util.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const access_choices[] = {"document", "batched", "native", NULL};
static const char *const policy_choices[] = {"lru", "fifo", NULL};
static const char *const temperature_choices[] = {"warm", "cold", NULL};
static const char *const load_choices[] = {"bulk", "single", NULL};

const struct bk_param bk_param_n = {
	.name = "n",
	.help = "how many (children, members, properties, binaries)",
	.def = "1000",
	.type = BK_PARAM_COUNT,
	.min = 1,
	.max = 100000000,
	.flags = BK_PARAM_DATA | BK_PARAM_SHOWN,
};
const struct bk_param bk_param_access = {
	.name = "access",
	.help = "document: load every node named, one by one; batched: up to 1000 a call; native: one "
		"walk by the store",
	.def = "document",
	.choices = access_choices,
	.type = BK_PARAM_CHOICE,
	.flags = BK_PARAM_SHOWN,
};
const struct bk_param bk_param_cache_size = {
	.name = "cache_size",
	.help = "nodes that the repository's node cache holds",
	.def = "10000",
	.type = BK_PARAM_COUNT,
	.max = 1000000000,
};
const struct bk_param bk_param_cache_policy = {
	.name = "cache_policy",
	.help = "which node leaves a full cache: the least recently used, or the first that came",
	.def = "lru",
	.choices = policy_choices,
	.type = BK_PARAM_CHOICE,
};
const struct bk_param bk_param_readers = {
	.name = "readers",
	.help = "sessions that share one read, in document and batched access",
	.def = "1",
	.type = BK_PARAM_COUNT,
	.min = 1,
	.max = 256,
};
const struct bk_param bk_param_temperature = {
	.name = "temperature",
	.help = "warm: one untimed read first; cold: store and page cache are emptied before each",
	.def = "warm",
	.choices = temperature_choices,
	.type = BK_PARAM_CHOICE,
};
const struct bk_param bk_param_load = {
	.name = "load",
	.help = "set-up in bulk (never compared), or one object a transaction (its rate is a metric)",
	.def = "bulk",
	.choices = load_choices,
	.type = BK_PARAM_CHOICE,
	.flags = BK_PARAM_DATA,
};
#define HIERARCHY_HELP                                                                             \
	"where resources without a name of their own go: flat, pairtree LEVELSxDIGITS"
const struct bk_param bk_param_hierarchy_pairtree = {
	.name = "hierarchy",
	.help = HIERARCHY_HELP,
	.def = "pairtree 4x2",
	.type = BK_PARAM_HIERARCHY,
	.flags = BK_PARAM_DATA,
};
const struct bk_param bk_param_hierarchy_flat = {
	.name = "hierarchy",
	.help = HIERARCHY_HELP,
	.def = "flat",
	.type = BK_PARAM_HIERARCHY,
	.flags = BK_PARAM_DATA,
};
const struct bk_param bk_param_size = {
	.name = "size",
	.help = "bytes of each binary",
	.def = "1000000",
	.type = BK_PARAM_BYTES,
	.max = UINT64_C(1) << 40,
	.flags = BK_PARAM_DATA | BK_PARAM_SHOWN,
};
const struct bk_param bk_param_threads = {
	.name = "threads",
	.help = "workers, each with a session of its own",
	.def = "1",
	.type = BK_PARAM_COUNT,
	.min = 1,
	.max = 1024,
};
const struct bk_param bk_param_inline_threshold = {
	.name = "inline_threshold",
	.help = "binaries smaller than this stay inside their node, bytes",
	.def = "4096",
	.type = BK_PARAM_BYTES,
	.max = UINT64_C(16) << 20,
	.flags = BK_PARAM_DATA,
};

static bk_status parse_choice(struct bk_value *out, const struct bk_param *p, const char *text,
			      struct bk_error *err)
{
	char list[160] = "";
	size_t i, used = 0;

	for (i = 0; p->choices[i]; i++) {
		if (strcmp(p->choices[i], text) == 0) {
			out->u = i;
			snprintf(out->text, sizeof(out->text), "%s", text);
			return BK_OK;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 p->choices[i]);
	}
	return bk_fail(err, BK_INVALID, 0, "%s: '%s' is none of %s", p->name, text, list);
}

static bk_status parse_number(struct bk_value *out, const struct bk_param *p, const char *text,
			      struct bk_error *err)
{
	struct bk_error why = bk_error_init();
	bk_status st = p->type == BK_PARAM_BYTES ? bk_units_parse_bytes(&out->u, text, &why)
						 : bk_units_parse_count(&out->u, text, &why);

	if (st < 0)
		return bk_fail(err, BK_INVALID, 0, "%s: %s", p->name, why.message);
	if (out->u < p->min || (p->max && out->u > p->max))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: %s is out of range; %" PRIu64 " to %" PRIu64, p->name, text,
			       p->min, p->max);
	snprintf(out->text, sizeof(out->text), "%" PRIu64, out->u);
	return BK_OK;
}

static bk_status parse_hierarchy(struct bk_value *out, const char *text, struct bk_error *err)
{
	struct bk_hierarchy h;
	bk_status st = bk_hierarchy_parse(&h, text, err);

	if (st < 0)
		return st;
	out->u = h.levels;
	if (h.levels)
		snprintf(out->text, sizeof(out->text), "pairtree %ux%u", h.levels, h.digits);
	else
		snprintf(out->text, sizeof(out->text), "flat");
	return BK_OK;
}

bk_status bk_param_parse(struct bk_value *out, const struct bk_param *param, const char *text,
			 struct bk_error *err)
{
	switch (param->type) {
	case BK_PARAM_CHOICE:
		return parse_choice(out, param, text, err);
	case BK_PARAM_HIERARCHY:
		return parse_hierarchy(out, text, err);
	case BK_PARAM_COUNT:
	case BK_PARAM_BYTES:
		break;
	}
	return parse_number(out, param, text, err);
}
