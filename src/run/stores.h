/*
 * stores.h - the stores of each variant: plugins, options, the folder that the harness gives them,
 * and one open repository a data set.
 */
#ifndef BK_RUN_STORES_H
#define BK_RUN_STORES_H

#include "layer/open.h"
#include "matrix/matrix.h"
#include "repo/repo.h"
#include "service/service.h"

struct bk_store_half {
	struct bk_plugin *plugin; /* NULL: none, or the other half's */
	struct bk_options *options;
	char *folder; /* given by the harness; NULL: the user named one, or it needs none */
	struct bk_service_run *server; /* private; NULL: none is wanted, or it did not start */
	struct bk_error server_error;  /* status < 0: why it did not start */
};

struct bk_variant_stores {
	const struct bk_variant *variant;
	struct bk_store_half nodes, binaries;
	bool shared; /* both halves are one store */
	bool has_binaries;
};

/* Loads the plugins and sets the options as the matrix says; writes nothing.  Errors begin with the
 * place in the matrix where there is one. */
bk_status bk_variant_stores_init(struct bk_variant_stores *out, const struct bk_variant *variant,
				 struct bk_error *err);
void bk_variant_stores_free(struct bk_variant_stores *stores);
void bk_variant_stores_stop(struct bk_variant_stores *stores); /* the servers only */

/* Gives each half that lives in a folder and was given none FOLDER/nodes or FOLDER/binaries. */
bk_status bk_variant_stores_place(struct bk_variant_stores *stores, const char *folder,
				  struct bk_error *err);

/* Starts the private servers that the variants want, side by side, each in FOLDER/VARIANT.  One
 * that does not start is remembered: opening the variant's stores then answers why.  Before any
 * thread. */
void bk_variant_stores_serve(struct bk_variant_stores *stores, size_t count, const char *folder,
			     uint32_t durability, const struct bk_matrix *matrix,
			     const int *interrupted, void (*note)(void *ctx, const char *line),
			     void *note_ctx);
/* Starts a server that has died again.  *restarted: stores that were open are of no use any more.
 * Negative: it does not start; the message has the end of its log. */
bk_status bk_variant_stores_revive(bool *restarted, struct bk_variant_stores *stores,
				   struct bk_error *err);
/* A call failed because no server answered: *err gets what our own server's log said last. */
void bk_variant_stores_explain(struct bk_variant_stores *stores, struct bk_error *err);
/* Stops and starts the servers, on the same data.  No store is open. */
bk_status bk_variant_stores_restart(bool *restarted, struct bk_variant_stores *stores,
				    struct bk_error *err);

/* Opens and makes the stores of one space.  The repository is the caller's to close. */
bk_status bk_variant_stores_open(struct bk_repo *out, const struct bk_variant_stores *stores,
				 const char *space, uint32_t durability, uint64_t timeout_ns,
				 struct bk_error *err);
/* Removes what open made, unless `keep`, and closes.  The first failure is reported. */
bk_status bk_variant_stores_close(struct bk_repo *repo, bool keep, struct bk_error *err);

/* {"backend":..., "version":..., "options":{...}, "native":[...], "emulated":[...], "looped":[...],
 *  "identity":{...}} of an open store, malloc'd; NULL: no memory. */
char *bk_store_describe(const struct bk_store_half *half, const struct bk_layered *store);

#endif
