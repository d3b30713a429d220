/* Small synthetic training lists, and options that learn them quickly. */
#ifndef EK_TESTS_TRAIN_SET_H
#define EK_TESTS_TRAIN_SET_H

#include "base/rng.h"
#include "daemon/training/train_args.h"
#include "assets/tensors.h"
#include "offline/train/training.h"
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

/* Set a list in which the cheapest item for its rating is best; some values are missing or 0. */
static inline void ek_small_list(struct ek_list *q, struct ek_rng *r)
{
    int n = 3 + (int)ek_rng_uniform_int(r, 6), best = 0;
    double high = -INFINITY;
    ck_assert_int_eq(ek_list_resize(q, n, EK_SMALL_FEATURES, EK_SMALL_QUERIES), EK_OK);
    q->has_label = true;
    q->query[0] = (float)(1 + ek_rng_uniform_int(r, 14));
    for (int i = 0; i < n; i++) {
        double price = exp(4 + ek_rng_normal(r)), rating = exp(0.3 * ek_rng_normal(r));
        double value = 2 * log(rating) - log(price) + 0.2 * ek_rng_gumbel(r);
        float *x = q->x + i * EK_SMALL_FEATURES;
        x[0] = (float)price;
        x[1] = ek_rng_uniform_int(r, 20) ? (float)rating : 0;
        x[2] = ek_rng_uniform_int(r, 20) ? (float)ek_rng_uniform_int(r, 2) : NAN;
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
    struct ek_list q;
    struct ek_error e;
    ek_rng_seed(&r, seed);
    ek_list_init(&q);
    q.id = (struct ek_text){"q", 1};
    ek_dataset_init(d, EK_SMALL_FEATURES, EK_SMALL_QUERIES);
    for (int i = 0; i < lists; i++) {
        ek_small_list(&q, &r);
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    }
    ek_list_release(&q);
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

/* Train and return a model; set the manifest and the data sets. */
static inline struct ek_model *ek_trained(struct ek_manifest *m, struct ek_dataset *train,
                                          struct ek_dataset *vali, const struct ek_train_options *o,
                                          struct ek_train_progress *last)
{
    struct ek_model *model;
    struct ek_error e = {0};
    int code = ek_train(&model, m, train, vali, o, last, &e);
    ck_assert_msg(code == EK_OK, "%s", e.message);
    ek_dataset_release(train);
    ek_dataset_release(vali);
    ek_manifest_free(m);
    return model;
}

static inline void ek_check_same_weights(const struct ek_model *a, const struct ek_model *b)
{
    for (size_t i = 0; i < ek_tensors_count(a->storage); i++) {
        const struct ek_tensor *x = ek_tensors_at(a->storage, i);
        const struct ek_tensor *y = ek_tensors_find(b->storage, x->name);
        ck_assert_mem_eq(x->data, y->data, x->count * sizeof(float));
    }
}

static inline void ek_run_on_pool(void *context, void (*task)(void *arg, int i), void *arg,
                                  int count)
{
    ek_pool_run(context, task, arg, count);
}

/* Check that another number of threads gives the same model as `alone`, trained by one thread. */
static inline void ek_check_threads(const struct ek_model *alone, struct ek_train_options o,
                                    struct ek_model *(*train)(const struct ek_train_options *o))
{
    for (int threads = 2; threads <= 5; threads += 3) {
        o.context = ek_pool_new(threads);
        o.run = ek_run_on_pool;
        struct ek_model *m = train(&o);
        ek_check_same_weights(alone, m);
        ek_model_free(m);
        ek_pool_free(o.context);
    }
}

#endif
