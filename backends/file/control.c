/*
 * control.c - the file that tells what a process was doing when it died; see control.h.
 *
 * The one invariant: the boot id is written before the state that belongs to it.
 */
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTROL_MAGIC UINT64_C(0x316c7274636b62) /* "bkctrl1" */
#define CONTROL_NAME  "index/control"
#define CONTROL_HEAD  4096u
#define CONTROL_BYTES (CONTROL_HEAD + FILE_SESSIONS * sizeof(struct file_intent))

/* Where there is no boot id, nothing unsynced is believed: the empty string matches none. */
static void control_boot_id(char out[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, 63);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
}

static int control_make(int dirfd, int *fd)
{
	int rc;

	*fd = openat(dirfd, CONTROL_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (*fd < 0)
		return errno;
	rc = posix_fallocate(*fd, 0, CONTROL_BYTES);
	if (rc)
		unlinkat(dirfd, CONTROL_NAME, 0);
	return rc;
}

static bool control_readable(int fd)
{
	uint64_t magic = 0;
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size == (off_t)CONTROL_BYTES &&
	       pread(fd, &magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       magic == CONTROL_MAGIC;
}

bk_status file_control_open(struct file_control **out, int dirfd, const char *folder, bool create,
			    struct bk_error *err)
{
	struct file_control *control = calloc(1, sizeof(*control));
	int fd = openat(dirfd, CONTROL_NAME, O_RDWR | O_NONBLOCK | O_CLOEXEC),
	    rc = fd < 0 ? errno : 0;
	bool fresh = false;

	if (fd >= 0 && !control_readable(fd)) {
		close(fd);
		fd = -1;
		rc = ENOENT;
	}
	if (rc == ENOENT && create) {
		fresh = true;
		rc = control_make(dirfd, &fd);
	}
	char *map = MAP_FAILED;
	if (control && rc == 0) {
		map = mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		rc = map == MAP_FAILED ? errno : 0;
	}
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED) {
		free(control);
		return file_fail(err, control ? rc : ENOMEM, "open", folder, CONTROL_NAME);
	}
	control->head = (struct file_control_head *)(void *)map;
	control->intents = (struct file_intent *)(void *)(map + CONTROL_HEAD);
	control->map_len = CONTROL_BYTES;
	control->folder = folder;
	if (fresh) {
		atomic_store(&control->head->state, FILE_STATE_REBUILD);
		control->head->magic = CONTROL_MAGIC;
	}
	*out = control;
	return BK_OK;
}

void file_control_close(struct file_control *control)
{
	if (!control)
		return;
	munmap(control->head, control->map_len);
	free(control);
}

int file_control_sync(struct file_control *control)
{
	return msync(control->head, control->map_len, MS_SYNC);
}

bool file_control_believed(const struct file_control *control)
{
	const struct file_control_head *head = control->head;
	uint32_t state = atomic_load(&head->state);
	char boot[64] = "";

	if (state == FILE_STATE_CLEAN && atomic_load(&head->synced))
		return true;
	control_boot_id(boot);
	return state != FILE_STATE_REBUILD && *boot &&
	       strncmp(head->boot, boot, sizeof(head->boot)) == 0;
}

void file_control_enter(struct file_control *control, enum file_state state)
{
	struct file_control_head *head = control->head;
	char boot[64] = "";

	control_boot_id(boot);
	if (memcmp(head->boot, boot, sizeof(boot)) != 0) {
		atomic_store(&head->state, FILE_STATE_REBUILD);
		memcpy(head->boot, boot, sizeof(boot));
	}
	atomic_store(&head->state, state);
}

void file_intent_arm(struct file_intent *intent, enum file_intent_op op, const char *name,
		     uint64_t version, uint64_t offset, uint64_t len)
{
	intent->version = version;
	intent->offset = offset;
	intent->len = len;
	strncpy(intent->name, name, sizeof(intent->name) - 1);
	atomic_store_explicit(&intent->op, op, memory_order_release);
}
