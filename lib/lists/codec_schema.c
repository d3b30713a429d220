/* Messages with a schema: the frame of a schema registry, and the schema of a message. */
#include "lists/codec_internal.h"
#include "lists/proto_wire.h"
#include "lists/schema_message.h"

#include <stdio.h>

/* A message that is converted. */
struct opening {
    struct ek_schema_message **m;
    const struct ek_schema_set *source;
    const uint8_t *bytes;
    size_t length;
    int depth;
    struct ek_error *e;
};

static bool has_frame(const struct opening *o)
{
    return o->length >= EK_SCHEMA_FRAME_BYTES && !*o->bytes;
}

static int fail(const struct opening *o, int rc, const struct ek_schema_fault *fault)
{
    if (rc == EK_ENOMEM)
        return ek_fail(o->e, EK_ENOMEM, "out of memory");
    if (!fault->what)
        return ek_fail(o->e, EK_EFORMAT, "the message of %zu bytes is cut short", o->length);
    return ek_fail(o->e, (enum ek_code)rc, "byte %zu does not fit the schema: %s", fault->at,
                   fault->what);
}

static int convert(const struct opening *o, const struct ek_message_schema *s, size_t from,
                   struct ek_schema_fault *fault)
{
    return (o->source->is_proto ? ek_proto_read : ek_avro_read)(o->m, s, o->bytes, o->length, from,
                                                                o->depth, fault);
}

/* Read the indexes of the message type after the id, from *at on: their number and each of them, or
 * 0 for the first message. */
static int read_indexes(const struct opening *o, size_t *at, uint32_t *out)
{
    enum { LEVELS_MAX = 3, INDEX_MAX = 255 };
    const uint8_t *p = o->bytes + *at, *end = o->bytes + o->length;
    uint64_t bits;
    bool has = ek_proto_varint(&p, end, &bits);
    int64_t count = has ? ek_proto_zigzag(bits) : -1, index = 0;
    bool is_valid = count >= 0 && count <= LEVELS_MAX;
    *out = is_valid && count ? (uint32_t)(count - 1) << 24 : 0;
    for (int64_t i = 0; is_valid && i < count; i++) {
        is_valid = ek_proto_varint(&p, end, &bits);
        index = is_valid ? ek_proto_zigzag(bits) : 0;
        is_valid = is_valid && index >= 0 && index <= INDEX_MAX;
        *out |= (uint32_t)(is_valid ? index : 0) << (16 - 8 * i);
    }
    *at = (size_t)(p - o->bytes);
    return is_valid ? EK_OK
                    : ek_fail(o->e, EK_EFORMAT,
                              "the frame has no message type of at most %d indexes up to %d",
                              LEVELS_MAX, INDEX_MAX);
}

static int open_framed(const struct opening *o)
{
    struct ek_schema_fault fault;
    if (!has_frame(o))
        return ek_fail(o->e, EK_EFORMAT,
                       "it does not begin with a zero byte and a schema id; if messages have none, "
                       "set 'message.framing: none'");
    size_t from = EK_SCHEMA_FRAME_BYTES;
    uint32_t indexes = 0;
    int rc = o->source->is_proto ? read_indexes(o, &from, &indexes) : EK_OK;
    if (rc)
        return rc;
    const struct ek_message_schema *s = o->source->find(
        o->source->context, ek_schema_key(ek_load_be32(o->bytes + 1), indexes), o->e);
    if (!s)
        return (int)o->e->code;
    rc = convert(o, s, from, &fault);
    return rc ? fail(o, rc, &fault) : EK_OK;
}

static int open_plain(const struct opening *o)
{
    struct ek_schema_fault fault;
    const struct ek_message_schema *s = o->source->find(o->source->context, -1, o->e);
    if (!s)
        return (int)o->e->code;
    int rc = convert(o, s, 0, &fault);
    return rc ? fail(o, rc, &fault) : EK_OK;
}

int ek_schema_open(struct ek_schema_message **m, const struct ek_schema_set *source,
                   const void *bytes, size_t length, int depth, struct ek_error *e)
{
    struct ek_error own;
    const struct opening o = {m, source, bytes, length, depth, e ? e : &own};
    if (!source)
        return ek_fail(e, EK_EFORMAT, "messages of this encoding need a schema");
    bool framed = source->frame == EK_FRAME_ALWAYS;
    if (source->frame == EK_FRAME_EITHER && has_frame(&o))
        framed = open_plain(&o) != EK_OK;
    return framed ? open_framed(&o) : open_plain(&o);
}

int ek_decode_open_schema(struct ek_decode *d)
{
    struct ek_error why;
    size_t length = ek_wire_left(&d->w);
    d->words = d->c->encoding == EK_MESSAGES_AVRO ? &ek_words_avro : &ek_words_proto;
    d->q->from_schema = true;
    int rc = ek_schema_open(&d->q->converted, d->c->schemas, d->w.start, length,
                            d->c->limits.depth + EK_FIELD_LEVELS, &why);
    if (rc)
        return ek_decode_fail(d, (enum ek_code)rc, "%s", why.message);
    const uint8_t *wire = ek_schema_wire(d->q->converted, &length);
    d->w = (struct ek_wire){wire, wire, wire + length};
    return EK_OK;
}
