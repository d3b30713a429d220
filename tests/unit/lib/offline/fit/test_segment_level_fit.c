/* Levels by segment: which dimensions get them, what the detector sees with them, and the file. */
#include "assets/segment_levels.h"
#include "base/alloc.h"
#include "base/rng.h"
#include "detect/list_stats_builder.h"
#include "offline/fit/profile_fit.h"
#include "offline/fit/segment_level_fit.h"
#include "tests/check.h"
#include "tests/temporary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: match, index: 2, role: item}\n";
static const char RULES[] = "version: 1\nsegments: [market]\n";

enum { MARKETS = 4, ITEMS = 6, FEATURES = 2, TRAINING = 6000, TEXT = 16 };
enum { PRICE, MATCH };

/* Lists whose prices depend on market and device. Sites belong to markets; arms differ in nothing.
 */
struct world {
    struct ek_manifest *m;
    struct ek_rng rng;
    struct ek_list q;
    char market[TEXT], site[TEXT];
    double dear[MARKETS]; /* ln */
    double mobile;        /* ln, more than on a desktop */
    bool uneven;          /* markets differ in how many lists are mobile */
    int market_number, device;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_manifest_parse(&w->m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ek_rng_seed(&w->rng, 5);
    ek_list_init(&w->q);
}

static void end(struct world *w)
{
    ek_list_release(&w->q);
    ek_manifest_free(w->m);
}

static double level_of(const struct world *w)
{
    return 4 + w->dear[w->market_number] + (w->device ? w->mobile : 0);
}

static struct ek_list *next(struct world *w)
{
    struct ek_list *q = &w->q;
    w->market_number = (int)ek_rng_uniform_int(&w->rng, MARKETS);
    double part = w->uneven ? .2 + .2 * w->market_number : .5;
    w->device = ek_rng_uniform(&w->rng) < part;
    double level = level_of(w) + .3 * ek_rng_normal(&w->rng), match = ek_rng_normal(&w->rng);
    ck_assert_int_eq(ek_list_resize(q, ITEMS, FEATURES, 0), EK_OK);
    for (int i = 0; i < ITEMS; i++) {
        q->x[i * FEATURES + PRICE] = (float)exp(level + .3 * ek_rng_normal(&w->rng));
        q->x[i * FEATURES + MATCH] = (float)exp(match + .1 * ek_rng_normal(&w->rng));
    }
    snprintf(w->market, TEXT, "m%d", w->market_number);
    snprintf(w->site, TEXT, "s%d", 2 * w->market_number + (int)ek_rng_uniform_int(&w->rng, 2));
    q->segment_count = 4;
    q->segments[0] = (struct ek_segment){ek_text_from("site"), ek_text_from(w->site)};
    q->segments[1] = (struct ek_segment){ek_text_from("market"), ek_text_from(w->market)};
    q->segments[2] =
        (struct ek_segment){ek_text_from("device"), ek_text_from(w->device ? "mobile" : "desktop")};
    q->segments[3] = (struct ek_segment){ek_text_from("arm"),
                                         ek_text_from(ek_rng_uniform_int(&w->rng, 2) ? "A" : "B")};
    return q;
}

static struct ek_profile *train_on(struct world *w, int lists, const char *field)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->m, field, NULL), EK_OK);
    for (int i = 0; i < lists; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, next(w), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    return p;
}

static struct ek_profile *train(struct world *w)
{
    return train_on(w, TRAINING, NULL);
}

static void begin_dear(struct world *w)
{
    begin(w);
    w->dear[3] = log(3);
}

START_TEST(a_dimension_whose_values_differ_gets_levels_and_others_do_not)
{
    struct world w;
    begin_dear(&w);
    struct ek_profile *p = train(&w);
    const struct ek_segment_levels *t = p->segment_levels;
    ck_assert_ptr_nonnull(t);
    ck_assert(ek_segment_levels_differ(t, "market"));
    ck_assert(!ek_segment_levels_differ(t, "device"));
    ck_assert(!ek_segment_levels_differ(t, "arm"));
    ck_assert(!ek_segment_levels_differ(NULL, "market"));
    ck_assert_int_eq(t->features, 1);
    ck_assert_int_eq(t->feature[0], PRICE);
    int market = !strcmp(t->dimension[0], "market") ? 0 : 1;
    ck_assert_int_eq(ek_segment_levels_features(t, market), 1);
    int dear = ek_segment_levels_find(t, market, ek_text_from("m3")),
        usual = ek_segment_levels_find(t, market, ek_text_from("m1"));
    ck_assert_double_eq_tol((double)(t->level[dear] - t->level[usual]), log(3), .05);
    ck_assert_int_eq(ek_segment_levels_find(t, market, ek_text_from("m9")), -1);
    ck_assert_int_eq(ek_segment_levels_find(t, market, (struct ek_text){NULL, 0}), -1);
    ck_assert_double_lt((double)p->by_segment.baseline[PRICE].sd,
                        .8 * (double)p->baseline[PRICE].sd);
    ck_assert_double_eq((double)p->by_segment.baseline[MATCH].sd, (double)p->baseline[MATCH].sd);
    ck_assert_uint_eq(ek_sketch_total(p->sketch[PRICE]), p->items);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(segments_that_do_not_differ_give_no_table)
{
    struct world w;
    begin(&w);
    struct ek_profile *p = train(&w);
    ck_assert_ptr_null(p->segment_levels);
    ck_assert_ptr_null(p->by_segment.baseline);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_difference_inside_the_dead_band_gives_no_table)
{
    struct world w;
    begin(&w);
    w.dear[3] = .01;
    struct ek_profile *p = train_on(&w, 60000, NULL);
    ck_assert_ptr_null(p->segment_levels);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_difference_in_one_half_of_training_gives_no_table)
{
    struct world w;
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    begin_dear(&w);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w.m, NULL, NULL), EK_OK);
    for (int i = 0; i < TRAINING; i++) {
        w.dear[3] = i < TRAINING / 2 ? log(3) : 0;
        ck_assert_int_eq(ek_profile_fit_add(fit, next(&w), NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ck_assert_ptr_null(p->segment_levels);
    ek_profile_fit_free(fit);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(sites_of_a_dear_market_are_not_counted_twice)
{
    struct world w;
    begin_dear(&w);
    struct ek_profile *p = train(&w);
    const struct ek_segment_levels *t = p->segment_levels;
    ck_assert_int_eq(t->dimensions, 2);
    ck_assert_str_eq(t->dimension[0], "market");
    ck_assert_str_eq(t->dimension[1], "site");
    ck_assert_int_eq(t->first[2] - t->first[1], 0);
    ck_assert_int_eq(ek_segment_levels_features(t, 1), 0);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Return the level of the price in a segment of market and device, relative to m0 on desktops. */
static double level_in(struct world *w, const struct ek_segment_levels *t, int market, int device)
{
    double level[2];
    for (int i = 0; i < 2; i++) {
        do
            next(w);
        while (w->market_number != (i ? market : 0) || w->device != (i ? device : 0));
        level[i] = ek_segment_levels_of(t, &w->q, PRICE);
    }
    return level[1] - level[0];
}

START_TEST(levels_of_market_and_device_add_up_where_markets_have_other_devices)
{
    struct world w;
    begin(&w);
    w.dear[2] = -.5;
    w.mobile = .4;
    w.uneven = true;
    struct ek_profile *p = train(&w);
    const struct ek_segment_levels *t = p->segment_levels;
    ck_assert(ek_segment_levels_differ(t, "device"));
    ck_assert_double_eq_tol(level_in(&w, t, 2, 0), -.5, .05);
    ck_assert_double_eq_tol(level_in(&w, t, 0, 1), .4, .05);
    ck_assert_double_eq_tol(level_in(&w, t, 2, 1), -.1, .05);
    ck_assert_double_eq_tol(level_in(&w, t, 3, 1), .4, .05);
    ck_assert_double_eq(ek_segment_levels_of(t, &w.q, MATCH), 0);
    ck_assert_double_eq(ek_segment_levels_of(NULL, &w.q, PRICE), 0);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(the_dimension_of_the_strata_has_no_levels_by_segment)
{
    struct world w;
    begin_dear(&w);
    struct ek_profile *p = train_on(&w, TRAINING, "market");
    ck_assert_ptr_null(p->segment_levels);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(ids_that_do_not_return_are_no_segments)
{
    struct world w;
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    char user[TEXT];
    begin_dear(&w);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w.m, NULL, NULL), EK_OK);
    for (int i = 0; i < 2000; i++) {
        struct ek_list *q = next(&w);
        snprintf(user, TEXT, "u%d", i);
        q->segment_count = 1;
        q->segments[0] = (struct ek_segment){ek_text_from("user"), ek_text_from(user)};
        ck_assert_int_eq(ek_profile_fit_add(fit, q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ck_assert_ptr_null(p->segment_levels);
    ek_profile_fit_free(fit);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(rules_without_such_segments_leave_the_profile_as_it_was)
{
    struct world w;
    char arm[] = "arm", market[] = "market", *names[] = {arm, market};
    begin_dear(&w);
    struct ek_profile *one = train(&w), *two;
    ek_rng_seed(&w.rng, 5);
    two = train(&w);
    ck_assert_uint_eq(ek_profile_hash(one), ek_profile_hash(two));
    float plain = two->baseline[PRICE].sd, own = two->by_segment.baseline[PRICE].sd;
    ek_profile_choose_segments(one, names, 1);
    ck_assert_ptr_null(one->segment_levels);
    ck_assert_float_eq(one->baseline[PRICE].sd, plain);
    ck_assert_uint_ne(ek_profile_hash(one), ek_profile_hash(two));
    ck_assert_ptr_null(ek_profile_segment_levels(two));
    for (int i = 0; i < 2; i++) {
        ek_profile_choose_segments(two, names, 2);
        ck_assert_ptr_nonnull(ek_profile_segment_levels(two));
        ck_assert_float_eq(two->baseline[PRICE].sd, own);
        ck_assert_ptr_null(two->by_segment.baseline);
    }
    ck_assert_uint_ne(ek_profile_hash(one), ek_profile_hash(two));
    ek_profile_free(one);
    ek_profile_free(two);
    end(&w);
}
END_TEST

START_TEST(a_list_of_an_unknown_value_has_no_level_of_the_features_that_differ)
{
    struct world w;
    struct ek_rules *rules = NULL;
    struct ek_list_stats_builder *r = NULL;
    begin_dear(&w);
    struct ek_profile *p = train(&w);
    ck_assert_int_eq(ek_rules_parse(&rules, w.m, "rules", RULES, strlen(RULES), NULL), EK_OK);
    ek_profile_choose_segments(p, rules->segment, rules->segment_count);
    ck_assert_int_eq(ek_list_stats_builder_new(&r, w.m, p, rules, NULL), EK_OK);
    double sum[MARKETS] = {0}, lists[MARKETS] = {0};
    for (int i = 0; i < 4000; i++) {
        ck_assert_int_eq(ek_list_stats_builder_read(r, next(&w), NULL), EK_OK);
        ck_assert(!r->unknown_stratum);
        sum[w.market_number] += (double)r->record[PRICE].r;
        lists[w.market_number]++;
    }
    for (int m = 0; m < MARKETS; m++)
        ck_assert_double_eq_tol(sum[m] / lists[m], 0, .05);
    for (int i = 0; i < 2; i++) {
        struct ek_list *q = next(&w);
        q->segments[1].value = ek_text_from("new");
        q->segment_count = i ? 4 : 1;
        ck_assert_int_eq(ek_list_stats_builder_read(r, q, NULL), EK_OK);
        ck_assert(r->unknown_stratum);
        ck_assert(isnan(r->record[PRICE].r));
        ck_assert(isnan(r->record[PRICE].spread));
        ck_assert_int_eq(r->record[PRICE].usable, 0);
        ck_assert_int_eq(r->record[MATCH].usable, ITEMS);
    }
    ek_list_stats_builder_free(r);
    ek_rules_free(rules);
    ek_profile_free(p);
    end(&w);
}
END_TEST

START_TEST(a_merged_profile_has_no_levels_by_segment)
{
    struct world w;
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL, *merged = NULL;
    begin_dear(&w);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w.m, NULL, NULL), EK_OK);
    ek_profile_fit_retain_lists(fit);
    for (int i = 0; i < TRAINING; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, next(&w), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ck_assert_ptr_nonnull(p->segment_levels);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w.m, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_merge(fit, p, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &merged, NULL), EK_OK);
    ck_assert_ptr_null(merged->segment_levels);
    ck_assert_float_eq_tol(merged->baseline[PRICE].sd, p->baseline[PRICE].sd, 1e-4);
    ek_profile_fit_free(fit);
    ek_profile_free(merged);
    ek_profile_free(p);
    end(&w);
}
END_TEST

/* Save the profile and expect that loading it fails with this word. */
static void is_refused(const struct ek_profile *p, const char *word)
{
    struct ek_profile *read = NULL;
    struct temporary f = temporary_file();
    struct ek_error e;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ck_assert_msg(strstr(e.message, word) != NULL, "%s", e.message);
    unlink(f.path);
}

START_TEST(levels_survive_the_file_and_damaged_ones_are_refused)
{
    struct world w;
    begin_dear(&w);
    struct ek_profile *p = train(&w), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_segment_levels *t = p->segment_levels;
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_uint_eq(ek_profile_hash(read), ek_profile_hash(p));
    ck_assert_int_eq(ek_segment_levels_features(read->segment_levels, 0), 1);
    ck_assert_mem_eq(read->by_segment.baseline, p->by_segment.baseline,
                     FEATURES * sizeof *p->baseline);
    ek_profile_free(read);
    float level = t->level[1], sd = p->by_segment.baseline[PRICE].sd;
    t->level[1] = 1000;
    is_refused(p, "segment levels");
    t->level[1] = INFINITY;
    is_refused(p, "segment levels");
    t->level[1] = level;
    t->feature[0] = FEATURES;
    is_refused(p, "segment levels");
    t->feature[0] = PRICE;
    char *value = t->value[1];
    t->value[1] = t->value[0];
    is_refused(p, "segment levels");
    t->value[1] = value;
    p->by_segment.baseline[PRICE].sd = NAN;
    is_refused(p, "by_segment_sd");
    p->by_segment.baseline[PRICE].sd = sd;
    p->by_segment.density[5] = -1;
    is_refused(p, "by_segment_density");
    ek_profile_free(p);
    unlink(f.path);
    end(&w);
}
END_TEST

/* Replace the table of a profile by one of a number of dimensions and values. */
static void set_table(struct ek_profile *p, int dimensions, int values)
{
    char name[TEXT];
    ek_segment_levels_free(p->segment_levels);
    ck_assert_int_eq(ek_segment_levels_new(&p->segment_levels, dimensions, values, 1), EK_OK);
    struct ek_segment_levels *t = p->segment_levels;
    for (int d = 0; d < dimensions; d++) {
        snprintf(name, TEXT, "d%d", d);
        ck_assert_ptr_nonnull(t->dimension[d] = ek_strdup(name));
        t->first[d + 1] = values;
    }
    for (int v = 0; v < values; v++) {
        snprintf(name, TEXT, "v%03d", v);
        ck_assert_ptr_nonnull(t->value[v] = ek_strdup(name));
    }
    ek_segment_levels_index(t);
}

/* Add a dimension without values to a file. */
static void add_dimension(const char *path)
{
    static const char KEY[] = "\"segments\":[", MORE[] = "{\"dimension\":\"d\",\"values\":[]},";
    struct ek_tensors *t = NULL;
    ck_assert_int_eq(ek_tensors_read(&t, path, NULL), EK_OK);
    const char *text = ek_tensors_text(t, "evenkeel_profile"), *at = strstr(text, KEY);
    ck_assert_ptr_nonnull(at);
    size_t size = strlen(text) + sizeof MORE;
    char *longer = ek_calloc(size, 1);
    ck_assert_ptr_nonnull(longer);
    snprintf(longer, size, "%.*s%s%s%s", (int)(at - text), text, KEY, MORE, at + strlen(KEY));
    ck_assert_int_eq(ek_tensors_set_text(t, "evenkeel_profile", longer), EK_OK);
    ck_assert_int_eq(ek_tensors_write(t, path, NULL), EK_OK);
    ek_free(longer);
    ek_tensors_free(t);
}

START_TEST(a_table_has_4_dimensions_of_256_values_at_most)
{
    struct world w;
    begin_dear(&w);
    struct ek_profile *p = train(&w), *read = NULL;
    struct temporary f = temporary_file();
    struct ek_error e;
    set_table(p, EK_SEGMENT_LEVEL_DIMENSIONS_MAX, EK_SEGMENT_LEVEL_VALUES_MAX);
    ck_assert_int_eq(ek_profile_save(p, f.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_load(&read, f.path, NULL), EK_OK);
    ck_assert_int_eq(read->segment_levels->dimensions, EK_SEGMENT_LEVEL_DIMENSIONS_MAX);
    ck_assert_int_eq(read->segment_levels->first[1], EK_SEGMENT_LEVEL_VALUES_MAX);
    ek_profile_free(read);
    set_table(p, 1, EK_SEGMENT_LEVEL_VALUES_MAX + 1);
    is_refused(p, "invalid shape");
    set_table(p, 1, 0);
    is_refused(p, "invalid shape");
    ek_profile_free(p);
    add_dimension(f.path);
    ck_assert_int_eq(ek_profile_load(&read, f.path, &e), EK_EFORMAT);
    ck_assert_msg(strstr(e.message, "invalid shape") != NULL, "%s", e.message);
    unlink(f.path);
    end(&w);
}
END_TEST

Suite *suite_segment_level_fit(void)
{
    return ek_suite(
        "segment_level_fit", a_dimension_whose_values_differ_gets_levels_and_others_do_not,
        segments_that_do_not_differ_give_no_table, a_difference_inside_the_dead_band_gives_no_table,
        a_difference_in_one_half_of_training_gives_no_table,
        sites_of_a_dear_market_are_not_counted_twice,
        levels_of_market_and_device_add_up_where_markets_have_other_devices,
        the_dimension_of_the_strata_has_no_levels_by_segment,
        ids_that_do_not_return_are_no_segments,
        rules_without_such_segments_leave_the_profile_as_it_was,
        a_list_of_an_unknown_value_has_no_level_of_the_features_that_differ,
        a_merged_profile_has_no_levels_by_segment,
        levels_survive_the_file_and_damaged_ones_are_refused,
        a_table_has_4_dimensions_of_256_values_at_most);
}
