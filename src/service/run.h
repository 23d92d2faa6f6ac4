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

#define BK_SERVICE_NAME    "bakeoff" /* user and database of a private server */
#define BK_SERVICE_TIMEOUT UINT64_C(60000000000)
#define BK_SERVICE_PORTS   4

struct bk_service_run {
	const struct bk_plugin *plugin;
	struct bk_options *options;
	const struct bk_service *service; /* the alternative chosen; NULL: a folder is all */
	struct bk_service_config config;  /* strings owned, below */
	struct bk_programs programs;
	struct bk_identity identity;
	char *purpose, *data_root;
	char *bin_dir;
	uint32_t mask;      /* BK_WHEN_* that hold */
	bool building;      /* to become a template: nobody else uses it */
	char suffix[8];     /* random */
	char id[80];        /* BACKEND-SUFFIX */
	char *root;         /* the folder in which `folder` is made */
	char *folder;       /* ROOT/bakeoff.SUFFIX */
	char *template;     /* a template's data to copy; NULL: init makes it */
	char *key;          /* the template's; NULL: none */
	json_t *given;      /* options that the user set: name -> text, secrets included */
	struct bk_values values;

	/* the starter's */
	int control;        /* -1: the keeper is gone, or detached */
	int keeper_fd;
	pid_t keeper;
	pid_t *pids;        /* of the processes of the table */
	size_t pid_count;
	bool died;
	struct bk_error death;
	uint64_t deadline_ns;
	struct bk_buf log;
};

uint64_t bk_service_now_ns(void);

/* An option's value as text, secrets too; NULL: none.  The caller's to free. */
char *bk_service_option_text(const struct bk_options *options, const char *name);

/* Set what `reach` says in `options`. */
bk_status bk_service_apply_reach(struct bk_options *options, const struct bk_service *service,
				 const struct bk_values *values, uint32_t mask,
				 struct bk_error *err);
/* The options that reach a run's server: admin or not; the caller's to free. */
bk_status bk_service_options(struct bk_options **out, const struct bk_service_run *run, bool admin,
			     struct bk_error *err);

/* begin() without looking for or making a template. */
bk_status bk_service_launch(struct bk_service_run **out, const struct bk_service_run *like,
			    struct bk_error *err);

/* Make sure that the run's template is there; sets run->template and run->key. */
bk_status bk_build_template(struct bk_service_run *run, const char *const *schema,
			    struct bk_error *err);

#endif
