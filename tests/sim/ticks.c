/* Size and cost of fleet records, by features and segments. Prints one JSON object per line. */
#include "base/rng.h"
#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "offline/fit/profile_fit.h"
#include "tests/measure.h"
#include "tests/must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { ITEMS = 20, TRAINING = 600, LISTS = 100, WARM = 300, ROUNDS = 20, ZSTD_LEVEL = 3 };

static struct ek_manifest *manifest_of(int features)
{
    struct ek_manifest *m = NULL;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    must(ek_buf_text(&text, "features:\n"));
    for (int i = 0; i < features; i++)
        must(ek_buf_printf(&text, "  - {name: f%d, index: %d, role: item, routable: true}\n", i,
                           i + 1));
    must(ek_buf_printf(&text, "  - {name: q, index: %d, role: query}\n", features + 1));
    must(ek_manifest_parse(&m, "m", (const char *)text.data, text.length, NULL));
    ek_buf_release(&text);
    return m;
}

static void list(struct ek_list *q, int features, int arms, struct ek_rng *r, uint64_t number)
{
    static char arm[24];
    must(ek_list_resize(q, ITEMS, features, 1));
    snprintf(arm, sizeof arm, "value-%d", (int)ek_rng_uniform_int(r, (uint64_t)arms));
    q->query[0] = (float)ek_rng_uniform(r);
    q->time_ms = (int64_t)number;
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {arm, strlen(arm)}};
    for (int i = 0; i < ITEMS; i++)
        q->item_id[i] = (struct ek_text){NULL, 0};
    for (int f = 0; f < features; f++) {
        double level = 3 + .3 * ek_rng_normal(r);
        for (int i = 0; i < ITEMS; i++)
            q->x[i * features + f] = (float)exp(level + .4 * ek_rng_normal(r));
    }
}

static int keep(void *context, const void *bytes, size_t length)
{
    ek_buf_clear(context);
    return ek_buf_add(context, bytes, length);
}

static size_t squeezed(const struct ek_buf *b)
{
    size_t room = ZSTD_compressBound(b->length);
    void *to = malloc(room);
    size_t length = to ? ZSTD_compress(to, room, b->data, b->length, ZSTD_LEVEL) : 0;
    free(to);
    return length;
}

/* Return the best time to receive the record and advance the leader. */
static double taking_ms(const struct ek_manifest *m, const struct ek_profile *p,
                        const struct ek_rules *rules, const struct ek_buf *record)
{
    struct ek_fleet_pool *pool;
    double best = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        must(ek_fleet_pool_new(&pool, m, p, rules, 1, 4096, NULL));
        double from = ek_measure_seconds();
        must(ek_fleet_pool_add(pool, record->data, record->length, 0, NULL));
        double took = ek_measure_seconds() - from;
        best = took < best ? took : best;
        ek_fleet_pool_free(pool);
    }
    return 1000 * best;
}

static void measure(int features, int arms)
{
    static const char text[] = "version: 1\nsegments: [arm]\n";
    struct ek_manifest *m = manifest_of(features);
    struct ek_profile_fit *fit;
    struct ek_profile *p;
    struct ek_rules *rules = NULL;
    struct ek_detector *d;
    struct ek_fleet_instance *member;
    struct ek_list q;
    struct ek_rng r;
    struct ek_buf record;
    uint64_t number = 0;
    ek_list_init(&q);
    ek_buf_init(&record, 0);
    ek_rng_seed(&r, 5);
    must(ek_profile_fit_new(&fit, m, NULL, NULL));
    for (int i = 0; i < TRAINING; i++) {
        list(&q, features, arms, &r, number++);
        must(ek_profile_fit_add(fit, &q, NULL));
    }
    must(ek_profile_fit_finish(fit, &p, NULL));
    must(ek_rules_parse(&rules, m, "rules", text, sizeof text - 1, NULL));
    must(ek_detector_new(&d, m, p, rules, NULL));
    const struct ek_fleet_instance_setup setup = {p, "node-17", 1, 4096};
    must(ek_fleet_instance_new(&member, d, &setup, NULL));
    for (int i = 0; i < WARM + LISTS; i++) {
        if (i == WARM)
            must(ek_fleet_instance_report(member, 0, keep, &record, NULL));
        list(&q, features, arms, &r, number++);
        must(ek_detector_observe(d, &q, q.time_ms, NULL));
    }
    must(ek_fleet_instance_report(member, (int64_t)number, keep, &record, NULL));
    printf("{\"features\":%d,\"cells\":%d,\"bytes\":%zu,\"zstd\":%zu,\"take_ms\":%.3f}\n", features,
           ek_cells_count(ek_detector_registry(d)), record.length, squeezed(&record),
           taking_ms(m, p, rules, &record));
    fflush(stdout);
    ek_fleet_instance_free(member);
    ek_detector_free(d);
    ek_rules_free(rules);
    ek_profile_free(p);
    ek_profile_fit_free(fit);
    ek_manifest_free(m);
    ek_list_release(&q);
    ek_buf_release(&record);
}

int main(void)
{
    measure(13, 2);
    measure(136, 2);
    measure(136, 8);
    measure(136, 32);
    return 0;
}
