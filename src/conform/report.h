/*
 * report.h - what a case's process and the printing process say to each other.
 *
 * The one invariant: one message is one packet of one size, so that threads and grandchildren of a
 * case can all write to the same socket.
 */
#ifndef BK_CONFORM_REPORT_H
#define BK_CONFORM_REPORT_H

#include <bakeoff/backend.h>

#define BK_REPORT_FAIL  'F'
#define BK_REPORT_SKIP  'S'
#define BK_REPORT_NOTE  'N'
#define BK_REPORT_CRASH 'C' /* kill the server and start it again, please; answered in kind */
#define BK_REPORT_PROBE 'P' /* features and limits, from the probe */

struct bk_report {
	char kind;
	int line;
	bk_status status;
	uint64_t own, looped;
	struct bk_limits limits;
	char file[96];
	char text[1600];
};

#endif
