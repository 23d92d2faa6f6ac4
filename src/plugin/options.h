/*
 * options.h - a backend's option values: parsed, checked, defaulted, printed by the harness.
 *
 * The one invariant: a value in the struct has passed its entry's type, range and choices.
 */
#ifndef BK_PLUGIN_OPTIONS_H
#define BK_PLUGIN_OPTIONS_H

#include <bakeoff/backend.h>

#include <stdbool.h>
#include <stddef.h>

struct bk_options;

enum bk_option_source { BK_FROM_DEFAULT, BK_FROM_ENV, BK_FROM_HARNESS, BK_FROM_USER };

/* Values as they start: options_init, then defaults, then what bk_options_read_environment() kept
 * of the environment.  `desc` outlives the result. */
bk_status bk_options_new(struct bk_options **out, const struct bk_backend *desc,
			 struct bk_error *err);
void bk_options_free(struct bk_options *options);
bk_status bk_options_copy(struct bk_options **out, const struct bk_options *from,
			  struct bk_error *err);

/* Set one by name from text as a user writes it (64KiB, 250ms, yes).  INVALID with a message that
 * names the option, the value, what is allowed, the nearest name for a typo.  With a URL
 * (BK_OPTF_URL) host, port, socket, user and database of the environment go, and password where the
 * URL has one. */
bk_status bk_options_set(struct bk_options *options, const char *name, const char *value,
			 enum bk_option_source source, struct bk_error *err);
/* "k=v" */
bk_status bk_options_set_pair(struct bk_options *options, const char *pair,
			      enum bk_option_source source, struct bk_error *err);
/* Back to their defaults with all that came from the environment: of a server that bakeoff starts
 * itself no variable knows anything. */
bk_status bk_options_drop_environment(struct bk_options *options, struct bk_error *err);
/* INVALID when a required one has no value. */
bk_status bk_options_check(const struct bk_options *options, struct bk_error *err);

/* The backend's struct, for store.open(); valid until the next set or free. */
const void *bk_options_data(const struct bk_options *options);

/* The entry that bears `flag` (BK_OPTF_FOLDER, BK_OPTF_URL), or NULL. */
const struct bk_option *bk_options_flagged(const struct bk_options *options, uint32_t flag);
bool bk_options_is_set(const struct bk_options *options, const char *name); /* env or user */

/* Effective values in table order as a user would write them; secrets come as "(secret)", unset
 * strings as NULL. */
void bk_options_each(const struct bk_options *options,
		     void (*fn)(void *ctx, const struct bk_option *entry, const char *value,
				enum bk_option_source source),
		     void *ctx);

/* Once, before the first store is opened and before any thread: take out of the environment what
 * client libraries would read unseen (environment.c lists the families of variables), and keep it
 * for the option tables that name it. */
void bk_options_read_environment(void);

/* A variable's value as it was before bk_options_read_environment(), or NULL. */
const char *bk_options_environment(const char *name);
/* What was unset, as "NAME=value", NULL after the last: for a program that bakeoff runs for its
 * user, whose environment it is. */
char *const *bk_options_environment_removed(void);

#endif
