/* Observe: what the detector adds to a decoded list: statistics, evidence, history. */
#include "decide/detector.h"
#include "offline/profile_fit.h"
#include "tests/bench/bench.h"

#include "base/buf.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 136, ITEMS = 20, LISTS = 200, TRAINING = 1500 };

struct work {
    struct ek_detector *detector;
    struct ek_query *lists;
};

static void fill(struct ek_query *q, struct ek_rng *r)
{
    if (ek_query_resize(q, ITEMS, FEATURES, 1))
        abort();
    q->query[0] = 1;
    q->time_ms = 0;
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {ek_rng_uniform(r) < .5 ? "A" : "B", 1}};
    for (int i = 0; i < ITEMS; i++)
        q->item_id[i] = (struct ek_text){NULL, 0};
    for (int f = 0; f < FEATURES; f++) {
        double level = 3 + .3 * ek_rng_normal(r);
        for (int i = 0; i < ITEMS; i++)
            q->x[i * FEATURES + f] = (float)exp(level + .4 * ek_rng_normal(r));
    }
}

static struct ek_profile *profile(const struct ek_manifest *m, struct ek_rng *r)
{
    struct ek_profile_fit *fit;
    struct ek_profile *p;
    struct ek_query q;
    ek_query_init(&q);
    if (ek_profile_fit_new(&fit, m, NULL, NULL))
        abort();
    for (int i = 0; i < TRAINING; i++) {
        fill(&q, r);
        if (ek_profile_fit_add(fit, &q, NULL))
            abort();
    }
    if (ek_profile_fit_finish(fit, &p, NULL))
        abort();
    ek_profile_fit_free(fit);
    ek_query_release(&q);
    return p;
}

static void observe(void *context)
{
    struct work *w = context;
    for (int i = 0; i < LISTS; i++)
        if (ek_detector_observe(w->detector, &w->lists[i], 0, NULL))
            abort();
}

static void one_case(struct ek_bench *b, struct ek_manifest *m, struct ek_profile *p,
                     struct ek_query *lists, const char *text, const char *name)
{
    struct ek_rules *rules;
    struct work w = {NULL, lists};
    struct ek_buf yaml;
    ek_buf_init(&yaml, 0);
    ek_buf_text(&yaml, text);
    if (ek_rules_parse(&rules, m, "bench", text, yaml.length, NULL) ||
        ek_detector_new(&w.detector, m, p, rules, NULL))
        abort();
    const struct ek_contender ours = {NULL, observe, &w};
    ek_bench_case(b, name, "ns/value", (double)LISTS * ITEMS * FEATURES, &ours, 1);
    ek_detector_free(w.detector);
    ek_rules_free(rules);
    ek_buf_release(&yaml);
}

void bench_observe(struct ek_bench *b)
{
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_profile *p = profile(m, &r);
    struct ek_query *lists = ek_bench_memory(LISTS, sizeof *lists);
    for (int i = 0; i < LISTS; i++)
        fill(&lists[i], &r);
    one_case(b, m, p, lists, "version: 1\ndefaults: {same_query: []}\n",
             "observe, 136 features, 20 items, all traffic");
    one_case(b, m, p, lists, "version: 1\ndefaults: {same_query: []}\nsegments: [arm]\n",
             "observe, 136 features, 20 items, all traffic and 2 arms");
    for (int i = 0; i < LISTS; i++)
        ek_query_release(&lists[i]);
    free(lists);
    ek_profile_free(p);
    ek_manifest_free(m);
}
