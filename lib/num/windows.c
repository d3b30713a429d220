#include "num/windows.h"

#include "base/alloc.h"
#include "num/sketch_io.h"

#include <stdlib.h>
#include <string.h>

/* Packed bytes: of one feature since the start, or of all features in a window. */
struct ek_window_bytes {
    uint8_t *data; /* NULL: none */
    uint32_t length, capacity;
};

struct ek_closed_window {
    int64_t number;
    uint64_t lists; /* 0: empty entry */
    struct ek_window_bytes bytes;
    uint32_t *end; /* [features], end of each feature; NULL before the first window */
};

struct ek_windows {
    int features, retention;
    struct ek_sketch_set *current;  /* sealed part: unpacked features of the newest closed window */
    int64_t number;                 /* of the current window */
    uint64_t lists;                 /* of the current window */
    uint64_t weight, sealed_weight; /* lists that a sampled one stands for: current, sealed part */
    struct ek_closed_window *ring;  /* [kept] */
    uint64_t closings;
    /* [features], all closed windows except the unpacked features of the newest */
    struct ek_window_bytes *lifetime;
    uint64_t life_lists;
    struct ek_sketch *scratch; /* scratch */
    struct ek_buf packed;      /* scratch */
    size_t closed_bytes;       /* bytes of closed windows and their sums, when last computed */
};

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

/* Free the memory of closed windows and sums and leave them empty. Either may be NULL. */
static void closed_windows_release(struct ek_closed_window *ring, int kept,
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
    closed_windows_release(w->ring, w->retention, w->lifetime, w->features);
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

/* Append bytes to `b`. Return 0, or EK_ENOMEM or EK_ELIMIT without a change. */
static int window_bytes_add(struct ek_window_bytes *b, const uint8_t *bytes, size_t length)
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

/* Add a feature of the current window to `out`, which may be the scratch sketch if that is empty.
 */
static void windows_get_current(const struct ek_windows *w, int feature, struct ek_sketch *out)
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

/* Recompute the bytes of the closed windows after a change other than packing. */
static void windows_weigh(struct ek_windows *w)
{
    size_t ends = (size_t)w->features * sizeof *w->ring->end;
    w->closed_bytes = ek_windows_packed_bytes(w);
    for (int i = 0; i < w->retention; i++)
        w->closed_bytes += w->ring[i].end ? ends : 0;
}

int ek_windows_pack(struct ek_windows *w, int features)
{
    int rc = EK_OK;
    bool some = ek_windows_unpacked(w) > 0;
    while (!rc && features-- > 0 && ek_windows_unpacked(w))
        rc = pack_feature(w);
    if (some && !ek_windows_unpacked(w))
        windows_weigh(w);
    return rc;
}

/* The new closed window reuses the memory of the oldest one. */
static int windows_close(struct ek_windows *w)
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
        rc = windows_close(w);
    if (rc)
        return rc;
    if (closes)
        w->weight = find_weight(lists);
    w->number = number;
    bool sampled = is_sampled(w);
    w->lists++;
    return sampled ? ek_sketch_set_add(w->current, x, rows) : EK_OK;
}

/* Add a packed feature of a closed window to `out`. */
static void closed_window_get(const struct ek_closed_window *c, int feature, struct ek_sketch *out)
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
    closed_window_get(c, feature, out);
}

int ek_windows_split(struct ek_windows *w, uint64_t *since)
{
    int rc = w->lists ? ek_windows_pack(w, w->features) : EK_OK;
    if (!rc && w->lists)
        rc = windows_close(w);
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
    windows_get_current(w, feature, out);
    return lists + w->lists;
}

uint64_t ek_windows_life(const struct ek_windows *w, int feature, struct ek_sketch *out)
{
    ek_sketch_unpack(out, w->lifetime[feature].data, w->lifetime[feature].length);
    get_sealed(w, feature, out);
    windows_get_current(w, feature, out);
    return w->life_lists + w->lists;
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
        s->rc = window_bytes_add(b, bytes, length);
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
        windows_weigh(w);
}

static void pack_current(struct ek_windows *w, int feature, struct ek_serialize *s)
{
    ek_sketch_clear(w->scratch);
    windows_get_current(w, feature, w->scratch);
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
        windows_weigh(w);
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

/* Closed window of one of the two inputs. */
struct source {
    const struct ek_closed_window *window;
    int order; /* by age within its ring; windows of `into` first */
};

/* Replacement for the contents of `into`. */
struct merged {
    struct ek_closed_window *ring; /* [kept] */
    struct ek_window_bytes *life;  /* [features] */
    uint64_t closings;
};

static int by_number(const void *a, const void *b)
{
    const struct source *x = a, *y = b;
    int64_t p = x->window->number, q = y->window->number;
    return p != q ? (p > q) - (p < q) : x->order - y->order;
}

static int list_closed(const struct ek_windows *w, struct source *to, int count)
{
    uint64_t first = w->closings - (uint64_t)ek_windows_places(w);
    for (uint64_t i = first; i < w->closings; i++, count++)
        to[count] = (struct source){&w->ring[i % (uint64_t)w->retention], count};
    return count;
}

/* Append w->one, packed, to `to`. */
static int pack_behind(struct ek_windows *w, struct ek_window_bytes *to)
{
    ek_buf_clear(&w->packed);
    int rc = ek_sketch_pack(w->scratch, &w->packed);
    return rc ? rc : window_bytes_add(to, w->packed.data, w->packed.length);
}

/* Merge windows of the same number into one closed window. */
static int join(struct ek_windows *w, const struct source *source, int count,
                struct ek_closed_window *to)
{
    int rc = EK_OK;
    to->end = ek_calloc((size_t)w->features, sizeof *to->end);
    if (!to->end)
        return EK_ENOMEM;
    to->number = source->window->number;
    for (int i = 0; i < count; i++)
        to->lists += source[i].window->lists;
    for (int f = 0; f < w->features && !rc; f++) {
        ek_sketch_clear(w->scratch);
        for (int i = 0; i < count; i++)
            closed_window_get(source[i].window, f, w->scratch);
        rc = pack_behind(w, &to->bytes);
        to->end[f] = to->bytes.length;
    }
    return rc;
}

/* Merges from the highest number down to the `kept` highest. */
static int join_all(struct ek_windows *w, const struct source *source, int count, struct merged *m)
{
    int rc = EK_OK, end = count, groups = 0, skip;
    for (int i = 0; i < count; i++)
        groups += !i || source[i].window->number != source[i - 1].window->number;
    skip = groups > w->retention ? groups - w->retention : 0;
    m->closings = (uint64_t)(groups - skip);
    for (int place = (int)m->closings - 1; place >= 0 && !rc; place--) {
        int first = end - 1;
        while (first && source[first - 1].window->number == source[end - 1].window->number)
            first--;
        rc = join(w, source + first, end - first, &m->ring[place]);
        end = first;
    }
    return rc;
}

static int merge_rings(struct ek_windows *into, const struct ek_windows *from, bool apart,
                       struct merged *m)
{
    size_t most = (size_t)into->retention + (size_t)from->retention;
    struct source *source = ek_calloc(most, sizeof *source);
    if (!source)
        return EK_ENOMEM;
    int count = list_closed(into, source, 0);
    if (!apart)
        count = list_closed(from, source, count);
    qsort(source, (size_t)count, sizeof *source, by_number);
    int rc = join_all(into, source, count, m);
    ek_free(source);
    return rc;
}

static int join_lives(struct ek_windows *into, const struct ek_windows *from, bool apart,
                      struct merged *m)
{
    int rc = EK_OK;
    for (int f = 0; f < into->features && !rc; f++) {
        ek_sketch_clear(into->scratch);
        ek_sketch_unpack(into->scratch, into->lifetime[f].data, into->lifetime[f].length);
        ek_sketch_unpack(into->scratch, from->lifetime[f].data, from->lifetime[f].length);
        if (apart)
            windows_get_current(from, f, into->scratch);
        rc = pack_behind(into, &m->life[f]);
    }
    return rc;
}

/* Free the contents of `m`: the new ones, or the old ones after `enter`. */
static void release(const struct ek_windows *w, struct merged *m)
{
    closed_windows_release(m->ring, w->retention, m->life, w->features);
    ek_free(m->ring);
    ek_free(m->life);
}

static void enter(struct ek_windows *w, struct merged *m)
{
    struct merged old = {w->ring, w->lifetime, 0};
    w->ring = m->ring;
    w->lifetime = m->life;
    w->closings = m->closings;
    *m = old;
}

/* Close the current window if the other one has a higher number, or if one of them is a sample.
 * Afterwards all closed windows are packed. */
static int fall_behind(struct ek_windows *w, const struct ek_windows *ahead)
{
    int rc = ek_windows_pack_newest(w);
    bool is_behind = w->number < ahead->number || w->weight > 1 || ahead->weight > 1;
    if (!rc && w->lists && ahead->lists && is_behind) {
        rc = windows_close(w);
        if (!rc)
            rc = ek_windows_pack_newest(w);
    }
    return rc;
}

int ek_windows_merge(struct ek_windows *into, struct ek_windows *from, bool apart)
{
    struct merged m = {ek_calloc((size_t)into->retention, sizeof *m.ring),
                       ek_calloc((size_t)into->features, sizeof *m.life), 0};
    int rc = m.ring && m.life ? EK_OK : EK_ENOMEM;
    if (!rc)
        rc = apart ? ek_windows_pack_newest(into) : fall_behind(into, from);
    if (!rc)
        rc = apart ? ek_windows_pack_newest(from) : fall_behind(from, into);
    if (!rc)
        rc = merge_rings(into, from, apart, &m);
    if (!rc)
        rc = join_lives(into, from, apart, &m);
    if (!rc) {
        enter(into, &m);
        into->life_lists += from->life_lists + (apart ? from->lists : 0);
        if (!apart && from->lists) {
            into->number = from->number;
            into->weight = from->weight; /* 1 if `into` has lists, too */
            into->lists += from->lists;
            ek_sketch_set_merge(into->current, from->current);
        }
    }
    release(into, &m);
    windows_weigh(into);
    return rc;
}
