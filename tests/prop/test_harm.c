/* When a route does more harm than the fault it is there for, on hotel lists: what harm says is
 * held against the truth, which is what upstream would say of the lists without the fault. Routes
 * of a model that was taught by its upstream scorer stay where they help, those of one that ranks
 * otherwise are to be taken back. */
#include "score/both_ways.h"

#include "guard/trial_sums.h"
#include "offline/hotel.h"
#include "offline/teacher.h"
#include "offline/train.h"
#include "score/agreement.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { TEACHING = 3000, VALIDATION = 400, SEEDS = 20, MEASURED = 400, PRICE = 0 };

struct world {
    struct ek_manifest *manifest;
    struct ek_model *upstream, *taught;
    struct ek_scorer *of_upstream, *of_taught;
    struct ek_hotel *hotel;
    struct ek_query list;
    struct ek_both_ways *ways;
    struct ek_comparer *comparer;
    double scores[EK_HOTEL_ITEMS_MAX];
};

/* What scores a list in place of the upstream scorer. */
typedef void upstream_scores(struct world *w);

static struct ek_query *next(struct world *w, uint64_t i)
{
    ck_assert_int_eq(ek_hotel_list(w->hotel, i, &w->list, NULL), EK_OK);
    return &w->list;
}

static void by_network(struct world *w)
{
    ck_assert_int_eq(ek_scorer_score(w->of_upstream, &w->list, NULL, w->list.score, NULL), EK_OK);
}

/* The most popular first, for want of anything better the one with breakfast. */
static void by_popularity(struct world *w)
{
    for (int i = 0; i < w->list.items; i++) {
        const float *x = w->list.x + (size_t)i * EK_HOTEL_ITEM_FEATURES;
        w->list.score[i] = log((double)x[8]) + (double)x[11];
    }
}

/* Lists [from, from + count), with labels as they are, or those of the upstream scores. */
static void fill(struct world *w, struct ek_dataset *d, uint64_t from, int count, bool taught)
{
    ek_dataset_init(d, EK_HOTEL_ITEM_FEATURES, EK_HOTEL_QUERY_FEATURES);
    for (int i = 0; i < count; i++) {
        struct ek_query *q = next(w, from + (uint64_t)i);
        if (taught) {
            by_network(w);
            ck_assert_int_eq(ek_teach(q, NULL), EK_OK);
        }
        ck_assert_int_eq(ek_dataset_add(d, q, NULL), EK_OK);
    }
}

static struct ek_model *train(struct world *w, bool taught, struct ek_train_options *o)
{
    struct ek_dataset lists, vali;
    struct ek_model *m;
    struct ek_error e = {0};
    fill(w, &lists, 0, TEACHING, taught);
    fill(w, &vali, TEACHING, VALIDATION, taught);
    int rc = ek_train(&m, w->manifest, &lists, &vali, o, NULL, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_dataset_release(&lists);
    ek_dataset_release(&vali);
    return m;
}

static void train_both(struct world *w)
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
    w->upstream = train(w, false, &plain);
    ck_assert_int_eq(ek_scorer_new(&w->of_upstream, w->upstream, NULL), EK_OK);
    routable.loss = EK_LISTNET;
    w->taught = train(w, true, &routable);
    ck_assert_int_eq(ek_scorer_new(&w->of_taught, w->taught, NULL), EK_OK);
}

static void begin(struct world *w)
{
    const char *text = ek_hotel_manifest();
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->manifest, "m", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, 1, NULL), EK_OK);
    ek_query_init(&w->list);
    ck_assert_int_eq(ek_both_ways_new(&w->ways, NULL), EK_OK);
    ck_assert_int_eq(ek_comparer_new(&w->comparer, NULL), EK_OK);
    train_both(w);
}

static void end(struct world *w)
{
    ek_comparer_free(w->comparer);
    ek_both_ways_free(w->ways);
    ek_scorer_free(w->of_taught);
    ek_scorer_free(w->of_upstream);
    ek_model_free(w->taught);
    ek_model_free(w->upstream);
    ek_query_release(&w->list);
    ek_hotel_free(w->hotel);
    ek_manifest_free(w->manifest);
}

static double distance(struct world *w, const double *a, const double *b)
{
    struct ek_agreement figures;
    bool says;
    ck_assert_int_eq(ek_compare(w->comparer, a, b, w->list.items, &figures, &says, NULL), EK_OK);
    ck_assert(says);
    return (1 - figures.figure[EK_FIGURE_TAU]) / 2;
}

/* Of the taught model, on lists without a fault. */
static double gap_to(struct world *w, upstream_scores *upstream)
{
    double squares = 0;
    for (uint64_t i = 0; i < VALIDATION; i++) {
        next(w, TEACHING + i);
        upstream(w);
        ck_assert_int_eq(ek_scorer_score(w->of_taught, &w->list, NULL, w->scores, NULL), EK_OK);
        squares += pow(distance(w, w->scores, w->list.score), 2) / VALIDATION;
    }
    return sqrt(squares);
}

static void spoil(struct ek_query *q, double factor)
{
    for (int k = 0; k < q->items; k++) {
        float *price = q->x + (size_t)k * EK_HOTEL_ITEM_FEATURES + PRICE;
        *price = (float)((double)*price * factor);
    }
}

/* The list has prices times `factor`; what becomes of it where the price is routed. */
static struct ek_ways try(struct world *w, uint64_t i, upstream_scores *upstream, double factor,
                          double gap)
{
    struct ek_treatment route[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_ROUTE, 0}},
                        repair[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_RESCALE, factor}};
    struct ek_query *q = next(w, i);
    struct ek_ways ways;
    bool says;
    spoil(q, factor);
    upstream(w);
    ck_assert_int_eq(
        ek_both_ways_try(w->ways, w->of_taught,
                         &(struct ek_ways_of){q, route, NULL, NULL, false, repair, gap}, &ways,
                         &says, NULL),
        EK_OK);
    ck_assert(says && ways.has_harm);
    return ways;
}

/* Lists until the route of the price is to be taken back; 0: not within so many. */
static int taken_back(struct world *w, uint64_t seed, upstream_scores *upstream, double factor,
                      double gap, int lists)
{
    struct ek_plan plan = {0};
    struct ek_trials *trials;
    int at = 0;
    ek_hotel_free(w->hotel);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, seed, NULL), EK_OK);
    ck_assert_int_eq(ek_trials_new(&trials, NULL), EK_OK);
    ek_plan_set(&plan, PRICE, 0, (struct ek_treatment){EK_ACT_ROUTE, 0}, 0);
    for (int i = 0; i < lists && !at; i++) {
        struct ek_trial t = {.plan = plan.version, .entries = 1};
        t.ways = try(w, (uint64_t)i, upstream, factor, gap);
        ck_assert_int_eq(ek_trials_take(trials, &plan, &t, NULL), EK_OK);
        if (ek_mean_bets_evidence(&ek_trials_of(trials, &plan.entry[0])->worse) >= EK_HARM_EVIDENCE)
            at = i + 1;
    }
    ek_trials_free(trials);
    return at;
}

/* How much further from upstream without the fault the route is than the fault, in the mean. */
static double true_harm(struct world *w, double factor)
{
    const struct ek_treatment route[EK_HOTEL_ITEM_FEATURES] = {{EK_ACT_ROUTE, 0}};
    double healthy[EK_HOTEL_ITEMS_MAX], sum = 0;
    for (uint64_t i = 0; i < MEASURED; i++) {
        struct ek_query *q = next(w, TEACHING + VALIDATION + i);
        by_network(w);
        memcpy(healthy, q->score, (size_t)q->items * sizeof *healthy);
        spoil(q, factor);
        by_network(w);
        ck_assert_int_eq(ek_scorer_score(w->of_taught, q, route, w->scores, NULL), EK_OK);
        sum += distance(w, w->scores, healthy) - distance(w, q->score, healthy);
    }
    return sum / MEASURED;
}

static double mean_harm(struct world *w, double factor, double gap)
{
    double sum = 0;
    for (uint64_t i = 0; i < MEASURED; i++)
        sum += try(w, TEACHING + VALIDATION + i, by_network, factor, gap).harm;
    return sum / MEASURED;
}

START_TEST(of_a_taught_model_harm_has_the_sign_of_the_truth_and_good_routes_stay)
{
    static const double good[] = {1000, 100, 10, 3, .01}, bad[] = {1.3, 1.1};
    struct world w;
    begin(&w);
    double gap = gap_to(&w, by_network);
    ck_assert(gap > .02 && gap < .1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert(true_harm(&w, bad[i]) > .01);
        ck_assert_msg(mean_harm(&w, bad[i], gap) > 0, "x%g", bad[i]);
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ck_assert(true_harm(&w, good[i]) < -.01);
        ck_assert_msg(mean_harm(&w, good[i], gap) < 0, "x%g", good[i]);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        ck_assert_int_eq(taken_back(&w, 50 + seed, by_network, 100, gap, MEASURED), 0);
    end(&w);
}
END_TEST

START_TEST(routes_of_a_model_that_ranks_otherwise_than_upstream_are_taken_back)
{
    static const double factors[] = {100, 1.3};
    struct world w;
    begin(&w);
    double gap = gap_to(&w, by_popularity);
    ck_assert(gap > .3);
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (int i = 0; i < 2; i++) {
            int at = taken_back(&w, 50 + seed, by_popularity, factors[i], gap, MEASURED);
            ck_assert(at > 10 && at <= 60);
        }
    end(&w);
}
END_TEST

Suite *suite_harm(void)
{
    return ek_suite("harm", of_a_taught_model_harm_has_the_sign_of_the_truth_and_good_routes_stay,
                    routes_of_a_model_that_ranks_otherwise_than_upstream_are_taken_back);
}
