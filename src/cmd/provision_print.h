/*
 * provision_print.h - the variables of provisioned servers, for a shell, a .env file, a program.
 */
#ifndef BK_CMD_PROVISION_PRINT_H
#define BK_CMD_PROVISION_PRINT_H

#include "service/service.h"

struct bk_provision_item {
	char *id;
	const char *backend;
	struct bk_plugin *plugin; /* owned; or NULL */
	struct bk_service_env env;
};
void bk_provision_item_free(struct bk_provision_item *item);

enum bk_provision_format { BK_PROVISION_ENV, BK_PROVISION_DOTENV, BK_PROVISION_JSON };

/* A status of the program, after a message when it is not BK_EXIT_OK. */
int bk_provision_format(enum bk_provision_format *out, const char *text);
int bk_provision_print(const struct bk_provision_item *items, size_t count,
		       enum bk_provision_format format);

#endif
