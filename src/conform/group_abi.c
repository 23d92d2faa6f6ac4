/*
 * group_abi.c - the shared object and its descriptor.
 *
 * The one invariant: what is looked at here is the file and what its entry returns, not the
 * loader's copy.
 */
#include "conform/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct bk_backend *raw(struct bk_test *t)
{
	bk_backend_entry entry;

	*(void **)&entry = dlsym(t->config->plugin->dl, BK_ENTRY_NAME);
	CHECK(t, entry, "%s does not export %s", t->config->plugin->path, BK_ENTRY_NAME);
	return entry();
}

static void abi_head(struct bk_test *t)
{
	const struct bk_backend *desc = raw(t);

	CHECK(t, desc->magic == BK_MAGIC, "the magic is %#x", desc->magic);
	CHECK(t, desc->abi_major == BK_ABI_MAJOR && desc->abi_minor == BK_ABI_MINOR,
	      "it speaks %u.%u, this program %u.%u", desc->abi_major, desc->abi_minor, BK_ABI_MAJOR,
	      BK_ABI_MINOR);
	CHECK(t, desc->struct_size == sizeof(*desc), "struct_size is %u, should be %zu",
	      desc->struct_size, sizeof(*desc));
	CHECK(t, desc->threads >= BK_THREADS_PARALLEL && desc->threads <= BK_THREADS_SINGLE,
	      "the thread model is %u", desc->threads);
}

/* "A function, possibly called more than once; no effect but to return its static table." */
static void abi_entry_stable(struct bk_test *t)
{
	const struct bk_backend *first = raw(t), *second = raw(t);
	struct bk_backend copy = *first;

	CHECK(t, first == second, "two calls of %s() return two tables", BK_ENTRY_NAME);
	bk_test_box(t);
	bk_test_end(t);
	CHECK(t, memcmp(&copy, raw(t), sizeof(copy)) == 0, "the descriptor changed during use");
}

static void abi_texts(struct bk_test *t)
{
	const struct bk_backend *desc = raw(t);
	const char *texts[3] = {desc->name, desc->version, desc->summary}, *p;
	int i;

	for (i = 0; i < 3; i++) {
		CHECK(t, texts[i] && texts[i][0], "name, version or summary is empty");
		for (p = texts[i]; *p; p++)
			CHECK(t, (unsigned char)*p >= 0x20, "'%s' is not one line", texts[i]);
	}
	CHECK(t, desc->name[strspn(desc->name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0',
	      "the name '%s' is not of [a-z0-9-]", desc->name);
}

static void table_size(struct bk_test *t, const char *name, const void *table, size_t size)
{
	uint32_t found;

	if (!table)
		return;
	memcpy(&found, table, sizeof(found));
	CHECK(t, found == size, "the %s table has struct_size %u, should be %zu", name, found,
	      size);
}

static void abi_tables(struct bk_test *t)
{
	const struct bk_backend *desc = raw(t);

	CHECK(t, desc->store && desc->session, "store and session tables are required");
	table_size(t, "store", desc->store, sizeof(*desc->store));
	table_size(t, "session", desc->session, sizeof(*desc->session));
	table_size(t, "txn", desc->txn, sizeof(*desc->txn));
	table_size(t, "node", desc->node, sizeof(*desc->node));
	table_size(t, "binary", desc->binary, sizeof(*desc->binary));
	table_size(t, "place", desc->place, sizeof(*desc->place));
}

/* ---- Features ------------------------------------------------------------------------------- */

static void abi_features(struct bk_test *t)
{
	const struct bk_backend *desc = raw(t);
	struct bk_layered *l = bk_test_open(t, BK_SPACE_A, BK_DURABLE_NONE, BK_BARE);
	uint64_t native = 0, emulated = 0, native2 = 0, emulated2 = 0;
	struct bk_limits limits, limits2;

	memset(&limits, 0, sizeof(limits));
	limits.struct_size = (uint32_t)sizeof(limits);
	limits2 = limits;
	WANT(t, BK_OK, l->tables.store.features(l->store, &native, &emulated, &limits, E));
	WANT(t, BK_OK, l->tables.store.features(l->store, &native2, &emulated2, &limits2, E));
	CHECK(t, native == native2 && emulated == emulated2, "features() answers differently");
	CHECK(t, memcmp(&limits, &limits2, sizeof(limits)) == 0, "limits differ between calls");
	CHECK(t, !(native & emulated), "a feature is both native and emulated");
	CHECK(t, !((native | emulated) & ~(desc->native | desc->emulated)),
	      "features in force that the descriptor lacks: %#llx",
	      (unsigned long long)((native | emulated) & ~(desc->native | desc->emulated)));
}

static void abi_limits(struct bk_test *t)
{
	const struct bk_limits *m = &t->limits;

	if (t->own & BK_F_NODES)
		CHECK(t, m->id_max && m->path_max && m->rel_max && m->doc_max,
		      "a limit of nodes is 0: id %llu, path %llu, rel %llu, doc %llu",
		      (unsigned long long)m->id_max, (unsigned long long)m->path_max,
		      (unsigned long long)m->rel_max, (unsigned long long)m->doc_max);
	if (t->own & BK_F_BINARIES)
		CHECK(t, m->key_max && m->binary_max,
		      "a limit of binaries is 0: key %llu, size %llu",
		      (unsigned long long)m->key_max, (unsigned long long)m->binary_max);
	CHECK(t, m->struct_size == sizeof(*m), "features() changed limits.struct_size");
}

/* ---- The file ---------------------------------------------------------------------------------
 */

static bool name_is_the_tools(const char *name)
{
	static const char *const known[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(name, known[i]) == 0)
			return true;
	}
	return strstr(name, "asan") || strstr(name, "tsan") || strstr(name, "ubsan");
}

static void check_exports(struct bk_test *t, const char *map)
{
	const Elf64_Ehdr *eh = (const void *)map;
	const Elf64_Shdr *sh = (const void *)(map + eh->e_shoff);
	int i;

	for (i = 0; i < eh->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(map + sh[i].sh_offset);
		const char *names;
		size_t n, k;

		if (sh[i].sh_type != SHT_DYNSYM)
			continue;
		names = map + sh[sh[i].sh_link].sh_offset;
		n = sh[i].sh_size / sizeof(*sym);
		for (k = 0; k < n; k++) {
			const char *name = names + sym[k].st_name;

			if (sym[k].st_shndx == SHN_UNDEF ||
			    ELF64_ST_BIND(sym[k].st_info) == STB_LOCAL ||
			    strcmp(name, BK_ENTRY_NAME) == 0 || name_is_the_tools(name))
				continue;
			FAIL(t, "it exports '%s'; only %s should be visible", name, BK_ENTRY_NAME);
		}
	}
}

static void abi_one_export(struct bk_test *t)
{
	int fd = open(t->config->plugin->path, O_RDONLY | O_CLOEXEC);
	struct stat sb;
	void *map;

	CHECK(t, fd >= 0 && fstat(fd, &sb) == 0, "cannot read %s", t->config->plugin->path);
	map = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	CHECK(t, map != MAP_FAILED, "cannot map %s", t->config->plugin->path);
	if (((const unsigned char *)map)[EI_CLASS] == ELFCLASS64)
		check_exports(t, map);
	munmap(map, (size_t)sb.st_size);
}

static const struct bk_case cases[] = {
	{"head", "the first 16 bytes of the descriptor", abi_head},
	{"entry-stable", "the entry returns the same table, unchanged by use", abi_entry_stable},
	{"texts", "name, version and summary are single lines", abi_texts},
	{"tables", "every table has the size of this version", abi_tables},
	{"features", "features in force are among those declared, and steady", abi_features},
	{"limits", "every limit that applies is set", abi_limits},
	{"one-export", "the shared object exports its entry and nothing else", abi_one_export},
	{.name = NULL},
};

const struct bk_group bk_group_abi = {"abi", cases};
