/* Small generated lists to train on, and a recipe that learns them in a moment. */
#ifndef EK_TESTS_TRAIN_SET_H
#define EK_TESTS_TRAIN_SET_H

#include "base/rng.h"
#include "offline/train.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const char EK_SMALL_MANIFEST[] = "features:\n"
                                        "  - {name: price, index: 1, role: item, routable: true}\n"
                                        "  - {name: rating, index: 2, role: item, routable: true}\n"
                                        "  - {name: chain, index: 3, role: item}\n"
                                        "  - {name: nights, index: 4, role: query}\n";
enum { EK_SMALL_FEATURES = 3, EK_SMALL_QUERIES = 1 };

static inline struct ek_manifest *ek_small_manifest(void)
{
    struct ek_manifest *m;
    struct ek_error e;
    ck_assert_int_eq(ek_manifest_parse(&m, "m", EK_SMALL_MANIFEST, strlen(EK_SMALL_MANIFEST), &e),
                     EK_OK);
    return m;
}

/* The cheapest item for its rating is the best; some values are missing or 0. */
static inline void ek_small_list(struct ek_query *q, struct ek_rng *r)
{
    int n = 3 + (int)ek_rng_below(r, 6), best = 0;
    double high = -INFINITY;
    ck_assert_int_eq(ek_query_resize(q, n, EK_SMALL_FEATURES, EK_SMALL_QUERIES), EK_OK);
    q->has_label = true;
    q->query[0] = (float)(1 + ek_rng_below(r, 14));
    for (int i = 0; i < n; i++) {
        double price = exp(4 + ek_rng_normal(r)), rating = exp(0.3 * ek_rng_normal(r));
        double value = 2 * log(rating) - log(price) + 0.2 * ek_rng_gumbel(r);
        float *x = q->x + i * EK_SMALL_FEATURES;
        x[0] = (float)price;
        x[1] = ek_rng_below(r, 20) ? (float)rating : 0;
        x[2] = ek_rng_below(r, 20) ? (float)ek_rng_below(r, 2) : NAN;
        q->label[i] = 0;
        if (value > high) {
            high = value;
            best = i;
        }
    }
    q->label[best] = 2;
}

static inline void ek_small_data(struct ek_dataset *d, uint64_t seed, int lists)
{
    struct ek_rng r;
    struct ek_query q;
    struct ek_error e;
    ek_rng_seed(&r, seed);
    ek_query_init(&q);
    q.id = (struct ek_text){"q", 1};
    ek_dataset_init(d, EK_SMALL_FEATURES, EK_SMALL_QUERIES);
    for (int i = 0; i < lists; i++) {
        ek_small_list(&q, &r);
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_query_release(&q);
}

static inline struct ek_train_options ek_small_options(void)
{
    struct ek_train_options o;
    ek_train_defaults(&o);
    o.epochs = 4;
    o.batch_lists = 20;
    o.learning_rate = 1e-2;
    o.shape.hidden[0] = 12;
    o.shape.hidden[1] = 5;
    return o;
}

#endif
