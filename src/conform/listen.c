/*
 * listen.c - what the process of a case says: its messages as they come, its output at the end.
 */
#include "conform/listen.h"

#include "util/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_MOST 6000

static void one_line(struct bk_buf *buf, const char *text)
{
	const char *p;

	bk_buf_reset(buf);
	for (p = text; *p; p++) {
		char c = (unsigned char)*p < 0x20 ? ' ' : *p;

		bk_buf_put(buf, &c, 1);
	}
}

static void answer_crash(struct bk_runner *p, int channel)
{
	struct bk_error err = bk_error_init();
	struct bk_report msg;

	memset(&msg, 0, sizeof(msg));
	msg.kind = BK_REPORT_CRASH;
	if (p->config->crash)
		msg.status = p->config->crash(p->config->crash_ctx, &err);
	else
		msg.status = bk_fail(&err, BK_UNSUPPORTED, 0, "no way to crash the server");
	if (msg.status != BK_OK)
		snprintf(msg.text, sizeof(msg.text), "%s", err.message);
	if (send(channel, &msg, sizeof(msg), MSG_NOSIGNAL) < 0)
		fprintf(stderr, "bakeoff: cannot answer a case: %s\n", strerror(errno));
}

/* Takes in one message; false when there is none (yet). */
bool bk_listen_message(struct bk_runner *p, int channel, struct bk_case_result *out)
{
	struct bk_report msg;
	ssize_t n = recv(channel, &msg, sizeof(msg), MSG_DONTWAIT);

	if (n != sizeof(msg))
		return false;
	msg.file[sizeof(msg.file) - 1] = msg.text[sizeof(msg.text) - 1] = '\0';
	switch (msg.kind) {
	case BK_REPORT_FAIL:
		if (out->outcome == BK_FAILED)
			break; /* the first one is the cause */
		out->outcome = BK_FAILED;
		one_line(&out->message, msg.text);
		if (msg.file[0])
			snprintf(out->at, sizeof(out->at), "%s:%d", msg.file, msg.line);
		break;
	case BK_REPORT_SKIP:
		out->outcome = BK_SKIPPED;
		one_line(&out->message, msg.text);
		break;
	case BK_REPORT_NOTE:
		bk_buf_putf(&out->notes, "%s\n", msg.text);
		break;
	case BK_REPORT_CRASH:
		answer_crash(p, channel);
		break;
	case BK_REPORT_PROBE:
		p->own = msg.own;
		p->looped = msg.looped;
		p->limits = msg.limits;
		break;
	default:
		break;
	}
	return true;
}

/* Until the child has ended; false when its time was up or somebody wants to stop. */
bool bk_listen_until_end(struct bk_runner *p, int channel, int pidfd, uint64_t deadline_ns,
			 struct bk_case_result *out)
{
	for (;;) {
		struct pollfd fds[3] = {
			{channel, POLLIN, 0}, {pidfd, POLLIN, 0}, {p->interrupt_fd, POLLIN, 0}};
		uint64_t now = bk_test_now_ns();
		int ms = now < deadline_ns ? (int)((deadline_ns - now) / 1000000) + 1 : 0;

		if (ms == 0)
			return false;
		if (poll(fds, 3, ms) < 0 && errno != EINTR)
			return false;
		if (fds[2].revents) {
			p->interrupted = true;
			return false;
		}
		if ((fds[0].revents & POLLIN) && bk_listen_message(p, channel, out))
			continue;
		if (fds[1].revents)
			return true;
		if (fds[0].revents) /* every writer is gone: the end is near */
			poll(fds + 1, 2, ms);
	}
}

void bk_listen_log(const char *folder, struct bk_buf *log)
{
	char *path = bk_fs_join(folder, "log"), chunk[LOG_MOST];
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct stat sb;
	ssize_t n;

	free(path);
	if (fd < 0)
		return;
	if (fstat(fd, &sb) == 0 && sb.st_size > LOG_MOST) {
		/* the head says what went wrong in a sanitizer's report, the tail the rest */
		n = pread(fd, chunk, LOG_MOST / 2, 0);
		if (n > 0)
			bk_buf_put(log, chunk, (size_t)n);
		bk_buf_puts(log, "\n...\n");
		n = pread(fd, chunk, LOG_MOST / 2, sb.st_size - LOG_MOST / 2);
	} else {
		n = pread(fd, chunk, LOG_MOST, 0);
	}
	if (n > 0)
		bk_buf_put(log, chunk, (size_t)n);
	close(fd);
}
