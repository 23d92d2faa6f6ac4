/*
 * listen.h - what the process of a case says.  Private to process.c.
 */
#ifndef BK_CONFORM_LISTEN_H
#define BK_CONFORM_LISTEN_H

#include "conform/process.h"

/* Takes in one message; false when there is none (yet). */
bool bk_listen_message(struct bk_runner *p, int channel, struct bk_case_result *out);

/* Until the child has ended; false when its time was up or somebody wants to stop. */
bool bk_listen_until_end(struct bk_runner *p, int channel, int pidfd, uint64_t deadline_ns,
			 struct bk_case_result *out);

/* The head and the tail of what it printed. */
void bk_listen_log(const char *folder, struct bk_buf *log);

#endif
