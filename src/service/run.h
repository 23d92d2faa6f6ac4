/*
 * run.h - a server's run as its starter and its keeper both see it; inside src/service only.
 *
 * The one invariant: everything up to `values` is settled before the keeper is forked and is the
 * same on both sides; what the keeper finds out later comes over the control socket.
 */
#ifndef BK_SERVICE_RUN_H
#define BK_SERVICE_RUN_H

#include "service/identity.h"
#include "service/programs.h"
#include "service/service.h"
#include "service/values.h"

#define BK_SERVICE_NAME    "bakeoff" /* user, database and mark of a private server */
#define BK_SERVICE_TIMEOUT UINT64_C(60000000000)
#define BK_SERVICE_PORTS   4

struct bk_service_run {
	const struct bk_plugin *plugin;
	struct bk_options *options;
	const struct bk_service *service; /* the alternative chosen; NULL: a folder is all */
	struct bk_service_config config;  /* `purpose` and `data` owned, `schema` borrowed */
	struct bk_programs programs;
	struct bk_identity identity;
	uint32_t mask;  /* BK_WHEN_* that hold */
	char suffix[8]; /* random */
	char id[80];    /* BACKEND-SUFFIX */
	char *root;     /* the folder in which `folder` is made */
	char *folder;   /* ROOT/bakeoff.SUFFIX */
	char *template; /* a pack of the data to begin with; NULL: init makes it */
	char *key;      /* the template's; NULL: none */
	json_t *given;  /* options that the user set: name -> text, secrets included */
	struct bk_values values;

	/* the starter's */
	int control; /* -1: the keeper is gone, or detached */
	int keeper_fd;
	pid_t keeper;
	pid_t *pids; /* of the processes of the table */
	size_t pid_count;
	bool up;
	bool died;
	struct bk_error death;
	uint64_t deadline_ns;
	struct bk_buf log;
};

uint64_t bk_service_now_ns(void);

/* ---- options.c */
/* An option's value as text, secrets too; NULL: none.  The caller's to free. */
char *bk_service_option_text(const struct bk_options *options, const char *name);
/* The same as a server reads it, bytes as a number; NULL unless somebody set it. */
char *bk_service_setting_text(const struct bk_options *options, const char *name);
/* Name -> text of what the user or the environment set, secrets too. */
json_t *bk_service_given(const struct bk_options *options);

/* ---- run.c */
/* A run that is not started: programs found, user chosen, names and passwords made up. */
bk_status bk_run_new(struct bk_service_run **out, const struct bk_plugin *plugin,
		     struct bk_options *options, const struct bk_service_config *config,
		     struct bk_error *err);
void bk_run_free(struct bk_service_run *run);
/* Choose the folder and fork the keeper. */
bk_status bk_run_launch(struct bk_service_run *run, struct bk_error *err);

/* ---- control.c */
/* Send one request and wait for its answer. */
bk_status bk_run_ask(struct bk_service_run *run, const char *what, struct bk_error *err);
/* The keeper's next answer, until run->deadline_ns. */
bk_status bk_run_answer(struct bk_service_run *run, struct bk_error *err);

/* ---- open.c */
bk_status bk_run_open(struct bk_store **out, const struct bk_plugin *plugin,
		      const struct bk_options *options, uint32_t durability, const char *mark,
		      struct bk_store_config *config, struct bk_error *err);
/* Tries until the store opens, the server ends or the deadline passes. */
bk_status bk_run_await_open(struct bk_service_run *run, const struct bk_options *options,
			    struct bk_error *err);
/* Make {database}, as a clone of `from` unless that is NULL; what has no places needs none. */
bk_status bk_run_make_place(struct bk_service_run *run, const char *name, const char *from,
			    struct bk_error *err);

/* ---- build.c */
/* Make sure that the run's template is there; sets run->template and run->key. */
bk_status bk_run_template(struct bk_service_run *run, struct bk_error *err);
#define BK_SCHEMA_PLACE BK_SERVICE_NAME "_schema" /* what reset clones */
/* {database} of a server that is up: a place, with the schema files loaded. */
bk_status bk_run_furnish(struct bk_service_run *run, struct bk_error *err);

/* ---- env.c */
/* What clients of a backend called `name` are told. */
/* `values`, and beside them the backend's options under their names with '_' for '-'. */
bk_status bk_env_values(struct bk_values *out, const struct bk_values *values,
			const struct bk_options *options, struct bk_error *err);
bk_status bk_env_fill(struct bk_service_env *out, const struct bk_service *service,
		      const char *name, const struct bk_values *values, uint32_t mask,
		      bool database_url, struct bk_error *err);
/* BAKEOFF_NAME_ID: for `bakeoff reset` */
bk_status bk_env_put_id(struct bk_service_env *env, const char *backend, const char *id,
			struct bk_error *err);

/* ---- load.c */
/* Run the schema files through the store's own client, against the database `name`. */
bk_status bk_load_schema(const struct bk_service *service, const struct bk_programs *programs,
			 const struct bk_values *values, uint32_t mask, const char *name,
			 const char *const *files, struct bk_error *err);

#endif
