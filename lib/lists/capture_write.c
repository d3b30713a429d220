#include "lists/capture.h"

#include "base/alloc.h"
#include "base/file.h"
#include "lists/codec.h"
#include "lists/codec_wire.h"

struct ek_capture_writer {
    struct ek_writer *out;
    bool bare;
};

int ek_capture_create(struct ek_capture_writer **out, const char *path, int bare,
                      struct ek_error *e)
{
    struct ek_capture_writer *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "no memory to write a capture");
    w->bare = bare != 0;
    int rc = ek_writer_open(&w->out, path, e);
    if (rc)
        ek_free(w);
    else
        *out = w;
    return rc;
}

static uint8_t *put(uint8_t *p, uint8_t tag, uint64_t value, int bytes)
{
    *p++ = tag;
    for (int i = bytes - 1; i >= 0; i--)
        *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

/* [partition, offset, timestamp_ms, key, size] in fixed widths. */
static int write_head(struct ek_capture_writer *w, const struct ek_record *r, struct ek_error *e)
{
    uint8_t head[64], *p = put(head, 0x95, 0, 0);
    p = put(p, 0xd2, (uint32_t)r->partition, 4);
    p = put(p, 0xd3, (uint64_t)r->offset, 8);
    p = put(p, 0xd3, (uint64_t)r->timestamp_ms, 8);
    p = r->key ? put(p, 0xc6, r->key_length, 4) : put(p, EK_TAG_NIL, 0, 0);
    int rc = ek_writer_write(w->out, head, (size_t)(p - head), e);
    if (!rc && r->key_length)
        rc = ek_writer_write(w->out, r->key, r->key_length, e);
    p = put(head, 0xce, r->length, 4);
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

void ek_capture_abandon(struct ek_capture_writer *w)
{
    if (!w)
        return;
    ek_writer_abandon(w->out);
    ek_free(w);
}
