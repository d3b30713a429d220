#include "base/serialize.h"

#include "base/alloc.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they lie");

void ek_serialize_require(struct ek_serialize *s, bool good)
{
    if (!good && !s->rc)
        s->rc = EK_EFORMAT;
}

void ek_serialize_raw(struct ek_serialize *s, void *numbers, size_t bytes)
{
    if (!ek_serialize_is_reading(s)) {
        if (!s->rc)
            s->rc = ek_buf_add(s->out, numbers, bytes);
        return;
    }
    ek_serialize_require(s, bytes <= (size_t)(s->end - s->at));
    if (s->rc) {
        memset(numbers, 0, bytes);
        return;
    }
    memcpy(numbers, s->at, bytes);
    s->at += bytes;
}

void ek_serialize_u32(struct ek_serialize *s, uint32_t *v)
{
    ek_serialize_raw(s, v, sizeof *v);
}

void ek_serialize_u64(struct ek_serialize *s, uint64_t *v)
{
    ek_serialize_raw(s, v, sizeof *v);
}

void ek_serialize_i64(struct ek_serialize *s, int64_t *v)
{
    ek_serialize_raw(s, v, sizeof *v);
}

void ek_serialize_f64(struct ek_serialize *s, double *v)
{
    ek_serialize_raw(s, v, sizeof *v);
}

void ek_serialize_int(struct ek_serialize *s, int *v, int low, int high)
{
    int32_t bits = *v;
    ek_serialize_raw(s, &bits, sizeof bits);
    if (!ek_serialize_is_reading(s))
        return;
    ek_serialize_require(s, bits >= low && bits <= high);
    *v = s->rc ? low : bits;
}

void ek_serialize_text(struct ek_serialize *s, char **text)
{
    uint32_t length = ek_serialize_is_reading(s) ? 0 : (uint32_t)strlen(*text);
    ek_serialize_u32(s, &length);
    if (!ek_serialize_is_reading(s)) {
        ek_serialize_raw(s, *text, length);
        return;
    }
    *text = NULL;
    ek_serialize_require(s, length <= (size_t)(s->end - s->at) && !memchr(s->at, 0, length));
    if (s->rc)
        return;
    *text = ek_strndup((const char *)s->at, length);
    s->at += length;
    if (!*text)
        s->rc = EK_ENOMEM;
}

void ek_serialize_name(struct ek_serialize *s, const char **word, const char *word_of(int i),
                       int count)
{
    char *text = ek_serialize_is_reading(s) || !*word ? NULL : (char *)*word;
    int there = text != NULL, at = 0;
    ek_serialize_int(s, &there, 0, 1);
    if (there)
        ek_serialize_text(s, &text);
    if (!ek_serialize_is_reading(s))
        return;
    while (text && at < count && strcmp(word_of(at), text) != 0)
        at++;
    ek_serialize_require(s, at < count);
    *word = text && at < count ? word_of(at) : NULL;
    ek_free(text);
}
