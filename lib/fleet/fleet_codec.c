#include "fleet/fleet_codec.h"

#include "base/hash.h"
#include "num/varint.h"

#include <string.h>

enum { MAGIC_BYTES = 4, CRC_BYTES = 4, WORD_BYTES = 64 };
static const char VERSION = '3', ELDER = '2';

static void put_bytes(struct ek_wire_out *w, const void *bytes, size_t length)
{
    if (!w->rc)
        w->rc = ek_buf_add(w->buf, bytes, length);
}

/* Little-endian. */
static void put_fixed(struct ek_wire_out *w, uint64_t v, size_t length)
{
    uint8_t bytes[sizeof v];
    for (size_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(v >> (8 * i));
    put_bytes(w, bytes, length);
}

void ek_wire_begin(struct ek_wire_out *w, struct ek_buf *buf, enum ek_fleet_kind kind)
{
    const uint8_t magic[MAGIC_BYTES] = {'E', 'K', (uint8_t)VERSION, (uint8_t)kind};
    *w = (struct ek_wire_out){buf, buf->length, EK_OK};
    put_bytes(w, magic, sizeof magic);
}

void ek_wire_put(struct ek_wire_out *w, uint64_t v)
{
    uint8_t bytes[EK_VARINT_BYTES];
    put_bytes(w, bytes, ek_varint_put(bytes, v));
}

/* 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
void ek_wire_put_signed(struct ek_wire_out *w, int64_t v)
{
    ek_wire_put(w, v < 0 ? ~((uint64_t)v << 1) : (uint64_t)v << 1);
}

void ek_wire_put_u64(struct ek_wire_out *w, uint64_t v)
{
    put_fixed(w, v, sizeof v);
}

void ek_wire_put_f32(struct ek_wire_out *w, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_fixed(w, bits, sizeof bits);
}

void ek_wire_put_f64(struct ek_wire_out *w, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_fixed(w, bits, sizeof bits);
}

void ek_wire_put_text(struct ek_wire_out *w, struct ek_text text)
{
    ek_wire_put(w, text.length);
    put_bytes(w, text.text, text.length);
}

void ek_wire_put_said(struct ek_wire_out *w, const char *text)
{
    ek_wire_put_text(w, (struct ek_text){text, text ? strnlen(text, EK_FLEET_TEXT_MAX) : 0});
}

void ek_wire_put_word(struct ek_wire_out *w, const char *word)
{
    ek_wire_put_text(w, ek_text_of(word));
}

void ek_wire_put_flag(struct ek_wire_out *w, bool flag)
{
    ek_wire_put(w, flag);
}

int ek_wire_seal(struct ek_wire_out *w)
{
    if (!w->rc)
        put_fixed(w, ek_crc32(w->buf->data + w->start, w->buf->length - w->start), CRC_BYTES);
    if (w->rc)
        ek_buf_truncate(w->buf, w->start);
    return w->rc;
}

static uint64_t get_fixed(struct ek_wire_in *w, size_t length)
{
    uint64_t v = 0;
    ek_wire_require(w, (size_t)(w->end - w->at) >= length);
    for (size_t i = 0; !w->bad && i < length; i++)
        v |= (uint64_t)*w->at++ << (8 * i);
    return v;
}

bool ek_wire_is(const void *bytes, size_t length, enum ek_fleet_kind kind)
{
    const uint8_t *is = bytes;
    return length >= MAGIC_BYTES && is[0] == 'E' && is[1] == 'K' &&
           (is[2] == VERSION || is[2] == ELDER) && is[3] == kind;
}

int ek_wire_open(struct ek_wire_in *w, const void *bytes, size_t length, enum ek_fleet_kind kind,
                 struct ek_error *e)
{
    const uint8_t *start = bytes;
    if (length >= MAGIC_BYTES && !memcmp(bytes, "EKF", MAGIC_BYTES - 1))
        return ek_fail(e, EK_EFORMAT,
                       "fleet record of version 1, which is not read any more: all instances need "
                       "the same release");
    if (length < MAGIC_BYTES + CRC_BYTES || !ek_wire_is(bytes, length, kind))
        return ek_fail(e, EK_EFORMAT, "no fleet record: it does not begin with 'EK%c%c'", VERSION,
                       kind);
    struct ek_wire_in tail = {.at = start + length - CRC_BYTES, .end = start + length};
    if (get_fixed(&tail, CRC_BYTES) != ek_crc32(start, length - CRC_BYTES))
        return ek_fail(e, EK_EFORMAT, "fleet record is damaged: the checksum does not fit");
    *w = (struct ek_wire_in){
        .at = start + MAGIC_BYTES, .end = start + length - CRC_BYTES, .elder = start[2] == ELDER};
    return EK_OK;
}

void ek_wire_require(struct ek_wire_in *w, bool good)
{
    w->bad |= !good;
    if (w->bad)
        w->at = w->end;
}

uint64_t ek_wire_get(struct ek_wire_in *w, uint64_t most)
{
    uint64_t v = 0;
    ek_wire_require(w, !w->bad && ek_varint_read(&w->at, w->end, &v) && v <= most);
    return w->bad ? 0 : v;
}

int64_t ek_wire_get_signed(struct ek_wire_in *w, int64_t most)
{
    uint64_t v = ek_wire_get(w, UINT64_MAX);
    int64_t s = (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
    ek_wire_require(w, s >= -most && s <= most);
    return w->bad ? 0 : s;
}

uint64_t ek_wire_get_u64(struct ek_wire_in *w)
{
    return get_fixed(w, sizeof(uint64_t));
}

float ek_wire_get_f32(struct ek_wire_in *w)
{
    uint32_t bits = (uint32_t)get_fixed(w, sizeof bits);
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

double ek_wire_get_f64(struct ek_wire_in *w)
{
    uint64_t bits = get_fixed(w, sizeof bits);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

struct ek_text ek_wire_get_text(struct ek_wire_in *w, size_t most)
{
    size_t length = (size_t)ek_wire_get(w, most);
    ek_wire_require(w, (size_t)(w->end - w->at) >= length && !memchr(w->at, 0, length));
    if (w->bad)
        return (struct ek_text){"", 0};
    struct ek_text text = {(const char *)w->at, length};
    w->at += length;
    return text;
}

bool ek_wire_get_flag(struct ek_wire_in *w)
{
    return ek_wire_get(w, 1);
}

int ek_wire_get_word(struct ek_wire_in *w, int (*parse)(const char *word))
{
    char word[WORD_BYTES] = "";
    struct ek_text text = ek_wire_get_text(w, sizeof word - 1);
    memcpy(word, text.text, text.length);
    int number = w->bad ? -1 : parse(word);
    ek_wire_require(w, number >= 0);
    return w->bad ? 0 : number;
}

int ek_wire_done(const struct ek_wire_in *w, const char *what, struct ek_error *e)
{
    if (w->bad || w->at != w->end)
        return ek_fail(e, EK_EFORMAT, "%s is damaged", what);
    return EK_OK;
}

void ek_wire_put_dimensions(struct ek_wire_out *w, const struct ek_fleet_dimensions *d)
{
    ek_wire_put(w, (uint64_t)d->count);
    for (int i = 0; i < d->count; i++)
        ek_wire_put_text(w, d->name[i]);
}

void ek_wire_get_dimensions(struct ek_wire_in *w, struct ek_fleet_dimensions *d)
{
    d->count = (int)ek_wire_get(w, EK_DIMENSIONS_MAX);
    for (int i = 0; i < d->count; i++)
        d->name[i] = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
}

/* 0: all traffic; else twice the dimension plus 1 for its pool, plus 2 for a value. */
void ek_wire_put_cell(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                      const struct ek_fleet_cell *cell)
{
    int number = 0;
    if (!cell->dimension.text) {
        ek_wire_put(w, 0);
        return;
    }
    while (number < d->count && !ek_text_same(d->name[number], cell->dimension))
        number++;
    if (number == d->count && !w->rc)
        w->rc = EK_ESTATE;
    ek_wire_put(w, 2 * (uint64_t)number + (cell->value.text ? 2 : 1));
    if (cell->value.text)
        ek_wire_put_text(w, cell->value);
}

void ek_wire_get_cell(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_cell *cell)
{
    uint64_t v = ek_wire_get(w, 2 * (uint64_t)d->count);
    *cell = (struct ek_fleet_cell){{NULL, 0}, {NULL, 0}};
    if (!v)
        return;
    cell->dimension = d->name[(v - 1) / 2];
    if (v % 2 == 0)
        cell->value = ek_wire_get_text(w, EK_FLEET_TEXT_MAX);
}
