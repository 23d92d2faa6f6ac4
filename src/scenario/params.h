/*
 * params.h - parameters that several scenarios take, declared once.
 */
#ifndef BK_SCENARIO_PARAMS_H
#define BK_SCENARIO_PARAMS_H

#include "scenario/scenario.h"

extern const struct bk_param bk_param_n;
extern const struct bk_param bk_param_access;
extern const struct bk_param bk_param_cache_size;
extern const struct bk_param bk_param_cache_policy;
extern const struct bk_param bk_param_readers;
extern const struct bk_param bk_param_temperature;
extern const struct bk_param bk_param_load;
extern const struct bk_param bk_param_hierarchy_pairtree; /* hierarchy, pairtree 4x2 by default */
extern const struct bk_param bk_param_hierarchy_flat;     /* hierarchy, flat by default */
extern const struct bk_param bk_param_size;
extern const struct bk_param bk_param_threads;
extern const struct bk_param bk_param_inline_threshold;

#endif
