/*
 * model_ops.c - operations drawn at random, and shown to a reader.
 *
 * The one invariant: the operations follow from the seed alone, not from what the store answers;
 * leaving some out leaves the others as they are.
 */
#include "conform/model.h"

static const char *const kind_names[MODEL_KINDS] = {
	"put",      "put_many", "cas",     "append", "remove",   "get",    "find",
	"get_many", "walk",     "begin",   "commit", "rollback", "reopen", "settle",
	"store",    "abort",    "unstore", "stat",   "list",     "check"};

/* ---- Names ------------------------------------------------------------------------------------
 */

/* Ids that a careless store confuses, among plain ones. */
static const struct bk_slice odd_ids[] = {
	{"\0", 1}, {"\0\0", 2}, {"a", 1}, {"a\0", 2}, {"A", 1},    {"\xff", 1},
	{"'", 1},  {"a ", 2},   {"%", 1}, {"\n", 1},  {"a\0b", 3}, {"..", 2},
};
#define ODD_IDS (sizeof(odd_ids) / sizeof(odd_ids[0]))

struct bk_slice model_path(struct bk_box *b, uint32_t i)
{
	static const char *const odd[] = {"/a", "/A", "/a ", "/a%", "/a_", "/a/", "/\xc3\xa9"};

	if (i < sizeof(odd) / sizeof(odd[0]))
		return bk_slice_str(odd[i]);
	return bk_path_named(b, "n%u", i);
}

struct bk_slice model_id(struct bk_box *b, uint32_t i)
{
	if (b->t->own & BK_F_ID_IS_PATH)
		return model_path(b, i);
	if (i < ODD_IDS)
		return odd_ids[i];
	return bk_id_named(b, "n%u", i);
}

struct bk_slice model_rel(uint32_t i)
{
	static const struct bk_slice rels[MODEL_RELS] = {{"r", 1}, {"rr", 2}, {"r\0", 2}};

	return rels[i % MODEL_RELS];
}

struct bk_slice model_key(struct bk_box *b, uint32_t i)
{
	static const char *const odd[] = {"a", "A", "a/b", "a b", "%"};

	if (i < sizeof(odd) / sizeof(odd[0]))
		return bk_slice_str(odd[i]);
	return bk_test_printf(&b->arena, "key%u", i);
}

/* ---- Drawing ----------------------------------------------------------------------------------
 */

static void draw_put(struct model_put *put, struct bk_rng *rng, uint32_t label)
{
	uint32_t i;

	put->id = (uint32_t)bk_rng_below(rng, MODEL_IDS);
	put->path = bk_rng_below(rng, 6) ? put->id : (uint32_t)bk_rng_below(rng, MODEL_IDS);
	/* mostly one and the same parent a node, or replacing it would seldom be right */
	put->parent = put->id % 3 == 0 ? MODEL_NONE : put->id / 3;
	if (bk_rng_below(rng, 8) == 0)
		put->parent = (uint32_t)bk_rng_below(rng, MODEL_IDS);
	put->mode = 1 + (uint32_t)bk_rng_below(rng, 3);
	put->label = label;
	put->doc_len = (uint32_t)bk_rng_below(rng, bk_rng_below(rng, 10) ? 200 : 20000);
	put->link_count = (uint32_t)bk_rng_below(rng, MODEL_LINKS + 1);
	for (i = 0; i < put->link_count; i++) {
		put->links[i].rel = (uint32_t)bk_rng_below(rng, MODEL_RELS);
		put->links[i].target = (uint32_t)bk_rng_below(rng, MODEL_IDS);
	}
}

static void draw_steps(struct model_op *op, struct bk_rng *rng)
{
	uint32_t i;

	op->count = 1 + (uint32_t)bk_rng_below(rng, MODEL_STEPS);
	for (i = 0; i < op->count; i++) {
		op->steps[i].dir = 1 + (uint32_t)bk_rng_below(rng, 3);
		op->rels[i] =
			bk_rng_below(rng, 3) ? MODEL_NONE : (uint32_t)bk_rng_below(rng, MODEL_RELS);
		if (op->rels[i] != MODEL_NONE)
			op->steps[i].rel = model_rel(op->rels[i]);
	}
	op->fields = bk_rng_below(rng, 2) ? BK_WANT_PATH : 0;
	op->cap = 1 + (uint32_t)bk_rng_below(rng, bk_rng_below(rng, 2) ? 3 : 20);
}

static void draw(struct model_op *op, const struct model_mix *mix, struct bk_rng *rng,
		 uint32_t label)
{
	unsigned total = 0, k;
	uint64_t pick;
	uint32_t i, j;

	memset(op, 0, sizeof(*op));
	for (k = 0; k < MODEL_KINDS; k++)
		total += mix->weight[k];
	pick = bk_rng_below(rng, total);
	for (k = 0; pick >= mix->weight[k]; k++)
		pick -= mix->weight[k];
	op->kind = (enum model_kind)k;
	op->count = 2 + (uint32_t)bk_rng_below(rng, MODEL_BATCH - 1);
	for (i = 0; i < MODEL_BATCH; i++) {
		draw_put(&op->puts[i], rng, label + i);
		op->puts[i].mode = op->puts[0].mode; /* one for the whole batch */
		for (j = 0; j < i; j++) {            /* and no id twice in it */
			if (op->puts[j].id == op->puts[i].id)
				op->count = op->count < i ? op->count : i;
		}
	}
	op->fields = (uint32_t)bk_rng_below(rng, 8);
	op->len = bk_rng_below(rng, bk_rng_below(rng, 8) ? 5000 : 300000);
	op->declared = bk_rng_below(rng, 3);
	op->offset = bk_rng_below(rng, 6000);
	if (op->kind == MODEL_WALK)
		draw_steps(op, rng);
}

void model_generate(struct model_op *ops, size_t n, const struct model_mix *mix, uint64_t seed)
{
	struct bk_rng rng;
	size_t i;

	for (i = 0; i < n; i++) {
		bk_rng_init(&rng, bk_rng_derive_u64(seed, i));
		draw(&ops[i], mix, &rng, (uint32_t)(i * MODEL_BATCH + 1));
	}
}

/* ---- Showing -----------------------------------------------------------------------------------
 */

static const char *show_put(struct bk_arena *arena, const struct model_put *put)
{
	static const char *const modes[] = {"?", "create", "replace", "upsert"};
	const char *links = "", *parent = "none";
	uint32_t i;

	if (put->parent != MODEL_NONE)
		parent = bk_arena_printf(arena, "#%u", put->parent);
	for (i = 0; i < put->link_count; i++)
		links = bk_arena_printf(arena, "%s %u>#%u", links, put->links[i].rel,
					put->links[i].target);
	return bk_arena_printf(arena, " %s #%u path=%u parent=%s doc=%u:%u links=[%s]",
			       modes[put->mode], put->id, put->path, parent, put->label,
			       put->doc_len, links[0] ? links + 1 : "");
}

static const char *show_steps(struct bk_arena *arena, const struct model_op *op)
{
	static const char *const dirs[] = {"?", "children", "out", "in"};
	const char *text = bk_arena_printf(arena, " #%u", op->puts[0].id);
	uint32_t i;

	for (i = 0; i < op->count; i++)
		text = op->rels[i] == MODEL_NONE
			       ? bk_arena_printf(arena, "%s %s(any)", text, dirs[op->steps[i].dir])
			       : bk_arena_printf(arena, "%s %s(%u)", text, dirs[op->steps[i].dir],
						 op->rels[i]);
	return bk_arena_printf(arena, "%s cap=%u", text, op->cap);
}

const char *model_show(struct bk_arena *arena, const struct model_op *op)
{
	const char *text = kind_names[op->kind];
	uint32_t i;

	switch (op->kind) {
	case MODEL_PUT:
	case MODEL_CAS:
	case MODEL_APPEND:
		return bk_arena_printf(arena, "%s%s", text, show_put(arena, &op->puts[0]));
	case MODEL_PUT_MANY:
		for (i = 0; i < op->count; i++)
			text = bk_arena_printf(arena, "%s%s%s", text, i ? ";" : "",
					       show_put(arena, &op->puts[i]));
		return text;
	case MODEL_REMOVE:
	case MODEL_GET:
		return bk_arena_printf(arena, "%s #%u", text, op->puts[0].id);
	case MODEL_FIND:
		return bk_arena_printf(arena, "%s path=%u", text, op->puts[0].path);
	case MODEL_WALK:
		return bk_arena_printf(arena, "%s%s", text, show_steps(arena, op));
	case MODEL_STORE:
	case MODEL_ABORT:
	case MODEL_UNSTORE:
	case MODEL_STAT:
		return bk_arena_printf(arena, "%s key%u len=%llu", text,
				       op->puts[0].id % MODEL_KEYS, (unsigned long long)op->len);
	default:
		return text;
	}
}
