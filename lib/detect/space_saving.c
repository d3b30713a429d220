#include "detect/space_saving.h"

#include "base/alloc.h"
#include "base/error.h"

#include <math.h>

/* Weight at which all counts are scaled back. */
static const double WEIGHT_MOST = 1e100;

struct counter {
    uint64_t key;
    double count, error; /* weighted */
    int place;           /* heap position of a candidate */
    int known;           /* has a key */
};

/* Counters 0 .. cells - 1 belong to owners, the following to candidates. */
struct ek_space_saving {
    int cells, candidates, used; /* candidates in use */
    double weight, growth;       /* weight of the current list, and its growth per list */
    struct counter *counter;     /* [cells + candidates] */
    int *heap;                   /* [candidates] min-heap of counter numbers */
    int *table;                  /* [mask + 1] counter number plus 1; 0: free */
    uint64_t mask;
};

int ek_space_saving_new(struct ek_space_saving **out, int cells, int candidates)
{
    struct ek_space_saving *b = ek_calloc(1, sizeof *b);
    if (!b)
        return EK_ENOMEM;
    size_t counters = (size_t)cells + (size_t)candidates, slots = 4;
    while (slots < 2 * counters + 2)
        slots *= 2;
    b->cells = cells;
    b->candidates = candidates;
    b->weight = 1;
    b->growth = exp2(1.0 / EK_SPACE_SAVING_HALF_LIFE);
    b->mask = slots - 1;
    b->counter = ek_calloc(counters, sizeof *b->counter);
    b->heap = ek_calloc((size_t)candidates, sizeof *b->heap);
    b->table = ek_calloc(slots, sizeof *b->table);
    if (!b->counter || !b->heap || !b->table) {
        ek_space_saving_free(b);
        return EK_ENOMEM;
    }
    *out = b;
    return EK_OK;
}

void ek_space_saving_free(struct ek_space_saving *b)
{
    if (!b)
        return;
    ek_free(b->counter);
    ek_free(b->heap);
    ek_free(b->table);
    ek_free(b);
}

void ek_space_saving_list(struct ek_space_saving *b)
{
    b->weight *= b->growth;
    if (b->weight < WEIGHT_MOST)
        return;
    for (int i = 0; i < b->cells + b->candidates; i++) {
        b->counter[i].count /= b->weight;
        b->counter[i].error /= b->weight;
    }
    b->weight = 1;
}

/* Return the slot of a key, or the free slot for it. */
static uint64_t slot_of(const struct ek_space_saving *b, uint64_t key)
{
    uint64_t slot = key & b->mask;
    while (b->table[slot] && b->counter[b->table[slot] - 1].key != key)
        slot = (slot + 1) & b->mask;
    return slot;
}

static void store_counter(struct ek_space_saving *b, int which)
{
    b->table[slot_of(b, b->counter[which].key)] = which + 1;
}

/* Close the gap, because a probe stops at the first free slot. */
static void remove_key(struct ek_space_saving *b, uint64_t key)
{
    uint64_t gap = slot_of(b, key);
    b->table[gap] = 0;
    for (uint64_t next = (gap + 1) & b->mask; b->table[next]; next = (next + 1) & b->mask) {
        uint64_t home = b->counter[b->table[next] - 1].key & b->mask;
        if (((next - home) & b->mask) < ((next - gap) & b->mask))
            continue;
        b->table[gap] = b->table[next];
        b->table[next] = 0;
        gap = next;
    }
}

static void place_counter(struct ek_space_saving *b, int place, int which)
{
    b->heap[place] = which;
    b->counter[which].place = place;
}

static double count_at(const struct ek_space_saving *b, int place)
{
    return b->counter[b->heap[place]].count;
}

/* Restore the heap order at a position, upward or downward. */
static void sift_down(struct ek_space_saving *b, int place)
{
    int which = b->heap[place];
    double count = b->counter[which].count;
    while (place && count < count_at(b, (place - 1) / 2)) {
        place_counter(b, place, b->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    for (;;) {
        int child = 2 * place + 1;
        if (child + 1 < b->used && count_at(b, child + 1) < count_at(b, child))
            child++;
        if (child >= b->used || count_at(b, child) >= count)
            break;
        place_counter(b, place, b->heap[child]);
        place = child;
    }
    place_counter(b, place, which);
}

/* Return a counter for a new candidate: an unused one, else the one with the smallest count. */
static int replace_min(struct ek_space_saving *b, uint64_t key)
{
    int fresh = b->used < b->candidates, which = fresh ? b->cells + b->used : b->heap[0];
    struct counter *c = &b->counter[which];
    if (fresh)
        place_counter(b, b->used++, which);
    else
        remove_key(b, c->key);
    c->key = key;
    c->known = 1;
    c->error = c->count;
    store_counter(b, which);
    return which;
}

/* Count a key. Return the number of its counter. */
static int count_key(struct ek_space_saving *b, uint64_t key, double lists)
{
    int which = b->table[slot_of(b, key)] - 1;
    if (which < 0)
        which = replace_min(b, key);
    struct counter *c = &b->counter[which];
    c->count += lists * b->weight;
    if (which >= b->cells)
        sift_down(b, c->place);
    return which;
}

/* Return the cell of a counter, or -1 for a candidate or no counter. */
static int cell_of(const struct ek_space_saving *b, int which)
{
    return which < b->cells ? which : -1;
}

int ek_space_saving_count(struct ek_space_saving *b, uint64_t key, double *lists)
{
    int which = count_key(b, key, 1);
    const struct counter *c = &b->counter[which];
    *lists = (c->count - c->error) / b->weight;
    return cell_of(b, which);
}

int ek_space_saving_add(struct ek_space_saving *b, uint64_t key, double lists)
{
    return cell_of(b, count_key(b, key, lists));
}

int ek_space_saving_cell(const struct ek_space_saving *b, uint64_t key)
{
    return cell_of(b, b->table[slot_of(b, key)] - 1);
}

double ek_space_saving_lists(const struct ek_space_saving *b, int cell)
{
    return b->counter[cell].count / b->weight;
}

int ek_space_saving_is_assigned(const struct ek_space_saving *b, int cell)
{
    return b->counter[cell].known;
}

/* Remove a candidate from the heap and move the last counter into its place. */
static void remove_candidate(struct ek_space_saving *b, int which)
{
    int place = b->counter[which].place, last = b->cells + --b->used;
    if (place < b->used) {
        place_counter(b, place, b->heap[b->used]);
        sift_down(b, place);
    }
    if (which != last) {
        remove_key(b, b->counter[last].key);
        b->counter[which] = b->counter[last];
        place_counter(b, b->counter[which].place, which);
        store_counter(b, which);
    }
    b->counter[last] = (struct counter){0};
}

void ek_space_saving_assign(struct ek_space_saving *b, uint64_t key, int cell)
{
    int which = b->table[slot_of(b, key)] - 1;
    if (which < b->cells)
        return;
    struct counter *own = &b->counter[cell], *candidate = &b->counter[which], before = *own;
    remove_key(b, key);
    if (before.known)
        remove_key(b, before.key);
    *own = *candidate;
    store_counter(b, cell);
    if (!before.known) {
        remove_candidate(b, which);
        return;
    }
    before.place = candidate->place;
    *candidate = before;
    store_counter(b, which);
    sift_down(b, candidate->place);
}

static void counter_serialize(struct ek_serialize *s, struct counter *c)
{
    ek_serialize_u64(s, &c->key);
    ek_serialize_f64(s, &c->count);
    ek_serialize_f64(s, &c->error);
    ek_serialize_require(s, isfinite(c->count) && c->error >= 0 && c->error <= c->count);
}

/* Serialize the heap in order, because it decides ties between equal counters. */
static void heap_serialize(struct ek_space_saving *b, struct ek_serialize *s)
{
    for (int i = 0; ek_serialize_is_reading(s) && i < b->used; i++)
        b->counter[b->cells + i].place = -1;
    for (int i = 0; i < b->used && !s->rc; i++) {
        ek_serialize_int(s, &b->heap[i], b->cells, b->cells + b->used - 1);
        if (!ek_serialize_is_reading(s))
            continue;
        ek_serialize_require(s, b->counter[b->heap[i]].place < 0 &&
                                    count_at(b, i) >= count_at(b, i ? (i - 1) / 2 : 0));
        b->counter[b->heap[i]].place = i;
    }
}

static void fill_table(struct ek_space_saving *b, struct ek_serialize *s)
{
    for (int i = 0; i < b->cells + b->used; i++) {
        if (!b->counter[i].known)
            continue;
        ek_serialize_require(s, !b->table[slot_of(b, b->counter[i].key)]);
        store_counter(b, i);
    }
}

void ek_space_saving_serialize(struct ek_space_saving *b, struct ek_serialize *s)
{
    ek_serialize_f64(s, &b->weight);
    ek_serialize_require(s, b->weight >= 1 && b->weight < WEIGHT_MOST);
    for (int i = 0; i < b->cells; i++) {
        ek_serialize_int(s, &b->counter[i].known, 0, 1);
        if (b->counter[i].known)
            counter_serialize(s, &b->counter[i]);
    }
    ek_serialize_int(s, &b->used, 0, b->candidates);
    for (int i = b->cells; i < b->cells + b->used; i++) {
        b->counter[i].known = 1;
        counter_serialize(s, &b->counter[i]);
    }
    heap_serialize(b, s);
    if (ek_serialize_is_reading(s))
        fill_table(b, s);
}
