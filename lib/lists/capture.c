#include "lists/capture.h"

#include "base/alloc.h"
#include "base/file.h"
#include "lists/codec.h"
#include "lists/codec_wire.h"

enum {
    WINDOW_BYTES = 64 << 10,
    HEAD_PARTS = 5,
    HEAD_NUMBERS_BYTES = 64, /* maximum of a header without its key */
};

struct ek_capture_reader {
    struct ek_reader *in;
    struct ek_buf window; /* bytes read; those before `at` are consumed */
    size_t at;
    size_t record_max; /* maximum bytes of a header with its key, or of a message */
    uint32_t message_max;
    uint64_t number;           /* number of the current record, from 1 */
    bool started, bare, lines; /* bare and lines are detected from the first byte */
    bool ended;
};

static struct ek_capture_reader *new_reader(uint32_t message_bytes_max)
{
    struct ek_capture_reader *r = ek_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->message_max = message_bytes_max ? message_bytes_max : EK_MESSAGE_BYTES_MAX;
    r->record_max = (size_t)r->message_max + HEAD_NUMBERS_BYTES;
    ek_buf_init(&r->window, 2 * r->record_max + 2 * WINDOW_BYTES);
    return r;
}

int ek_capture_open(struct ek_capture_reader **out, const char *path, uint32_t message_bytes_max,
                    struct ek_error *e)
{
    struct ek_capture_reader *r = new_reader(message_bytes_max);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_reader_open(&r->in, path, e);
    if (rc)
        ek_capture_close(r);
    else
        *out = r;
    return rc;
}

int ek_capture_memory(struct ek_capture_reader **out, const char *name, const void *bytes,
                      size_t length, uint32_t message_bytes_max, struct ek_error *e)
{
    struct ek_capture_reader *r = new_reader(message_bytes_max);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_reader_memory(&r->in, name, bytes, length, e);
    if (rc)
        ek_capture_close(r);
    else
        *out = r;
    return rc;
}

void ek_capture_close(struct ek_capture_reader *r)
{
    if (!r)
        return;
    ek_reader_close(r->in);
    ek_buf_release(&r->window);
    ek_free(r);
}

void ek_capture_position(const struct ek_capture_reader *r, uint64_t *done, uint64_t *total)
{
    ek_reader_position(r->in, done, total);
}

static size_t buffered(const struct ek_capture_reader *r)
{
    return r->window.length - r->at;
}

static struct ek_wire wire_of(const struct ek_capture_reader *r)
{
    const uint8_t *p = r->window.data + r->at;
    return (struct ek_wire){p, p, r->window.data + r->window.length};
}

static int fail_record(const struct ek_capture_reader *r, struct ek_error *e, enum ek_code code,
                       const char *what)
{
    return ek_fail_at(e, code, ek_reader_name(r->in), 0, 0, "record %llu: %s",
                      (unsigned long long)r->number, what);
}

static int fail_limit(const struct ek_capture_reader *r, struct ek_error *e)
{
    return ek_fail_at(e, EK_ELIMIT, ek_reader_name(r->in), 0, 0,
                      "record %llu: larger than the limit of %u bytes",
                      (unsigned long long)r->number, r->message_max);
}

/* Read until `want` bytes are buffered or the file ends. */
static int fill(struct ek_capture_reader *r, size_t want, struct ek_error *e)
{
    if (r->at && buffered(r) < want) {
        memmove(r->window.data, r->window.data + r->at, buffered(r));
        r->window.length -= r->at;
        r->at = 0;
    }
    while (!r->ended && buffered(r) < want) {
        size_t got, room = want - buffered(r) > WINDOW_BYTES ? want - buffered(r) : WINDOW_BYTES;
        int rc = ek_buf_reserve(&r->window, room);
        if (rc)
            return ek_fail_at(e, (enum ek_code)rc, ek_reader_name(r->in), 0, 0,
                              "record %llu: no memory for %zu bytes", (unsigned long long)r->number,
                              room);
        rc = ek_reader_read(r->in, r->window.data + r->window.length, room, &got, e);
        if (rc)
            return rc;
        r->window.length += got;
        r->ended = !got;
    }
    return EK_OK;
}

/* Buffer one whole msgpack object. Each byte is scanned once, even if a pipe returns small pieces,
 * and no more is read than the object needs. */
static int buffer_object(struct ek_capture_reader *r, size_t *extent, struct ek_error *e)
{
    size_t passed = 0;
    uint64_t todo = 1;
    for (;;) {
        struct ek_wire w = wire_of(r);
        w.p += passed;
        enum ek_wire_result result = ek_wire_walk(&w, &todo);
        passed = (size_t)(w.p - w.start);
        if (result == EK_WIRE_BAD)
            return fail_record(r, e, EK_EFORMAT, "not msgpack (byte 0xc1)");
        if (passed > r->record_max || (result && buffered(r) > r->record_max))
            return fail_limit(r, e);
        if (!result)
            break;
        if (r->ended)
            return fail_record(r, e, EK_EFORMAT, "the file ends within it");
        int rc = fill(r, buffered(r) + 1, e);
        if (rc)
            return rc;
    }
    *extent = passed;
    return EK_OK;
}

static bool read_whole(struct ek_wire *w, int64_t low, int64_t high, int64_t *out)
{
    struct ek_head h;
    if (ek_wire_head(w, &h) || (h.kind != EK_WIRE_UINT && h.kind != EK_WIRE_INT))
        return false;
    if (h.kind == EK_WIRE_UINT && h.bits > INT64_MAX)
        return false;
    *out = (int64_t)h.bits;
    return *out >= low && *out <= high;
}

/* Parse [partition, offset, timestamp_ms, key, size]. The key is not copied: the window holds
 * header and message. */
static bool parse_head(struct ek_wire *w, struct ek_record *record, int64_t *size)
{
    int64_t partition;
    struct ek_head h;
    if (ek_wire_head(w, &h) || h.kind != EK_WIRE_ARRAY || h.count != HEAD_PARTS)
        return false;
    if (!read_whole(w, 0, INT32_MAX, &partition) ||
        !read_whole(w, -1, INT64_MAX, &record->offset) ||
        !read_whole(w, -1, INT64_MAX, &record->timestamp_ms) || ek_wire_head(w, &h))
        return false;
    record->partition = (int)partition;
    record->key = NULL;
    record->key_length = 0;
    if (h.kind == EK_WIRE_BIN || h.kind == EK_WIRE_TEXT) {
        record->key = w->p;
        record->key_length = h.count;
        w->p += h.count;
    } else if (h.kind != EK_WIRE_NIL) {
        return false;
    }
    return read_whole(w, 0, UINT32_MAX, size);
}

static int next_framed(struct ek_capture_reader *r, struct ek_record *record, struct ek_error *e)
{
    static const char WRONG[] = "expected the head [partition, offset, timestamp_ms, key, size]";
    struct ek_record found;
    size_t head;
    int64_t size;
    int rc = buffer_object(r, &head, e);
    if (rc)
        return rc;
    struct ek_wire w = wire_of(r);
    if (!parse_head(&w, &found, &size))
        return fail_record(r, e, EK_EFORMAT, WRONG);
    if (size > r->message_max)
        return fail_limit(r, e);
    rc = fill(r, head + (size_t)size, e);
    if (rc)
        return rc;
    if (buffered(r) < head + (size_t)size)
        return fail_record(r, e, EK_EFORMAT, "the file ends within it");
    w = wire_of(r);
    parse_head(&w, &found, &size); /* repeat, because the window may have moved */
    found.bytes = w.p;
    found.length = (size_t)size;
    r->at += head + (size_t)size;
    *record = found;
    return EK_OK;
}

static int next_bare(struct ek_capture_reader *r, struct ek_record *record, struct ek_error *e)
{
    size_t extent;
    int rc = buffer_object(r, &extent, e);
    if (rc)
        return rc;
    if (extent > r->message_max)
        return fail_limit(r, e);
    *record = (struct ek_record){.offset = (int64_t)r->number - 1,
                                 .timestamp_ms = -1,
                                 .bytes = r->window.data + r->at,
                                 .length = extent};
    r->at += extent;
    return EK_OK;
}

/* Buffer the bytes up to the next newline or the end of the file. */
static int buffer_line(struct ek_capture_reader *r, size_t *length, struct ek_error *e)
{
    for (size_t passed = 0;; passed = *length) {
        int rc = fill(r, passed + 1, e);
        if (rc)
            return rc;
        const uint8_t *from = r->window.data + r->at;
        const uint8_t *end = memchr(from + passed, '\n', buffered(r) - passed);
        *length = end ? (size_t)(end - from) : buffered(r);
        if (*length > r->message_max)
            return fail_limit(r, e);
        if (end || r->ended)
            return EK_OK;
    }
}

static bool is_blank(const struct ek_record *record)
{
    const char *text = record->bytes;
    for (size_t i = 0; i < record->length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

/* Read a line with a JSON message; skip blank lines. */
static int next_line(struct ek_capture_reader *r, struct ek_record *record, int *more,
                     struct ek_error *e)
{
    do {
        size_t length;
        int rc = buffer_line(r, &length, e);
        if (rc)
            return rc;
        *more = buffered(r) > 0;
        *record = (struct ek_record){.offset = (int64_t)r->number - 1,
                                     .timestamp_ms = -1,
                                     .bytes = r->window.data + r->at,
                                     .length = length};
        r->at += length + (length < buffered(r));
    } while (*more && is_blank(record));
    return EK_OK;
}

/* Detect the format from the first byte: a header is an array, a message a map or JSON. */
static int start(struct ek_capture_reader *r, struct ek_error *e)
{
    uint8_t tag = r->window.data[r->at];
    bool array = tag >> 4 == 0x9 || tag == 0xdc || tag == 0xdd;
    bool map = tag >> 4 == 0x8 || tag == 0xde || tag == 0xdf;
    r->lines = ek_codec_is_json(&tag, 1);
    if (!array && !map && !r->lines)
        return fail_record(r, e, EK_EFORMAT, "neither the head of a record nor a message");
    r->bare = map;
    r->started = true;
    return EK_OK;
}

int ek_capture_next(struct ek_capture_reader *r, struct ek_record *record, int *more,
                    struct ek_error *e)
{
    r->number++;
    int rc = fill(r, 1, e);
    if (!rc && !buffered(r)) {
        *more = 0;
        return EK_OK;
    }
    if (!rc && !r->started)
        rc = start(r, e);
    if (!rc && r->lines)
        return next_line(r, record, more, e);
    if (!rc)
        rc = r->bare ? next_bare(r, record, e) : next_framed(r, record, e);
    if (!rc)
        *more = 1;
    return rc;
}

struct ek_capture_writer {
    struct ek_writer *out;
    bool bare;
};

int ek_capture_create(struct ek_capture_writer **out, const char *path, int bare,
                      struct ek_error *e)
{
    struct ek_capture_writer *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->bare = bare != 0;
    int rc = ek_writer_open_private(&w->out, path, e);
    if (rc)
        ek_free(w);
    else
        *out = w;
    return rc;
}

static uint8_t *encode_uint(uint8_t *p, uint8_t tag, uint64_t value, int bytes)
{
    *p++ = tag;
    for (int i = bytes - 1; i >= 0; i--)
        *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

/* Write [partition, offset, timestamp_ms, key, size] in fixed widths. */
static int write_head(struct ek_capture_writer *w, const struct ek_record *r, struct ek_error *e)
{
    uint8_t head[64], *p = encode_uint(head, 0x95, 0, 0);
    p = encode_uint(p, 0xd2, (uint32_t)r->partition, 4);
    p = encode_uint(p, 0xd3, (uint64_t)r->offset, 8);
    p = encode_uint(p, 0xd3, (uint64_t)r->timestamp_ms, 8);
    p = r->key ? encode_uint(p, 0xc6, r->key_length, 4) : encode_uint(p, EK_TAG_NIL, 0, 0);
    int rc = ek_writer_write(w->out, head, (size_t)(p - head), e);
    if (!rc && r->key_length)
        rc = ek_writer_write(w->out, r->key, r->key_length, e);
    p = encode_uint(head, 0xce, r->length, 4);
    return rc ? rc : ek_writer_write(w->out, head, (size_t)(p - head), e);
}

int ek_capture_write(struct ek_capture_writer *w, const struct ek_record *record,
                     struct ek_error *e)
{
    if (record->length > UINT32_MAX || record->key_length > UINT32_MAX)
        return ek_fail(e, EK_ELIMIT, "a record of %zu bytes does not fit into a capture",
                       record->length);
    int rc = w->bare ? EK_OK : write_head(w, record, e);
    if (!rc)
        rc = ek_writer_write(w->out, record->bytes, record->length, e);
    if (!rc && w->bare && ek_codec_is_json(record->bytes, record->length))
        rc = ek_writer_write(w->out, "\n", 1, e);
    return rc;
}

int ek_capture_finish(struct ek_capture_writer *w, struct ek_error *e)
{
    int rc = ek_writer_close(w->out, e);
    ek_free(w);
    return rc;
}

void ek_capture_abort(struct ek_capture_writer *w)
{
    if (!w)
        return;
    ek_writer_abandon(w->out);
    ek_free(w);
}
