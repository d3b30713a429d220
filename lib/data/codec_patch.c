#include "data/codec_inner.h"

enum { FLOAT32_VALUE = 5, FLOAT64_VALUE = 9 }; /* bytes, tag included */

/* What a score takes when it replaces a value of this tag. */
static size_t width_for(uint8_t tag)
{
    return tag == EK_TAG_FLOAT32 ? FLOAT32_VALUE : FLOAT64_VALUE;
}

static void store_score(uint8_t *to, uint8_t tag, double score)
{
    if (tag == EK_TAG_FLOAT32) {
        to[0] = EK_TAG_FLOAT32;
        ek_store_be32(to + 1, ek_bits_of_float((float)score));
    } else {
        to[0] = EK_TAG_FLOAT64;
        ek_store_be64(to + 1, ek_bits_of_double(score));
    }
}

/* Checks that every score has its place within the message, one behind the other, and counts the
 * bytes by which the message grows. */
static int check_places(const struct ek_query *q, const uint8_t *bytes, size_t length,
                        size_t *growth, struct ek_error *e)
{
    size_t end = 0;
    *growth = 0;
    for (int i = 0; i < q->items; i++) {
        const struct ek_place *p = &q->place[i];
        if (!p->length)
            return ek_fail(e, EK_EFORMAT, "items[%d]: no score to replace", i);
        if (p->offset < end || p->offset > length || p->length > length - p->offset ||
            p->length > width_for(bytes[p->offset]))
            return ek_fail(e, EK_ESTATE, "items[%d]: the list is not that of the message", i);
        end = (size_t)p->offset + p->length;
        *growth += width_for(bytes[p->offset]) - p->length;
    }
    return EK_OK;
}

int ek_codec_patch(const struct ek_query *q, const void *bytes, size_t length, const double *scores,
                   struct ek_buf *out, struct ek_error *e)
{
    const uint8_t *in = bytes;
    size_t growth;
    int rc = check_places(q, in, length, &growth, e);
    if (rc)
        return rc;
    ek_buf_clear(out);
    rc = ek_buf_reserve(out, length + growth);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "no room for a message of %zu bytes", length + growth);
    size_t from = 0;
    uint8_t *to = out->data;
    for (int i = 0; i < q->items; i++) {
        const struct ek_place *p = &q->place[i];
        size_t before = p->offset - from;
        memcpy(to, in + from, before);
        store_score(to + before, in[p->offset], scores[i]);
        to += before + width_for(in[p->offset]);
        from = (size_t)p->offset + p->length;
    }
    memcpy(to, in + from, length - from);
    out->length = length + growth;
    return EK_OK;
}
