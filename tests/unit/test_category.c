/* Categories: what training keeps of them, what is found and how it is told, what is left in peace.
 */
#include "base/alloc.h"
#include "decide/detector.h"
#include "guard/event.h"
#include "num/heavy.h"
#include "offline/category_fit.h"
#include "tests/check.h"
#include "tests/shop.h"

#include <stdlib.h>
#include <unistd.h>

enum { TRAINING = 3000, BEFORE = 500, KIND = 1 };

static const char RULES[] = "version: 1\nsegments: [arm]\n";

struct bench {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector;
    struct shop shop;
    struct ek_finding last[5]; /* in each state, and how many there were */
    int count[5];
};

static void setup_with(struct bench *b, uint64_t seed, struct ek_profile *p)
{
    memset(b, 0, sizeof *b);
    b->manifest = shop_manifest();
    b->profile = p ? p : shop_profile(b->manifest, TRAINING, 1, NULL);
    ck_assert_int_eq(ek_rules_parse(&b->rules, b->manifest, "rules", RULES, strlen(RULES), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_detector_new(&b->detector, b->manifest, b->profile, b->rules, NULL), EK_OK);
    shop_open(&b->shop, seed, 1);
}

static void setup(struct bench *b, uint64_t seed)
{
    setup_with(b, seed, NULL);
}

static void teardown(struct bench *b)
{
    shop_close(&b->shop);
    ek_detector_free(b->detector);
    ek_rules_free(b->rules);
    ek_profile_free(b->profile);
    ek_manifest_free(b->manifest);
}

static void observe(struct bench *b, const struct ek_query *q)
{
    struct ek_finding f;
    ck_assert_int_eq(ek_detector_observe(b->detector, q, q->time_ms, NULL), EK_OK);
    while (ek_detector_next(b->detector, &f)) {
        b->last[f.state] = f;
        b->count[f.state]++;
    }
}

static void run(struct bench *b, int lists, shop_change *change)
{
    for (int i = 0; i < lists; i++) {
        struct ek_query *q = shop_next(&b->shop);
        if (change)
            change(&b->shop, q);
        observe(b, q);
    }
}

static void become_99(struct shop *s, struct ek_query *q, double part)
{
    for (int i = 0; i < q->items; i++)
        if (ek_rng_uniform(&s->rng) < part)
            q->x[2 * i + KIND] = 99;
}

static void all_99(struct shop *s, struct ek_query *q)
{
    become_99(s, q, 1);
}

static void tenth_99(struct shop *s, struct ek_query *q)
{
    become_99(s, q, .1);
}

static void hundredth_99(struct shop *s, struct ek_query *q)
{
    become_99(s, q, .01);
}

static void tenth_99_in_arm_b(struct shop *s, struct ek_query *q)
{
    if (s->arm_b)
        become_99(s, q, .1);
}

static void one_more(struct shop *s, struct ek_query *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND]++;
}

static void turned_round(struct shop *s, struct ek_query *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND] = (float)(SHOP_KINDS + 1) - q->x[2 * i + KIND];
}

static void half_5(struct shop *s, struct ek_query *q)
{
    for (int i = 0; i < q->items; i++)
        if (ek_rng_uniform(&s->rng) < .5)
            q->x[2 * i + KIND] = 5;
}

static void half_absent(struct shop *s, struct ek_query *q)
{
    (void)s;
    for (int i = 0; i < q->items; i += 2)
        q->x[2 * i + KIND] = NAN;
}

/* Nothing that codes do: a list of few items, of none with a code, of one kind only. */
static void odd_but_healthy(struct shop *s, struct ek_query *q)
{
    q->items = s->number % 3 ? q->items : 1;
    for (int i = 0; i < q->items; i++)
        if (s->number % 50 == 0)
            q->x[2 * i + KIND] = NAN;
}

/* Which change among those of a finding is of the value; NULL: none. */
static const struct ek_category_change *change_of(const struct ek_finding *f, float value)
{
    for (int i = 0; i < f->category_count; i++)
        if (f->category[i].value == value)
            return &f->category[i];
    return NULL;
}

static const struct ek_finding *finds(struct bench *b, shop_change *change, int within)
{
    run(b, BEFORE, NULL);
    run(b, 900, change);
    const struct ek_finding *f = &b->last[EK_CONFIRMED];
    ck_assert_int_eq(b->count[EK_CONFIRMED], 1);
    ck_assert_int_eq(f->class, EK_NEW_CATEGORY);
    ck_assert_int_eq(f->feature, KIND);
    ck_assert_int_lt((int)f->query, BEFORE + within + 64);
    ck_assert_int_ge((int)f->since_query, BEFORE - 2);
    ck_assert(isnan(f->factor));
    return f;
}

START_TEST(healthy_codes_are_left_in_peace)
{
    struct bench b;
    setup(&b, 1);
    run(&b, 10000, NULL);
    run(&b, 2000, odd_but_healthy);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    teardown(&b);
}
END_TEST

static void a_new_code(shop_change *change, double share, int within)
{
    struct bench b;
    setup(&b, 2);
    const struct ek_category_change *c = change_of(finds(&b, change, within), 99);
    ck_assert_ptr_nonnull(c);
    ck_assert(fabs(c->share - share) < .2 * share + .005);
    ck_assert(c->trained == 0);
    teardown(&b);
}

START_TEST(a_new_code_is_found_and_named)
{
    a_new_code(all_99, 1, 10);
    a_new_code(tenth_99, .1, 25);
    a_new_code(hundredth_99, .01, 500);
}
END_TEST

START_TEST(a_known_code_whose_share_explodes_is_found_and_named)
{
    struct bench b;
    setup(&b, 3);
    const struct ek_category_change *c = change_of(finds(&b, half_5, 80), 5);
    ck_assert_ptr_nonnull(c);
    ck_assert(fabs(c->share - .52) < .05);
    ck_assert(fabs(c->trained - .03) < .01);
    teardown(&b);
}
END_TEST

START_TEST(codes_that_became_others_are_found)
{
    struct bench b;
    setup(&b, 4);
    const struct ek_category_change *c = change_of(finds(&b, turned_round, 80), SHOP_KINDS);
    ck_assert_ptr_nonnull(c);
    ck_assert(c->share > .4 && c->trained < .02);
    teardown(&b);
    setup(&b, 4);
    c = change_of(finds(&b, one_more, 400), 1);
    ck_assert_ptr_nonnull(c);
    ck_assert(c->share == 0 && c->trained > .4);
    teardown(&b);
}
END_TEST

START_TEST(a_new_code_of_one_arm_is_put_on_the_arm)
{
    struct bench b;
    setup(&b, 5);
    const struct ek_finding *f = finds(&b, tenth_99_in_arm_b, 130);
    ck_assert_str_eq(f->dimension, "arm");
    ck_assert_str_eq(f->value, "B");
    ck_assert(fabs(change_of(f, 99)->share - .1) < .03);
    teardown(&b);
}
END_TEST

START_TEST(codes_that_come_back_recover)
{
    static shop_change *const changes[] = {all_99, hundredth_99, half_5, turned_round, one_more};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct bench b;
        setup(&b, 6);
        finds(&b, changes[i], 600);
        ck_assert_int_eq(b.count[EK_RECOVERED], 0);
        run(&b, 200, NULL);
        ck_assert_int_eq(b.count[EK_RECOVERED], 1);
        run(&b, 2000, NULL);
        ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
        teardown(&b);
    }
}
END_TEST

START_TEST(codes_that_are_missing_are_called_so)
{
    struct bench b;
    setup(&b, 7);
    run(&b, BEFORE, NULL);
    run(&b, 300, half_absent);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 1);
    ck_assert_int_eq(b.last[EK_CONFIRMED].class, EK_MISSING);
    teardown(&b);
}
END_TEST

/* 0 and -0, infinities, numbers that are no whole ones: codes like others. */
static void strange(struct ek_query *q)
{
    static const float codes[] = {0, -0.f, INFINITY, -7, .5f, 1e-42f};
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND] = codes[(int)q->x[2 * i + KIND] % 6];
}

static void strange_change(struct shop *s, struct ek_query *q)
{
    (void)s;
    strange(q);
}

START_TEST(any_number_may_be_a_code)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct shop s;
    struct bench b;
    shop_open(&s, 1, 1);
    ek_profile_fit_new(&fit, m, NULL, NULL);
    for (int i = 0; i < TRAINING; i++) {
        struct ek_query *q = shop_next(&s);
        strange(q);
        ck_assert_int_eq(ek_profile_fit_add(fit, q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ck_assert_int_eq(p->category[KIND].count, 5);
    ck_assert_int_eq(ek_category_find(&p->category[KIND], -0.f),
                     ek_category_find(&p->category[KIND], 0));
    ck_assert_int_ge(ek_category_find(&p->category[KIND], INFINITY), 0);
    setup_with(&b, 8, p);
    run(&b, 3000, strange_change);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    teardown(&b);
    ek_profile_fit_free(fit);
    shop_close(&s);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_feature_that_is_not_watched_is_not_told_of)
{
    static const char rules[] = "version: 1\nfeatures: {kind: {watch: false}}\n";
    struct bench b;
    setup(&b, 9);
    ek_detector_free(b.detector);
    ek_rules_free(b.rules);
    ck_assert_int_eq(ek_rules_parse(&b.rules, b.manifest, "rules", rules, strlen(rules), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_detector_new(&b.detector, b.manifest, b.profile, b.rules, NULL), EK_OK);
    run(&b, 500, all_99);
    ck_assert_int_eq(b.count[EK_SUSPECTED], 0);
    teardown(&b);
}
END_TEST

START_TEST(the_event_names_the_values)
{
    struct bench b;
    struct ek_buf text;
    struct ek_plan plan = {0};
    setup(&b, 2);
    const struct ek_finding *f = finds(&b, tenth_99, 25);
    struct ek_decision decision = ek_decide(b.rules, b.manifest, &plan, 1, f);
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_event_finding(&text, b.manifest, f, &decision), EK_OK);
    const char *json = ek_buf_string(&text);
    ck_assert_ptr_nonnull(strstr(json, "\"class\":\"new_category\",\"factor\":null"));
    ck_assert_ptr_nonnull(strstr(json, "\"categories\":[{\"value\":99,\"share\":0."));
    ck_assert_ptr_nonnull(strstr(json, "\"trained\":0}]"));
    ck_assert_ptr_nonnull(strstr(json, "\"signal\":\"new value\""));
    ck_assert_ptr_nonnull(strstr(json, "\"action\":\"alert\""));
    ek_buf_release(&text);
    teardown(&b);
}
END_TEST

START_TEST(heavy_keys_are_counted_exactly_and_in_any_order)
{
    enum { KEYS = 500 };
    struct ek_heavy *forward, *backward;
    struct ek_heavy_key a[KEYS], z[KEYS];
    ck_assert_int_eq(ek_heavy_new(&forward, 1024), EK_OK);
    ck_assert_int_eq(ek_heavy_new(&backward, 1024), EK_OK);
    for (uint64_t i = 0; i < 20 * KEYS; i++) {
        uint64_t j = 20 * KEYS - 1 - i;
        ck_assert_int_eq(ek_heavy_add(forward, i * i % KEYS, i), EK_OK);
        ck_assert_int_eq(ek_heavy_add(backward, j * j % KEYS, j), EK_OK);
    }
    size_t count = ek_heavy_count(forward);
    ck_assert_uint_eq(count, ek_heavy_count(backward));
    ek_heavy_list(forward, a);
    ek_heavy_list(backward, z);
    for (size_t i = 0; i < count; i++) {
        ck_assert(i == 0 || a[i - 1].key < a[i].key);
        ck_assert_uint_eq(a[i].key, z[i].key);
        ck_assert_uint_eq(a[i].weight, z[i].weight);
        ck_assert_uint_eq(a[i].times, z[i].times);
    }
    ek_heavy_free(forward);
    ek_heavy_free(backward);
}
END_TEST

START_TEST(a_million_keys_take_no_more_room_and_hide_no_heavy_one)
{
    enum { MOST = 1024, LIGHT = 1000000, EVERY = 200 };
    struct ek_heavy *h;
    struct ek_heavy_key *keys = ek_calloc(MOST, sizeof *keys);
    ck_assert_int_eq(ek_heavy_new(&h, MOST), EK_OK);
    for (uint64_t i = 0; i < LIGHT; i++) {
        ck_assert_int_eq(ek_heavy_add(h, 1000 + i, 1), EK_OK);
        if (i % EVERY == 0)
            ck_assert_int_eq(ek_heavy_add(h, 7, 1), EK_OK);
        ck_assert_uint_le(ek_heavy_count(h), MOST);
    }
    size_t count = ek_heavy_count(h);
    ek_heavy_list(h, keys);
    ck_assert_uint_eq(keys[0].key, 7);
    uint64_t whole = LIGHT / EVERY, short_by = (LIGHT + whole) / (MOST / 2);
    ck_assert(keys[0].weight <= whole && keys[0].weight >= whole - short_by);
    ck_assert_uint_gt(count, 0);
    ek_free(keys);
    ek_heavy_free(h);
}
END_TEST

/* Lists of one item each, or of two; the table of `lists` of them. */
static struct ek_category_table table_of(const struct ek_category_share *of, int lists, int step)
{
    static const int number[] = {0};
    struct ek_category_fit *fit;
    struct ek_category_table t;
    ck_assert_int_eq(ek_category_fit_new(&fit), EK_OK);
    for (int i = 0; i < lists; i++) {
        int at = (int)((long)i * step % lists);
        struct ek_category_list l = {.of = (struct ek_category_share *)(uintptr_t)&of[2 * at],
                                     .count = 2};
        ck_assert_int_eq(ek_category_fit_add(fit, &l, 0), EK_OK);
    }
    ck_assert_int_eq(ek_category_fit_finish(fit, number, 1, &t), EK_OK);
    ek_category_fit_free(fit);
    return t;
}

START_TEST(a_table_keeps_mean_shares_of_lists_and_what_one_list_alone_had)
{
    static const struct ek_category_share of[] = {{-3, .5f},  {4, .5f},  {-3, .25f}, {4, .75f},
                                                  {-3, .75f}, {9, .25f}, {-3, .5f},  {4, .5f}};
    struct ek_category_table a = table_of(of, 4, 1), b = table_of(of, 4, 3);
    ck_assert_int_eq(a.count, 3);
    ck_assert_int_eq(ek_category_find(&a, -3), 0);
    ck_assert_int_eq(ek_category_find(&a, 5), -1);
    ck_assert(fabsf(a.share[0] - .5f) < 1e-5f);
    ck_assert(fabsf(a.share[1] - .4375f) < 1e-5f);
    ck_assert(fabsf(a.share[2] - .0625f) < 1e-5f);
    ck_assert(fabsf(a.unknown[0] - .0625f) < 1e-5f);
    ck_assert_int_eq(memcmp(a.share, b.share, 3 * sizeof *a.share), 0);
    ek_category_table_release(&a);
    ek_category_table_release(&b);
}
END_TEST

START_TEST(a_million_codes_leave_a_small_table_that_says_how_much_it_leaves_out)
{
    enum { LISTS = 1000000 };
    struct ek_category_share *of = ek_calloc(2 * LISTS, sizeof *of);
    for (int i = 0; i < LISTS; i++) {
        of[2 * i] = (struct ek_category_share){-1, .5f};
        of[2 * i + 1] = (struct ek_category_share){(float)i, .5f};
    }
    struct ek_category_table t = table_of(of, LISTS, 1);
    ck_assert_int_le(t.count, EK_CATEGORIES_MAX);
    int heavy = ek_category_find(&t, -1);
    ck_assert_int_eq(heavy, 0);
    ck_assert(fabsf(t.share[heavy] - .5f) < 1e-3f);
    ck_assert(fabsf(t.unknown[0] - .5f) < 2e-3f);
    ek_category_table_release(&t);
    ek_free(of);
}
END_TEST

START_TEST(strata_have_shares_of_their_own)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 6000, 24, "market");
    struct shop s;
    shop_open(&s, 1, 24);
    const struct ek_category_table *t = &p->category[KIND];
    ck_assert_int_eq(t->strata, 25);
    ck_assert_int_eq(t->count, SHOP_KINDS);
    for (int market = 0; market < 24; market++) {
        char name[8];
        snprintf(name, sizeof name, "m%d", market);
        int stratum = ek_profile_stratum(p, name, strlen(name));
        ck_assert_int_gt(stratum, 0);
        for (int k = 0; k < SHOP_KINDS; k++) {
            double liked = s.liked[market][k] - (k ? s.liked[market][k - 1] : 0);
            double pulled = (double)t->share[k * 25];
            double want = (250 * liked + 20 * pulled) / 270;
            ck_assert(fabs((double)t->share[k * 25 + stratum] - want) < .05);
        }
        ck_assert(t->unknown[stratum] < .001f);
    }
    shop_close(&s);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

static struct ek_profile *saved_and_loaded(const struct ek_profile *p, struct ek_error *e)
{
    struct ek_profile *read = NULL;
    char path[] = "/tmp/ek-category-XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(ek_profile_save(p, path, NULL), EK_OK);
    ek_profile_load(&read, path, e);
    unlink(path);
    return read;
}

START_TEST(a_table_is_read_as_it_was_written)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 400, 3, "market");
    struct ek_profile *read = saved_and_loaded(p, NULL);
    const struct ek_category_table *a = &p->category[KIND], *b = &read->category[KIND];
    ck_assert_int_eq(read->category[0].strata, 0);
    ck_assert_int_eq(a->count, b->count);
    ck_assert_int_eq(a->strata, b->strata);
    size_t values = (size_t)a->count, strata = (size_t)a->strata;
    ck_assert_int_eq(memcmp(a->value, b->value, values * sizeof(float)), 0);
    ck_assert_int_eq(memcmp(a->share, b->share, values * strata * sizeof(float)), 0);
    ck_assert_int_eq(memcmp(a->unknown, b->unknown, strata * sizeof(float)), 0);
    ck_assert_int_eq(ek_profile_check(read, m, NULL), EK_OK);
    ek_profile_free(read);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_damaged_table_is_refused_by_name)
{
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, 400, 1, NULL);
    struct ek_category_table *t = &p->category[KIND];
    struct {
        float *at, bad;
        const char *name;
    } faults[] = {{&t->value[2], t->value[1], "'category_value'"},
                  {&t->value[0], NAN, "'category_value'"},
                  {&t->share[1], 1.5f, "'category_share'"},
                  {&t->share[1], NAN, "'category_share'"},
                  {&t->unknown[0], -.5f, "'category_unknown'"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct ek_error e = {0};
        float kept = *faults[i].at;
        *faults[i].at = faults[i].bad;
        ck_assert_ptr_null(saved_and_loaded(p, &e));
        ck_assert_int_eq(e.code, EK_EFORMAT);
        ck_assert_msg(strstr(e.message, faults[i].name) != NULL, "'%s' does not name %s", e.message,
                      faults[i].name);
        *faults[i].at = kept;
    }
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

START_TEST(a_profile_that_took_codes_for_numbers_is_refused)
{
    static const char numbers[] = "features:\n"
                                  "  - {name: price, index: 1, role: item, routable: true}\n"
                                  "  - {name: kind, index: 2, role: item}\n"
                                  "  - {name: nights, index: 3, role: query}\n";
    struct ek_manifest *codes = shop_manifest(), *plain;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_manifest_parse(&plain, "m", numbers, strlen(numbers), NULL), EK_OK);
    struct ek_profile *of_codes = shop_profile(codes, 300, 1, NULL);
    struct ek_profile *of_numbers = shop_profile(plain, 300, 1, NULL);
    ck_assert_int_eq(ek_profile_check(of_codes, codes, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_check(of_numbers, plain, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_check(of_numbers, codes, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'kind' is a category in the manifest"));
    ck_assert_int_eq(ek_profile_check(of_codes, plain, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "'kind' is a number in the manifest"));
    ek_profile_free(of_codes);
    ek_profile_free(of_numbers);
    ek_manifest_free(codes);
    ek_manifest_free(plain);
}
END_TEST

Suite *suite_category(void)
{
    return ek_suite("category", healthy_codes_are_left_in_peace, a_new_code_is_found_and_named,
                    a_known_code_whose_share_explodes_is_found_and_named,
                    codes_that_became_others_are_found, a_new_code_of_one_arm_is_put_on_the_arm,
                    codes_that_come_back_recover, codes_that_are_missing_are_called_so,
                    any_number_may_be_a_code, a_feature_that_is_not_watched_is_not_told_of,
                    the_event_names_the_values, heavy_keys_are_counted_exactly_and_in_any_order,
                    a_million_keys_take_no_more_room_and_hide_no_heavy_one,
                    a_table_keeps_mean_shares_of_lists_and_what_one_list_alone_had,
                    a_million_codes_leave_a_small_table_that_says_how_much_it_leaves_out,
                    strata_have_shares_of_their_own, a_table_is_read_as_it_was_written,
                    a_damaged_table_is_refused_by_name,
                    a_profile_that_took_codes_for_numbers_is_refused);
}
