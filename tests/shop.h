/* Stream of lists with a category, for tests.
 *
 * Item features are price (log-normal) and kind (codes 1 to 8); the query feature is nights;
 * segments are arm (A, B) and market. Each market prefers other kinds. An item tends to repeat the
 * kind of the previous one, so a list carries less information than its items.
 */
#ifndef EK_TESTS_SHOP_H
#define EK_TESTS_SHOP_H

#include "base/rng.h"
#include "schema/manifest.h"
#include "assets/profile.h"
#include "lists/list.h"
#include "offline/fit/profile_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHOP_MARKETS_MAX = 24, SHOP_KINDS = 8 };

static const char SHOP_MANIFEST[] = "features:\n"
                                    "  - {name: price, index: 1, role: item, routable: true}\n"
                                    "  - {name: kind, index: 2, role: item, type: category}\n"
                                    "  - {name: nights, index: 3, role: query}\n";

struct shop {
    struct ek_rng rng;
    struct ek_list query;
    uint64_t number;
    int markets, market, arm_b;
    double liked[SHOP_MARKETS_MAX][SHOP_KINDS]; /* cumulative fractions */
    char market_name[8], id[32], item_ids[32][24];
};

/* Change to a list before it is observed; NULL: none. */
typedef void shop_change(struct shop *s, struct ek_list *q);

static inline struct ek_manifest *shop_manifest(void)
{
    struct ek_manifest *m = NULL;
    ek_manifest_parse(&m, "shop.yaml", SHOP_MANIFEST, sizeof SHOP_MANIFEST - 1, NULL);
    return m;
}

/* With one market, fractions halve from kind 1 on. With more, each has its own from a fixed seed.
 */
static inline void shop_open(struct shop *s, uint64_t seed, int markets)
{
    memset(s, 0, sizeof *s);
    s->markets = markets;
    ek_rng_seed(&s->rng, 77);
    for (int m = 0; m < markets; m++) {
        double sum = 0;
        for (int k = 0; k < SHOP_KINDS; k++)
            s->liked[m][k] = sum += markets == 1 ? pow(.5, k) : ek_rng_exponential(&s->rng);
        for (int k = 0; k < SHOP_KINDS; k++)
            s->liked[m][k] /= sum;
    }
    ek_rng_seed(&s->rng, seed);
    ek_list_init(&s->query);
}

static inline void shop_close(struct shop *s)
{
    ek_list_release(&s->query);
}

static inline float shop_kind(struct shop *s)
{
    double at = ek_rng_uniform(&s->rng);
    int k = 0;
    while (k < SHOP_KINDS - 1 && s->liked[s->market][k] < at)
        k++;
    return (float)(1 + k);
}

static inline struct ek_text shop_text(const char *text)
{
    return (struct ek_text){text, strlen(text)};
}

static inline struct ek_list *shop_next(struct shop *s)
{
    struct ek_list *q = &s->query;
    int items = 10 + (int)ek_rng_uniform_int(&s->rng, 21);
    ek_list_resize(q, items, 2, 1);
    s->market = (int)ek_rng_uniform_int(&s->rng, (uint64_t)s->markets);
    s->arm_b = ek_rng_uniform(&s->rng) < .5;
    snprintf(s->market_name, sizeof s->market_name, "m%d", s->market);
    snprintf(s->id, sizeof s->id, "q%llu", (unsigned long long)s->number++);
    q->id = shop_text(s->id);
    q->time_ms = 1000 * (int64_t)s->number;
    q->query[0] = (float)(10 * ek_rng_uniform(&s->rng));
    q->segments[0] = (struct ek_segment){shop_text("arm"), shop_text(s->arm_b ? "B" : "A")};
    q->segments[1] = (struct ek_segment){shop_text("market"), shop_text(s->market_name)};
    q->segment_count = 2;
    for (int i = 0; i < items; i++) {
        int same = i && ek_rng_uniform(&s->rng) < .3;
        q->x[2 * i] = (float)exp(4 + .3 * ek_rng_normal(&s->rng));
        q->x[2 * i + 1] = same ? q->x[2 * i - 1] : shop_kind(s);
        q->score[i] = -i;
        snprintf(s->item_ids[i], sizeof s->item_ids[i], "i%llu-%d", (unsigned long long)s->number,
                 i);
        q->item_id[i] = shop_text(s->item_ids[i]);
    }
    return q;
}

/* Return a profile of that many lists, each changed by `habit` first. `field` is the
 * stratification field, or NULL. */
static inline struct ek_profile *shop_profile_of(const struct ek_manifest *m, int lists,
                                                 int markets, const char *field, shop_change *habit)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct shop s;
    shop_open(&s, 1, markets);
    ek_profile_fit_new(&fit, m, field, NULL);
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = shop_next(&s);
        if (habit)
            habit(&s, q);
        ek_profile_fit_add(fit, q, NULL);
    }
    ek_profile_fit_finish(fit, &p, NULL);
    ek_profile_fit_free(fit);
    shop_close(&s);
    return p;
}

static inline struct ek_profile *shop_profile(const struct ek_manifest *m, int lists, int markets,
                                              const char *field)
{
    return shop_profile_of(m, lists, markets, field, NULL);
}

#endif
