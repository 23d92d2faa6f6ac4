/*
 * table.c - every scenario, one line each.
 */
#include "scenario/scenario.h"

#include <string.h>

extern const struct bk_scenario bk_scenario_n_children;
extern const struct bk_scenario bk_scenario_child_reads;
extern const struct bk_scenario bk_scenario_n_members;
extern const struct bk_scenario bk_scenario_n_memberof;
extern const struct bk_scenario bk_scenario_n_uris;
extern const struct bk_scenario bk_scenario_n_properties;
extern const struct bk_scenario bk_scenario_n_binaries;

const struct bk_scenario *const bk_scenarios[] = {
	&bk_scenario_n_children, &bk_scenario_child_reads,
	&bk_scenario_n_members,  &bk_scenario_n_memberof,
	&bk_scenario_n_uris,     &bk_scenario_n_properties,
	&bk_scenario_n_binaries, NULL,
};

const struct bk_scenario *bk_scenario_find(const char *name)
{
	size_t i;

	for (i = 0; bk_scenarios[i]; i++) {
		if (strcmp(bk_scenarios[i]->name, name) == 0)
			return bk_scenarios[i];
	}
	return NULL;
}
