#include "base/alloc.h"
#include "num/sketch_pack.h"
#include "num/windows_internal.h"
#include "num/windows_serialize.h"

#include <stdlib.h>

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
    return rc ? rc : ek_window_bytes_add(to, w->packed.data, w->packed.length);
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
            ek_closed_window_get(source[i].window, f, w->scratch);
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
            ek_windows_get_current(from, f, into->scratch);
        rc = pack_behind(into, &m->life[f]);
    }
    return rc;
}

/* Free the contents of `m`: the new ones, or the old ones after `enter`. */
static void release(const struct ek_windows *w, struct merged *m)
{
    ek_closed_windows_release(m->ring, w->retention, m->life, w->features);
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
        rc = ek_windows_close(w);
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
    ek_windows_weigh(into);
    return rc;
}
