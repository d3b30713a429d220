#include "num/windows.h"

#include "base/alloc.h"
#include "num/sketch_pack.h"
#include "num/windows_internal.h"

#include <string.h>

enum { SAMPLED_LISTS_MIN = 4096 }; /* of a window as large as the one before */

int ek_windows_new(struct ek_windows **out, int features, int kept, struct ek_error *e)
{
    if (kept < 1 || kept > EK_WINDOWS_KEPT_MAX)
        return ek_fail(e, EK_ELIMIT, "1 to %d windows are kept, not %d", EK_WINDOWS_KEPT_MAX, kept);
    struct ek_windows *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->features = features;
    w->retention = kept;
    w->weight = w->sealed_weight = 1;
    ek_buf_init(&w->packed, 0);
    int rc = ek_sketch_set_new(&w->current, features, e);
    if (!rc) {
        w->ring = ek_calloc((size_t)kept, sizeof *w->ring);
        w->lifetime = ek_calloc((size_t)features, sizeof *w->lifetime);
        if (!w->ring || !w->lifetime || ek_sketch_new(&w->scratch))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
    }
    if (rc)
        ek_windows_free(w);
    else
        *out = w;
    return rc;
}

static void drop_bytes(struct ek_window_bytes *b)
{
    ek_free(b->data);
    *b = (struct ek_window_bytes){NULL, 0, 0};
}

void ek_closed_windows_release(struct ek_closed_window *ring, int kept,
                               struct ek_window_bytes *life, int features)
{
    for (int i = 0; ring && i < kept; i++) {
        drop_bytes(&ring[i].bytes);
        ek_free(ring[i].end);
        ring[i] = (struct ek_closed_window){.lists = 0};
    }
    for (int f = 0; life && f < features; f++)
        drop_bytes(&life[f]);
}

static void drop_closed(struct ek_windows *w)
{
    ek_closed_windows_release(w->ring, w->retention, w->lifetime, w->features);
    w->life_lists = w->closings = 0;
    w->closed_bytes = 0;
}

void ek_windows_free(struct ek_windows *w)
{
    if (!w)
        return;
    drop_closed(w);
    ek_sketch_set_free(w->current);
    ek_sketch_free(w->scratch);
    ek_buf_release(&w->packed);
    ek_free(w->ring);
    ek_free(w->lifetime);
    ek_free(w);
}

void ek_windows_clear(struct ek_windows *w)
{
    drop_closed(w);
    ek_sketch_set_clear(w->current);
    w->lists = 0;
    w->weight = 1;
}

static struct ek_closed_window *newest(const struct ek_windows *w)
{
    return &w->ring[(w->closings - 1) % (uint64_t)w->retention];
}

int ek_windows_unpacked(const struct ek_windows *w)
{
    return w->features - ek_sketch_set_sealed(w->current);
}

/* Closed windows are kept for long, so they reserve only an eighth more than they need. */
static int window_bytes_reserve(struct ek_window_bytes *b, size_t length)
{
    if (length <= b->capacity)
        return EK_OK;
    size_t capacity = length + length / 8;
    if (capacity > UINT32_MAX)
        return EK_ELIMIT;
    uint8_t *data = ek_realloc(b->data, capacity, 1);
    if (!data)
        return EK_ENOMEM;
    b->data = data;
    b->capacity = (uint32_t)capacity;
    return EK_OK;
}

static void append(struct ek_window_bytes *b, const uint8_t *bytes, size_t from, size_t to)
{
    if (to > from)
        memcpy(b->data + b->length, bytes + from, to - from);
    b->length += (uint32_t)(to - from);
}

int ek_window_bytes_add(struct ek_window_bytes *b, const uint8_t *bytes, size_t length)
{
    int rc = window_bytes_reserve(b, b->length + length);
    if (!rc)
        append(b, bytes, 0, length);
    return rc;
}

/* Multiply the scratch sketch by the weight of its sample, and add it to `out`. */
static void add_sample(const struct ek_windows *w, uint64_t weight, struct ek_sketch *out)
{
    ek_sketch_scale(w->scratch, weight);
    if (out != w->scratch)
        ek_sketch_merge(out, w->scratch);
}

void ek_windows_get_current(const struct ek_windows *w, int feature, struct ek_sketch *out)
{
    if (w->weight == 1) {
        ek_sketch_set_get(w->current, feature, out);
        return;
    }
    ek_sketch_clear(w->scratch);
    ek_sketch_set_get(w->current, feature, w->scratch);
    add_sample(w, w->weight, out);
}

static void get_sealed(const struct ek_windows *w, int feature, struct ek_sketch *out)
{
    if (w->sealed_weight == 1) {
        ek_sketch_set_get_sealed(w->current, feature, out);
        return;
    }
    ek_sketch_clear(w->scratch);
    ek_sketch_set_get_sealed(w->current, feature, w->scratch);
    add_sample(w, w->sealed_weight, out);
}

/* Pack the next feature of the newest closed window, alone and merged with all earlier windows.
 * EK_ENOMEM changes nothing. */
static int pack_feature(struct ek_windows *w)
{
    int feature = ek_sketch_set_sealed(w->current);
    struct ek_window_bytes *window = &newest(w)->bytes, *life = &w->lifetime[feature];
    ek_buf_clear(&w->packed);
    ek_sketch_clear(w->scratch);
    get_sealed(w, feature, w->scratch);
    int rc = ek_sketch_pack(w->scratch, &w->packed);
    size_t middle = w->packed.length;
    ek_sketch_unpack(w->scratch, life->data, life->length);
    if (!rc)
        rc = ek_sketch_pack(w->scratch, &w->packed);
    if (!rc)
        rc = window_bytes_reserve(window, window->length + middle);
    if (!rc)
        rc = window_bytes_reserve(life, w->packed.length - middle);
    if (rc)
        return rc;
    append(window, w->packed.data, 0, middle);
    newest(w)->end[feature] = window->length;
    life->length = 0;
    append(life, w->packed.data, middle, w->packed.length);
    ek_sketch_set_remove_sealed(w->current);
    return EK_OK;
}

int ek_windows_pack(struct ek_windows *w, int features)
{
    int rc = EK_OK;
    bool some = ek_windows_unpacked(w) > 0;
    while (!rc && features-- > 0 && ek_windows_unpacked(w))
        rc = pack_feature(w);
    if (some && !ek_windows_unpacked(w))
        ek_windows_weigh(w);
    return rc;
}

/* The new closed window reuses the memory of the oldest one. */
int ek_windows_close(struct ek_windows *w)
{
    struct ek_closed_window *c = &w->ring[w->closings % (uint64_t)w->retention];
    if (!c->end)
        c->end = ek_calloc((size_t)w->features, sizeof *c->end);
    if (!c->end || window_bytes_reserve(&c->bytes, w->closings ? newest(w)->bytes.length : 0))
        return EK_ENOMEM;
    w->closings++;
    c->number = w->number;
    c->lists = w->lists;
    c->bytes.length = 0;
    w->life_lists += w->lists;
    w->lists = 0;
    w->sealed_weight = w->weight;
    w->weight = 1;
    ek_sketch_set_seal(w->current);
    return EK_OK;
}

/* Return the largest power of two that leaves enough lists in the sample. */
static uint64_t find_weight(uint64_t lists)
{
    uint64_t weight = 1;
    while (lists / (2 * weight) >= SAMPLED_LISTS_MIN)
        weight *= 2;
    return weight;
}

/* Return whether the next list is in the sample: one of each `weight` lists, at varying places, so
 * that partitions which take turns are all sampled. */
static bool is_sampled(const struct ek_windows *w)
{
    uint64_t place = w->lists / w->weight * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return (w->lists & (w->weight - 1)) == (place & (w->weight - 1));
}

int ek_windows_add(struct ek_windows *w, int64_t number, const float *x, int rows)
{
    int closes = w->lists && number != w->number, rc = EK_OK;
    if (closes || ek_sketch_set_rows(w->current) + (uint64_t)rows > EK_SKETCH_SEALED_ROWS)
        rc = ek_windows_pack(w, w->features);
    uint64_t lists = w->lists;
    if (!rc && closes)
        rc = ek_windows_close(w);
    if (rc)
        return rc;
    if (closes)
        w->weight = find_weight(lists);
    w->number = number;
    bool sampled = is_sampled(w);
    w->lists++;
    return sampled ? ek_sketch_set_add(w->current, x, rows) : EK_OK;
}

void ek_closed_window_get(const struct ek_closed_window *c, int feature, struct ek_sketch *out)
{
    uint32_t start = feature ? c->end[feature - 1] : 0;
    ek_sketch_unpack(out, c->bytes.data + start, c->end[feature] - start);
}

/* Unpacked features of the newest window are read from the sealed part. */
static void get_closed(const struct ek_windows *w, const struct ek_closed_window *c, int feature,
                       struct ek_sketch *out)
{
    if (c == newest(w) && feature >= ek_sketch_set_sealed(w->current)) {
        get_sealed(w, feature, out);
        return;
    }
    ek_closed_window_get(c, feature, out);
}

int ek_windows_split(struct ek_windows *w, uint64_t *since)
{
    int rc = w->lists ? ek_windows_pack(w, w->features) : EK_OK;
    if (!rc && w->lists)
        rc = ek_windows_close(w);
    *since = w->closings;
    return rc;
}

uint64_t ek_windows_get(const struct ek_windows *w, int feature, int64_t first, int64_t last,
                        struct ek_sketch *out)
{
    return ek_windows_get_since(w, feature, 0, first, last, out);
}

uint64_t ek_windows_get_since(const struct ek_windows *w, int feature, uint64_t since,
                              int64_t first, int64_t last, struct ek_sketch *out)
{
    uint64_t lists = 0, kept = (uint64_t)w->retention;
    for (uint64_t n = 0; n < kept && n < w->closings - since; n++) {
        const struct ek_closed_window *c = &w->ring[(w->closings - 1 - n) % kept];
        if (!c->lists || c->number < first || c->number > last)
            continue;
        get_closed(w, c, feature, out);
        lists += c->lists;
    }
    if (!w->lists || w->number < first || w->number > last)
        return lists;
    ek_windows_get_current(w, feature, out);
    return lists + w->lists;
}

uint64_t ek_windows_life(const struct ek_windows *w, int feature, struct ek_sketch *out)
{
    ek_sketch_unpack(out, w->lifetime[feature].data, w->lifetime[feature].length);
    get_sealed(w, feature, out);
    ek_windows_get_current(w, feature, out);
    return w->life_lists + w->lists;
}

void ek_windows_weigh(struct ek_windows *w)
{
    size_t ends = (size_t)w->features * sizeof *w->ring->end;
    w->closed_bytes = ek_windows_packed_bytes(w);
    for (int i = 0; i < w->retention; i++)
        w->closed_bytes += w->ring[i].end ? ends : 0;
}

size_t ek_windows_bytes(const struct ek_windows *w)
{
    return sizeof *w + (size_t)w->retention * sizeof *w->ring +
           (size_t)w->features * sizeof *w->lifetime + w->closed_bytes +
           ek_sketch_set_bytes(w->current);
}

size_t ek_windows_packed_bytes(const struct ek_windows *w)
{
    size_t bytes = 0;
    for (int i = 0; i < w->retention; i++)
        bytes += w->ring[i].bytes.capacity;
    for (int f = 0; f < w->features; f++)
        bytes += w->lifetime[f].capacity;
    return bytes;
}
