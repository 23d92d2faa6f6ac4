/*
 * parse.c - flags and operands, in any order, by a command's descriptor.
 *
 * The one invariant: values are borrowed from argv, so nothing here outlives main().
 */
#include "cmd/parse.h"

#include "util/suggest.h"

#include <stdlib.h>
#include <string.h>

struct parse_flag {
	const struct bk_flag *flag;
	const char *value; /* "" for a switch */
};

struct bk_cmd_args {
	const struct bk_cmd *cmd;
	struct parse_flag *flags; /* in order; room for argc */
	size_t flag_count;
	const char **operands; /* room for argc */
	size_t operand_count;
	char *const *rest; /* after --; NULL: no -- */
};

struct parse {
	struct bk_cmd_args *args;
	char **argv;
	int argc, at;
};

static int parse_unknown_flag(const struct bk_cmd *cmd, const char *name, size_t len)
{
	const struct bk_flag *flag;
	struct bk_suggest suggest;
	char word[64];

	/* only the name: what follows '=' may be a secret */
	memset(word, 0, sizeof(word));
	memcpy(word, name, len < sizeof(word) - 1 ? len : sizeof(word) - 1);
	bk_suggest_init(&suggest, word);
	bk_suggest_offer(&suggest, "help");
	for (flag = cmd->flags; flag && flag->name; flag++)
		bk_suggest_offer(&suggest, flag->name);
	if (suggest.best)
		return bk_cmd_usage("%s: --%s is unknown; did you mean --%s?", cmd->name, word,
				    suggest.best);
	return bk_cmd_usage("%s: --%s is unknown; see bakeoff %s --help", cmd->name, word,
			    cmd->name);
}

static int parse_put_flag(struct parse *p, const struct bk_flag *flag, const char *value)
{
	struct bk_cmd_args *args = p->args;
	const char *name = args->cmd->name;

	if (!flag->arg && value)
		return bk_cmd_usage("%s: --%s takes no value", name, flag->name);
	if (flag->arg && !value && p->at + 1 < p->argc)
		value = p->argv[++p->at];
	if (flag->arg && !value)
		return bk_cmd_usage("%s: --%s needs a value: --%s %s", name, flag->name, flag->name,
				    flag->arg);
	if (flag->arg && !flag->many && bk_cmd_flag_count(args, flag->name) > 0)
		return bk_cmd_usage("%s: --%s is given more than once", name, flag->name);
	args->flags[args->flag_count].flag = flag;
	args->flags[args->flag_count++].value = value ? value : "";
	return BK_EXIT_OK;
}

/* --name, --name=value */
static int parse_long(struct parse *p, const char *word)
{
	size_t len = strcspn(word, "=");
	const struct bk_flag *flag;

	for (flag = p->args->cmd->flags; flag && flag->name; flag++) {
		if (strlen(flag->name) == len && memcmp(flag->name, word, len) == 0)
			return parse_put_flag(p, flag, word[len] ? word + len + 1 : NULL);
	}
	return parse_unknown_flag(p->args->cmd, word, len);
}

/* -k, -kVALUE, -ab: letters up to the first that takes a value */
static int parse_letters(struct parse *p, const char *letters)
{
	const char *name = p->args->cmd->name;
	const struct bk_flag *flag;
	int status;

	for (; *letters; letters++) {
		for (flag = p->args->cmd->flags; flag && flag->name; flag++) {
			if (flag->letter && flag->letter == *letters)
				break;
		}
		if (!flag || !flag->name)
			return bk_cmd_usage("%s: -%c is unknown; see bakeoff %s --help", name,
					    *letters, name);
		if (flag->arg)
			return parse_put_flag(p, flag, letters[1] ? letters + 1 : NULL);
		status = parse_put_flag(p, flag, NULL);
		if (status != BK_EXIT_OK)
			return status;
	}
	return BK_EXIT_OK;
}

static int parse_words(struct parse *p, bool *help)
{
	struct bk_cmd_args *args = p->args;
	int status = BK_EXIT_OK;

	for (p->at = 0; status == BK_EXIT_OK && p->at < p->argc; p->at++) {
		const char *word = p->argv[p->at];

		if (strcmp(word, "--") == 0 && args->cmd->passthrough) {
			args->rest = p->argv + p->at + 1;
			break;
		}
		if (strcmp(word, "--") == 0) {
			while (++p->at < p->argc)
				args->operands[args->operand_count++] = p->argv[p->at];
			break;
		}
		if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
			*help = true;
			break;
		}
		if (strncmp(word, "--", 2) == 0)
			status = parse_long(p, word + 2);
		else if (word[0] == '-' && word[1])
			status = parse_letters(p, word + 1);
		else
			args->operands[args->operand_count++] = word;
	}
	return status;
}

static int parse_count_operands(const struct bk_cmd_args *args)
{
	const struct bk_cmd *cmd = args->cmd;

	if (args->operand_count < cmd->operands_min)
		return bk_cmd_usage("%s: something is missing: bakeoff %s %s", cmd->name, cmd->name,
				    cmd->operands);
	if (args->operand_count > cmd->operands_max && cmd->operands_max == 0)
		return bk_cmd_usage("%s: '%s' is one too many: it takes no operands", cmd->name,
				    args->operands[0]);
	if (args->operand_count > cmd->operands_max)
		return bk_cmd_usage("%s: '%s' is one too many: bakeoff %s %s", cmd->name,
				    args->operands[cmd->operands_max], cmd->name, cmd->operands);
	return BK_EXIT_OK;
}

int bk_cmd_parse(struct bk_cmd_args **out, bool *help, const struct bk_cmd *cmd, int argc,
		 char **argv)
{
	struct bk_cmd_args *args = calloc(1, sizeof(*args));
	struct parse p = {args, argv, argc, 0};
	int status;

	*help = false;
	if (args) {
		/* a cluster of letters may hold more flags than words */
		size_t room = 1, i;

		for (i = 0; i < (size_t)argc; i++)
			room += strlen(argv[i]) + 1;
		args->cmd = cmd;
		args->flags = calloc(room, sizeof(*args->flags));
		args->operands = calloc((size_t)argc + 1, sizeof(*args->operands));
	}
	if (!args || !args->flags || !args->operands) {
		status = bk_cmd_usage("out of memory");
		goto failed;
	}
	status = parse_words(&p, help);
	if (status == BK_EXIT_OK && !*help)
		status = parse_count_operands(args);
	if (status != BK_EXIT_OK)
		goto failed;
	*out = args;
	return BK_EXIT_OK;
failed:
	bk_cmd_args_free(args);
	return status;
}

void bk_cmd_args_free(struct bk_cmd_args *args)
{
	if (!args)
		return;
	free(args->flags);
	free(args->operands);
	free(args);
}

size_t bk_cmd_flag_count(const struct bk_cmd_args *args, const char *name)
{
	size_t i, n = 0;

	for (i = 0; i < args->flag_count; i++)
		n += strcmp(args->flags[i].flag->name, name) == 0;
	return n;
}

const char *bk_cmd_flag_at(const struct bk_cmd_args *args, const char *name, size_t i)
{
	size_t at;

	for (at = 0; at < args->flag_count; at++) {
		if (strcmp(args->flags[at].flag->name, name) == 0 && i-- == 0)
			return args->flags[at].value;
	}
	return NULL;
}

const char *bk_cmd_flag(const struct bk_cmd_args *args, const char *name)
{
	size_t n = bk_cmd_flag_count(args, name);

	return n ? bk_cmd_flag_at(args, name, n - 1) : NULL;
}

size_t bk_cmd_operand_count(const struct bk_cmd_args *args)
{
	return args->operand_count;
}

const char *bk_cmd_operand(const struct bk_cmd_args *args, size_t i)
{
	return i < args->operand_count ? args->operands[i] : NULL;
}

char *const *bk_cmd_rest(const struct bk_cmd_args *args)
{
	return args->rest;
}
