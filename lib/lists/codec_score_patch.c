#include "lists/schema_message.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>

enum { FLOAT32_VALUE = 5, FLOAT64_VALUE = 9 }; /* bytes, tag included */
enum { TEXT8 = 0xd9 };

/* Return whether the value is text: a score in quotes, or msgpack text. */
static bool is_text(const struct ek_list *q, uint8_t first)
{
    if (q->from_schema)
        return false;
    if (q->from_json)
        return first == '"';
    return (first & 0xe0) == EK_TAG_SHORT_TEXT || (first <= EK_TAG_TEXT32 && first >= TEXT8);
}

/* Return the maximum bytes of a score that replaces the value at `p` with this first byte. */
static size_t width_for(const struct ek_list *q, const struct ek_place *p, uint8_t first)
{
    if (q->from_schema)
        return p->length;
    if (q->from_json || is_text(q, first))
        return EK_JSON_NUMBER_BYTES + 2;
    return first == EK_TAG_FLOAT32 ? FLOAT32_VALUE : FLOAT64_VALUE;
}

/* Write decimals in the form of the value with this first byte, and return the bytes. */
static size_t store_decimals(const struct ek_list *q, uint8_t *to, uint8_t first, double score)
{
    char text[EK_JSON_NUMBER_BYTES];
    size_t length = ek_json_double(text, score), before = is_text(q, first);
    memcpy(to + before, text, length);
    if (!before)
        return length;
    to[0] = q->from_json ? '"' : (uint8_t)(EK_TAG_SHORT_TEXT | length);
    to[1 + length] = '"';
    return 1 + length + q->from_json;
}

/* Write a score in the form of the value at `p` with this first byte, and return its bytes. */
static size_t store_score(const struct ek_list *q, const struct ek_place *p, uint8_t *to,
                          uint8_t first, double score)
{
    if (q->from_schema)
        return ek_schema_store(to, p->length, score);
    if (q->from_json || is_text(q, first))
        return store_decimals(q, to, first, score);
    if (first == EK_TAG_FLOAT32) {
        to[0] = EK_TAG_FLOAT32;
        ek_store_be32(to + 1, ek_float_to_bits((float)score));
        return FLOAT32_VALUE;
    }
    to[0] = EK_TAG_FLOAT64;
    ek_store_be64(to + 1, ek_double_to_bits(score));
    return FLOAT64_VALUE;
}

static int check_score(const struct ek_list *q, int i, struct ek_error *e)
{
    if (q->place[i].length)
        return EK_OK;
    if (q->from_schema)
        return ek_fail(e, EK_EFORMAT,
                       ek_schema_is_proto(q->converted)
                           ? "items[%d]: no score to replace: it is missing, an integer, or 0, "
                             "which proto3 leaves out; use `optional float` or `optional double`"
                           : "items[%d]: no score to replace: it is missing, null, or an integer "
                             "without a fixed width",
                       i);
    if (q->one_item)
        return ek_fail(e, EK_EFORMAT, "item: no score to replace");
    return ek_fail(e, EK_EFORMAT, "items[%d]: no score to replace", i);
}

int ek_codec_has_scores(const struct ek_list *q, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < q->items; i++)
        rc = check_score(q, i, e);
    return rc;
}

/* Check that every score has a position within the message, in ascending order, and compute the
 * maximum growth in bytes. */
static int check_places(const struct ek_list *q, const uint8_t *bytes, size_t length,
                        size_t *growth, struct ek_error *e)
{
    size_t end = 0;
    *growth = 0;
    for (int i = 0; i < q->items; i++) {
        const struct ek_place *p = &q->place[i];
        if (check_score(q, i, e))
            return EK_EFORMAT;
        if (p->offset < end || p->offset >= length || p->length > length - p->offset)
            return ek_fail(e, EK_ESTATE, "items[%d]: the list is not that of the message", i);
        size_t width = width_for(q, p, bytes[p->offset]);
        if (!q->from_json && !is_text(q, bytes[p->offset]) && p->length > width)
            return ek_fail(e, EK_ESTATE, "items[%d]: the list is not that of the message", i);
        end = (size_t)p->offset + p->length;
        *growth += width > p->length ? width - p->length : 0;
    }
    return EK_OK;
}

static int check_scores(const struct ek_list *q, const uint8_t *in, const double *scores,
                        struct ek_error *e)
{
    for (int i = 0; i < q->items; i++)
        if (!isfinite(scores[i]) && (q->from_json || is_text(q, in[q->place[i].offset])))
            return ek_fail(e, EK_ESTATE, "items[%d]: %s has no score that is %s", i,
                           q->from_json ? "JSON" : "text",
                           isnan(scores[i]) ? "no number" : "infinite");
    return EK_OK;
}

int ek_codec_patch(const struct ek_list *q, const void *bytes, size_t length, const double *scores,
                   struct ek_buf *out, struct ek_error *e)
{
    const uint8_t *in = bytes;
    size_t growth;
    int rc = check_places(q, in, length, &growth, e);
    if (!rc)
        rc = check_scores(q, in, scores, e);
    if (rc)
        return rc;
    ek_buf_clear(out);
    rc = ek_buf_reserve(out, length + growth);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "out of memory");
    size_t from = 0;
    uint8_t *to = out->data;
    for (int i = 0; i < q->items; i++) {
        const struct ek_place *p = &q->place[i];
        size_t before = p->offset - from;
        memcpy(to, in + from, before);
        to += before;
        to += store_score(q, p, to, in[p->offset], scores[i]);
        from = (size_t)p->offset + p->length;
    }
    memcpy(to, in + from, length - from);
    out->length = (size_t)(to - out->data) + length - from;
    return EK_OK;
}
