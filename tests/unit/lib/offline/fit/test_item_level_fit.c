/* Levels by item: which features get them, what the detector sees with them, and the file. */
#include "assets/item_levels.h"
#include "base/rng.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: age, index: 2, role: item}\n"
                               "  - {name: match, index: 3, role: item}\n";
static const char RULES[] = "version: 1\nsegments: [arm]\n";

enum {
    TOWNS = 20,
    PER_TOWN = 12,
    ITEMS = 6,
    FEATURES = 3,
    TRAINING = 8000,
    SEASON_LISTS = 12000,
    ID = 16
};
enum { PRICE, AGE, MATCH };

/* Lists of items of one town each. Prices belong to the items, towns differ in theirs; ages grow;
 * matches belong to the list. */
struct world {
    struct ek_manifest *m;
    struct ek_rng rng;
    struct ek_list q;
    char id[ITEMS][ID];
    double factor; /* of the prices */
    int sale;      /* items, of every five, with the factor; 0: all */
    int town;      /* of all lists; -1: any */
    bool new_ids;  /* that never return */
    int renewed;   /* added to the ids */
    int renewing;  /* of every ten items, that many get it */
    bool logged;   /* prices are ln(1 + price) */
    float added;   /* to the prices */
    double season; /* amplitude of the prices' logarithm, over SEASON_LISTS */
    int lists;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ek_rng_seed(&w->rng, 5);
    ek_list_init(&w->q);
    w->factor = 1;
    w->town = -1;
}

static void end(struct world *w)
{
    ek_list_release(&w->q);
    ek_manifest_free(w->m);
}

static struct ek_list *next(struct world *w)
{
    struct ek_list *q = &w->q;
    int town = w->town < 0 ? (int)ek_rng_uniform_int(&w->rng, TOWNS) : w->town;
    double match = ek_rng_normal(&w->rng);
    ck_assert_int_eq(ek_list_resize(q, ITEMS, FEATURES, 0), EK_OK);
    for (int i = 0; i < ITEMS; i++) {
        int item = town * PER_TOWN + (int)ek_rng_uniform_int(&w->rng, PER_TOWN);
        double dear = .1 * town + .05 * (item % PER_TOWN), days = 1 + item % 7 + w->lists / 1000.;
        double factor = w->sale && item % 5 >= w->sale ? 1 : w->factor;
        float *x = q->x + (size_t)i * FEATURES;
        snprintf(w->id[i], ID, "i%d",
                 w->new_ids ? w->lists * ITEMS + i
                            : item + (item % 10 < w->renewing ? w->renewed : 0));
        q->item_id[i] = ek_text_from(w->id[i]);
        dear += w->season * sin(2 * M_PI * w->lists / SEASON_LISTS);
        x[PRICE] = (float)(50 * factor * exp(dear + .05 * ek_rng_normal(&w->rng)));
        x[PRICE] = w->logged ? log1pf(x[PRICE]) : x[PRICE] + w->added;
        x[AGE] = (float)days;
        x[MATCH] = (float)exp(match + .1 * ek_rng_normal(&w->rng));
    }
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){ek_text_from("arm"), ek_text_from("A")};
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

START_TEST(values_of_the_item_get_levels_and_ages_and_values_of_the_list_do_not)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    ck_assert_ptr_nonnull(p->item_levels);
    ck_assert_int_eq(p->item_levels->features, 1);
    ck_assert_int_eq(p->item_levels->feature[0], PRICE);
    ck_assert_uint_eq(p->item_levels->items, TOWNS * PER_TOWN);
    const float *level = ek_item_levels_find(p->item_levels, ek_text_from("i13"));
    ck_assert_ptr_nonnull(level);
    ck_assert_double_eq_tol((double)*level, log(50) + .1 + .05, .02);
    ck_assert_ptr_null(ek_item_levels_find(p->item_levels, ek_text_from("i999")));
    ck_assert_ptr_null(ek_item_levels_find(p->item_levels, (struct ek_text){NULL, 0}));
    ck_assert_double_lt((double)p->baseline[PRICE].sd, .05);
    double mean = log(50) + .1 * (TOWNS - 1) / 2 + .05 * (PER_TOWN - 1) / 2;
    ck_assert_double_eq_tol((double)ek_item_levels_mean(p->item_levels, PRICE), mean, .01);
    ck_assert_float_eq(ek_item_levels_mean(p->item_levels, MATCH), 0);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(values_that_follow_a_season_get_levels)
{
    struct world w;
    begin(&w);
    w.season = .15;
    struct ek_profile *p = train(&w);
    ck_assert_ptr_nonnull(p->item_levels);
    ck_assert_int_eq(p->item_levels->features, 1);
    ck_assert_int_eq(p->item_levels->feature[0], PRICE);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(ids_that_do_not_return_give_no_levels)
{
    struct world w;
    begin(&w);
    w.new_ids = true;
    struct ek_profile *p = train(&w);
    ck_assert_ptr_null(p->item_levels);
    ck_assert_double_gt((double)p->baseline[PRICE].sd, .4);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Return the number of lists until a finding on the price is confirmed, and set *found to it; 0:
 * none in `lists`. */
static int lists_until_found(struct world *w, const struct ek_profile *p, int lists,
                             struct ek_finding *found)
{
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    struct ek_finding f;
    int number = 0;
    ck_assert_int_eq(ek_rules_parse(&rules, w->m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->m, p, rules, NULL), EK_OK);
    for (int i = 0; i < lists && !number; i++) {
        ck_assert_int_eq(ek_detector_observe(d, next(w), i, NULL), EK_OK);
        while (!number && ek_detector_next(d, &f))
            if (f.state == EK_CONFIRMED && f.feature == PRICE) {
                *found = f;
                number = i + 1;
            }
    }
    ek_detector_free(d);
    ek_rules_free(rules);
    return number;
}

static int lists_until_confirmed(struct world *w, const struct ek_profile *p, int lists)
{
    struct ek_finding f;
    return lists_until_found(w, p, lists, &f);
}

/* Return the lists that are counted as of unknown items, of 1,000 with old or new ids. */
static uint64_t count_unknown_items(struct world *w, const struct ek_profile *p, bool new_ids)
{
    struct ek_rules *rules = NULL;
    struct ek_detector *d = NULL;
    ck_assert_int_eq(ek_rules_parse(&rules, w->m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&d, w->m, p, rules, NULL), EK_OK);
    w->new_ids = new_ids;
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(ek_detector_observe(d, next(w), i, NULL), EK_OK);
    uint64_t count = ek_detector_limit_counters(d).count[EK_BOUND_ITEMS];
    ek_detector_free(d);
    ek_rules_free(rules);
    return count;
}

START_TEST(lists_of_items_that_training_lacks_are_counted)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    ck_assert_uint_eq(count_unknown_items(&w, p, false), 0);
    ck_assert_uint_gt(count_unknown_items(&w, p, true), 800);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(other_items_are_no_change_of_the_scale)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    w.town = TOWNS - 1; /* where prices are 2.6 times the mean */
    ck_assert_int_eq(lists_until_confirmed(&w, p, 3000), 0);
    w.new_ids = true; /* lists without known items are no evidence */
    ck_assert_int_eq(lists_until_confirmed(&w, p, 3000), 0);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_small_factor_is_found_within_a_hundred_lists)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    w.factor = 1.2;
    int found = lists_until_confirmed(&w, p, 3000);
    ck_assert_int_gt(found, 0);
    ck_assert_int_le(found, 100);
    ek_profile_free(p);
    end(&w);
}
END_TEST

static enum ek_class class_of(struct world *w, const struct ek_profile *p)
{
    struct ek_finding f;
    ck_assert_int_gt(lists_until_found(w, p, 1000, &f), 0);
    return f.class;
}

START_TEST(a_sale_of_most_items_is_no_change_of_the_scale)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    w.factor = .7;
    ck_assert_int_eq(class_of(&w, p), EK_SCALE);
    w.sale = 4;
    ck_assert_int_eq(class_of(&w, p), EK_ITEMS);
    w.factor = 100;
    ck_assert_int_eq(class_of(&w, p), EK_ITEMS);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(logarithms_and_constants_are_not_taken_for_each_other)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    w.logged = true;
    ck_assert_int_eq(class_of(&w, p), EK_POWER);
    w.logged = false;
    w.added = 100;
    ck_assert_int_eq(class_of(&w, p), EK_OFFSET);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Detector on a world, with the confirmed findings on the price. */
struct watched {
    struct ek_rules *rules;
    struct ek_detector *d;
    struct ek_finding last;
    int confirmed, recovered, lists; /* lists: until the last confirmation */
};

static void begin_watch(struct watched *s, const struct world *w, const struct ek_profile *p)
{
    *s = (struct watched){0};
    ck_assert_int_eq(ek_rules_parse(&s->rules, w->m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&s->d, w->m, p, s->rules, NULL), EK_OK);
}

static void watch(struct watched *s, struct world *w, int lists)
{
    struct ek_finding f;
    for (int i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_detector_observe(s->d, next(w), w->lists, NULL), EK_OK);
        while (ek_detector_next(s->d, &f)) {
            if (f.feature != PRICE)
                continue;
            s->recovered += f.state == EK_RECOVERED;
            if (f.state != EK_CONFIRMED)
                continue;
            s->confirmed++;
            s->lists = i + 1;
            s->last = f;
        }
    }
}

static void end_watch(struct watched *s)
{
    ek_detector_free(s->d);
    ek_rules_free(s->rules);
}

START_TEST(a_renewed_catalogue_is_learned_and_watched_as_well)
{
    struct world w;
    struct watched s;
    begin(&w);
    struct ek_profile *p = train(&w);
    begin_watch(&s, &w, p);
    w.renewed = 1000;
    w.renewing = 10;
    watch(&s, &w, 6000);
    ck_assert_int_eq(s.confirmed, 0);
    w.factor = 1.2;
    watch(&s, &w, 1000);
    ck_assert_int_eq(s.confirmed, 1);
    ck_assert_int_le(s.lists, 150);
    ck_assert_double_eq_tol(s.last.factor, 1.2, .05);
    w.factor = 1;
    watch(&s, &w, 1000);
    ck_assert_int_eq(s.recovered, 1);
    end_watch(&s);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Their levels are those of before the fault, which the other items show. */
START_TEST(items_that_arrive_during_a_fault_are_not_learned_with_it)
{
    struct world w;
    struct watched s;
    begin(&w);
    struct ek_profile *p = train(&w);
    begin_watch(&s, &w, p);
    watch(&s, &w, 500);
    w.factor = 100;
    w.renewed = 1000;
    w.renewing = 4;
    watch(&s, &w, 6000);
    ck_assert_int_eq(s.confirmed, 1);
    w.factor = 1;
    w.renewing = 10; /* the others are unknown */
    watch(&s, &w, 3000);
    ck_assert_int_eq(s.recovered, 1);
    ck_assert_int_eq(s.confirmed, 1);
    end_watch(&s);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* With no known item in any list nothing distinguishes new items from their fault. */
START_TEST(a_catalogue_that_is_all_new_is_not_learned_during_a_fault)
{
    struct world w;
    struct watched s;
    begin(&w);
    struct ek_profile *p = train(&w);
    begin_watch(&s, &w, p);
    watch(&s, &w, 500);
    w.factor = 100;
    watch(&s, &w, 100);
    ck_assert_int_eq(s.confirmed, 1);
    w.renewed = 1000;
    w.renewing = 10;
    watch(&s, &w, 6000);
    w.factor = 1;
    watch(&s, &w, 100);
    w.renewing = 0; /* the known items are back */
    watch(&s, &w, 200);
    ck_assert_int_eq(s.recovered, 1);
    w.renewing = 10;
    watch(&s, &w, 6000);
    ck_assert_int_eq(s.confirmed, 1);
    end_watch(&s);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Two items, the levels of one of them, and a list of both. */
struct pair {
    struct ek_item_levels *t;
    struct ek_item_levels_scratch scratch;
    struct ek_list_moments *moments;
    struct ek_list q;
    struct ek_list_stats record[2];
    float pivot[16];
};

static void begin_pair(struct pair *s, int known)
{
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(ek_item_levels_new(&s->t, 1, 1), EK_OK);
    s->t->feature[0] = 1;
    s->t->key[0] = ek_item_key(ek_text_from("a"));
    s->t->value[0] = 2;
    ek_item_levels_index(s->t);
    ck_assert_int_eq(ek_list_moments_new(&s->moments, 2), EK_OK);
    ek_list_init(&s->q);
    ck_assert_int_eq(ek_list_resize(&s->q, 4, 2, 0), EK_OK);
    for (int i = 0; i < 4; i++) {
        s->q.item_id[i] = ek_text_from(i < known ? "a" : "b");
        s->q.x[2 * i] = 3;
        s->q.x[2 * i + 1] = i < known ? (float)exp(2.5) : 1000;
    }
    ek_list_moments_compute(s->moments, s->q.x, 4, s->pivot);
    ek_list_stats_compute(s->moments, 4, s->pivot, s->record);
    ck_assert_int_eq(
        ek_item_levels_apply(s->t, NULL, &s->q, &s->scratch, s->moments, s->pivot, s->record),
        EK_OK);
}

static void end_pair(struct pair *s)
{
    ek_item_levels_scratch_release(&s->scratch);
    ek_list_moments_free(s->moments);
    ek_list_release(&s->q);
    ek_item_levels_free(s->t);
}

START_TEST(a_list_has_a_level_if_half_of_its_items_have)
{
    struct pair s;
    for (int known = 2; known <= 4; known++) {
        begin_pair(&s, known);
        ck_assert_double_eq_tol((double)s.record[1].r, .5, 1e-5);
        ck_assert_int_eq(s.record[1].usable, 4);
        ck_assert_double_eq_tol((double)s.record[0].r, log(3), 1e-5);
        end_pair(&s);
    }
    for (int known = 0; known < 2; known++) {
        begin_pair(&s, known);
        ck_assert_int_eq(s.record[1].usable, 0);
        ck_assert(isnan(s.record[1].r));
        ck_assert(isnan(s.record[1].spread));
        ck_assert_int_eq(s.record[0].usable, 4);
        end_pair(&s);
    }
}
END_TEST

START_TEST(a_value_without_a_level_of_its_item_does_not_count)
{
    struct pair s;
    begin_pair(&s, 3);
    s.t->value[0] = NAN;
    ek_item_levels_index(s.t);
    ek_list_moments_compute(s.moments, s.q.x, 4, s.pivot);
    ek_list_stats_compute(s.moments, 4, s.pivot, s.record);
    ck_assert_int_eq(
        ek_item_levels_apply(s.t, NULL, &s.q, &s.scratch, s.moments, s.pivot, s.record), EK_OK);
    ck_assert_int_eq(s.record[1].usable, 0);
    ck_assert_int_eq(s.record[0].usable, 4);
    end_pair(&s);
}
END_TEST

START_TEST(a_list_without_ids_has_no_level)
{
    struct pair s;
    begin_pair(&s, 4);
    struct ek_text *ids = s.q.item_id;
    s.q.item_id = NULL;
    ck_assert_int_eq(
        ek_item_levels_apply(s.t, NULL, &s.q, &s.scratch, s.moments, s.pivot, s.record), EK_OK);
    s.q.item_id = ids;
    ck_assert_int_eq(s.record[1].usable, 0);
    end_pair(&s);
}
END_TEST

START_TEST(levels_survive_the_file_and_damaged_ones_are_refused)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_error e;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_uint_eq(ek_profile_hash(read), ek_profile_hash(p));
    ck_assert_mem_eq(read->item_levels->value, p->item_levels->value,
                     p->item_levels->items * sizeof(float));
    ck_assert_ptr_nonnull(ek_item_levels_find(read->item_levels, ek_text_from("i7")));
    ek_profile_free(read);
    read = NULL;
    p->item_levels->value[1] = 1000;
    ck_assert_uint_ne(ek_item_levels_hash(p->item_levels, 1), ek_item_levels_hash(NULL, 1));
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ck_assert_ptr_nonnull(strstr(e.message, "item levels"));
    p->item_levels->value[1] = 1;
    p->item_levels->spread[0].sd = -1;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    p->item_levels->spread[0].sd = 1;
    p->item_levels->key[1] = p->item_levels->key[0];
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    p->item_levels->feature[0] = FEATURES;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ek_profile_free(p);
    unlink(f.path);
    end(&w);
}
END_TEST

Suite *suite_item_level_fit(void)
{
    return ek_suite(
        "item_level_fit", values_of_the_item_get_levels_and_ages_and_values_of_the_list_do_not,
        values_that_follow_a_season_get_levels, ids_that_do_not_return_give_no_levels,
        lists_of_items_that_training_lacks_are_counted, other_items_are_no_change_of_the_scale,
        a_small_factor_is_found_within_a_hundred_lists,
        a_sale_of_most_items_is_no_change_of_the_scale,
        logarithms_and_constants_are_not_taken_for_each_other,
        a_renewed_catalogue_is_learned_and_watched_as_well,
        items_that_arrive_during_a_fault_are_not_learned_with_it,
        a_catalogue_that_is_all_new_is_not_learned_during_a_fault,
        a_list_has_a_level_if_half_of_its_items_have,
        a_value_without_a_level_of_its_item_does_not_count, a_list_without_ids_has_no_level,
        levels_survive_the_file_and_damaged_ones_are_refused);
}
