/*
 * proc.c - reading /proc.
 */
#include "service/proc.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct prc_stat {
	pid_t pid, ppid;
	char state;
	uint64_t ticks; /* of it and of its children that ended */
	uint64_t start;
};

static bool prc_read_stat(struct prc_stat *out, pid_t pid)
{
	char path[48], text[1024], *p;
	unsigned long long utime, stime, start;
	long long cutime, cstime;
	int ppid;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	p = strrchr(text, ')'); /* the name may hold anything */
	if (!p || sscanf(p + 1,
			 " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d "
			 "%*d %*d %llu",
			 &out->state, &ppid, &utime, &stime, &cutime, &cstime, &start) != 7)
		return false;
	out->pid = pid;
	out->ppid = ppid;
	out->ticks = utime + stime + (uint64_t)cutime + (uint64_t)cstime;
	out->start = start;
	return true;
}

uint64_t bk_proc_start(pid_t pid)
{
	struct prc_stat st;

	if (pid <= 0 || !prc_read_stat(&st, pid) || st.state == 'Z' || st.state == 'X')
		return 0;
	return st.start;
}

const char *bk_proc_boot_id(char out[40])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	out[0] = '\0';
	if (f) {
		if (!fgets(out, 40, f))
			out[0] = '\0';
		fclose(f);
	}
	out[strcspn(out, "\n")] = '\0';
	return out;
}

int bk_proc_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int bk_proc_open(pid_t pid, uint64_t start)
{
	int fd;

	if (pid <= 0 || start == 0)
		return -1;
	fd = bk_proc_pidfd(pid);
	/* Opened first, looked at then: the pid cannot be given to another in between. */
	if (fd >= 0 && bk_proc_start(pid) != start) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int bk_proc_signal(int pidfd, int signal)
{
	return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

bool bk_proc_wait(int pidfd, int timeout_ms)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};

	while (poll(&p, 1, timeout_ms) < 0) {
		if (errno != EINTR)
			return false;
	}
	return p.revents != 0;
}

bool bk_proc_mentions(pid_t pid, const char *text)
{
	char path[48], line[16384];
	size_t n, i;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	for (i = 0; i < n; i++) {
		if (line[i] == '\0')
			line[i] = ' ';
	}
	line[n] = '\0';
	return strstr(line, text) != NULL;
}

void bk_proc_set_title(const char *title)
{
	unsigned long begin = 0, end = 0;
	char text[2048], *p;
	size_t n = 0;
	FILE *f = fopen("/proc/self/stat", "re");

	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	p = strrchr(text, ')');
	/* fields 48 and 49: where the command line stands in our memory */
	if (!p ||
	    sscanf(p + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		   "%*d %*u %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*u %*d "
		   "%*d %*u %*u %*u %*u %*d %*u %*u %*u %lu %lu",
		   &begin, &end) != 2 ||
	    begin == 0 || end <= begin)
		return;
	memset((void *)begin, 0, end - begin);
	snprintf((char *)begin, end - begin, "%s", title);
}

/* Every process once; NULL: no memory. */
static struct prc_stat *prc_all(size_t *count)
{
	struct prc_stat *all = NULL, *more, one;
	size_t n = 0, cap = 0;
	struct dirent *entry;
	DIR *dir = opendir("/proc");

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !prc_read_stat(&one, (pid_t)atoi(entry->d_name)))
			continue;
		if (n == cap) {
			cap = cap ? cap * 2 : 256;
			more = realloc(all, cap * sizeof(*all));
			if (!more)
				break;
			all = more;
		}
		all[n++] = one;
	}
	if (dir)
		closedir(dir);
	*count = n;
	return all;
}

size_t bk_proc_tree(pid_t *out, size_t cap, const pid_t *roots, size_t root_count)
{
	size_t all_count, n = 0, i, j;
	struct prc_stat *all = prc_all(&all_count);
	pid_t *found = all ? calloc(all_count + root_count, sizeof(*found)) : NULL;

	if (!found) {
		free(all);
		return 0;
	}
	for (i = 0; i < root_count; i++) {
		for (j = 0; j < all_count; j++) {
			if (all[j].pid == roots[i] && all[j].state != 'Z')
				found[n++] = roots[i];
		}
	}
	for (i = 0; i < n; i++) { /* found grows as it is gone through */
		for (j = 0; j < all_count; j++) {
			if (all[j].ppid == found[i] && all[j].state != 'Z' && n < all_count)
				found[n++] = all[j].pid;
		}
	}
	for (i = 0; i < n && i < cap; i++)
		out[i] = found[i];
	free(found);
	free(all);
	return n;
}

static uint64_t prc_line(pid_t pid, const char *file, const char *key)
{
	char path[64], line[256];
	unsigned long long value = 0;
	size_t len = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) == 0 && sscanf(line + len, " %llu", &value) == 1)
			break;
	}
	if (f)
		fclose(f);
	return value;
}

void bk_proc_usage(struct bk_service_usage *out, const pid_t *pids, size_t count)
{
	uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK), kib;
	struct prc_stat st;
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < count; i++) {
		if (!prc_read_stat(&st, pids[i]))
			continue;
		out->cpu_ns += st.ticks * tick_ns;
		/* Like the ticks, these hold what ended children did. */
		out->write_bytes += prc_line(pids[i], "io", "write_bytes:");
		out->read_bytes += prc_line(pids[i], "io", "read_bytes:");
		kib = prc_line(pids[i], "smaps_rollup", "Pss:");
		if (kib == 0)
			kib = prc_line(pids[i], "status", "VmRSS:");
		out->rss_bytes += kib * 1024;
	}
}
