/* Byte buffer that grows up to a limit and keeps its first error, and lengths of UTF-8 text.
 *
 * length <= capacity <= limit; `data` is NULL only while capacity is 0. After an append has failed,
 * further appends do nothing and return its error until the buffer is cleared or truncated. Append
 * all parts, then check the last result or `rc`.
 */
#ifndef EK_BASE_BUF_H
#define EK_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_buf {
    uint8_t *data;
    size_t length, capacity, limit;
    int rc; /* first error: EK_ENOMEM, EK_ELIMIT, or one set by a caller */
};

/* Initialize an empty buffer with a limit in bytes (0: 1 GiB), without allocating. */
void ek_buf_init(struct ek_buf *b, size_t limit);
/* Free the memory. The buffer is then empty, keeps its limit, and can be used again. */
void ek_buf_release(struct ek_buf *b);
/* Remove content and error; keep the memory. */
void ek_buf_clear(struct ek_buf *b);
/* Remove the error and the content from `length` on; `length` must not exceed b->length. */
void ek_buf_truncate(struct ek_buf *b, size_t length);

/* Reserve `more` bytes after `length`. Return 0, EK_ENOMEM, EK_ELIMIT beyond b->limit, or the error
 * of an earlier append. A failure does not set b->rc. */
int ek_buf_reserve(struct ek_buf *b, size_t more);
/* Append a copy of bytes; length 0 is allowed. Return 0, EK_ENOMEM, EK_ELIMIT beyond b->limit, or
 * the error of an earlier append; on error the content stays unchanged and the error is kept in
 * b->rc. */
int ek_buf_add(struct ek_buf *b, const void *bytes, size_t length);
/* Append a nul-terminated string without its nul. Return 0 or an error of ek_buf_add, with the same
 * effect. */
int ek_buf_text(struct ek_buf *b, const char *text);
/* Append text formatted as by printf, without a nul. Return 0, EK_EFORMAT if the C library cannot
 * format it, or an error of ek_buf_add; on error the content stays unchanged and the error is kept
 * in b->rc. */
int ek_buf_printf(struct ek_buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Append text as a quoted string of JSON and YAML: quotes, backslashes, control characters and line
 * separators are escaped, invalid UTF-8 becomes U+FFFD. Return b->rc; after an error `length` is
 * that before the call. */
int ek_buf_json(struct ek_buf *b, const char *text, size_t length);
/* Append as ek_buf_json, with non-ASCII characters as \uXXXX and short escapes (\n). Return b->rc.
 */
int ek_buf_json_ascii(struct ek_buf *b, const char *text, size_t length);
/* Return the length of the valid UTF-8 sequence at p (n > 0 bytes), or 0. */
size_t ek_utf8_length(const unsigned char *p, size_t n);
/* Return whether `length` bytes are whole UTF-8 sequences. */
bool ek_utf8_is_valid(const char *text, size_t length);
/* Return the bytes of the whole characters within the first `most` bytes; an invalid byte counts as
 * a character. */
size_t ek_utf8_within(const char *text, size_t most);
/* Return the content as a nul-terminated string (the nul is not part of `length`), valid until the
 * next change. Return NULL if an append has failed or out of memory. */
const char *ek_buf_string(struct ek_buf *b);

#endif
