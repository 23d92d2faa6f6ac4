/*
 * elf.h - is this file a whole shared object for this machine?
 *
 * The one invariant: asked before dlopen(), which maps a truncated library and dies of SIGBUS.
 */
#ifndef BK_PLUGIN_ELF_H
#define BK_PLUGIN_ELF_H

#include <bakeoff/backend.h>

/* INVALID with the file, what was found and what was expected. */
bk_status bk_elf_check(const char *path, struct bk_error *err);

#endif
