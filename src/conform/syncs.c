/*
 * syncs.c - see syncs.h.  The kernel stops each such call and asks a thread of ours (seccomp user
 * notification), which counts it and lets it go on.  No library need be replaced, and calls that
 * bypass the C library count too; only io_uring would go unseen.
 *
 * The one invariant: the counting thread exists before the filter, so that it is not bound by it.
 */
#include "conform/syncs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct bk_syncs {
	atomic_ullong count;
	int listener;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ready;
};

/* Is descriptor `fd` of this process one that writes through? */
static bool writes_through(int fd)
{
	char path[64], line[128];
	unsigned long flags = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "flags:", 6) == 0)
			flags = strtoul(line + 6, NULL, 8);
	}
	if (f)
		fclose(f);
	return (flags & O_DSYNC) != 0; /* O_SYNC includes it */
}

static bool makes_durable(const struct seccomp_data *call)
{
	switch (call->nr) {
	case SYS_fsync:
	case SYS_fdatasync:
	case SYS_syncfs:
	case SYS_sync:
		return true;
	case SYS_msync:
		return (call->args[2] & MS_SYNC) != 0;
	default:
		return writes_through((int)call->args[0]);
	}
}

static void *count_calls(void *arg)
{
	struct bk_syncs *s = arg;
	int listener;

	pthread_mutex_lock(&s->lock);
	while (s->listener < 0)
		pthread_cond_wait(&s->ready, &s->lock);
	listener = s->listener;
	pthread_mutex_unlock(&s->lock);
	for (;;) {
		struct seccomp_notif call;
		struct seccomp_notif_resp go;

		memset(&call, 0, sizeof(call));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			return NULL;
		}
		if (makes_durable(&call.data))
			atomic_fetch_add(&s->count, 1);
		memset(&go, 0, sizeof(go));
		go.id = call.id;
		go.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &go) != 0 && errno != ENOENT)
			return NULL;
	}
}

/* Asks about the calls listed, lets all others pass. */
static int install_filter(void)
{
	static const int watched[] = {SYS_fsync,   SYS_fdatasync, SYS_syncfs,   SYS_sync,
				      SYS_msync,   SYS_write,     SYS_pwrite64, SYS_writev,
				      SYS_pwritev, SYS_pwritev2};
	enum { N = sizeof(watched) / sizeof(watched[0]) };
	struct sock_filter code[1 + N + 2];
	struct sock_fprog prog = {1 + N + 2, code};
	int i;

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (i = 0; i < N; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)watched[i], (unsigned char)(N - i), 0);
	code[1 + N] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[2 + N] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &prog);
}

struct bk_syncs *bk_syncs_start(struct bk_test *t)
{
	struct bk_syncs *s = bk_arena_alloc(&t->arena, sizeof(*s));
	int listener;

	s->listener = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ready, NULL);
	CHECK(t, pthread_create(&s->thread, NULL, count_calls, s) == 0, "pthread_create");
	listener = install_filter();
	if (listener < 0)
		bk_test_skip(t, "cannot count system calls here (seccomp: %s)", strerror(errno));
	pthread_mutex_lock(&s->lock);
	s->listener = listener;
	pthread_cond_signal(&s->ready);
	pthread_mutex_unlock(&s->lock);
	return s;
}

uint64_t bk_syncs_count(const struct bk_syncs *syncs)
{
	return atomic_load(&syncs->count);
}
