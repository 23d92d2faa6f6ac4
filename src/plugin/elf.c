/*
 * elf.c - the ELF header, every segment and the section table, checked against the file's size.
 *
 * The one invariant: nothing read from the file is trusted before it is compared with the size.
 * Class, byte order and machine are compared with the running program's own header, so there is
 * no list of architectures here.
 */
#include "plugin/elf.h"

#include <bakeoff/backend_util.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ElfW(Ehdr) elf_head;
typedef ElfW(Phdr) elf_segment;
typedef ElfW(Shdr) elf_section;

struct elf_file {
	const char *path;
	uint64_t size;
	int fd;
	elf_head head;
};

static bool elf_read(const struct elf_file *file, void *out, size_t len, uint64_t offset)
{
	char *p = out;

	while (len > 0) {
		ssize_t n = pread(file->fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
		offset += (uint64_t)n;
	}
	return true;
}

/* Does [offset, offset + len) end inside the file? */
static bool elf_inside(const struct elf_file *file, uint64_t offset, uint64_t len)
{
	return offset <= file->size && len <= file->size - offset;
}

static bk_status elf_truncated(const struct elf_file *file, const char *what, uint64_t offset,
			       uint64_t len, struct bk_error *err)
{
	return bk_fail(
		err, BK_INVALID, 0,
		"%s: truncated: %s needs bytes %llu to %llu, the file has %llu; build or copy "
		"it again",
		file->path, what, (unsigned long long)offset, (unsigned long long)(offset + len),
		(unsigned long long)file->size);
}

static bk_status elf_check_head(struct elf_file *file, struct bk_error *err)
{
	const unsigned char *ident = file->head.e_ident;
	elf_head own;
	struct elf_file self = {"/proc/self/exe", 0, -1, {{0}}};
	bool known;

	if (file->size < SELFMAG || !elf_read(file, &file->head, SELFMAG, 0) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: not a shared object: it does not begin with the ELF magic",
			       file->path);
	if (file->size < sizeof(file->head) || !elf_read(file, &file->head, sizeof(file->head), 0))
		return elf_truncated(file, "the ELF header", 0, sizeof(file->head), err);
	self.fd = open(self.path, O_RDONLY | O_CLOEXEC);
	known = self.fd >= 0 && elf_read(&self, &own, sizeof(own), 0);
	if (self.fd >= 0)
		close(self.fd);
	if (!known)
		return bk_fail(err, BK_IO, errno, "%s: cannot read /proc/self/exe to compare with",
			       file->path);
	if (ident[EI_CLASS] != own.e_ident[EI_CLASS])
		return bk_fail(err, BK_INVALID, 0,
			       "%s: built for another word size: ELF class %u, this program is %u",
			       file->path, ident[EI_CLASS], own.e_ident[EI_CLASS]);
	if (ident[EI_DATA] != own.e_ident[EI_DATA] || file->head.e_machine != own.e_machine)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: built for another machine: ELF machine %u, byte order %u; this "
			       "program is %u, %u",
			       file->path, file->head.e_machine, ident[EI_DATA], own.e_machine,
			       own.e_ident[EI_DATA]);
	if (file->head.e_type != ET_DYN)
		return bk_fail(err, BK_INVALID, 0,
			       "%s: not a shared object: ELF type %u, expected %u (ET_DYN)",
			       file->path, file->head.e_type, ET_DYN);
	return BK_OK;
}

static bk_status elf_check_segments(const struct elf_file *file, struct bk_error *err)
{
	const elf_head *head = &file->head;
	char what[32];
	size_t i;

	if (head->e_phnum == 0 || head->e_phentsize != sizeof(elf_segment))
		return bk_fail(
			err, BK_INVALID, 0,
			"%s: not loadable: %u program headers of %u bytes, expected 1 or more "
			"of %zu",
			file->path, head->e_phnum, head->e_phentsize, sizeof(elf_segment));
	if (!elf_inside(file, head->e_phoff, (uint64_t)head->e_phnum * sizeof(elf_segment)))
		return elf_truncated(file, "the program header table", head->e_phoff,
				     (uint64_t)head->e_phnum * sizeof(elf_segment), err);
	for (i = 0; i < head->e_phnum; i++) {
		elf_segment segment;

		if (!elf_read(file, &segment, sizeof(segment), head->e_phoff + i * sizeof(segment)))
			return bk_fail(err, BK_IO, errno, "%s: cannot read program header %zu",
				       file->path, i);
		if (elf_inside(file, segment.p_offset, segment.p_filesz))
			continue;
		snprintf(what, sizeof(what), "segment %zu", i);
		return elf_truncated(file, what, segment.p_offset, segment.p_filesz, err);
	}
	return BK_OK;
}

static bk_status elf_check_sections(const struct elf_file *file, struct bk_error *err)
{
	const elf_head *head = &file->head;
	uint64_t count = head->e_shnum;
	elf_section first;

	if (head->e_shoff == 0) /* stripped of them; loading needs none */
		return BK_OK;
	if (head->e_shentsize != sizeof(first))
		return bk_fail(err, BK_INVALID, 0,
			       "%s: damaged: section headers of %u bytes, not %zu", file->path,
			       head->e_shentsize, sizeof(first));
	if (!elf_inside(file, head->e_shoff, sizeof(first)) ||
	    !elf_read(file, &first, sizeof(first), head->e_shoff))
		return elf_truncated(file, "the section header table", head->e_shoff, sizeof(first),
				     err);
	if (count == 0) /* too many for the header: the first section says how many */
		count = first.sh_size;
	if (count > file->size / sizeof(first) ||
	    !elf_inside(file, head->e_shoff, count * sizeof(first)))
		return elf_truncated(file, "the section header table", head->e_shoff,
				     count * sizeof(first), err);
	return BK_OK;
}

bk_status bk_elf_check(const char *path, struct bk_error *err)
{
	struct elf_file file = {path, 0, -1, {{0}}};
	struct stat sb;
	bk_status st;

	/* O_NONBLOCK: a pipe of that name must not hold us up */
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file.fd < 0)
		return bk_fail(err, errno == ENOENT ? BK_NOT_FOUND : BK_INVALID, errno,
			       "%s: cannot be opened: %s", path, strerror(errno));
	if (fstat(file.fd, &sb) != 0) {
		st = bk_fail(err, BK_IO, errno, "%s: cannot be examined: %s", path,
			     strerror(errno));
		goto out;
	}
	if (!S_ISREG(sb.st_mode)) {
		st = bk_fail(err, BK_INVALID, 0, "%s: not a regular file", path);
		goto out;
	}
	file.size = (uint64_t)sb.st_size;
	st = elf_check_head(&file, err);
	if (st == BK_OK)
		st = elf_check_segments(&file, err);
	if (st == BK_OK)
		st = elf_check_sections(&file, err);
out:
	close(file.fd);
	return st;
}
