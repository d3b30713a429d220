/* Readers and writers of plain, gzip and zstd files, and of standard input and output ("-").
 *
 * A reader detects gzip and zstd by magic bytes; a writer chooses by suffix (.gz, .zst). A written
 * file replaces its target only when ek_writer_close succeeds (temporary file, then rename; not for
 * "-", pipes and devices). The temporary file is unnamed if the file system allows it, so an
 * unfinished file leaves none behind. Errors include the file name.
 */
#ifndef EK_BASE_FILE_H
#define EK_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

struct ek_reader;
struct ek_writer;

enum { EK_LINE_BYTES_MAX = 16 << 20 }; /* longest line of a text file */

/* Open a file for reading; "-" is standard input. Return 0, EK_EIO, EK_EFORMAT or EK_ENOMEM. */
int ek_reader_open(struct ek_reader **out, const char *path, struct ek_error *e);
/* Open a reader of memory, which must outlive it. `name` is the file name in errors. Return 0 or
 * EK_ENOMEM. */
int ek_reader_memory(struct ek_reader **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e);
/* Close the file and free `r`. NULL is allowed. */
void ek_reader_close(struct ek_reader *r);
/* Return the file name in errors; valid as long as the reader. */
const char *ek_reader_name(const struct ek_reader *r);

/* Read up to `size` bytes; *got = 0 at the end. Return 0, EK_EIO, EK_ENOMEM, or EK_EFORMAT for
 * damaged or truncated compressed data. */
int ek_reader_read(struct ek_reader *r, void *bytes, size_t size, size_t *got, struct ek_error *e);
/* Read exactly `size` bytes, or *got = 0 at the end. Return 0, EK_EFORMAT if the file ends in
 * between, or an error of ek_reader_read. */
int ek_reader_read_exact(struct ek_reader *r, void *bytes, size_t size, size_t *got,
                         struct ek_error *e);
/* Read the next line, nul-terminated, without its end (\n or \r\n) and a leading byte order mark.
 * *line is NULL at the end of the file, else valid until the next call. `length` may be NULL.
 * Return 0, EK_ELIMIT beyond EK_LINE_BYTES_MAX, or an error of ek_reader_read. */
int ek_reader_line(struct ek_reader *r, char **line, size_t *length, struct ek_error *e);
/* Return the number of the last line read, from 1. */
long ek_reader_line_number(const struct ek_reader *r);
/* Append the rest of the file to `out`. Return 0, EK_ELIMIT beyond the limit of `out`, or an error
 * of ek_reader_read. On error part of the file may be appended. */
int ek_reader_rest(struct ek_reader *r, struct ek_buf *out, struct ek_error *e);
/* Set *done to the compressed bytes consumed and *total to the file size (0 if unknown), for
 * progress. */
void ek_reader_position(const struct ek_reader *r, uint64_t *done, uint64_t *total);

/* Append a file to `out`, which must be initialized. Return 0, EK_ELIMIT beyond the limit of `out`,
 * EK_EIO, EK_EFORMAT or EK_ENOMEM. On error part of the file may be appended. */
int ek_file_read(const char *path, struct ek_buf *out, struct ek_error *e);

/* Open a file for writing; "-" is standard output. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_open(struct ek_writer **out, const char *path, struct ek_error *e);
/* Open a file with data of users for writing, as ek_writer_open: only its owner can read a new
 * file; an existing one keeps its permissions. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_open_private(struct ek_writer **out, const char *path, struct ek_error *e);
/* Check before long work that files can be written, without changing them. Skips NULL and what
 * would end if it is opened twice, such as pipes. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_try(const char *const *path, size_t count, struct ek_error *e);
/* Append bytes. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_write(struct ek_writer *w, const void *bytes, size_t length, struct ek_error *e);
/* Append formatted text. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_printf(struct ek_writer *w, struct ek_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Write buffered bytes to the file. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_flush(struct ek_writer *w, struct ek_error *e);
/* Finish the file, rename it to its target and free `w`, always. On error the target stays
 * unchanged. Return 0, EK_EIO or EK_ENOMEM. */
int ek_writer_close(struct ek_writer *w, struct ek_error *e);
/* Write a nul-terminated string to a file, replacing it. Return 0, EK_EIO or EK_ENOMEM. On error
 * the target stays unchanged. */
int ek_file_write(const char *path, const char *text, struct ek_error *e);
/* Write `length` bytes to a file, replacing it. Return 0, EK_EIO or EK_ENOMEM. On error the target
 * stays unchanged. */
int ek_file_write_bytes(const char *path, const void *bytes, size_t length, struct ek_error *e);
/* Discard the written data and free `w`. The target stays unchanged. NULL is allowed. */
void ek_writer_abandon(struct ek_writer *w);

/* Compression of memory in the gzip format. */

/* Append the bytes to `out`, compressed with the highest level and without a time, so equal input
 * gives equal output. Return 0, EK_ENOMEM, or EK_ELIMIT beyond the limit of `out`. */
int ek_gzip(const void *bytes, size_t length, struct ek_buf *out);

#endif
