/*
 * change.c - one change to the index, built and written; see change.h.
 *
 * The one invariant: an entry's `prev` is the head of its list at the time of writing, or the
 * entry before it in the same change; the list's stripe is held from then to publishing.
 */
#include "change.h"

#include "hash.h"

#define CHANGE_RELATIVE 1u /* in prev while building: an offset into the change */

void file_change_begin(struct file_change *c, struct file_index *ix, struct file_intent *intent)
{
	c->ix = ix;
	c->intent = intent;
	file_buf_reuse(&c->buf);
	c->last = 0;
	c->kills = SIZE_MAX;
	c->failed = false;
	memset(c->promised, 0, sizeof(c->promised));
}

static struct file_entry *change_at(struct file_change *c, size_t at)
{
	return (struct file_entry *)(void *)(c->buf.data + at);
}

/* An entry at the end of the change, without its place in a list; NULL: out of memory. */
static struct file_entry *change_entry(struct file_change *c, enum file_entry_kind kind,
				       struct bk_slice key, struct bk_slice id, struct bk_slice rel,
				       struct bk_slice path)
{
	size_t bytes = key.len + id.len + rel.len + path.len;
	size_t size = (sizeof(struct file_entry) + bytes + 7) & ~(size_t)7;
	struct bk_slice parts[] = {key, id, rel, path};

	if (!file_buf_room(&c->buf, size)) {
		c->failed = true;
		return NULL;
	}
	struct file_entry *e = change_at(c, c->buf.len);
	memset(e, 0, sizeof(*e));
	e->size = (uint32_t)size;
	e->kind = (uint16_t)kind;
	e->key_len = (uint16_t)key.len;
	e->id_len = (uint16_t)id.len;
	e->rel_len = (uint16_t)rel.len;
	e->path_len = (uint32_t)path.len;
	char *p = (char *)(e + 1);
	for (size_t i = 0; i < 4; i++) {
		if (parts[i].len)
			memcpy(p, parts[i].data, parts[i].len);
		p += parts[i].len;
	}
	memset(p, 0, size - sizeof(*e) - bytes);
	return e;
}

static void change_promise(struct file_change *c, uint64_t hash)
{
	c->promised[hash >> 60]++;
}

/* Chain an entry to the list's head, or to the entry before it in this change. */
static void change_chain(struct file_change *c, struct file_entry *e)
{
	size_t at = c->buf.len;
	struct file_entry *before = at > c->last ? change_at(c, c->last) : NULL;
	uint32_t live = 0, total = 0;

	if (before && before->kind == e->kind &&
	    bk_slice_eq(file_entry_key(before), file_entry_key(e))) {
		e->prev = c->last | CHANGE_RELATIVE;
		live = atomic_load_explicit(&before->live, memory_order_relaxed);
		total = atomic_load_explicit(&before->total, memory_order_relaxed);
	} else {
		struct file_key list = file_entry_list(e);
		struct file_entry *head = file_index_find(c->ix, &list, &e->prev);

		if (head) {
			live = atomic_load_explicit(&head->live, memory_order_relaxed);
			total = atomic_load_explicit(&head->total, memory_order_relaxed);
		} else {
			change_promise(c, list.hash);
		}
	}
	atomic_store_explicit(&e->live, live + 1, memory_order_relaxed);
	atomic_store_explicit(&e->total, total + 1, memory_order_relaxed);
}

static void change_done(struct file_change *c, const struct file_entry *e)
{
	c->last = c->buf.len;
	c->buf.len += e->size;
}

void file_change_add_node(struct file_change *c, struct bk_slice parent, struct bk_slice id,
			  struct bk_slice path)
{
	struct file_entry *e =
		change_entry(c, FILE_ENTRY_NODE, parent, id, bk_slice_of(NULL, 0), path);

	if (!e)
		return;
	change_promise(c, file_key(FILE_KEY_ID, id).hash);
	change_promise(c, file_key(FILE_KEY_PATH, path).hash);
	if (parent.len)
		change_chain(c, e);
	change_done(c, e);
}

void file_change_add_link(struct file_change *c, struct bk_slice target, struct bk_slice source,
			  struct bk_slice rel, struct bk_slice path)
{
	struct file_entry *e = change_entry(c, FILE_ENTRY_LINK, target, source, rel, path);

	if (!e)
		return;
	change_promise(c, file_key_link(source, rel, target).hash);
	change_chain(c, e);
	change_done(c, e);
}

void file_change_kill(struct file_change *c, uint64_t offset)
{
	struct bk_slice none = bk_slice_of(NULL, 0);
	struct file_entry *e = change_entry(c, FILE_ENTRY_KILL, none, none, none, none);

	if (!e)
		return;
	if (c->kills == SIZE_MAX)
		c->kills = c->buf.len;
	e->prev = offset;
	change_done(c, e);
}

void file_change_copy(struct file_change *c, const struct file_entry *e, bool first)
{
	struct file_entry *copy = change_entry(c, e->kind, file_entry_key(e), file_entry_id(e),
					       file_entry_rel(e), file_entry_path(e));
	uint32_t nth = 0;

	if (!copy)
		return;
	if (!first && c->buf.len) {
		copy->prev = c->last | CHANGE_RELATIVE;
		nth = atomic_load_explicit(&change_at(c, c->last)->live, memory_order_relaxed);
	} else if (!first) {
		copy->prev = c->carry;
		nth = c->carry_nth;
	}
	atomic_store_explicit(&copy->live, nth + 1, memory_order_relaxed);
	atomic_store_explicit(&copy->total, nth + 1, memory_order_relaxed);
	change_done(c, copy);
}

/* ---- Writing ------------------------------------------------------------------ */

static void change_give_back(struct file_change *c)
{
	for (unsigned i = 0; i < FILE_SHARDS; i++) {
		if (c->promised[i])
			file_table_give_back(&c->ix->tables[i], c->promised[i]);
		c->promised[i] = 0;
	}
}

static bk_status change_promises(struct file_change *c, struct bk_error *err)
{
	for (unsigned i = 0; i < FILE_SHARDS; i++) {
		bk_status status = BK_OK;

		if (c->promised[i])
			status = file_table_reserve(&c->ix->tables[i], c->promised[i], err);
		if (status != BK_OK) {
			/* What was promised so far is given back; the rest was not. */
			for (; i < FILE_SHARDS; i++)
				c->promised[i] = 0;
			change_give_back(c);
			return status;
		}
	}
	return BK_OK;
}

/* The offsets are known: finish the entries. */
static void change_seal(struct file_change *c)
{
	for (size_t at = 0; at < c->buf.len;) {
		struct file_entry *e = change_at(c, at);

		if (e->prev & CHANGE_RELATIVE)
			e->prev = c->offset + (e->prev & ~(uint64_t)CHANGE_RELATIVE);
		e->check = file_entry_check(e);
		at += e->size;
	}
}

bk_status file_change_store(struct file_change *c, struct bk_error *err)
{
	struct file_log *log = c->ix->log;
	bk_status status;

	if (c->failed)
		return bk_fail(err, BK_NOMEM, 0, "out of memory for the list entries of a change");
	if (c->buf.len == 0)
		return BK_OK;
	status = file_log_reserve(log, c->buf.len, c->kills == 0, &c->offset, err);
	if (status != BK_OK)
		return status;
	change_seal(c);
	status = file_log_write(log, c->offset, c->buf.data, c->buf.len, err);
	if (status != BK_OK)
		file_log_give_back(log, c->offset, c->buf.len);
	return status;
}

bk_status file_change_write(struct file_change *c, enum file_intent_op op, const char *name,
			    uint64_t version, struct bk_error *err)
{
	bk_status status = file_index_check(c->ix, err);

	if (status == BK_OK)
		status = change_promises(c, err);
	if (status != BK_OK)
		return status;
	status = file_change_store(c, err);
	if (status != BK_OK)
		change_give_back(c);
	else if (c->intent)
		file_intent_arm(c->intent, op, name, version, c->offset, c->buf.len);
	return status;
}

void file_change_drop(struct file_change *c)
{
	if (c->intent)
		file_intent_disarm(c->intent);
	if (c->buf.len)
		file_log_give_back(c->ix->log, c->offset, c->buf.len);
	change_give_back(c);
}

/* ---- Publishing: publish.c does the work ------------------------------------------ */

void file_change_publish(struct file_change *c)
{
	for (size_t at = 0; at < c->buf.len; at += change_at(c, at)->size)
		file_publish_entry(c->ix, c->offset + at, false);
	if (c->intent)
		file_intent_disarm(c->intent);
	change_give_back(c);
}
