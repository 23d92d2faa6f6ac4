/*
 * interrupt.h - Ctrl-C: the first asks for a clean end, the second ends at once.
 */
#ifndef BK_CMD_INTERRUPT_H
#define BK_CMD_INTERRUPT_H

/* Handles SIGINT and SIGTERM from now on.  Non-zero at the result once one has come. */
const int *bk_interrupt_watch(void);

#endif
