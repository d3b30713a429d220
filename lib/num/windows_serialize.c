#include "num/windows_serialize.h"

#include "base/alloc.h"
#include "num/sketch_pack.h"
#include "num/windows_internal.h"

int ek_windows_pack_newest(struct ek_windows *w)
{
    return ek_windows_pack(w, w->features);
}

/* Serialize a packed sketch with its length. When reading, return its position in the input and set
 * *total to its count. */
static const uint8_t *packed_serialize(struct ek_serialize *s, const uint8_t *own, uint32_t *length,
                                       uint64_t *total)
{
    ek_serialize_u32(s, length);
    if (!ek_serialize_is_reading(s)) {
        if (*length)
            ek_serialize_raw(s, (uint8_t *)own, *length);
        return own;
    }
    const uint8_t *at = s->at;
    ek_serialize_require(s, *length <= (size_t)(s->end - at));
    if (!s->rc)
        ek_serialize_require(s, ek_sketch_pack_is_sound(at, *length, total));
    if (s->rc)
        *length = 0;
    s->at += *length;
    return at;
}

static void add_bytes(struct ek_window_bytes *b, const uint8_t *bytes, uint32_t length,
                      struct ek_serialize *s)
{
    if (!s->rc)
        s->rc = ek_window_bytes_add(b, bytes, length);
}

void ek_windows_life_serialize(struct ek_windows *w, struct ek_serialize *s)
{
    uint64_t items = 0, total = 0;
    ek_serialize_u64(s, &w->closings);
    ek_serialize_u64(s, &w->life_lists);
    for (int f = 0; f < w->features && !s->rc; f++) {
        struct ek_window_bytes *life = &w->lifetime[f];
        uint32_t length = life->length;
        const uint8_t *bytes = packed_serialize(s, life->data, &length, &total);
        if (!ek_serialize_is_reading(s))
            continue;
        items = f ? items : total;
        ek_serialize_require(s, total == items && (w->life_lists || !total));
        add_bytes(life, bytes, length, s);
    }
    if (ek_serialize_is_reading(s))
        ek_windows_weigh(w);
}

static void pack_current(struct ek_windows *w, int feature, struct ek_serialize *s)
{
    ek_sketch_clear(w->scratch);
    ek_windows_get_current(w, feature, w->scratch);
    ek_buf_clear(&w->packed);
    if (!s->rc)
        s->rc = ek_sketch_pack(w->scratch, &w->packed);
}

void ek_windows_now_serialize(struct ek_windows *w, struct ek_serialize *s)
{
    uint64_t rows = ek_sketch_set_rows(w->current) * w->weight, total = 0;
    ek_serialize_i64(s, &w->number);
    ek_serialize_u64(s, &w->lists);
    ek_serialize_u64(s, &rows);
    ek_serialize_require(s, w->lists || !rows);
    for (int f = 0; f < w->features && !s->rc; f++) {
        if (!ek_serialize_is_reading(s))
            pack_current(w, f, s);
        uint32_t length = (uint32_t)w->packed.length;
        const uint8_t *bytes = packed_serialize(s, w->packed.data, &length, &total);
        if (!ek_serialize_is_reading(s) || s->rc)
            continue;
        ek_serialize_require(s, total == rows);
        ek_sketch_clear(w->scratch);
        ek_sketch_unpack(w->scratch, bytes, length);
        ek_sketch_set_add_sketch(w->current, f, w->scratch);
    }
    if (ek_serialize_is_reading(s) && !s->rc)
        ek_sketch_set_add_rows(w->current, rows);
}

int ek_windows_places(const struct ek_windows *w)
{
    return w->closings < (uint64_t)w->retention ? (int)w->closings : w->retention;
}

void ek_windows_place_serialize(struct ek_windows *w, struct ek_serialize *s, int place)
{
    struct ek_closed_window *c = &w->ring[place];
    uint64_t items = 0, total = 0;
    if (ek_serialize_is_reading(s) && !(c->end = ek_calloc((size_t)w->features, sizeof *c->end)))
        s->rc = s->rc ? s->rc : EK_ENOMEM;
    ek_serialize_i64(s, &c->number);
    ek_serialize_u64(s, &c->lists);
    ek_serialize_require(s, c->lists > 0);
    for (int f = 0; f < w->features && !s->rc; f++) {
        uint32_t start = f ? c->end[f - 1] : 0, length = c->end[f] - start;
        const uint8_t *own = c->bytes.data ? c->bytes.data + start : NULL;
        const uint8_t *bytes = packed_serialize(s, own, &length, &total);
        if (!ek_serialize_is_reading(s))
            continue;
        items = f ? items : total;
        ek_serialize_require(s, total == items);
        add_bytes(&c->bytes, bytes, length, s);
        c->end[f] = c->bytes.length;
    }
    if (ek_serialize_is_reading(s) && s->rc)
        c->lists = 0;
    if (ek_serialize_is_reading(s))
        ek_windows_weigh(w);
}

/* The number of lists only grows, and a closed window never changes. */
uint64_t ek_windows_now_mark(const struct ek_windows *w)
{
    return w->life_lists + w->lists;
}

uint64_t ek_windows_life_mark(const struct ek_windows *w)
{
    return w->closings;
}

uint64_t ek_windows_place_mark(const struct ek_windows *w, int place)
{
    uint64_t kept = (uint64_t)w->retention, behind = w->closings % kept > (uint64_t)place;
    return w->closings / kept + behind;
}
