/*
 * scenarios.c - `bakeoff scenarios`: every scenario and parameter, from their tables.
 */
#include "cmd/cmd.h"
#include "scenario/scenario.h"
#include "util/suggest.h"

#include <inttypes.h>
#include <stdio.h>

static const char *type_text(char out[64], const struct bk_param *p)
{
	struct bk_buf buf = BK_BUF_INIT;
	size_t i;

	switch (p->type) {
	case BK_PARAM_CHOICE:
		for (i = 0; p->choices[i]; i++)
			bk_buf_putf(&buf, "%s%s", i ? "|" : "", p->choices[i]);
		break;
	case BK_PARAM_HIERARCHY:
		bk_buf_puts(&buf, "flat|pairtree LxD");
		break;
	case BK_PARAM_BYTES:
		bk_buf_puts(&buf, "bytes");
		break;
	case BK_PARAM_COUNT:
		if (p->max)
			bk_buf_putf(&buf, "%" PRIu64 "..%" PRIu64, p->min, p->max);
		else
			bk_buf_puts(&buf, "count");
	}
	snprintf(out, 64, "%s", bk_buf_str(&buf));
	bk_buf_free(&buf);
	return out;
}

static int list_all(void)
{
	size_t i;

	for (i = 0; bk_scenarios[i]; i++)
		printf("%-14s %s\n", bk_scenarios[i]->name, bk_scenarios[i]->summary);
	printf("\n`bakeoff scenarios NAME` documents one with its parameters.\n");
	return BK_EXIT_OK;
}

static void put_param(const struct bk_param *p)
{
	struct bk_buf text = BK_BUF_INIT;
	char type[64];

	bk_buf_put_wrapped(&text, p->help, 20, 98);
	printf("  %-17s %-22s default %s%s\n%s", p->name, type_text(type, p), p->def,
	       p->flags & BK_PARAM_DATA ? "  (shapes the data)" : "", bk_buf_str(&text));
	bk_buf_free(&text);
}

static int show_one(const char *name)
{
	const struct bk_scenario *s = bk_scenario_find(name);
	struct bk_buf text = BK_BUF_INIT;
	struct bk_suggest suggest;
	const struct bk_metric_kind *kind;
	size_t i;

	if (!s) {
		bk_suggest_init(&suggest, name);
		for (i = 0; bk_scenarios[i]; i++)
			bk_suggest_offer(&suggest, bk_scenarios[i]->name);
		return suggest.best
			       ? bk_cmd_usage("scenario '%s' is unknown; did you mean '%s'?", name,
					      suggest.best)
			       : bk_cmd_usage("scenario '%s' is unknown; `bakeoff scenarios` lists "
					      "them",
					      name);
	}
	bk_buf_put_wrapped(&text, s->details, 2, 98);
	kind = bk_metric_kind(s->primary);
	printf("%s: %s\n\n%s\nPrimary metric: %s, %s\n\nParameters\n", s->name, s->summary,
	       bk_buf_str(&text), s->primary, kind ? kind->meaning : "");
	for (i = 0; s->params[i]; i++)
		put_param(s->params[i]);
	bk_buf_free(&text);
	return BK_EXIT_OK;
}

static int scenarios_exec(const struct bk_cmd_args *args)
{
	return bk_cmd_operand_count(args) ? show_one(bk_cmd_operand(args, 0)) : list_all();
}

const struct bk_cmd bk_cmd_scenarios = {
	.name = "scenarios",
	.operands = "[NAME]",
	.summary = "list the scenarios, or document one with its parameters",
	.details = "What each scenario sets up, what of it is timed, what is verified, and its "
		   "parameters with their defaults.  In a matrix a parameter takes one value or a "
		   "list.\n",
	.operands_max = 1,
	.exec = scenarios_exec,
};
