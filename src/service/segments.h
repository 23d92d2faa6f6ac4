/*
 * segments.h - shared memory that a killed server leaves in the system.
 *
 * The one invariant: a segment goes only if our server's process made it, after that process began,
 * and nobody is attached.
 */
#ifndef BK_SERVICE_SEGMENTS_H
#define BK_SERVICE_SEGMENTS_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

/* System V segments made by `pid`, which began at `start` (clock ticks since boot) and is dead.
 * Returns how many it removed. */
size_t bk_segments_remove(pid_t pid, uint64_t start);

/* Adds the names of files of /dev/shm that a live process has mapped to an array of strings. */
void bk_segments_note(json_t *names, pid_t pid);
/* Removes those files, where they are the property of `uid`. */
void bk_segments_remove_files(const json_t *names, uid_t uid);

#endif
