#include "fleet/fleet_codec.h"

#include "base/hash.h"
#include "num/varint.h"

#include <string.h>

enum { MAGIC_BYTES = 4, CRC_BYTES = 4, WORD_BYTES = 64 };
static const char VERSION = '4';

void ek_record_writer_start(struct ek_serialize *w, struct ek_buf *buf, enum ek_fleet_kind kind)
{
    uint8_t magic[MAGIC_BYTES] = {'E', 'K', (uint8_t)VERSION, (uint8_t)kind};
    *w = (struct ek_serialize){.out = buf, .start = buf->length};
    ek_serialize_raw(w, magic, sizeof magic);
}

int ek_record_writer_finish(struct ek_serialize *w)
{
    uint32_t crc = w->rc ? 0 : ek_crc32(w->out->data + w->start, w->out->length - w->start);
    ek_serialize_u32(w, &crc);
    if (w->rc)
        ek_buf_truncate(w->out, w->start);
    return w->rc;
}

bool ek_record_has_kind(const void *bytes, size_t length, enum ek_fleet_kind kind)
{
    const uint8_t *is = bytes;
    return length >= MAGIC_BYTES && is[0] == 'E' && is[1] == 'K' && is[2] == VERSION &&
           is[3] == kind;
}

int ek_record_reader_open(struct ek_serialize *w, const void *bytes, size_t length,
                          enum ek_fleet_kind kind, struct ek_error *e)
{
    const uint8_t *start = bytes;
    if (length >= MAGIC_BYTES && start[0] == 'E' && start[1] == 'K' && start[2] != VERSION &&
        start[3] == kind)
        return ek_fail(
            e, EK_EFORMAT,
            "fleet record of version '%c', not '%c': all instances need the same release",
            start[2] > ' ' && start[2] < 127 ? start[2] : '?', VERSION);
    if (length < MAGIC_BYTES + CRC_BYTES || !ek_record_has_kind(bytes, length, kind))
        return ek_fail(e, EK_EFORMAT, "no fleet record: it does not begin with 'EK%c%c'", VERSION,
                       kind);
    struct ek_serialize tail = {.at = start + length - CRC_BYTES, .end = start + length};
    uint32_t crc;
    ek_serialize_u32(&tail, &crc);
    if (crc != ek_crc32(start, length - CRC_BYTES))
        return ek_fail(e, EK_EFORMAT, "fleet record is damaged: the checksum does not fit");
    *w = (struct ek_serialize){.at = start + MAGIC_BYTES, .end = start + length - CRC_BYTES};
    return EK_OK;
}

int ek_record_reader_is_done(const struct ek_serialize *w, const char *what, struct ek_error *e)
{
    return w->rc || w->at != w->end ? ek_fail(e, EK_EFORMAT, "%s is damaged", what) : EK_OK;
}

void ek_record_reader_require(struct ek_serialize *w, bool good)
{
    ek_serialize_require(w, good || !ek_serialize_is_reading(w));
}

void ek_wire_number(struct ek_serialize *w, uint64_t *v, uint64_t most)
{
    uint8_t bytes[EK_VARINT_BYTES];
    uint64_t read = 0;
    if (!ek_serialize_is_reading(w)) {
        ek_serialize_raw(w, bytes, ek_varint_write(bytes, *v));
        return;
    }
    ek_serialize_require(w, !w->rc && ek_varint_read(&w->at, w->end, &read) && read <= most);
    *v = w->rc ? 0 : read;
}

void ek_record_write(struct ek_serialize *w, uint64_t v)
{
    ek_wire_number(w, &v, UINT64_MAX);
}

uint64_t ek_record_get(struct ek_serialize *w, uint64_t most)
{
    uint64_t v = 0;
    ek_wire_number(w, &v, most);
    return v;
}

void ek_wire_u32(struct ek_serialize *w, uint32_t *v)
{
    uint64_t number = ek_serialize_is_reading(w) ? 0 : *v;
    ek_wire_number(w, &number, UINT32_MAX);
    *v = (uint32_t)number;
}

void ek_wire_int(struct ek_serialize *w, int *v, int most)
{
    uint64_t number = ek_serialize_is_reading(w) ? 0 : (uint64_t)*v;
    ek_wire_number(w, &number, (uint64_t)most);
    *v = (int)number;
}

void ek_wire_flag(struct ek_serialize *w, bool *flag)
{
    uint64_t number = ek_serialize_is_reading(w) ? 0 : *flag;
    ek_wire_number(w, &number, 1);
    *flag = number;
}

/* Map 0, -1, 1, -2, ... to 0, 1, 2, 3, ... (zigzag). */
void ek_wire_signed(struct ek_serialize *w, int64_t *v, int64_t most)
{
    int64_t given = ek_serialize_is_reading(w) ? 0 : *v;
    uint64_t number = given < 0 ? ~((uint64_t)given << 1) : (uint64_t)given << 1;
    ek_wire_number(w, &number, UINT64_MAX);
    *v = (int64_t)(number >> 1) ^ -(int64_t)(number & 1);
    ek_record_reader_require(w, *v >= -most && *v <= most);
    if (w->rc && ek_serialize_is_reading(w))
        *v = 0;
}

void ek_wire_time(struct ek_serialize *w, int64_t *ms)
{
    ek_wire_signed(w, ms, EK_FLEET_TIME_MAX);
}

void ek_wire_f32(struct ek_serialize *w, float *v)
{
    ek_serialize_raw(w, v, sizeof *v);
}

void ek_wire_text(struct ek_serialize *w, struct ek_text *text, size_t most)
{
    uint64_t length = ek_serialize_is_reading(w) ? 0 : text->length;
    ek_wire_number(w, &length, most);
    if (!ek_serialize_is_reading(w)) {
        if (!w->rc)
            w->rc = ek_buf_add(w->out, text->text, text->length);
        return;
    }
    ek_serialize_require(w, (size_t)(w->end - w->at) >= length && !memchr(w->at, 0, length));
    *text = w->rc ? (struct ek_text){"", 0} : (struct ek_text){(const char *)w->at, length};
    w->at += text->length;
}

int ek_wire_word(struct ek_serialize *w, const char *word, int (*parse)(const char *word))
{
    char own[WORD_BYTES] = "";
    struct ek_text text = ek_text_from(ek_serialize_is_reading(w) ? NULL : word);
    ek_wire_text(w, &text, sizeof own - 1);
    if (!w->rc)
        memcpy(own, text.text, text.length);
    int number = w->rc ? -1 : parse(own);
    ek_record_reader_require(w, number >= 0);
    return w->rc ? 0 : number;
}

void ek_wire_dimensions(struct ek_serialize *w, struct ek_fleet_dimensions *d)
{
    ek_wire_int(w, &d->count, EK_DIMENSIONS_MAX);
    for (int i = 0; i < d->count; i++)
        ek_wire_text(w, &d->name[i], EK_FLEET_NAME_MAX);
}

/* Number of a cell in a record. 0: all traffic; else 2 * dimension + 1 for the pooled values, + 2
 * for a named value. */
static uint64_t number_of(const struct ek_fleet_dimensions *d, const struct ek_fleet_cell *cell)
{
    uint64_t number = 0;
    while (number < (uint64_t)d->count && !ek_text_same(d->name[number], cell->dimension))
        number++;
    return 2 * number + (cell->value.text ? 2 : 1);
}

void ek_wire_cell(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                  struct ek_fleet_cell *cell)
{
    uint64_t most = 2 * (uint64_t)d->count, v = 0;
    if (!ek_serialize_is_reading(w) && cell->dimension.text)
        v = number_of(d, cell);
    if (v > most && !w->rc)
        w->rc = EK_ESTATE;
    ek_wire_number(w, &v, most);
    if (ek_serialize_is_reading(w))
        *cell =
            (struct ek_fleet_cell){v ? d->name[(v - 1) / 2] : (struct ek_text){NULL, 0}, {NULL, 0}};
    if (v && v % 2 == 0)
        ek_wire_text(w, &cell->value, EK_FLEET_TEXT_MAX);
}
