/*
 * matrix.h - a matrix file, parsed and checked: variants x cases x rounds.
 *
 * What a loaded matrix names exists: its scenarios, parameters and values are checked here; its
 * backends and their options when the run opens them, before the first trial.
 */
#ifndef BK_MATRIX_MATRIX_H
#define BK_MATRIX_MATRIX_H

#include "matrix/yaml.h"
#include "scenario/scenario.h"

struct bk_pair_text { /* an option of a backend, as written */
	const char *name, *value;
	const struct bk_yaml *at; /* NULL: from --set */
	const struct bk_yaml_file *file;
	/* --set without a name: stores that lack the option do not mind, but one must know it.  Set
	 * by the first that does; shared by all that got it.  NULL: a name was given. */
	bool *known;
};

struct bk_half {             /* one store of a variant */
	const char *backend; /* NULL: none */
	struct bk_pair_text *options;
	size_t option_count;
	const struct bk_yaml *at;
	const struct bk_yaml_file *file;
};

struct bk_variant {
	const char *name;
	struct bk_half nodes;
	struct bk_half binaries;
	const struct bk_yaml *at; /* where the matrix names it */
};

struct bk_cell {
	size_t variant; /* index into variants */
	size_t kase;    /* index into cases */
	char *name;     /* "VARIANT/n-members[n=10000,access=document]" */
};

struct bk_matrix {
	struct bk_yaml_file file, standard; /* the matrix, and variants.yaml */
	struct bk_arena arena;
	const char *name;
	uint32_t rounds;
	uint64_t seed;
	uint32_t durability;   /* BK_DURABLE_* */
	const char *reference; /* a variant's name; the first one by default */
	const char *data;      /* folder */
	bool data_named;       /* by the user: then tmpfs is allowed */
	bool fresh;            /* load anew each round */
	uint64_t guard_time_ns, guard_disk_bytes;
	struct bk_variant *variants;
	size_t variant_count;
	struct bk_variant *idle; /* those of the file that no cell is left of */
	size_t idle_count;
	struct bk_case *cases;
	char **case_names;
	size_t case_count;
	struct bk_cell *cells; /* after exclude and --only; by case, variants side by side */
	size_t cell_count;
};

struct bk_matrix_overrides {  /* the command line; NULL or 0: not given */
	const char *only;     /* glob on a cell's name */
	const char *variants; /* names, separated by commas: these of the matrix */
	const char *rounds, *seed;
	const char *data;
	const char *const *sets; /* "[NAME.]option=value", NULL-terminated */
};

/* On failure nothing is left to free.  Errors begin with file:line:column. */
bk_status bk_matrix_load(struct bk_matrix *out, const char *path,
			 const struct bk_matrix_overrides *overrides, struct bk_error *err);
void bk_matrix_free(struct bk_matrix *matrix);

/* One variant by name, from the standard ones or, failing that, a backend of that name for nodes
 * and binaries; for commands that take a variant.  `standard` is loaded by the call. */
bk_status bk_variant_find(struct bk_variant *out, struct bk_yaml_file *standard,
			  struct bk_arena *arena, const char *name, struct bk_error *err);

/* The path of a file that is installed with the matrices, the caller's to free; the last place
 * looked at when there is none.  NULL: no memory, or nobody knows where the program is. */
char *bk_matrix_file(const char *name);

const char *bk_durability_name(uint32_t durability); /* "none", "process", "machine" */

#endif
