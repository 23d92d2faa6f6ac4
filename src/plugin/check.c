/*
 * check.c - head, identity, features and tables of a descriptor.
 */
#include "plugin/check.h"

#include "plugin/ops.h"

#include <bakeoff/backend_util.h>

/* The name of a feature bit; "" when it has none. */
static const char *feature_name(uint64_t bit)
{
	const struct bk_feature *f;

	for (f = bk_features; f->name; f++) {
		if (f->bit == bit)
			return f->name;
	}
	return "";
}

bool bk_backend_name_is_valid(const char *name)
{
	size_t len = strlen(name);

	return len >= 1 && len <= 40 && name[0] != '-' &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

bk_status bk_check_head(struct bk_backend *desc, const struct bk_backend *raw, const char *path,
			struct bk_error *err)
{
	const size_t least = offsetof(struct bk_backend, txn);
	size_t size;

	if (!raw)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: %s() returned NULL, expected its descriptor", path,
			       BK_ENTRY_NAME);
	if (raw->magic != BK_MAGIC)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its descriptor begins with 0x%08x, expected the magic 0x%08x",
			       path, raw->magic, BK_MAGIC);
	if (raw->abi_major != BK_ABI_MAJOR)
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: its ABI major is %u (%u.%u), this bakeoff speaks %u.%u; build it "
			"against this version's headers",
			path, raw->abi_major, raw->abi_major, raw->abi_minor, BK_ABI_MAJOR,
			BK_ABI_MINOR);
	if (raw->abi_minor != BK_ABI_MINOR)
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: its ABI minor is %u (%u.%u), this bakeoff speaks %u.%u and before "
			"1.0 both must match; build it against this version's headers",
			path, raw->abi_minor, raw->abi_major, raw->abi_minor, BK_ABI_MAJOR,
			BK_ABI_MINOR);
	if (raw->struct_size < least)
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: its descriptor has a struct_size of %u bytes, expected at least "
			"%zu; set it to sizeof(struct bk_backend)",
			path, raw->struct_size, least);
	if (raw->threads < BK_THREADS_PARALLEL || raw->threads > BK_THREADS_SINGLE)
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: its thread model is %u, expected one of BK_THREADS_* (%u to %u)", path,
			raw->threads, BK_THREADS_PARALLEL, BK_THREADS_SINGLE);
	size = raw->struct_size < sizeof(*desc) ? raw->struct_size : sizeof(*desc);
	memset(desc, 0, sizeof(*desc));
	memcpy(desc, raw, size);
	return BK_OK;
}

static bk_status check_features(const struct bk_backend *desc, const char *path,
				struct bk_error *err)
{
	/* {bit, all of these too} */
	static const uint64_t needs[][2] = {
		{BK_F_CAS, BK_F_NODES},
		{BK_F_ID_IS_PATH, BK_F_NODES},
		{BK_F_GET_MANY, BK_F_NODES},
		{BK_F_PUT_MANY, BK_F_NODES},
		{BK_F_BATCH_ATOMIC, BK_F_PUT_MANY},
		{BK_F_APPEND, BK_F_NODES},
		{BK_F_WALK, BK_F_NODES},
		{BK_F_TXN_WALK, BK_F_NODES},
		{BK_F_TXN_WALK, BK_F_TXN},
		{BK_F_TXN_BINARIES, BK_F_TXN},
		{BK_F_TXN_BINARIES, BK_F_BINARIES},
		{BK_F_BINARY_STREAM, BK_F_BINARIES},
		{BK_F_BINARY_RANGE, BK_F_BINARIES},
		{BK_F_BINARY_CREATE, BK_F_BINARIES},
	};
	uint64_t both = desc->native & desc->emulated, all = desc->native | desc->emulated;
	uint64_t unknown = all;
	const struct bk_feature *f;
	size_t i;

	for (f = bk_features; f->name; f++) {
		if (both & f->bit)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: feature '%s' is both native and emulated, expected one "
				       "of them",
				       path, f->name);
		unknown &= ~f->bit;
	}
	if (unknown)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: feature bits 0x%llx mean nothing in ABI %u.%u, expected BK_F_* "
			       "only",
			       path, (unsigned long long)unknown, BK_ABI_MAJOR, BK_ABI_MINOR);
	if (!(all & (BK_F_NODES | BK_F_BINARIES | BK_F_PLACES)))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: it keeps neither nodes nor binaries nor places, expected at "
			       "least one of those features",
			       path);
	for (i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		if ((all & needs[i][0]) && !(all & needs[i][1]))
			return bk_fail(err, BK_INVALID, 0,
				       "%s: feature '%s' is declared without '%s', which it needs",
				       path, feature_name(needs[i][0]), feature_name(needs[i][1]));
	}
	return BK_OK;
}

bk_status bk_check_identity(const struct bk_backend *desc, const char *path, struct bk_error *err)
{
	const char *file = strrchr(path, '/');
	char expected[64];

	if (!desc->name || !bk_backend_name_is_valid(desc->name))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its name is '%.60s', expected 1 to 40 of [a-z0-9-]", path,
			       desc->name ? desc->name : "(null)");
	file = file ? file + 1 : path;
	snprintf(expected, sizeof(expected), "bk-%s.so", desc->name);
	if (strcmp(file, expected) != 0)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its name is '%s', so the file's name is expected to be %s",
			       path, desc->name, expected);
	if (!desc->version || !*desc->version)
		return bk_fail(err, BK_INVALID, 0, "%s: it has no version text, expected one",
			       path);
	if (!desc->summary || !*desc->summary || strchr(desc->summary, '\n'))
		return bk_fail(err, BK_INVALID, 0, "%s: its summary is %s, expected one line", path,
			       desc->summary && *desc->summary ? "several lines" : "missing");
	return check_features(desc, path, err);
}

struct check_table {
	const char *name;
	const void *raw;
	size_t offset, size; /* in struct bk_tables */
	uint64_t bit;        /* 0: required */
};

static bk_status check_copy_table(struct bk_tables *tables, const struct check_table *table,
				  uint64_t features, const char *path, struct bk_error *err)
{
	uint32_t size;

	if (!table->raw && !table->bit)
		return bk_fail(err, BK_INVALID, 0, "%s: its %s table is NULL, expected one", path,
			       table->name);
	if (!table->raw && (features & table->bit))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: feature '%s' is declared but the %s table is NULL", path,
			       feature_name(table->bit), table->name);
	if (!table->raw)
		return BK_OK;
	if (table->bit && !(features & table->bit))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: it has a %s table but does not declare feature '%s'", path,
			       table->name, feature_name(table->bit));
	memcpy(&size, table->raw, sizeof(size));
	if (size < 2 * sizeof(uint32_t) + sizeof(void *))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its %s table has a struct_size of %u bytes, expected %zu", path,
			       table->name, size, table->size);
	memcpy((char *)tables + table->offset, table->raw, size < table->size ? size : table->size);
	return BK_OK;
}

static bk_status check_ops(const struct bk_tables *tables, uint64_t features, const char *path,
			   struct bk_error *err)
{
	const struct bk_op *op;

	for (op = bk_ops; op->name; op++) {
		bool there = bk_op_is_there(tables, op);

		if (op->optional || (op->table_bit && !(features & op->table_bit)))
			continue;
		if (!there && !op->bit)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: operation %s is NULL, expected a function", path,
				       op->name);
		if (!there && (features & op->bit))
			return bk_fail(err, BK_INVALID, 0,
				       "%s: feature '%s' is declared but operation %s is NULL",
				       path, feature_name(op->bit), op->name);
		if (there && op->bit && !(features & op->bit))
			return bk_fail(err, BK_INVALID, 0,
				       "%s: it has operation %s but does not declare feature '%s'",
				       path, op->name, feature_name(op->bit));
	}
	return BK_OK;
}

bk_status bk_check_tables(struct bk_tables *tables, const struct bk_backend *desc, const char *path,
			  struct bk_error *err)
{
#define TABLE(t, bit)                                                                              \
	{                                                                                          \
#t, desc->t, offsetof(struct bk_tables, t), sizeof(tables->t), bit                 \
	}
	const struct check_table list[] = {
		TABLE(store, 0),
		TABLE(session, 0),
		TABLE(txn, BK_F_TXN),
		TABLE(node, BK_F_NODES),
		TABLE(binary, BK_F_BINARIES),
		TABLE(place, BK_F_PLACES),
	};
#undef TABLE
	uint64_t features = desc->native | desc->emulated;
	bk_status st;
	size_t i;

	memset(tables, 0, sizeof(*tables));
	for (i = 0; i < sizeof(list) / sizeof(*list); i++) {
		st = check_copy_table(tables, &list[i], features, path, err);
		if (st != BK_OK)
			return st;
	}
	return check_ops(tables, features, path, err);
}

static bk_status check_late(const struct bk_service *service, const char *path,
			    struct bk_error *err)
{
	const char *const *late = BK_SERVICE_MEMBER(service, late);

	for (; late && *late; late++) {
		if (!**late || strchr(*late, '/') || strcmp(*late, ".") == 0 ||
		    strcmp(*late, "..") == 0)
			return bk_fail(err, BK_INVALID, 0,
				       "%s: '%s' in `late` of its service is no name of a folder "
				       "right below {data}",
				       path, *late);
	}
	return BK_OK;
}

static bk_status check_one_service(const struct bk_service *service, const char *path,
				   struct bk_error *err)
{
	const struct bk_process *process;

	if (service->struct_size < offsetof(struct bk_service, late)) /* added since 0.1 */
		return bk_fail(err, BK_INVALID, 0,
			       "%s: its service has a struct_size of %u bytes, expected %zu", path,
			       service->struct_size, sizeof(*service));
	if (!service->programs || !service->programs[0])
		return bk_fail(err, BK_INVALID, 0, "%s: its service names no programs", path);
	if (!service->processes || !service->processes[0].name)
		return bk_fail(err, BK_INVALID, 0, "%s: its service has no processes", path);
	for (process = service->processes; process->name; process++) {
		if (!process->argv || !process->argv[0])
			return bk_fail(err, BK_INVALID, 0,
				       "%s: process '%s' of its service has no command", path,
				       process->name);
	}
	return check_late(service, path, err);
}

bk_status bk_check_service(const struct bk_backend *desc, const char *path, struct bk_error *err)
{
	const struct bk_service *service = desc->service;
	bk_status st = BK_OK;

	for (; st == BK_OK && service; service = service->alternative)
		st = check_one_service(service, path, err);
	return st;
}
