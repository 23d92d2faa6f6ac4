/*
 * host.h - what the harness offers every backend: a log and a clock.
 */
#ifndef BK_PLUGIN_HOST_H
#define BK_PLUGIN_HOST_H

#include <bakeoff/backend.h>

/* Errors and warnings to standard error, "bakeoff: NAME..." one line each; the rest is dropped.
 * Static; ctx is NULL. [any] */
extern const struct bk_host bk_host_stderr;

#endif
