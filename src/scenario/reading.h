/*
 * reading.h - the timed read that most scenarios are about, and the loading of their data sets.
 *
 * A trial empties the node cache, reads once untimed (the check, and what makes it warm), then
 * times reads one after the other, at least 5 and at least 1 s in all; its number is the median.
 * Every read's triples are counted, summed, and compared with what the plan says.
 */
#ifndef BK_SCENARIO_READING_H
#define BK_SCENARIO_READING_H

#include "repo/ingest.h"
#include "repo/ntriples.h"
#include "repo/read.h"
#include "scenario/params.h"

/* The parameters that every timed read takes. */
#define BK_READING_PARAMS                                                                          \
	&bk_param_access, &bk_param_cache_size, &bk_param_cache_policy, &bk_param_readers,         \
		&bk_param_temperature, &bk_param_load

struct bk_reading {
	struct bk_read read;
	/* Write into `w` the triples that the read must give. */
	bk_status (*expect)(struct bk_ntriples *w, const struct bk_env *env, struct bk_error *err);
};
bk_status bk_reading_trial(const struct bk_env *env, const struct bk_reading *reading,
			   struct bk_outcome *out, struct bk_error *err);

/* The triples of a read that reaches the n resources posted under `parent` as the kind `type`: the
 * start's title, and one link a resource. */
void bk_reading_expect(struct bk_ntriples *w, const struct bk_env *env, const char *start,
		       const char *title, const char *predicate, bool inverse, const char *parent,
		       const char *type);

/* For bk_scenario.uses: by access, and append with load=single. */
uint64_t bk_reading_uses(const struct bk_case *c);

/* Steps of one walk: `before` others, then one CHILDREN step a level of the hierarchy and one for
 * the resources, then `after` others. */
struct bk_walk_steps {
	struct bk_step steps[40];
	size_t count;
};
void bk_walk_add(struct bk_walk_steps *walk, uint32_t dir, const char *rel);
void bk_walk_add_children(struct bk_walk_steps *walk, const struct bk_hierarchy *hierarchy);

struct bk_hierarchy bk_case_hierarchy(const struct bk_case *c);

/* ---- Loading ------------------------------------------------------------------- */

struct bk_loading {
	const struct bk_env *env;
	struct bk_repo_session session;
	struct bk_ingest *ingest;
	struct bk_buf doc; /* scratch */
	bool single;
	uint64_t objects, start_ns, window_start_ns;
	double *windows; /* seconds of each 1000 objects */
	size_t window_count;
};
/* Opens a session (durability none in bulk, the case's with load=single) and an ingest.  `objects`:
 * how many are to come, for the display. */
bk_status bk_loading_begin(struct bk_loading *l, const struct bk_env *env, uint64_t objects,
			   struct bk_error *err);
/* A node of a type under a name of its own; title NULL: none. */
bk_status bk_loading_put(struct bk_loading *l, const char *parent, const char *name,
			 const char *type, const char *title, const struct bk_ingest_link *links,
			 size_t link_count, struct bk_error *err);
/* The i-th node of a type, under the hierarchy; `title` is what its title begins with, NULL: it
 * has none.  path_out as bk_ingest_post(). */
bk_status bk_loading_post(const char **path_out, struct bk_loading *l, const char *parent,
			  const char *type, uint64_t i, const char *title,
			  const struct bk_ingest_link *links, size_t link_count,
			  struct bk_error *err);
/* The same without links, for what others are to name: its path is kept in `path`. */
bk_status bk_loading_post_named(struct bk_buf *path, struct bk_loading *l, const char *parent,
				const char *type, uint64_t i, const char *title,
				struct bk_error *err);
void bk_loading_title(char out[64], const char *title, uint64_t i); /* "Child 17" */
/* After each object: stores it with load=single, counts, looks at stop. */
bk_status bk_loading_object(struct bk_loading *l, struct bk_error *err);
/* Flushes when st is OK, reports the rate with load=single, closes.  Returns the first failure. */
bk_status bk_loading_end(struct bk_loading *l, bk_status st, struct bk_outcome *out,
			 struct bk_error *err);

#endif
