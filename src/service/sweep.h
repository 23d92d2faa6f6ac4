/*
 * sweep.h - removing what a killed keeper left; inside src/service only.
 */
#ifndef BK_SERVICE_SWEEP_H
#define BK_SERVICE_SWEEP_H

#include <stdbool.h>

/* A server's folder whose keeper is dead: its processes are ended and it is removed.  false: it is
 * not ours, its keeper lives, or it is too young to tell. */
bool bk_sweep_folder(const char *folder);

#endif
