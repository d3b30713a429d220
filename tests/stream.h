/* Small stream of lists with known distributions, for tests of the detector and the guard. Item
 * features are price and size (log-normal) and flag (0 or 1); the query feature is nights (1..7);
 * the segment is arm A or B. */
#ifndef EK_TESTS_STREAM_H
#define EK_TESTS_STREAM_H

#include "base/rng.h"
#include "schema/manifest.h"
#include "assets/profile.h"
#include "lists/list.h"
#include "offline/fit/profile_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char STREAM_MANIFEST[] =
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true, positive: true}\n"
    "  - {name: size, index: 2, role: item, routable: true, positive: true}\n"
    "  - {name: flag, index: 3, role: item}\n"
    "  - {name: nights, index: 4, role: query}\n";

struct stream {
    struct ek_rng rng;
    struct ek_list query;
    uint64_t number;
    char id[32];
    char item_ids[64][16];
    int arm_b;
};

static inline struct ek_manifest *stream_manifest(void)
{
    struct ek_manifest *m = NULL;
    ek_manifest_parse(&m, "stream.yaml", STREAM_MANIFEST, sizeof STREAM_MANIFEST - 1, NULL);
    return m;
}

static inline void stream_start(struct stream *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    ek_rng_seed(&s->rng, seed);
    ek_list_init(&s->query);
}

static inline void stream_end(struct stream *s)
{
    ek_list_release(&s->query);
}

static inline struct ek_text stream_text(const char *text)
{
    return (struct ek_text){text, strlen(text)};
}

/* Return the next list. */
static inline struct ek_list *stream_next(struct stream *s)
{
    struct ek_list *q = &s->query;
    int items = 5 + (int)ek_rng_uniform_int(&s->rng, 20);
    double level = 4.6 + .3 * ek_rng_normal(&s->rng);
    ek_list_resize(q, items, 3, 1);
    q->query[0] = (float)(1 + ek_rng_uniform_int(&s->rng, 7));
    s->arm_b = ek_rng_uniform(&s->rng) < .5;
    q->segments[0] = (struct ek_segment){stream_text("arm"), stream_text(s->arm_b ? "B" : "A")};
    q->segment_count = 1;
    q->time_ms = 1000 * (int64_t)s->number;
    snprintf(s->id, sizeof s->id, "q%llu", (unsigned long long)s->number++);
    q->id = stream_text(s->id);
    q->has_label = false;
    for (int i = 0; i < items; i++) {
        q->x[3 * i] = (float)exp(level + .4 * ek_rng_normal(&s->rng));
        q->x[3 * i + 1] = (float)exp(3 + .25 * ek_rng_normal(&s->rng));
        q->x[3 * i + 2] = ek_rng_uniform(&s->rng) < .4;
        snprintf(s->item_ids[i], sizeof s->item_ids[i], "i%llu-%d", (unsigned long long)s->number,
                 i);
        q->item_id[i] = stream_text(s->item_ids[i]);
        q->score[i] = ek_rng_normal(&s->rng);
        q->label[i] = 0;
    }
    return q;
}

/* Multiply a feature in every item of a list. */
static inline void stream_scale(struct ek_list *q, int feature, double factor)
{
    for (int i = 0; i < q->items; i++)
        q->x[3 * i + feature] = (float)(q->x[3 * i + feature] * factor);
}

/* Return a profile of that many lists, each changed by `habit` first (NULL: unchanged). */
static inline struct ek_profile *stream_profile_of(const struct ek_manifest *m, int lists,
                                                   void (*habit)(struct ek_list *q))
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct stream s;
    stream_start(&s, 100);
    ek_profile_fit_new(&fit, m, NULL, NULL);
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = stream_next(&s);
        if (habit)
            habit(q);
        ek_profile_fit_add(fit, q, NULL);
    }
    ek_profile_fit_finish(fit, &p, NULL);
    ek_profile_fit_free(fit);
    stream_end(&s);
    return p;
}

static inline struct ek_profile *stream_profile(const struct ek_manifest *m, int lists)
{
    return stream_profile_of(m, lists, NULL);
}

#endif
