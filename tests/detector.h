/* Detector on a small stream, with injected faults and its most recent findings. */
#ifndef EK_TESTS_DETECTOR_H
#define EK_TESTS_DETECTOR_H

#include "detect/detector.h"
#include "tests/check.h"
#include "tests/stream_world.h"

enum { TRAINING = 6000, BEFORE = 600 };

static const char RULES[] =
    "version: 1\n"
    "defaults: {false_alarms: 1 per 10000000 lists, confirmation_lists: 64}\n"
    "segments: [arm]\n";

struct bench {
    struct stream_world world;
    struct ek_detector *detector;
    /* last finding and count, by state */
    struct ek_finding last[5];
    int count[5];
    int told[3]; /* open confirmed finding for all traffic, arm A, arm B */
};

static inline void setup_with(struct bench *b, uint64_t seed, const char *rules)
{
    memset(b, 0, sizeof *b);
    stream_world_start(&b->world, rules, TRAINING, seed);
    ck_assert_int_eq(
        ek_detector_new(&b->detector, b->world.manifest, b->world.profile, b->world.rules, NULL),
        EK_OK);
}

static inline void setup(struct bench *b, uint64_t seed)
{
    setup_with(b, seed, RULES);
}

static inline void teardown(struct bench *b)
{
    ek_detector_free(b->detector);
    stream_world_end(&b->world);
}

static inline void observe(struct bench *b, const struct ek_list *q)
{
    struct ek_finding f;
    ck_assert_int_eq(ek_detector_observe(b->detector, q, q->time_ms, NULL), EK_OK);
    while (ek_detector_next(b->detector, &f)) {
        int where = !f.value ? 0 : *f.value == 'B' ? 2 : 1;
        b->last[f.state] = f;
        b->count[f.state]++;
        if (f.state == EK_CONFIRMED || f.class != EK_CLASS_NONE)
            b->told[where] = f.state == EK_CONFIRMED || f.state == EK_UPDATED;
    }
}

/* Return the last confirmation or update, whichever is newer. */
static inline const struct ek_finding *newest(const struct bench *b)
{
    bool updated = b->count[EK_UPDATED] && b->last[EK_UPDATED].query > b->last[EK_CONFIRMED].query;
    return &b->last[updated ? EK_UPDATED : EK_CONFIRMED];
}

/* Fault injected into one list of the faulty part of a stream. */
typedef void fault(struct bench *b, struct ek_list *q);

static inline void run(struct bench *b, int lists, fault *harm)
{
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&b->world.stream);
        if (harm)
            harm(b, q);
        observe(b, q);
    }
}

static inline void cents(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, 100);
}

static inline void cents_in_arm_b(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.arm_b)
        stream_scale(q, 0, 100);
}

static inline void full_stay(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, q->query[0]);
}

static inline void three_percent(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 0, 1.03);
}

static inline void eight_percent(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, 1.08);
}

static inline void a_third_more(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, 1.08 * 1.3);
}

static inline void turned(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, -1);
}

static inline void zeroed(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, 0);
}

static inline void absent(struct bench *b, struct ek_list *q)
{
    (void)b;
    stream_scale(q, 1, NAN);
}

static inline void stuck(struct bench *b, struct ek_list *q)
{
    (void)b;
    for (int i = 0; i < q->items; i++)
        q->x[3 * i + 1] = 20;
}

static inline void squared(struct bench *b, struct ek_list *q)
{
    (void)b;
    for (int i = 0; i < q->items; i++)
        q->x[3 * i] *= q->x[3 * i];
}

#endif
