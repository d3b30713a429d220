#include "num/misra_gries.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 64 };

struct ek_misra_gries {
    size_t most, count, slots; /* slots: a power of two, at least twice `count` */
    struct ek_misra_gries_key *slot;
};

int ek_misra_gries_new(struct ek_misra_gries **out, size_t most)
{
    struct ek_misra_gries *h = ek_calloc(1, sizeof *h);
    if (!h)
        return EK_ENOMEM;
    h->most = most;
    h->slots = FIRST_SLOTS;
    h->slot = ek_calloc(h->slots, sizeof *h->slot);
    if (!h->slot) {
        ek_free(h);
        return EK_ENOMEM;
    }
    *out = h;
    return EK_OK;
}

void ek_misra_gries_free(struct ek_misra_gries *h)
{
    if (!h)
        return;
    ek_free(h->slot);
    ek_free(h);
}

/* Return a hash of keys that may differ in few bits (the finalizer of MurmurHash3; Appleby). */
static uint64_t mixed(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdULL;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ULL;
    return x ^ x >> 33;
}

/* Return the slot of a key, or the empty slot for it. */
static struct ek_misra_gries_key *slot_of(struct ek_misra_gries_key *slot, size_t slots,
                                          uint64_t key)
{
    size_t i = (size_t)mixed(key) & (slots - 1);
    while (slot[i].times && slot[i].key != key)
        i = (i + 1) & (slots - 1);
    return &slot[i];
}

/* Move all keys to a table of `slots`, and subtract `less` from their weights. Return 0, or
 * EK_ENOMEM without a change. */
static int rebuild(struct ek_misra_gries *h, size_t slots, uint64_t less)
{
    struct ek_misra_gries_key *slot = ek_calloc(slots, sizeof *slot);
    if (!slot)
        return EK_ENOMEM;
    h->count = 0;
    for (size_t i = 0; i < h->slots; i++) {
        struct ek_misra_gries_key k = h->slot[i];
        if (!k.times || k.weight <= less)
            continue;
        k.weight -= less;
        *slot_of(slot, slots, k.key) = k;
        h->count++;
    }
    ek_free(h->slot);
    h->slot = slot;
    h->slots = slots;
    return EK_OK;
}

static int by_weight(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Subtract the median, which removes at least half of the keys. */
static int prune(struct ek_misra_gries *h)
{
    uint64_t *weight = ek_calloc(h->count, sizeof *weight);
    size_t n = 0;
    if (!weight)
        return EK_ENOMEM;
    for (size_t i = 0; i < h->slots; i++)
        if (h->slot[i].times)
            weight[n++] = h->slot[i].weight;
    qsort(weight, n, sizeof *weight, by_weight);
    uint64_t median = weight[n / 2];
    ek_free(weight);
    return rebuild(h, h->slots, median);
}

int ek_misra_gries_add_weight(struct ek_misra_gries *h, const struct ek_misra_gries_key *key)
{
    if (!key->weight)
        return EK_OK;
    struct ek_misra_gries_key *k = slot_of(h->slot, h->slots, key->key);
    if (!k->times && 2 * (h->count + 1) > h->slots) {
        if (h->count >= h->most ? prune(h) : rebuild(h, 2 * h->slots, 0))
            return EK_ENOMEM;
        k = slot_of(h->slot, h->slots, key->key);
    }
    h->count += !k->times;
    k->key = key->key;
    k->weight += key->weight;
    k->times += key->times;
    return EK_OK;
}

int ek_misra_gries_add(struct ek_misra_gries *h, uint64_t key, uint64_t weight)
{
    return ek_misra_gries_add_weight(h, &(struct ek_misra_gries_key){key, weight, 1});
}

size_t ek_misra_gries_count(const struct ek_misra_gries *h)
{
    return h->count;
}

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const struct ek_misra_gries_key *)a)->key,
             y = ((const struct ek_misra_gries_key *)b)->key;
    return (x > y) - (x < y);
}

void ek_misra_gries_list(const struct ek_misra_gries *h, struct ek_misra_gries_key *out)
{
    size_t n = 0;
    for (size_t i = 0; i < h->slots; i++)
        if (h->slot[i].times)
            out[n++] = h->slot[i];
    qsort(out, n, sizeof *out, by_key);
}
