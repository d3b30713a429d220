/* Readers of base/file.h. */
#include "base/file.h"

#include "base/alloc.h"
#include "base/file_error.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { INPUT_BYTES = 64 << 10, LINE_STEP = 64 << 10, MAGIC_BYTES = 4 };
enum packing { PLAIN, GZIP, ZSTD };

struct ek_reader {
    char *name;
    int fd; /* -1 when reading from memory */
    enum packing packing;
    bool input_ended, open_frame; /* open_frame: compressed data is incomplete */
    uint8_t *buffer;              /* [INPUT_BYTES], NULL when reading from memory */
    const uint8_t *input;         /* stored bytes, not decompressed */
    size_t input_length;
    uint64_t taken, total;
    z_stream gzip;
    ZSTD_DStream *zstd;
    char *text; /* decompressed bytes buffered for ek_reader_line */
    size_t text_at, text_length, text_capacity;
    long line;
};

static int fill(struct ek_reader *r, struct ek_error *e)
{
    if (r->fd < 0) {
        r->input_ended = true;
        return EK_OK;
    }
    ssize_t n = ek_file_retry_read(r->fd, r->buffer, INPUT_BYTES);
    if (n < 0)
        return ek_file_fail(e, r->name, "cannot read");
    r->input = r->buffer;
    r->input_length = (size_t)n;
    r->input_ended = n == 0;
    return EK_OK;
}

/* Read enough bytes to detect the compression, also from a pipe that returns single bytes. */
static int fill_magic(struct ek_reader *r, struct ek_error *e)
{
    while (r->fd >= 0 && r->input_length < MAGIC_BYTES && !r->input_ended) {
        ssize_t n =
            ek_file_retry_read(r->fd, r->buffer + r->input_length, INPUT_BYTES - r->input_length);
        if (n < 0)
            return ek_file_fail(e, r->name, "cannot read");
        r->input_length += (size_t)n;
        r->input_ended = n == 0;
    }
    return EK_OK;
}

static int start_packing(struct ek_reader *r, struct ek_error *e)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (r->input_length >= sizeof gzip && !memcmp(r->input, gzip, sizeof gzip)) {
        if (inflateInit2(&r->gzip, MAX_WBITS + 16) != Z_OK)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        r->packing = GZIP;
        r->open_frame = true;
    } else if (r->input_length >= sizeof zstd && !memcmp(r->input, zstd, sizeof zstd)) {
        r->zstd = ZSTD_createDStream();
        if (!r->zstd)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        r->packing = ZSTD;
        r->open_frame = true;
    }
    return EK_OK;
}

static struct ek_reader *reader_new(const char *name)
{
    struct ek_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->fd = -1;
    r->name = ek_strdup(name);
    if (r->name)
        return r;
    ek_free(r);
    return NULL;
}

static int open_input(struct ek_reader *r, const char *path, struct ek_error *e)
{
    r->buffer = ek_calloc(INPUT_BYTES, 1);
    if (!r->buffer)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->input = r->buffer;
    r->fd = strcmp(path, "-") != 0 ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
    if (r->fd < 0)
        return ek_file_fail(e, r->name, "cannot open");
    struct stat s;
    if (!fstat(r->fd, &s) && S_ISREG(s.st_mode))
        r->total = (uint64_t)s.st_size;
    int rc = fill_magic(r, e);
    return rc ? rc : start_packing(r, e);
}

int ek_reader_open(struct ek_reader **out, const char *path, struct ek_error *e)
{
    struct ek_reader *r = reader_new(strcmp(path, "-") != 0 ? path : "stdin");
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = open_input(r, path, e);
    if (rc) {
        ek_reader_close(r);
        return rc;
    }
    *out = r;
    return EK_OK;
}

int ek_reader_memory(struct ek_reader **out, const char *name, const void *bytes, size_t length,
                     struct ek_error *e)
{
    struct ek_reader *r = reader_new(name);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->input = bytes;
    r->input_length = r->total = length;
    int rc = start_packing(r, e);
    if (rc) {
        ek_reader_close(r);
        return rc;
    }
    *out = r;
    return EK_OK;
}

void ek_reader_close(struct ek_reader *r)
{
    if (!r)
        return;
    if (r->packing == GZIP)
        inflateEnd(&r->gzip);
    ZSTD_freeDStream(r->zstd);
    if (r->fd > STDIN_FILENO)
        close(r->fd);
    ek_free(r->buffer);
    ek_free(r->text);
    ek_free(r->name);
    ek_free(r);
}

const char *ek_reader_name(const struct ek_reader *r)
{
    return r->name;
}

long ek_reader_line_number(const struct ek_reader *r)
{
    return r->line;
}

void ek_reader_position(const struct ek_reader *r, uint64_t *done, uint64_t *total)
{
    *done = r->taken;
    *total = r->total;
}

static void consume(struct ek_reader *r, size_t n)
{
    r->input += n;
    r->input_length -= n;
    r->taken += n;
}

static int damaged(const struct ek_reader *r, struct ek_error *e)
{
    return ek_fail_at(e, EK_EFORMAT, r->name, 0, 0, "the compressed data is damaged");
}

/* Inflate one step. A file may have several gzip members. */
static int step_gzip(struct ek_reader *r, uint8_t *bytes, size_t size, size_t *got,
                     struct ek_error *e)
{
    if (!r->open_frame) {
        if (inflateReset(&r->gzip) != Z_OK)
            return damaged(r, e);
        r->open_frame = true;
    }
    size_t offered = r->input_length < UINT32_MAX ? r->input_length : UINT32_MAX;
    r->gzip.next_in = (Bytef *)(uintptr_t)r->input;
    r->gzip.avail_in = (uInt)offered;
    r->gzip.next_out = bytes;
    r->gzip.avail_out = (uInt)(size < UINT32_MAX ? size : UINT32_MAX);
    uInt room = r->gzip.avail_out;
    int status = inflate(&r->gzip, Z_NO_FLUSH);
    consume(r, offered - r->gzip.avail_in);
    *got = room - r->gzip.avail_out;
    if (status == Z_MEM_ERROR)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return damaged(r, e);
    r->open_frame = status != Z_STREAM_END;
    return EK_OK;
}

static int step_zstd(struct ek_reader *r, uint8_t *bytes, size_t size, size_t *got,
                     struct ek_error *e)
{
    ZSTD_inBuffer in = {r->input, r->input_length, 0};
    ZSTD_outBuffer out = {bytes, size, 0};
    size_t status = ZSTD_decompressStream(r->zstd, &out, &in);
    if (ZSTD_isError(status))
        return ek_fail_at(e, EK_EFORMAT, r->name, 0, 0, "the compressed data is damaged: %s",
                          ZSTD_getErrorName(status));
    consume(r, in.pos);
    *got = out.pos;
    r->open_frame = status != 0;
    return EK_OK;
}

static int step_plain(struct ek_reader *r, uint8_t *bytes, size_t size, size_t *got)
{
    *got = size < r->input_length ? size : r->input_length;
    memcpy(bytes, r->input, *got);
    consume(r, *got);
    return EK_OK;
}

static int step(struct ek_reader *r, uint8_t *bytes, size_t size, size_t *got, struct ek_error *e)
{
    switch (r->packing) {
    case GZIP:
        return step_gzip(r, bytes, size, got, e);
    case ZSTD:
        return step_zstd(r, bytes, size, got, e);
    default:
        return step_plain(r, bytes, size, got);
    }
}

/* Decompress at least one byte, unless at the end. */
static int unpack(struct ek_reader *r, void *bytes, size_t size, size_t *got, struct ek_error *e)
{
    size_t n = 0;
    while (!n && size) {
        int rc = EK_OK;
        if (!r->input_length && !r->input_ended)
            rc = fill(r, e);
        if (rc)
            return rc;
        /* An open frame may still buffer output without further input. */
        if (r->input_length || r->open_frame)
            rc = step(r, bytes, size, &n, e);
        if (rc)
            return rc;
        if (!n && !r->input_length && r->input_ended) {
            if (r->open_frame)
                return ek_fail_at(e, EK_EFORMAT, r->name, 0, 0, "the compressed file is cut short");
            break;
        }
    }
    *got = n;
    return EK_OK;
}

int ek_reader_read(struct ek_reader *r, void *bytes, size_t size, size_t *got, struct ek_error *e)
{
    size_t waiting = r->text_length - r->text_at;
    if (!waiting)
        return unpack(r, bytes, size, got, e);
    *got = size < waiting ? size : waiting;
    memcpy(bytes, r->text + r->text_at, *got);
    r->text_at += *got;
    return EK_OK;
}

int ek_reader_read_exact(struct ek_reader *r, void *bytes, size_t size, size_t *got,
                         struct ek_error *e)
{
    size_t have = 0, n = 1;
    while (have < size && n) {
        int rc = ek_reader_read(r, (uint8_t *)bytes + have, size - have, &n, e);
        if (rc)
            return rc;
        have += n;
    }
    if (have && have < size)
        return ek_fail_at(e, EK_EFORMAT, r->name, 0, 0, "the file is cut short");
    *got = have;
    return EK_OK;
}

/* Make space after the buffered text; overwrite lines already returned first. */
static int reserve_buffer(struct ek_reader *r, struct ek_error *e)
{
    if (r->text_at) {
        memmove(r->text, r->text + r->text_at, r->text_length - r->text_at);
        r->text_length -= r->text_at;
        r->text_at = 0;
    }
    if (r->text_capacity - r->text_length > LINE_STEP / 2)
        return EK_OK;
    size_t want = r->text_capacity ? r->text_capacity * 2 : LINE_STEP;
    char *text = ek_realloc(r->text, want, 1);
    if (!text)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->text = text;
    r->text_capacity = want;
    return EK_OK;
}

/* Find the end of the next line after text_at, or text_length at the end of the file. */
static int find_line_end(struct ek_reader *r, size_t *end, struct ek_error *e)
{
    size_t seen = 0;
    for (;;) {
        size_t left = r->text_length - r->text_at - seen;
        char *newline = left ? memchr(r->text + r->text_at + seen, '\n', left) : NULL;
        seen = newline ? (size_t)(newline - r->text) - r->text_at : seen + left;
        if (seen > EK_LINE_BYTES_MAX)
            return ek_fail_at(e, EK_ELIMIT, r->name, r->line + 1, 0,
                              "the line is longer than %d bytes", EK_LINE_BYTES_MAX);
        size_t got = 0;
        int rc = EK_OK;
        if (!newline)
            rc = reserve_buffer(r, e);
        if (!newline && !rc) /* one byte is reserved for the terminator */
            rc =
                unpack(r, r->text + r->text_length, r->text_capacity - r->text_length - 1, &got, e);
        if (rc)
            return rc;
        r->text_length += got;
        if (newline || !got)
            break;
    }
    *end = r->text_at + seen;
    return EK_OK;
}

/* Return the length of a UTF-8 byte order mark on the first line, or 0. */
static size_t mark_length(const struct ek_reader *r, size_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = sizeof mark - 1;
    return !r->line && n >= length && !memcmp(r->text + r->text_at, mark, length) ? length : 0;
}

int ek_reader_line(struct ek_reader *r, char **line, size_t *length, struct ek_error *e)
{
    size_t end = 0;
    int rc = find_line_end(r, &end, e);
    if (rc)
        return rc;
    bool last = end == r->text_length;
    if (last && r->text_at == end) {
        *line = NULL;
        return EK_OK;
    }
    size_t n = end - r->text_at, mark = mark_length(r, n);
    n -= mark;
    *line = r->text + r->text_at + mark;
    r->text_at = last ? end : end + 1;
    r->line++;
    if (n && (*line)[n - 1] == '\r')
        n--;
    (*line)[n] = 0;
    if (length)
        *length = n;
    return EK_OK;
}

int ek_reader_rest(struct ek_reader *r, struct ek_buf *out, struct ek_error *e)
{
    uint8_t block[16 << 10];
    size_t got = 1;
    while (got) {
        int rc = ek_reader_read(r, block, sizeof block, &got, e);
        if (rc)
            return rc;
        rc = ek_buf_add(out, block, got);
        if (rc == EK_ELIMIT)
            return ek_fail_at(e, EK_ELIMIT, r->name, 0, 0, "the file has more than %zu bytes",
                              out->limit);
        if (rc)
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return EK_OK;
}

int ek_file_read(const char *path, struct ek_buf *out, struct ek_error *e)
{
    struct ek_reader *r;
    int rc = ek_reader_open(&r, path, e);
    if (rc)
        return rc;
    rc = ek_reader_rest(r, out, e);
    ek_reader_close(r);
    return rc;
}
