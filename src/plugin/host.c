/*
 * host.c - log lines to standard error, in one write each so that threads do not mix.
 */
#include "plugin/host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void host_log(void *ctx, uint32_t level, const char *line)
{
	char text[1024];
	size_t len, i;

	if (level > BK_LOG_WARNING)
		return;
	snprintf(text, sizeof(text) - 1, "bakeoff: %s: %s",
		 level == BK_LOG_ERROR ? "error" : "warning", line);
	len = strlen(text);
	while (len > 0 && text[len - 1] == '\n')
		len--;
	for (i = 0; i < len; i++) {
		if (text[i] == '\n' || text[i] == '\r')
			text[i] = ' ';
	}
	text[len++] = '\n';
	if (write(STDERR_FILENO, text, len) < 0)
		return; /* there is nowhere left to say so */
}

static uint64_t host_now_ns(void *ctx)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const struct bk_host bk_host_stderr = {
	.struct_size = sizeof(struct bk_host),
	.abi_major = BK_ABI_MAJOR,
	.abi_minor = BK_ABI_MINOR,
	.log = host_log,
	.now_ns = host_now_ns,
};
