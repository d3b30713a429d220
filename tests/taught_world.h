/* Hotel lists, an upstream scorer and a model distilled from it, for tests of the effect of a
 * route on ranking. */
#ifndef EK_TESTS_TAUGHT_WORLD_H
#define EK_TESTS_TAUGHT_WORLD_H

#include "offline/world/hotel.h"
#include "offline/train/distillation.h"
#include "offline/train/training.h"
#include "score/agreement.h"
#include "score/rank_comparison.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { TEACHING = 3000, VALIDATION = 400, PRICE = 0 };

struct taught_world {
    struct ek_manifest *manifest;
    struct ek_model *upstream, *taught;
    struct ek_scorer *of_upstream, *of_taught;
    struct ek_hotel *hotel;
    struct ek_list list;
    struct ek_rank_comparison *ways;
    struct ek_ranker *comparer;
    double scores[EK_HOTEL_ITEMS_MAX];
};

/* Score a list in place of the upstream scorer. */
typedef void upstream_scores(struct taught_world *w);

static inline struct ek_list *taught_next(struct taught_world *w, uint64_t i)
{
    ck_assert_int_eq(ek_hotel_list(w->hotel, i, &w->list, NULL), EK_OK);
    return &w->list;
}

static inline void by_network(struct taught_world *w)
{
    ck_assert_int_eq(ek_scorer_score(w->of_upstream, &w->list, NULL, w->list.score, NULL), EK_OK);
}

/* Score by popularity, then by breakfast. */
static inline void by_popularity(struct taught_world *w)
{
    for (int i = 0; i < w->list.items; i++) {
        const float *x = w->list.x + (size_t)i * EK_HOTEL_ITEM_FEATURES;
        w->list.score[i] = log((double)x[8]) + (double)x[11];
    }
}

/* Fill a data set with lists [from, from + count), with their own labels or those of the upstream
 * scores. */
static inline void taught_fill(struct taught_world *w, struct ek_dataset *d, uint64_t from,
                               int count, bool taught)
{
    ek_dataset_init(d, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    for (int i = 0; i < count; i++) {
        struct ek_list *q = taught_next(w, from + (uint64_t)i);
        if (taught) {
            by_network(w);
            ck_assert_int_eq(ek_distill(q, NULL), EK_OK);
        }
        ck_assert_int_eq(ek_dataset_add(d, q, NULL), EK_OK);
    }
}

static inline struct ek_model *taught_train(struct taught_world *w, bool taught,
                                            struct ek_train_options *o)
{
    struct ek_dataset lists, vali;
    struct ek_model *m;
    struct ek_error e = {0};
    taught_fill(w, &lists, 0, TEACHING, taught);
    taught_fill(w, &vali, TEACHING, VALIDATION, taught);
    int rc = ek_train(&m, w->manifest, &lists, &vali, o, NULL, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_dataset_release(&lists);
    ek_dataset_release(&vali);
    return m;
}

static inline void taught_train_both(struct taught_world *w)
{
    struct ek_train_options plain, routable;
    ek_train_defaults(&routable);
    routable.epochs = 8;
    routable.shape.hidden[0] = 32;
    routable.shape.hidden[1] = 16;
    plain = routable;
    plain.routing = EK_ROUTING_NONE;
    plain.shape.log_input = EK_LOG_NONE;
    plain.shape.mask_input = false;
    w->upstream = taught_train(w, false, &plain);
    ck_assert_int_eq(ek_scorer_new(&w->of_upstream, w->upstream, NULL), EK_OK);
    routable.loss = EK_LISTNET;
    w->taught = taught_train(w, true, &routable);
    ck_assert_int_eq(ek_scorer_new(&w->of_taught, w->taught, NULL), EK_OK);
}

static inline void taught_begin(struct taught_world *w)
{
    const char *text = ek_hotel_manifest();
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->manifest, "m", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, 1, NULL), EK_OK);
    ek_list_init(&w->list);
    ck_assert_int_eq(ek_rank_comparison_new(&w->ways, NULL), EK_OK);
    ck_assert_int_eq(ek_ranker_new(&w->comparer, NULL), EK_OK);
    taught_train_both(w);
}

static inline void taught_end(struct taught_world *w)
{
    ek_ranker_free(w->comparer);
    ek_rank_comparison_free(w->ways);
    ek_scorer_free(w->of_taught);
    ek_scorer_free(w->of_upstream);
    ek_model_free(w->taught);
    ek_model_free(w->upstream);
    ek_list_release(&w->list);
    ek_hotel_free(w->hotel);
    ek_manifest_free(w->manifest);
}

static inline double taught_distance(struct taught_world *w, const double *a, const double *b)
{
    struct ek_agreement figures;
    bool valid;
    ck_assert_int_eq(ek_compare(w->comparer, a, b, w->list.items, &figures, &valid, NULL), EK_OK);
    ck_assert(valid);
    return (1 - figures.figure[EK_AGREEMENT_TAU]) / 2;
}

/* Return the root mean square distance of the distilled model from upstream, on lists without a
 * fault. */
static inline double taught_gap(struct taught_world *w, upstream_scores *upstream)
{
    double squares = 0;
    for (uint64_t i = 0; i < VALIDATION; i++) {
        taught_next(w, TEACHING + i);
        upstream(w);
        ck_assert_int_eq(ek_scorer_score(w->of_taught, &w->list, NULL, w->scores, NULL), EK_OK);
        squares += pow(taught_distance(w, w->scores, w->list.score), 2) / VALIDATION;
    }
    return sqrt(squares);
}

static inline void taught_spoil(struct ek_list *q, double factor)
{
    for (int k = 0; k < q->items; k++) {
        float *price = q->x + (size_t)k * EK_HOTEL_ITEM_FEATURES + PRICE;
        *price = (float)((double)*price * factor);
    }
}

#endif
