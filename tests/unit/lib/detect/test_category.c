/* Categories: findings, their reports, and healthy changes. */
#include "base/alloc.h"
#include "detect/detector.h"
#include "guard/event_json.h"
#include "tests/check.h"
#include "tests/shop.h"

enum { TRAINING = 3000, BEFORE = 500, KIND = 1 };

static const char RULES[] = "version: 1\nsegments: [arm]\n";

struct bench {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector;
    struct shop shop;
    struct ek_finding last[5]; /* findings by state, and their count */
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

static void observe(struct bench *b, const struct ek_list *q)
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
        struct ek_list *q = shop_next(&b->shop);
        if (change)
            change(&b->shop, q);
        observe(b, q);
    }
}

static void become_99(struct shop *s, struct ek_list *q, double part)
{
    for (int i = 0; i < q->items; i++)
        if (ek_rng_uniform(&s->rng) < part)
            q->x[2 * i + KIND] = 99;
}

static void all_99(struct shop *s, struct ek_list *q)
{
    become_99(s, q, 1);
}

static void tenth_99(struct shop *s, struct ek_list *q)
{
    become_99(s, q, .1);
}

static void hundredth_99(struct shop *s, struct ek_list *q)
{
    become_99(s, q, .01);
}

static void tenth_99_in_arm_b(struct shop *s, struct ek_list *q)
{
    if (s->arm_b)
        become_99(s, q, .1);
}

static void one_more(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND]++;
}

static void turned_round(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND] = (float)(SHOP_KINDS + 1) - q->x[2 * i + KIND];
}

static void half_5(struct shop *s, struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if (ek_rng_uniform(&s->rng) < .5)
            q->x[2 * i + KIND] = 5;
}

static void half_absent(struct shop *s, struct ek_list *q)
{
    (void)s;
    for (int i = 0; i < q->items; i += 2)
        q->x[2 * i + KIND] = NAN;
}

/* Healthy oddities: a list of few items, without codes, with one code. */
static void odd_but_healthy(struct shop *s, struct ek_list *q)
{
    q->items = s->number % 3 ? q->items : 1;
    for (int i = 0; i < q->items; i++)
        if (s->number % 50 == 0)
            q->x[2 * i + KIND] = NAN;
}

/* Return the change of that value in a finding, or NULL. */
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

/* 0 and -0, infinities and fractions are codes like others. */
static void strange(struct ek_list *q)
{
    static const float codes[] = {0, -0.f, INFINITY, -7, .5f, 1e-42f};
    for (int i = 0; i < q->items; i++)
        q->x[2 * i + KIND] = codes[(int)q->x[2 * i + KIND] % 6];
}

static void strange_change(struct shop *s, struct ek_list *q)
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
        struct ek_list *q = shop_next(&s);
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
    setup(&b, 2);
    const struct ek_finding *f = finds(&b, tenth_99, 25);
    static const struct ek_means means = {.model = true};
    struct ek_decision decision = ek_decide(b.rules, b.manifest, &means, f);
    ek_buf_init(&text, 0);
    struct ek_event *event = ek_event_from_finding(b.manifest, f, &decision, NULL, 0);
    ck_assert_ptr_nonnull(event);
    ck_assert_int_eq(ek_event_json(event, &text), EK_OK);
    ek_free(event);
    const char *json = ek_buf_string(&text);
    ck_assert_ptr_nonnull(strstr(json, "\"class\":\"new_category\",\"factor\":null"));
    ck_assert_ptr_nonnull(strstr(json, "\"categories\":[{\"value\":99,\"fraction\":0."));
    ck_assert_ptr_nonnull(strstr(json, "\"trained\":0}]"));
    ck_assert_ptr_nonnull(strstr(json, "\"trigger\":\"new value\""));
    ck_assert_ptr_nonnull(strstr(json, "\"mitigation\":\"alert\""));
    ck_assert_ptr_nonnull(strstr(json, "\"text\":\"kind: value 99 is "));
    ck_assert_ptr_nonnull(strstr(json, "% of a list (not in training) since list "));
    ek_buf_release(&text);
    teardown(&b);
}
END_TEST

Suite *suite_category(void)
{
    return ek_suite("category", healthy_codes_are_left_in_peace, a_new_code_is_found_and_named,
                    a_known_code_whose_share_explodes_is_found_and_named,
                    codes_that_became_others_are_found, a_new_code_of_one_arm_is_put_on_the_arm,
                    codes_that_come_back_recover, codes_that_are_missing_are_called_so,
                    any_number_may_be_a_code, a_feature_that_is_not_watched_is_not_told_of,
                    the_event_names_the_values);
}
