/*
 * doctor.c - `bakeoff doctor`: what would go wrong here, before it does.
 *
 * The one invariant: every problem comes with what to do about it; nothing is changed.
 */
#include "cmd/doctor.h"

#include "cmd/cmd.h"
#include "util/buf.h"
#include "util/plain.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void bk_doctor_say(struct bk_doctor *doctor, enum bk_doctor_level level, const char *what,
		   const char *advice, const char *fmt, ...)
{
	static const char *const marks[] = {"ok", "note", "PROBLEM"};
	struct bk_buf text = BK_BUF_INIT;
	va_list ap;

	assert(level != BK_DOCTOR_PROBLEM || advice);
	bk_buf_putf(&text, "  %-8s %s: ", marks[level], what);
	va_start(ap, fmt);
	bk_buf_vputf(&text, fmt, ap);
	va_end(ap);
	bk_buf_puts(&text, "\n");
	if (advice)
		bk_buf_putf(&text, "           -> %s\n", advice);
	if (text.data)
		bk_plain_puts(text.data, stdout);
	bk_buf_free(&text);
	doctor->problems += level == BK_DOCTOR_PROBLEM;
}

static int doctor_exec(const struct bk_cmd_args *args)
{
	const char *folder = bk_cmd_flag(args, "data");
	struct bk_doctor doctor = {folder ? folder : ".", 0};

	bk_doctor_backends(&doctor);
	bk_doctor_servers(&doctor);
	bk_doctor_system(&doctor);
	if (doctor.problems == 0) {
		printf("\nno problems\n");
		return BK_EXIT_OK;
	}
	printf("\n%zu problem%s\n", doctor.problems, doctor.problems == 1 ? "" : "s");
	return BK_EXIT_FAILED;
}

static const struct bk_flag doctor_flags[] = {
	{.name = "data", .arg = "FOLDER", .help = "where stores would be kept (default: .)"},
	{.name = NULL},
};

const struct bk_cmd bk_cmd_doctor = {
	.name = "doctor",
	.operands = "",
	.summary = "say what would go wrong here, and what to do about it",
	.details = "Looks at the backends (which load, and why the others do not), at the private "
		   "servers (which programs are found, whom they would run as), at the folders, "
		   "and at the limits of this machine and this user that measurements run into. "
		   "Changes nothing.\n"
		   "\n"
		   "Exit status: 0 without a problem, 1 with one.\n",
	.flags = doctor_flags,
	.exec = doctor_exec,
};
