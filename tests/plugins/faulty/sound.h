/*
 * sound.h - a small backend that keeps the whole contract; the faulty ones are it with one fault.
 *
 * The content is in memory, an array of reference-counted records; every commit is one record of a
 * log file.  It is made to be short and right: searches are linear, a transaction works on a copy
 * of the arrays and is refused when anybody else has committed meanwhile.
 *
 * The one invariant: a record in an array is never changed; a change puts a new one in its place.
 */
#ifndef BK_TEST_SOUND_H
#define BK_TEST_SOUND_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>

#define SND_NAME_MAX 4096u
#define SND_DATA_MAX (UINT64_C(64) << 20)

struct snd_options {
	const char *path;
};

/* ---- Content -------------------------------------------------------------------------------- */

/* A node, or a binary (id: its key; doc: its bytes). */
struct snd_record {
	int refs;
	bool is_binary;
	uint64_t hash; /* of id */
	struct bk_node node;
	char bytes[]; /* what node's slices and links point at */
};
struct snd_state {
	struct snd_record **list;
	size_t count, cap;
};
struct snd_buf {
	char *data;
	size_t len, cap;
};

void snd_buf_put(struct snd_buf *buf, const void *data, size_t len); /* aborts: no memory */

struct snd_record *snd_record_new(const struct bk_node *node, bool is_binary, uint64_t version);
void snd_record_drop(struct snd_record *r);
struct snd_record *snd_find(const struct snd_state *s, struct bk_slice id, bool is_binary);
struct snd_record *snd_find_path(const struct snd_state *s, struct bk_slice path);
void snd_set(struct snd_state *s, struct snd_record *r); /* takes over the reference */
void snd_unset(struct snd_state *s, struct bk_slice id, bool is_binary);
void snd_state_copy(struct snd_state *out, const struct snd_state *s);
void snd_state_free(struct snd_state *s);

/* ---- Handles --------------------------------------------------------------------------------- */

struct bk_store {
	const struct bk_store_config *config;
	char *root, *dir; /* PATH, PATH/SPACE */
	int log_fd;       /* -1: not loaded */
	uint64_t log_bytes;
	struct snd_state state;
	uint64_t version; /* of the last change */
	uint64_t commits;
	bool made;
	bool no_mark_check; /* for the faulty ones */
};
struct bk_cursor {
	struct bk_session *s;
	struct bk_hit *hits; /* slices point into `bytes` once all are gathered */
	size_t count, cap, at;
	struct snd_buf bytes;
	bool open;
};
struct bk_writer {
	struct bk_session *s;
	struct snd_buf key, bytes;
	uint64_t declared;
	uint32_t mode;
	bool open;
};
struct bk_reader {
	struct snd_record *r;
	uint64_t at, end;
};
struct bk_session {
	struct bk_store *store;
	uint32_t durability;
	/* the transaction, or the implicit one of a single call */
	bool in_txn, read_only;
	uint64_t commits_at_begin;
	struct snd_state state;   /* what it sees; a copy */
	struct snd_buf changes;   /* as the log will have them */
	struct snd_record **held; /* what borrowed views point at */
	size_t held_count;
	struct bk_link *links; /* of the views */
	struct bk_cursor cursor;
	struct bk_writer writer;
	struct bk_reader reader;
	uint64_t requests;
	void *extra; /* for the faulty ones */
};

/* What the session sees: its transaction's, or the store's. */
const struct snd_state *snd_seen(const struct bk_session *s);
/* Around every write: a transaction of its own unless one is open. */
bk_status snd_write_begin(struct bk_session *s, struct bk_error *err);
bk_status snd_write_end(struct bk_session *s, bk_status st, struct bk_error *err);
/* A change to what the session sees, and to the log. */
void snd_change_set(struct bk_session *s, const struct bk_node *node, bool is_binary);
void snd_change_unset(struct bk_session *s, struct bk_slice id, bool is_binary);
void snd_views_lapse(struct bk_session *s);

/* log.c */
bk_status snd_load(struct bk_store *store, struct bk_error *err);
bk_status snd_log(struct bk_store *store, const struct snd_buf *changes, uint32_t durability,
		  struct bk_error *err);
void snd_unload(struct bk_store *store);
bk_status snd_io(struct bk_error *err, const char *what, const char *path);

/* ---- Operations, for tables with one of them replaced ------------------------------------------
 */

bk_status snd_store_open(struct bk_store **out, const struct bk_host *host,
			 const struct bk_store_config *config, const void *opts,
			 struct bk_error *err);
void snd_store_close(struct bk_store *store);
bk_status snd_features(struct bk_store *store, uint64_t *native, uint64_t *emulated,
		       struct bk_limits *limits, struct bk_error *err);
bk_status snd_make(struct bk_store *store, struct bk_error *err);
bk_status snd_clear(struct bk_store *store, struct bk_error *err);
bk_status snd_unmake(struct bk_store *store, struct bk_error *err);
bk_status snd_inspect(struct bk_store *store, uint32_t what, const struct bk_sink *sink,
		      struct bk_error *err);
bk_status snd_settle(struct bk_store *store, uint64_t timeout_ns, struct bk_error *err);
bk_status snd_chill(struct bk_store *store, uint32_t *reached, struct bk_error *err);

bk_status snd_session_open(struct bk_session **out, struct bk_store *store,
			   const struct bk_session_config *config, struct bk_error *err);
void snd_session_close(struct bk_session *s);
void snd_counters(struct bk_session *s, const struct bk_sink *sink);

bk_status snd_begin(struct bk_session *s, uint32_t *isolation, uint32_t flags,
		    struct bk_error *err);
bk_status snd_flush(struct bk_session *s, struct bk_error *err);
bk_status snd_commit(struct bk_session *s, struct bk_error *err);
bk_status snd_rollback(struct bk_session *s, struct bk_error *err);

bk_status snd_get(struct bk_node *out, struct bk_session *s, struct bk_slice id, uint32_t want,
		  struct bk_error *err);
bk_status snd_get_many(struct bk_node *out, size_t *done, struct bk_session *s,
		       const struct bk_slice *ids, size_t n, uint32_t want, struct bk_error *err);
bk_status snd_find_op(struct bk_slice *id_out, struct bk_session *s, struct bk_slice path,
		      struct bk_error *err);
bk_status snd_put(struct bk_session *s, const struct bk_node *node, uint32_t mode,
		  struct bk_error *err);
bk_status snd_put_many(struct bk_session *s, const struct bk_node *nodes, size_t n, uint32_t mode,
		       struct bk_error *err);
bk_status snd_append(struct bk_session *s, struct bk_slice id, struct bk_slice tail,
		     const struct bk_link *links, size_t link_count, struct bk_error *err);
bk_status snd_remove(struct bk_session *s, struct bk_slice id, struct bk_error *err);
bk_status snd_walk_open(struct bk_cursor **out, struct bk_session *s, struct bk_slice start,
			const struct bk_step *steps, size_t n_steps, uint32_t want,
			struct bk_error *err);
bk_status snd_walk_next(struct bk_cursor *c, struct bk_hit *out, size_t cap, size_t *n,
			struct bk_error *err);
void snd_cursor_close(struct bk_cursor *c);

bk_status snd_write_open(struct bk_writer **out, struct bk_session *s, struct bk_slice key,
			 uint64_t size_bytes, uint32_t mode, struct bk_error *err);
bk_status snd_write(struct bk_writer *w, const void *data, size_t len, struct bk_error *err);
bk_status snd_finish(struct bk_writer *w, struct bk_binary_info *info, struct bk_error *err);
void snd_abort(struct bk_writer *w);
bk_status snd_read_open(struct bk_reader **out, struct bk_session *s, struct bk_slice key,
			uint64_t offset, uint64_t len, struct bk_binary_info *info,
			struct bk_error *err);
bk_status snd_read(struct bk_reader *r, void *buf, size_t cap, size_t *n, struct bk_error *err);
void snd_read_close(struct bk_reader *r);
bk_status snd_stat(struct bk_session *s, struct bk_slice key, struct bk_binary_info *info,
		   struct bk_error *err);
bk_status snd_binary_remove(struct bk_session *s, struct bk_slice key, struct bk_error *err);
bk_status snd_list_open(struct bk_cursor **out, struct bk_session *s, struct bk_error *err);
bk_status snd_list_next(struct bk_cursor *c, struct bk_slice *keys, uint64_t *sizes_bytes,
			size_t cap, size_t *n, struct bk_error *err);

extern const struct bk_option snd_options[];

/* The tables of a backend, with what follows replaced: SND_STORE(.clear = my_clear). */
#define SND_STORE(...)                                                                             \
	{                                                                                          \
		.struct_size = sizeof(struct bk_store_ops), .open = snd_store_open,                \
		.close = snd_store_close, .features = snd_features, .make = snd_make,              \
		.clear = snd_clear, .unmake = snd_unmake, .inspect = snd_inspect,                  \
		.settle = snd_settle, .chill = snd_chill, __VA_ARGS__                              \
	}
#define SND_SESSION(...)                                                                           \
	{                                                                                          \
		.struct_size = sizeof(struct bk_session_ops), .open = snd_session_open,            \
		.close = snd_session_close, .counters = snd_counters, __VA_ARGS__                  \
	}
#define SND_TXN(...)                                                                               \
	{                                                                                          \
		.struct_size = sizeof(struct bk_txn_ops), .begin = snd_begin, .flush = snd_flush,  \
		.commit = snd_commit, .rollback = snd_rollback, __VA_ARGS__                        \
	}
#define SND_NODE(...)                                                                              \
	{                                                                                          \
		.struct_size = sizeof(struct bk_node_ops), .get = snd_get,                         \
		.get_many = snd_get_many, .find = snd_find_op, .put = snd_put,                     \
		.put_many = snd_put_many, .append = snd_append, .remove = snd_remove,              \
		.walk_open = snd_walk_open, .walk_next = snd_walk_next,                            \
		.walk_close = snd_cursor_close, __VA_ARGS__                                        \
	}
#define SND_BINARY(...)                                                                            \
	{                                                                                          \
		.struct_size = sizeof(struct bk_binary_ops), .write_open = snd_write_open,         \
		.write = snd_write, .finish = snd_finish, .abort = snd_abort,                      \
		.read_open = snd_read_open, .read = snd_read, .read_close = snd_read_close,        \
		.stat = snd_stat, .remove = snd_binary_remove, .list_open = snd_list_open,         \
		.list_next = snd_list_next, .list_close = snd_cursor_close, __VA_ARGS__            \
	}
#define SND_FEATURES                                                                               \
	(BK_F_NODES | BK_F_CAS | BK_F_TXN | BK_F_TXN_BINARIES | BK_F_GET_MANY | BK_F_PUT_MANY |    \
	 BK_F_BATCH_ATOMIC | BK_F_APPEND | BK_F_WALK | BK_F_TXN_WALK | BK_F_BINARIES |             \
	 BK_F_BINARY_RANGE | BK_F_BINARY_CREATE | BK_F_SETTLE | BK_F_CHILL)

/* The descriptor.  Tables that do not go with the features are NULL. */
#define SND_DESCRIPTOR(backend_name, what, features, thread_model, txn_table, node_table,          \
		       binary_table)                                                               \
	static const struct bk_backend the_backend = {                                             \
		.magic = BK_MAGIC,                                                                 \
		.abi_major = BK_ABI_MAJOR,                                                         \
		.abi_minor = BK_ABI_MINOR,                                                         \
		.struct_size = sizeof(struct bk_backend),                                          \
		.threads = thread_model,                                                           \
		.name = backend_name,                                                              \
		.version = "1",                                                                    \
		.summary = what,                                                                   \
		.native = features,                                                                \
		.options = snd_options,                                                            \
		.options_size = sizeof(struct snd_options),                                        \
		.store = &the_store,                                                               \
		.session = &the_session,                                                           \
		.txn = txn_table,                                                                  \
		.node = node_table,                                                                \
		.binary = binary_table,                                                            \
	};                                                                                         \
	BK_EXPORT const struct bk_backend *bk_backend(void);                                       \
	BK_EXPORT const struct bk_backend *bk_backend(void)                                        \
	{                                                                                          \
		return &the_backend;                                                               \
	}                                                                                          \
	struct snd_no_semicolon

/* features() of a backend with other features than SND_FEATURES. */
#define SND_FEATURES_ARE(features)                                                                 \
	static bk_status my_features(struct bk_store *store, uint64_t *native, uint64_t *emulated, \
				     struct bk_limits *limits, struct bk_error *err)               \
	{                                                                                          \
		bk_status st = snd_features(store, native, emulated, limits, err);                 \
                                                                                                   \
		*native = (features);                                                              \
		return st;                                                                         \
	}                                                                                          \
	struct snd_no_semicolon_either

/* The whole backend of one file; `what` says what its fault is. */
#define SND_BACKEND(backend_name, what, store_table, session_table, txn_table, node_table,         \
		    binary_table)                                                                  \
	static const struct bk_store_ops the_store = store_table;                                  \
	static const struct bk_session_ops the_session = session_table;                            \
	static const struct bk_txn_ops the_txn = txn_table;                                        \
	static const struct bk_node_ops the_node = node_table;                                     \
	static const struct bk_binary_ops the_binary = binary_table;                               \
	SND_DESCRIPTOR(backend_name, what, SND_FEATURES, BK_THREADS_SERIAL, &the_txn, &the_node,   \
		       &the_binary)

#endif
