/* Guard on a small shop, and a store of its checkpoint records like a compacted topic. */
#ifndef EK_TESTS_STATE_WORLD_H
#define EK_TESTS_STATE_WORLD_H

#include "base/buf.h"
#include "lists/codec.h"
#include "evenkeel.h"
#include "serve/assets.h"
#include "tests/guard_model.h"
#include "tests/must.h"
#include "tests/shop.h"

#include <stdlib.h>

static const char STATE_RULES[] =
    "version: 1\n"
    "defaults: {mode: enforce, confirmation_lists: 32, min_duration: 60s}\n"
    "segments: [arm, market]\n"
    "windows: {length: 60s, retention: 3, max_segments: 9}\n";

/* Bytes of a record before its payload. */
enum { STATE_FRAME = 28, STATE_CELLS = 10, STATE_MARKETS = 16, STATE_RECORDS = 2048 };

static inline void state_assets_open(struct ek_assets *a, const char *rules, int training)
{
    *a = (struct ek_assets){.cells = STATE_CELLS, .manifest = shop_manifest()};
    a->profile = shop_profile(a->manifest, training, STATE_MARKETS, "market");
    a->model = guard_model(a->manifest);
    a->model->agreement.lists = 100;
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++) {
        a->model->agreement.mean[i] = .5;
        a->model->agreement.sd[i] = .1;
    }
    must(ek_rules_parse(&a->rules, a->manifest, "rules", rules, strlen(rules), NULL));
    must(ek_codec_new(&a->codec, a->manifest, NULL, NULL, NULL));
}

/* Encode the next list as a message. */
static inline void state_message(struct shop *s, const struct ek_assets *a, struct ek_buf *out,
                                 shop_change *change)
{
    struct ek_list *q = shop_next(s);
    if (change)
        change(s, q);
    ek_buf_clear(out);
    must(ek_codec_encode(a->manifest, q, EK_FEATURES_ARRAY, out, NULL));
}

struct state_record {
    char key[64];
    uint8_t *bytes;
    size_t length;
};

struct state_store {
    struct state_record record[STATE_RECORDS];
    int count, puts, deletes; /* current records; puts and deletes since the last reset */
    size_t bytes;             /* of the puts */
    int fail_after;           /* puts before a failure; 0: never */
};

static inline int state_find(const struct state_store *s, const char *key)
{
    int i = 0;
    while (i < s->count && strcmp(s->record[i].key, key) != 0)
        i++;
    return i;
}

static inline void state_drop(struct state_store *s, int i)
{
    free(s->record[i].bytes);
    s->record[i] = s->record[--s->count];
}

/* An ek_write_fn. */
static inline int state_put(void *to, const char *key, const void *bytes, size_t length)
{
    struct state_store *s = to;
    int i = state_find(s, key);
    if (s->fail_after && !--s->fail_after)
        return 1;
    if (i < s->count)
        state_drop(s, i);
    s->deletes += !bytes;
    if (!bytes)
        return 0;
    if (s->count == STATE_RECORDS)
        return 1;
    s->puts++;
    s->bytes += length;
    struct state_record *r = &s->record[s->count++];
    snprintf(r->key, sizeof r->key, "%s", key);
    r->bytes = malloc(length ? length : 1);
    memcpy(r->bytes, bytes, length);
    r->length = length;
    return 0;
}

/* An ek_write_fn that adds the bytes to a size_t. */
static inline int state_count(void *to, const char *key, const void *bytes, size_t length)
{
    (void)key;
    (void)bytes;
    *(size_t *)to += length;
    return 0;
}

static inline void state_clear(struct state_store *s)
{
    while (s->count)
        state_drop(s, 0);
    *s = (struct state_store){.count = 0};
}

/* Return a state from all records in an order that depends on the seed, with the checkpoint header
 * last. */
static inline struct ek_state *state_of(const struct state_store *s, uint64_t seed)
{
    struct ek_state *state = NULL;
    struct ek_rng r;
    int head = state_find(s, "head"), start, step;
    ek_rng_seed(&r, seed);
    start = (int)ek_rng_uniform_int(&r, (uint64_t)s->count + 1);
    step = ek_rng_uniform_int(&r, 2) ? 1 : s->count - 1;
    must(ek_state_new(&state, NULL));
    for (int n = 0, i = start; n < s->count; n++, i += step) {
        const struct state_record *record = &s->record[i % s->count];
        if (i % s->count != head)
            must(ek_state_add(state, record->key, record->bytes, record->length, NULL));
    }
    if (head < s->count)
        must(ek_state_add(state, "head", s->record[head].bytes, s->record[head].length, NULL));
    return state;
}

#endif
