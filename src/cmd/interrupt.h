/*
 * interrupt.h - Ctrl-C: the first asks for a clean end, the second ends at once.
 */
#ifndef BK_CMD_INTERRUPT_H
#define BK_CMD_INTERRUPT_H

/* Handles SIGINT and SIGTERM from now on.  At the result stands the signal once one has come. */
const int *bk_interrupt_watch(void);

/* The same with SIGHUP, without a word, and the second is like the first: for what must be undone
 * in any case and takes no time. */
const int *bk_interrupt_watch_quietly(void);

#endif
