/*
 * config.h - the options, and what is worked out from them once.
 *
 * The one invariant: immutable after store.open; sessions read it from their threads.
 */
#ifndef BK_S3_CONFIG_H
#define BK_S3_CONFIG_H

#include "s3-common/site.h"

struct s3_options {
	struct s3_access access;
	const char *region, *session_token, *ca_file;
	uint32_t payload_signing;    /* enum s3_payload_signing */
	uint32_t conditional_create; /* enum s3_create */
	uint8_t verify;
	uint64_t part_bytes, threshold_bytes, part_concurrency;
	uint64_t connect_timeout_us, page;
};

enum s3_create { S3_CREATE_AUTO, S3_CREATE_YES, S3_CREATE_NO };
enum s3_payload_signing { S3_SIGN_AUTO, S3_SIGN_YES, S3_SIGN_NO };

#define S3_PARTS_MAX   10000u
#define S3_BINARY_MAX  (UINT64_C(5) << 40)
#define S3_CONCURRENCY 16

extern const struct bk_option s3_option_table[];

struct s3_config {
	const struct s3_options *options;
	struct s3_site site;
	bool sign_payload;
	bool create; /* create-if-absent is offered; settled by store.open, once the server has
			answered */
};

/* INVALID with what to do, where the options do not make sense. */
bk_status s3_config_init(struct s3_config *out, const struct s3_options *options,
			 const struct bk_store_config *config, struct bk_error *err);
void s3_config_free(struct s3_config *config);

/* `text` without any secret: servers and libraries may quote what they were given. */
void s3_hide_secrets(char *text, const struct s3_options *options);

#endif
