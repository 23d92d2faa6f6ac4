/*
 * record.h - what stands in a node's file: one record when it was put, one more for each append.
 *
 *   bk1 put v=VVVVVVVVVVVVVVVV id=LLLL up=LLLL path=LLLL links=CCCCCCCC bytes=LLLLLLLL doc=LLLLLLLL
 *   ID
 *   PARENT
 *   PATH
 *   RRRR TTTT REL TARGET          for each link
 *   DOCUMENT
 *   end SSSSSSSS HHHHHHHHHHHHHHHH
 *
 * Numbers are hexadecimal and of fixed width; lengths rule, line ends are for the reader's eye.
 * S is the size of the whole record, H the xxh3-64 of all before the last line.
 * An appended record says `add` and has no id, parent and path.
 *
 * The one invariant: a file whose last record does not check out had an append cut short; the
 * record counts as never written, and the next append cuts it off.
 */
#ifndef BK_FILE_RECORD_H
#define BK_FILE_RECORD_H

#include <bakeoff/backend_util.h>

#include <stdbool.h>

struct file_buf { /* grows as needed; all zero: empty */
	char *data;
	size_t len, cap;
};

/* Room for `more` bytes after len; false: out of memory. */
bool file_buf_room(struct file_buf *buf, size_t more);
void file_buf_free(struct file_buf *buf);
/* Empty it for the next use; what one huge node needed is not kept for all the small ones. */
void file_buf_reuse(struct file_buf *buf);

#define FILE_RECORD_HEAD    96u
#define FILE_RECORD_TRAILER 30u

/* Append one record to `out`; id.len == 0: an `add`.  false: out of memory. */
bool file_record_encode(struct file_buf *out, const struct bk_node *node, uint64_t version);

/* A whole file, parsed. */
struct file_parsed {
	struct bk_slice id, parent, path;
	struct bk_slice doc; /* whole: in `image` when one record, in `joined` when more */
	struct bk_link *links;
	size_t link_count, link_cap;
	uint64_t version; /* of the last record */
	size_t valid_len; /* bytes of whole records; less than image.len: torn tail */
	size_t records;
	bool lenient; /* after a power cut: all behind the last whole record is a torn tail */
	struct file_buf image, joined;
};

/* Parse parsed->image.  `want`: BK_WANT_*; what is not wanted stays empty (path stands for
 * parent and path; id always).  OK; CORRUPT: no whole first record, or damage before the tail;
 * NOMEM.  err text is the caller's. */
bk_status file_record_parse(struct file_parsed *parsed, uint32_t want);
void file_parsed_free(struct file_parsed *parsed);

/* Does a trailer at the end of a record's last bytes look whole?  `size` gets the record's. */
bool file_record_trailer(const char tail[FILE_RECORD_TRAILER], uint64_t *size, uint64_t *check);

#endif
