/* Levels relative to query features: which features get slopes, what the detector sees with them,
 * and the file. */
#include "assets/query_slopes.h"
#include "base/rng.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: total, index: 2, role: item}\n"
                               "  - {name: nights, index: 3, role: query}\n"
                               "  - {name: guests, index: 4, role: query}\n"
                               "  - {name: place, index: 5, role: query, type: category}\n";
static const char RULES[] = "version: 1\n";

enum { ITEMS = 8, FEATURES = 2, QUERIES = 3, TRAINING = 6000, NIGHTS_MAX = 14 };
enum { PRICE, TOTAL };
enum { NIGHTS, GUESTS, PLACE };

/* Stays of 1 to 14 nights, mostly short ones: total = price * nights. */
struct world {
    struct ek_manifest *m;
    struct ek_rng rng;
    struct ek_list q;
    double factor; /* of the total */
    int nights;    /* of all lists; 0: any */
    bool turns;    /* in the second half of training, the total falls with the nights */
    int lists;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ek_rng_seed(&w->rng, 3);
    ek_list_init(&w->q);
    w->factor = 1;
}

static void end(struct world *w)
{
    ek_list_release(&w->q);
    ek_manifest_free(w->m);
}

static int draw_nights(struct world *w)
{
    int nights = 1;
    while (nights < NIGHTS_MAX && ek_rng_uniform(&w->rng) < .55)
        nights++;
    return nights;
}

static struct ek_list *next(struct world *w)
{
    struct ek_list *q = &w->q;
    int nights = w->nights ? w->nights : draw_nights(w);
    double level = .3 * ek_rng_normal(&w->rng);
    double power = w->turns && w->lists > TRAINING / 2 ? -1 : 1;
    ck_assert_int_eq(ek_list_resize(q, ITEMS, FEATURES, QUERIES), EK_OK);
    q->query[NIGHTS] = (float)nights;
    q->query[GUESTS] = (float)(1 + ek_rng_uniform_int(&w->rng, 4));
    q->query[PLACE] = (float)ek_rng_uniform_int(&w->rng, 5);
    for (int i = 0; i < ITEMS; i++) {
        double price = 80 * exp(level + .4 * ek_rng_normal(&w->rng));
        q->x[FEATURES * i + PRICE] = (float)price;
        q->x[FEATURES * i + TOTAL] = (float)(price * pow(nights, power) * w->factor);
    }
    w->lists++;
    return q;
}

static struct ek_profile *train(struct world *w)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->m, NULL, NULL), EK_OK);
    for (int i = 0; i < TRAINING; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, next(w), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    return p;
}

START_TEST(a_total_grows_with_the_nights_and_a_price_does_not)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    const struct ek_query_slopes *t = p->query_slopes;
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(t->features, 1);
    ck_assert_int_eq(t->feature[0], TOTAL);
    ck_assert_int_eq(t->queries, 1);
    ck_assert_int_eq(t->query[0], NIGHTS);
    ck_assert_double_eq_tol((double)t->slope[0][0], 1, .02);
    ck_assert_double_lt((double)p->baseline[TOTAL].sd, 1.1 * (double)p->baseline[PRICE].sd);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_slope_that_turns_during_training_is_not_used)
{
    struct world w;
    begin(&w);
    w.turns = true;
    struct ek_profile *p = train(&w);
    ck_assert_ptr_null(p->query_slopes);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Return the number of lists until a finding is confirmed; 0: none in `lists`. */
static int lists_until_confirmed(struct world *w, const struct ek_profile *p, int lists)
{
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    struct ek_finding f;
    int found = 0;
    ck_assert_int_eq(ek_rules_parse(&rules, w->m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->m, p, rules, NULL), EK_OK);
    for (int i = 0; i < lists && !found; i++) {
        ck_assert_int_eq(ek_detector_observe(d, next(w), i, NULL), EK_OK);
        while (ek_detector_next(d, &f))
            if (f.state == EK_CONFIRMED) {
                ck_assert_int_eq(f.feature, TOTAL);
                found = i + 1;
            }
    }
    ek_detector_free(d);
    ek_rules_free(rules);
    return found;
}

START_TEST(longer_stays_are_no_change_of_the_scale)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    w.nights = 12;
    ck_assert_int_eq(lists_until_confirmed(&w, p, 3000), 0);
    w.factor = 2;
    int found = lists_until_confirmed(&w, p, 3000);
    ck_assert_int_gt(found, 0);
    ck_assert_int_le(found, 100);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(nights_outside_training_leave_no_level)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    for (int i = 0; i < 4; i++) {
        static const float query[] = {24 * 7, 0, -1, NAN};
        struct ek_list_stats record[] = {{.r = 1, .spread = 0, .usable = 3},
                                         {.r = 1, .spread = 0, .usable = 3}};
        ek_query_slopes_apply(p->query_slopes, (float[]){query[i], 2, 0}, record);
        ck_assert_int_eq(record[PRICE].usable, 3);
        ck_assert_int_eq(record[TOTAL].usable, 0);
        ck_assert(isnan(record[TOTAL].r));
        ck_assert(isnan(record[TOTAL].spread));
    }
    w.nights = 24 * 7; /* hours in place of days: totals are not judged */
    ck_assert_int_eq(lists_until_confirmed(&w, p, 3000), 0);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(ranges_are_those_of_nearly_all_lists)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    const struct ek_query_ranges *r = &p->query_ranges;
    ck_assert_int_ge(r->count, 2);
    ck_assert_int_eq(r->query[0], NIGHTS);
    ck_assert_int_eq(r->query[1], GUESTS);
    ck_assert_int_eq(ek_query_ranges_find_outside(r, (float[]){1, 4, 0}), -1);
    ck_assert_int_eq(ek_query_ranges_find_outside(r, (float[]){7, .5F, 0}), GUESTS);
    ck_assert_int_eq(ek_query_ranges_find_outside(r, (float[]){24 * 7, 400, 0}), NIGHTS);
    ck_assert_int_eq(ek_query_ranges_find_outside(r, (float[]){0, -1, 0}), -1);
    ck_assert_int_eq(ek_query_ranges_find_outside(r, (float[]){NAN, INFINITY, 0}), -1);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Return the lists that count for the limit, of 1,000. */
static uint64_t count_outside(struct world *w, const struct ek_profile *p, int *query)
{
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    ck_assert_int_eq(ek_rules_parse(&rules, w->m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->m, p, rules, NULL), EK_OK);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(ek_detector_observe(d, next(w), i, NULL), EK_OK);
    uint64_t count = ek_detector_limit_counters(d).count[EK_BOUND_QUERIES];
    *query = ek_detector_get_outside_query(d);
    ek_detector_free(d);
    ek_rules_free(rules);
    return count;
}

START_TEST(nights_in_hours_are_counted_and_named)
{
    struct world w;
    int query;
    begin(&w);
    struct ek_profile *p = train(&w);
    ck_assert_uint_eq(count_outside(&w, p, &query), 0);
    w.nights = 24 * 2;
    ck_assert_uint_gt(count_outside(&w, p, &query), 800);
    ck_assert_int_eq(query, NIGHTS);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_profile_of_more_query_features_than_the_manifest_has_is_refused)
{
    struct world w;
    struct ek_error e;
    begin(&w);
    struct ek_profile *p = train(&w);
    ck_assert_int_eq(ek_profile_check(p, w.m, NULL), EK_OK);
    p->query_ranges.query[p->query_ranges.count - 1] = QUERIES;
    ck_assert_int_eq(ek_profile_check(p, w.m, &e), EK_EFORMAT);
    ck_assert_ptr_nonnull(strstr(e.message, "query features that the manifest lacks"));
    p->query_ranges.count = 0;
    ck_assert_int_eq(ek_profile_check(p, w.m, NULL), EK_OK);
    p->query_slopes->query[0] = QUERIES;
    ck_assert_int_eq(ek_profile_check(p, w.m, NULL), EK_EFORMAT);
    ek_profile_free(p);
    end(&w);
}
END_TEST

static void load_damaged(const struct ek_profile *p, const char *path, const char *what)
{
    struct ek_profile *read = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_profile_save(p, path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, path, &e), EK_EFORMAT);
    ck_assert_ptr_nonnull(strstr(e.message, what));
}

START_TEST(ranges_survive_the_file_and_damaged_ones_are_refused)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_query_ranges *r = &p->query_ranges;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_mem_eq(&read->query_ranges, r, sizeof *r);
    ek_profile_free(read);
    float low = r->low[0];
    r->low[0] = NAN;
    load_damaged(p, f.path, "query ranges");
    r->low[0] = r->high[0] + 1;
    load_damaged(p, f.path, "query ranges");
    r->low[0] = low;
    r->query[1] = r->query[0];
    load_damaged(p, f.path, "query ranges");
    unlink(f.path);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(slopes_survive_the_file_and_damaged_ones_are_refused)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_query_slopes *t = p->query_slopes;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_uint_eq(ek_profile_hash(read), ek_profile_hash(p));
    ck_assert_mem_eq(read->query_slopes->slope, t->slope, sizeof *t->slope);
    ck_assert_mem_eq(read->query_slopes->low, t->low, sizeof t->low);
    ek_profile_free(read);
    float slope = t->slope[0][0];
    t->slope[0][0] = NAN;
    ck_assert_uint_ne(ek_query_slopes_hash(t, 1), ek_query_slopes_hash(NULL, 1));
    load_damaged(p, f.path, "query slopes");
    t->slope[0][0] = slope;
    t->low[0] = t->high[0] + 1;
    load_damaged(p, f.path, "query slopes");
    t->low[0] = t->mean[0];
    t->feature[0] = FEATURES;
    load_damaged(p, f.path, "query slopes");
    t->feature[0] = TOTAL;
    t->query[0] = -1;
    load_damaged(p, f.path, "query slopes");
    ek_profile_free(p);
    unlink(f.path);
    end(&w);
}
END_TEST

Suite *suite_query_slope_fit(void)
{
    return ek_suite("query_slope_fit", a_total_grows_with_the_nights_and_a_price_does_not,
                    a_slope_that_turns_during_training_is_not_used,
                    longer_stays_are_no_change_of_the_scale, nights_outside_training_leave_no_level,
                    ranges_are_those_of_nearly_all_lists, nights_in_hours_are_counted_and_named,
                    a_profile_of_more_query_features_than_the_manifest_has_is_refused,
                    ranges_survive_the_file_and_damaged_ones_are_refused,
                    slopes_survive_the_file_and_damaged_ones_are_refused);
}
