#include "num/windows.h"

#include "base/alloc.h"

#include <string.h>

/* The sketches of all features as bytes, one behind the other. */
struct packed {
    uint8_t *bytes; /* NULL: nothing */
    uint32_t *end;  /* [features] */
    uint64_t lists;
};

struct closed {
    int64_t number;
    struct packed packed;
};

struct ek_windows {
    int features, kept;
    struct ek_sketch_set *current;
    int64_t number;      /* of the current window */
    uint64_t lists;      /* of the current window */
    struct closed *ring; /* [kept] */
    uint64_t closings;
    struct packed life; /* all closed windows */
};

int ek_windows_new(struct ek_windows **out, int features, int kept, struct ek_error *e)
{
    if (kept < 1 || kept > EK_WINDOWS_KEPT_MAX)
        return ek_fail(e, EK_ELIMIT, "1 to %d windows are kept, not %d", EK_WINDOWS_KEPT_MAX, kept);
    struct ek_windows *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "no memory for windows");
    w->features = features;
    w->kept = kept;
    w->ring = ek_calloc((size_t)kept, sizeof *w->ring);
    int rc = w->ring ? ek_sketch_set_new(&w->current, features, e)
                     : ek_fail(e, EK_ENOMEM, "no memory for windows");
    if (rc)
        ek_windows_free(w);
    else
        *out = w;
    return rc;
}

static void drop(struct packed *p)
{
    ek_free(p->bytes);
    ek_free(p->end);
    *p = (struct packed){NULL, NULL, 0};
}

static void drop_closed(struct ek_windows *w)
{
    for (int i = 0; w->ring && i < w->kept; i++)
        drop(&w->ring[i].packed);
    drop(&w->life);
    w->closings = 0;
}

void ek_windows_free(struct ek_windows *w)
{
    if (!w)
        return;
    drop_closed(w);
    ek_sketch_set_free(w->current);
    ek_free(w->ring);
    ek_free(w);
}

void ek_windows_clear(struct ek_windows *w)
{
    drop_closed(w);
    ek_sketch_set_clear(w->current);
    w->lists = 0;
}

static void unpack(const struct packed *p, int feature, struct ek_sketch *out)
{
    if (!p->bytes)
        return;
    uint32_t start = feature ? p->end[feature - 1] : 0;
    ek_sketch_add_written(out, p->bytes + start, p->end[feature] - start);
}

/* What a close makes, before anything of it counts. */
struct closing {
    struct ek_sketch *one;
    struct ek_buf bytes[2]; /* the window; life with it */
    struct packed packed[2];
};

static int pack_feature(struct ek_windows *w, struct closing *c, int feature)
{
    ek_sketch_clear(c->one);
    ek_sketch_set_get(w->current, feature, c->one);
    for (int i = 0; i < 2; i++) {
        if (i)
            unpack(&w->life, feature, c->one);
        if (ek_sketch_write(c->one, &c->bytes[i]))
            return EK_ENOMEM;
        c->packed[i].end[feature] = (uint32_t)c->bytes[i].length;
    }
    return EK_OK;
}

/* Buffers grow by doubling; what is kept for an hour has the size it needs. */
static int keep_bytes(struct closing *c)
{
    for (int i = 0; i < 2; i++) {
        c->packed[i].bytes = ek_calloc(c->bytes[i].length, 1);
        if (!c->packed[i].bytes)
            return EK_ENOMEM;
        memcpy(c->packed[i].bytes, c->bytes[i].data, c->bytes[i].length);
    }
    return EK_OK;
}

static int pack(struct ek_windows *w, struct closing *c)
{
    int rc = ek_sketch_new(&c->one);
    for (int i = 0; !rc && i < 2; i++) {
        c->packed[i].end = ek_calloc((size_t)w->features, sizeof *c->packed[i].end);
        rc = c->packed[i].end ? EK_OK : EK_ENOMEM;
    }
    for (int f = 0; !rc && f < w->features; f++)
        rc = pack_feature(w, c, f);
    return rc ? rc : keep_bytes(c);
}

static int close_window(struct ek_windows *w)
{
    struct closing c = {NULL};
    for (int i = 0; i < 2; i++)
        ek_buf_init(&c.bytes[i], UINT32_MAX);
    int rc = pack(w, &c);
    if (!rc) {
        struct closed *oldest = &w->ring[w->closings++ % (uint64_t)w->kept];
        drop(&oldest->packed);
        c.packed[0].lists = w->lists;
        c.packed[1].lists = w->lists + w->life.lists;
        *oldest = (struct closed){w->number, c.packed[0]};
        drop(&w->life);
        w->life = c.packed[1];
        ek_sketch_set_clear(w->current);
        w->lists = 0;
    } else {
        drop(&c.packed[0]);
        drop(&c.packed[1]);
    }
    ek_sketch_free(c.one);
    for (int i = 0; i < 2; i++)
        ek_buf_release(&c.bytes[i]);
    return rc;
}

int ek_windows_add(struct ek_windows *w, int64_t number, const float *x, int rows)
{
    int rc = w->lists && number != w->number ? close_window(w) : EK_OK;
    if (rc)
        return rc;
    w->number = number;
    w->lists++;
    return ek_sketch_set_add(w->current, x, rows);
}

uint64_t ek_windows_get(struct ek_windows *w, int feature, int64_t first, int64_t last,
                        struct ek_sketch *out)
{
    uint64_t lists = 0;
    for (int i = 0; i < w->kept; i++) {
        const struct closed *c = &w->ring[i];
        if (!c->packed.bytes || c->number < first || c->number > last)
            continue;
        unpack(&c->packed, feature, out);
        lists += c->packed.lists;
    }
    if (!w->lists || w->number < first || w->number > last)
        return lists;
    ek_sketch_set_get(w->current, feature, out);
    return lists + w->lists;
}

uint64_t ek_windows_life(struct ek_windows *w, int feature, struct ek_sketch *out)
{
    unpack(&w->life, feature, out);
    ek_sketch_set_get(w->current, feature, out);
    return w->life.lists + w->lists;
}

size_t ek_windows_packed_bytes(const struct ek_windows *w)
{
    size_t last = (size_t)w->features - 1, bytes = w->life.bytes ? w->life.end[last] : 0;
    for (int i = 0; i < w->kept; i++)
        bytes += w->ring[i].packed.bytes ? w->ring[i].packed.end[last] : 0;
    return bytes;
}
