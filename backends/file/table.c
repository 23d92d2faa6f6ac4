/*
 * table.c - a mapped hash table on disk; see table.h.
 *
 * The one invariant: slots are filled offset first, hash last, under the writer's lock; space is
 * taken from the file system before it is mapped, so that a store into it cannot fail.
 */
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TABLE_MAGIC UINT64_C(0x31656c6261746b62) /* "bktable1" */
#define TABLE_HEAD  4096u
#define TABLE_FIRST 256u
#define SLOT_FREE   0u
#define SLOT_USED   1u

struct file_table_head {
	uint64_t magic;
	uint64_t slots;
	_Atomic uint64_t filled; /* slots that are not free */
	_Atomic uint64_t live;   /* slots that hold a key; both exact but for a killed process */
};

static size_t table_bytes(uint64_t slots)
{
	return TABLE_HEAD + (size_t)slots * sizeof(struct file_slot);
}

/* Map an open file; the descriptor is not needed afterwards. */
static int table_map(struct file_table *t, int fd, uint64_t slots)
{
	size_t len = table_bytes(slots);
	char *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -1;
	t->head = (struct file_table_head *)(void *)map;
	t->slots = (struct file_slot *)(void *)(map + TABLE_HEAD);
	t->map_len = len;
	t->mask = slots - 1;
	return 0;
}

/* A new, empty table file, mapped. */
static int table_create(struct file_table *t, const char *name, uint64_t slots)
{
	int fd = openat(t->dirfd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc = -1, saved;

	if (fd < 0)
		return -1;
	saved = posix_fallocate(fd, 0, (off_t)table_bytes(slots));
	if (saved == 0 && table_map(t, fd, slots) == 0) {
		t->head->slots = slots;
		t->head->magic = TABLE_MAGIC;
		rc = 0;
	} else if (saved == 0) {
		saved = errno;
	}
	close(fd);
	if (rc < 0)
		unlinkat(t->dirfd, name, 0);
	errno = saved;
	return rc;
}

static bk_status table_load(struct file_table *t, struct bk_error *err)
{
	int fd = openat(t->dirfd, t->name, O_RDWR | O_CLOEXEC);
	bk_status status = BK_OK;
	struct stat st;
	uint64_t start[2];

	if (fd < 0)
		return file_fail(err, errno, "open", t->folder, t->name);
	if (fstat(fd, &st) < 0 || pread(fd, start, sizeof(start), 0) < 0)
		status = file_fail(err, errno, "read", t->folder, t->name);
	else if ((uint64_t)st.st_size < TABLE_HEAD || start[0] != TABLE_MAGIC ||
		 (start[1] & (start[1] - 1)) || start[1] < TABLE_FIRST ||
		 (uint64_t)st.st_size != table_bytes(start[1]))
		status = bk_fail(err, BK_CORRUPT, 0,
				 "'%s/%s' is no table of this version; remove the folder 'index', "
				 "it is built anew",
				 t->folder, t->name);
	else if (table_map(t, fd, start[1]) < 0)
		status = file_fail(err, errno, "map", t->folder, t->name);
	close(fd);
	return status;
}

bk_status file_table_open(struct file_table *t, int dirfd, const char *folder, const char *name,
			  bool create, struct bk_error *err)
{
	t->dirfd = dirfd;
	t->folder = folder;
	t->head = NULL;
	t->reserved = 0;
	snprintf(t->name, sizeof(t->name), "%s", name);
	pthread_rwlock_init(&t->lock, NULL);
	if (!create)
		return table_load(t, err);
	if (table_create(t, name, TABLE_FIRST) < 0)
		return file_fail(err, errno, "make", folder, name);
	return BK_OK;
}

void file_table_close(struct file_table *t)
{
	if (!t->folder)
		return;
	if (t->head)
		munmap(t->head, t->map_len);
	t->head = NULL;
	t->folder = NULL;
	pthread_rwlock_destroy(&t->lock);
}

uint64_t file_table_live(const struct file_table *t)
{
	return atomic_load_explicit(&t->head->live, memory_order_relaxed);
}

int file_table_sync(struct file_table *t)
{
	return msync(t->head, t->map_len, MS_SYNC);
}

/* ---- Slots ------------------------------------------------------------------ */

/* The low bits of a hash tell the kind of key; they do not choose the slot. */
static uint64_t table_first(const struct file_table *t, uint64_t hash)
{
	return (hash >> 3) & t->mask;
}

static void table_fill(struct file_table *t, uint64_t i, uint64_t hash, uint64_t offset)
{
	if (atomic_load_explicit(&t->slots[i].hash, memory_order_relaxed) == SLOT_FREE)
		atomic_fetch_add_explicit(&t->head->filled, 1, memory_order_relaxed);
	atomic_store_explicit(&t->slots[i].offset, offset, memory_order_relaxed);
	atomic_store_explicit(&t->slots[i].hash, hash, memory_order_release);
	atomic_fetch_add_explicit(&t->head->live, 1, memory_order_relaxed);
}

/* The first slot on the key's way that holds none. */
static uint64_t table_room(const struct file_table *t, uint64_t hash)
{
	uint64_t i = table_first(t, hash);

	while (atomic_load_explicit(&t->slots[i].hash, memory_order_relaxed) > SLOT_USED)
		i = (i + 1) & t->mask;
	return i;
}

/* The slot of a key, or the mask + 1. */
static uint64_t table_seek(const struct file_table *t, uint64_t hash, file_match match, void *ctx)
{
	for (uint64_t i = table_first(t, hash);; i = (i + 1) & t->mask) {
		uint64_t h = atomic_load_explicit(&t->slots[i].hash, memory_order_acquire);

		if (h == SLOT_FREE)
			return t->mask + 1;
		if (h == hash &&
		    match(ctx, atomic_load_explicit(&t->slots[i].offset, memory_order_acquire)))
			return i;
	}
}

/* ---- Growth ------------------------------------------------------------------- */

/* Into a new file, without the slots that were used once; under the writer's lock. */
static int table_grow(struct file_table *t, uint64_t need)
{
	struct file_table old = *t;
	char name[72];
	uint64_t slots = TABLE_FIRST;

	/* At most half full afterwards, so that the next growth is far. */
	while (slots < 2 * (atomic_load(&old.head->live) + need))
		slots *= 2;
	snprintf(name, sizeof(name), "%s.new", t->name);
	if (table_create(t, name, slots) < 0)
		return -1;
	for (uint64_t i = 0; i <= old.mask; i++) {
		uint64_t hash = atomic_load_explicit(&old.slots[i].hash, memory_order_relaxed);

		if (hash > SLOT_USED)
			table_fill(t, table_room(t, hash), hash, atomic_load(&old.slots[i].offset));
	}
	if (renameat(t->dirfd, name, t->dirfd, t->name) < 0) {
		int saved = errno;

		munmap(t->head, t->map_len);
		unlinkat(t->dirfd, name, 0);
		t->head = old.head;
		t->slots = old.slots;
		t->map_len = old.map_len;
		t->mask = old.mask;
		errno = saved;
		return -1;
	}
	munmap(old.head, old.map_len);
	return 0;
}

bk_status file_table_reserve(struct file_table *t, uint64_t n, struct bk_error *err)
{
	bk_status status = BK_OK;

	pthread_rwlock_wrlock(&t->lock);
	uint64_t need = t->reserved + n;
	uint64_t filled = atomic_load_explicit(&t->head->filled, memory_order_relaxed) + need;
	if (filled * 4 > (t->mask + 1) * 3 && table_grow(t, need) < 0)
		status = file_fail(err, errno, "grow", t->folder, t->name);
	if (status == BK_OK)
		t->reserved += n;
	pthread_rwlock_unlock(&t->lock);
	return status;
}

void file_table_give_back(struct file_table *t, uint64_t n)
{
	pthread_rwlock_wrlock(&t->lock);
	t->reserved -= n;
	pthread_rwlock_unlock(&t->lock);
}

/* ---- Keys ---------------------------------------------------------------------- */

uint64_t file_table_find(struct file_table *t, uint64_t hash, file_match match, void *ctx)
{
	uint64_t offset = 0;

	pthread_rwlock_rdlock(&t->lock);
	uint64_t i = table_seek(t, hash, match, ctx);
	if (i <= t->mask)
		offset = atomic_load_explicit(&t->slots[i].offset, memory_order_acquire);
	pthread_rwlock_unlock(&t->lock);
	return offset;
}

void file_table_set(struct file_table *t, uint64_t hash, uint64_t offset, file_match match,
		    void *ctx)
{
	pthread_rwlock_wrlock(&t->lock);
	uint64_t i = table_seek(t, hash, match, ctx);
	if (i <= t->mask)
		atomic_store_explicit(&t->slots[i].offset, offset, memory_order_release);
	else
		table_fill(t, table_room(t, hash), hash, offset);
	pthread_rwlock_unlock(&t->lock);
}

void file_table_add(struct file_table *t, uint64_t hash, uint64_t offset)
{
	pthread_rwlock_wrlock(&t->lock);
	table_fill(t, table_room(t, hash), hash, offset);
	pthread_rwlock_unlock(&t->lock);
}

static bool table_at(void *ctx, uint64_t offset)
{
	return *(const uint64_t *)ctx == offset;
}

void file_table_remove(struct file_table *t, uint64_t hash, uint64_t offset)
{
	pthread_rwlock_wrlock(&t->lock);
	uint64_t i = table_seek(t, hash, table_at, &offset);
	if (i <= t->mask) {
		atomic_store_explicit(&t->slots[i].hash, SLOT_USED, memory_order_release);
		atomic_fetch_sub_explicit(&t->head->live, 1, memory_order_relaxed);
	}
	pthread_rwlock_unlock(&t->lock);
}

bk_status file_table_each(struct file_table *t,
			  bk_status (*fn)(void *ctx, uint64_t hash, uint64_t offset), void *ctx)
{
	bk_status status = BK_OK;

	pthread_rwlock_rdlock(&t->lock);
	for (uint64_t i = 0; i <= t->mask && status == BK_OK; i++) {
		uint64_t hash = atomic_load_explicit(&t->slots[i].hash, memory_order_acquire);

		if (hash > SLOT_USED)
			status = fn(ctx, hash, atomic_load(&t->slots[i].offset));
	}
	pthread_rwlock_unlock(&t->lock);
	return status;
}
