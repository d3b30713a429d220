/* Byte buffer that grows up to a limit and keeps its first error.
 *
 * Invariants: length <= capacity <= limit; `data` is valid for `length` bytes, NULL only while
 * capacity is 0. After an append has failed, appends do nothing and return its error, until the
 * buffer is cleared or truncated: append all parts, and check the last one or `rc`.
 * Units: bytes. Owner: whoever called ek_buf_init; gives memory back with ek_buf_release.
 */
#ifndef EK_BASE_BUF_H
#define EK_BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct ek_buf {
    uint8_t *data;
    size_t length, capacity, limit;
    int rc; /* first error: EK_ENOMEM, EK_ELIMIT, or one that a caller has set */
};

/* An empty buffer that may grow to `limit` bytes (0: 1 GiB). Takes no memory yet. */
void ek_buf_init(struct ek_buf *b, size_t limit);
void ek_buf_release(struct ek_buf *b);
/* Remove content and error; the memory stays for reuse. */
void ek_buf_clear(struct ek_buf *b);
/* Remove the error and the content from `length` on. */
void ek_buf_truncate(struct ek_buf *b, size_t length);

/* Make room for `more` bytes after `length`. Returns 0, EK_ENOMEM, EK_ELIMIT, or the error of an
 * earlier append; a failure is not kept. */
int ek_buf_reserve(struct ek_buf *b, size_t more);
/* Append. Each returns b->rc. */
int ek_buf_add(struct ek_buf *b, const void *bytes, size_t length);
int ek_buf_text(struct ek_buf *b, const char *text);
int ek_buf_printf(struct ek_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append text as a quoted JSON string: quotes, backslashes and control characters are escaped,
 * bytes that are not UTF-8 become U+FFFD. */
int ek_buf_json(struct ek_buf *b, const char *text, size_t length);
/* As ek_buf_json, with everything outside ASCII as \uXXXX and short escapes (\n). */
int ek_buf_json_ascii(struct ek_buf *b, const char *text, size_t length);
/* Length of the valid UTF-8 sequence at p (of n > 0 bytes at most), 0 when there is none. */
size_t ek_utf8_length(const unsigned char *p, size_t n);
/* How many bytes of a text are its whole characters within `most` bytes; one that is no UTF-8
 * counts as a character. */
size_t ek_utf8_within(const char *text, size_t most);
/* Return the content as a terminated string (the terminator is not part of `length`); NULL: an
 * append has failed, or out of memory. */
const char *ek_buf_string(struct ek_buf *b);

#endif
