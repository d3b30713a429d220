/* Reading and writing of files that may be compressed, and of standard input and output ("-").
 *
 * Reading recognises gzip and zstd by their first bytes, whatever the name; writing chooses by the
 * ending (.gz, .zst). A written file appears under its name only when ek_writer_close succeeded
 * (written beside it, then renamed; not for "-", pipes and devices). Where the file system lets it
 * be, it has no name before, so that nothing is left of one that was not finished.
 * Errors name the file. Units: bytes. Owner: the caller, closes what it opened.
 */
#ifndef EK_BASE_FILE_H
#define EK_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_reader;
struct ek_writer;

enum { EK_LINE_BYTES_MAX = 16 << 20 }; /* longest line of a text file */

int ek_reader_open(struct ek_reader **out, const char *path, struct ek_error *e);
/* Reads from memory instead, which must outlive the reader; `name` stands in errors. */
int ek_reader_memory(struct ek_reader **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e);
void ek_reader_close(struct ek_reader *r);
const char *ek_reader_name(const struct ek_reader *r);

/* Up to `size` bytes; *got = 0 at the end. EK_EIO, EK_EFORMAT for a damaged or cut compressed file.
 */
int ek_reader_read(struct ek_reader *r, void *bytes, size_t size, size_t *got, struct ek_error *e);
/* Exactly `size` bytes, or *got = 0 at a clean end; EK_EFORMAT when the file ends in between. */
int ek_reader_read_exact(struct ek_reader *r, void *bytes, size_t size, size_t *got,
                         struct ek_error *e);
/* The next line without its end (\n or \r\n) and without a mark of byte order before the first,
 * NUL-terminated; *line = NULL at the end of the file.
 * Valid until the next call. `length` may be NULL. EK_ELIMIT beyond EK_LINE_BYTES_MAX. */
int ek_reader_line(struct ek_reader *r, char **line, size_t *length, struct ek_error *e);
/* Number of the line last returned, from 1. */
long ek_reader_line_number(const struct ek_reader *r);
/* All that is left, up to the limit of `out`. */
int ek_reader_rest(struct ek_reader *r, struct ek_buf *out, struct ek_error *e);
/* Compressed bytes consumed and size of the file (0 when unknown), for progress. */
void ek_reader_position(const struct ek_reader *r, uint64_t *done, uint64_t *total);

/* A whole file, at most `limit` bytes (0: that of the buffer). `out` must be initialised. */
int ek_file_read(const char *path, struct ek_buf *out, struct ek_error *e);

int ek_writer_open(struct ek_writer **out, const char *path, struct ek_error *e);
int ek_writer_write(struct ek_writer *w, const void *bytes, size_t length, struct ek_error *e);
int ek_writer_printf(struct ek_writer *w, struct ek_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int ek_writer_flush(struct ek_writer *w, struct ek_error *e);
/* Finishes and renames; on failure nothing of that name changed. Always frees `w`. */
int ek_writer_close(struct ek_writer *w, struct ek_error *e);
/* A whole file from a text, or from bytes: open, write, close. On failure nothing of that name
 * changed. */
int ek_file_write(const char *path, const char *text, struct ek_error *e);
int ek_file_write_bytes(const char *path, const void *bytes, size_t length, struct ek_error *e);
/* Throws away what was written. */
void ek_writer_abandon(struct ek_writer *w);

#endif
