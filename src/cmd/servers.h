/*
 * servers.h - several servers at once, for exec and provision.
 */
#ifndef BK_CMD_SERVERS_H
#define BK_CMD_SERVERS_H

#include "cmd/cmd.h"
#include "service/service.h"

/* The flags that both take. */
#define BK_CMD_SERVER_FLAGS                                                                        \
	{.name = "tcp", .help = "listen on a loopback address too, with a password"},              \
		{.name = "schema",                                                                 \
		 .arg = "FILE",                                                                    \
		 .help = "load a script into each database, once; later ones are copies",          \
		 .many = true},                                                                    \
		{.name = "data",                                                                   \
		 .arg = "FOLDER",                                                                  \
		 .help = "where the data lives (default: memory with room, else $TMPDIR)"},        \
		{.name = "spare",                                                                  \
		 .help = "keep a copy of the data ready: the next start is quicker"},              \
	{                                                                                          \
		.name = "timeout", .arg = "TIME",                                                  \
		.help = "how long a start may take (default: 60s)"                                 \
	}

struct bk_cmd_server {
	const char *name;
	struct bk_plugin *plugin;
	struct bk_options *options;
	struct bk_service_run *run; /* NULL: not started */
};
struct bk_cmd_servers {
	struct bk_cmd_server *items;
	size_t count;
	struct bk_service_config config;
	const char **schema;
};

/* Backends and options by the command line.  From then on a SIGINT, SIGTERM or SIGHUP calls a start
 * off (*config.interrupted) instead of ending the program.
 * A status of the program: BK_EXIT_OK, or after a message. */
int bk_cmd_servers_parse(struct bk_cmd_servers *servers, const struct bk_cmd_args *args,
			 const char *purpose);
/* The flags alone, for --url. */
int bk_cmd_servers_config(struct bk_cmd_servers *servers, const struct bk_cmd_args *args,
			  const char *purpose);
/* All of them, side by side.  After a failure none runs. */
bk_status bk_cmd_servers_start(struct bk_cmd_servers *servers);
void bk_cmd_servers_stop(struct bk_cmd_servers *servers);
void bk_cmd_servers_free(struct bk_cmd_servers *servers);

/* "bakeoff: WHAT: NAME: message", with the SQLSTATE where the message does not tell it; returns
 * BK_EXIT_FAILED. */
int bk_cmd_servers_failed(const char *what, const char *name, const struct bk_error *err);

/* "10min" of a flag; 0 when it is not given. */
int bk_cmd_servers_time(uint64_t *out, const struct bk_cmd_args *args, const char *flag);

#endif
