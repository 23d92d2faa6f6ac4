/*
 * doctor.h - one finding of `bakeoff doctor`, for the files that look at one thing each.
 */
#ifndef BK_CMD_DOCTOR_H
#define BK_CMD_DOCTOR_H

#include <stddef.h>

enum bk_doctor_level { BK_DOCTOR_OK, BK_DOCTOR_NOTE, BK_DOCTOR_PROBLEM };

struct bk_doctor {
	const char *folder; /* where stores and servers would be kept */
	size_t problems;
};

/* One line: `what` it is about, then the finding.  `advice`: what to do; NULL for none; a problem
 * has one. */
void bk_doctor_say(struct bk_doctor *doctor, enum bk_doctor_level level, const char *what,
		   const char *advice, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The parts, in the order in which they are shown; each prints its own heading. */
void bk_doctor_backends(struct bk_doctor *doctor);
void bk_doctor_servers(struct bk_doctor *doctor);
void bk_doctor_system(struct bk_doctor *doctor);

#endif
