/* A detector restored from its parts continues as if it had never stopped. */
#include "base/alloc.h"
#include "detect/detector_internal.h"
#include "plan/plan.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"
#include "tests/detector_parts.h"
#include "tests/shop.h"

enum { EVERY = 331, EVERY_OPEN = 13, AGAIN = 17, STATES = 5 };

/* A continuous detector, and one repeatedly stopped and restored. */
struct pair {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    int cells;
    struct ek_detector *through, *stopped;
    struct ek_plan plan;
    uint8_t held[1024];         /* its segments */
    int cuts, findings[STATES]; /* restarts; pending findings at a restart, by state */
    int categories;             /* findings of EK_NEW_CATEGORY */
};

/* Takes ownership of manifest and profile. */
static void pair_open(struct pair *p, struct ek_manifest *m, struct ek_profile *profile,
                      const char *rules, int cells)
{
    memset(p, 0, sizeof *p);
    p->manifest = m;
    p->profile = profile;
    p->cells = cells;
    ck_assert_int_eq(ek_rules_parse(&p->rules, m, "rules", rules, strlen(rules), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new_with(&p->through, m, profile, p->rules, cells, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new_with(&p->stopped, m, profile, p->rules, cells, NULL), EK_OK);
}

static void pair_close(struct pair *p)
{
    ek_detector_free(p->through);
    ek_detector_free(p->stopped);
    ek_rules_free(p->rules);
    ek_profile_free(p->profile);
    ek_manifest_free(p->manifest);
}

static void assert_same_figures(const struct ek_detector *a, const struct ek_detector *b)
{
    struct ek_limit_counters x = ek_detector_limit_counters(a), y = ek_detector_limit_counters(b);
    const struct ek_cells *c = ek_detector_registry(a), *d = ek_detector_registry(b);
    int count, per_query = 1 + ek_cells_dimensions(c);
    ck_assert(!memcmp(&x, &y, sizeof x));
    ck_assert(!memcmp(ek_detector_cells(a, &count), ek_detector_cells(b, &count),
                      (size_t)per_query * sizeof(int16_t)));
    ck_assert_uint_eq(ek_detector_list_count(a), ek_detector_list_count(b));
    ck_assert_uint_eq(ek_cells_reuse_count(c), ek_cells_reuse_count(d));
    for (int i = 0; i < ek_cells_dimensions(c); i++) {
        struct ek_cells_share s = ek_cells_get_share(c, i), t = ek_cells_get_share(d, i);
        ck_assert(s.own == t.own && s.lists == t.lists && s.pooled == t.pooled);
        ck_assert(!memcmp(&s.pooled_values, &t.pooled_values, sizeof s.pooled_values));
    }
}

/* Check that both states are equal bit for bit, then restore one of them. */
static void cut(struct pair *p)
{
    struct ek_buf through = detector_parts_save(p->through);
    struct ek_buf stopped = detector_parts_save(p->stopped);
    ck_assert_uint_eq(through.length, stopped.length);
    ck_assert(!memcmp(through.data, stopped.data, through.length));
    assert_same_figures(p->through, p->stopped);
    ek_detector_free(p->stopped);
    ck_assert_int_eq(
        ek_detector_new_with(&p->stopped, p->manifest, p->profile, p->rules, p->cells, NULL),
        EK_OK);
    detector_parts_restore(p->stopped, &through);
    ek_buf_release(&through);
    ek_buf_release(&stopped);
    p->cuts++;
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static int same_number(double a, double b)
{
    return !memcmp(&a, &b, sizeof a);
}

static void assert_same(const struct ek_finding *a, const struct ek_finding *b)
{
    ck_assert(a->state == b->state && a->class == b->class && a->episode == b->episode &&
              a->cause == b->cause && a->feature == b->feature && a->cell == b->cell);
    ck_assert(a->query == b->query && a->since_query == b->since_query &&
              a->time_ms == b->time_ms && a->since_ms == b->since_ms);
    ck_assert(same_text(a->dimension, b->dimension) && same_text(a->value, b->value) &&
              same_text(a->signal, b->signal) && same_text(a->reason, b->reason));
    ck_assert(same_number(a->factor, b->factor) && same_number(a->factor_low, b->factor_low) &&
              same_number(a->factor_high, b->factor_high) &&
              same_number(a->error_ln, b->error_ln) && same_number(a->share, b->share) &&
              same_number(a->spread_ratio, b->spread_ratio) &&
              same_number(a->exponent, b->exponent) && a->value_share == b->value_share &&
              a->trained_share == b->trained_share);
    ck_assert(a->query_feature == b->query_feature && a->unit_count == b->unit_count &&
              a->category_count == b->category_count);
    for (int i = 0; i < a->unit_count; i++)
        ck_assert(a->unit[i].unit == b->unit[i].unit && a->unit[i].listed == b->unit[i].listed &&
                  a->unit[i].fit == b->unit[i].fit);
    for (int i = 0; i < a->category_count; i++)
        ck_assert(a->category[i].value == b->category[i].value &&
                  same_number(a->category[i].share, b->category[i].share) &&
                  same_number(a->category[i].trained, b->category[i].trained));
}

/* Add confirmed findings to the plan as if routed; the plan outlives them. */
static void follow(struct pair *p, const struct ek_finding *f)
{
    if (f->state == EK_CONFIRMED)
        ek_plan_set(&p->plan, f->feature, f->cell, (struct ek_treatment){EK_ACT_ROUTE, 0},
                    f->time_ms);
    else if (f->state == EK_DISMISSED)
        ek_plan_remove(&p->plan, f->feature, f->cell);
    else
        return;
    memset(p->held, 0, sizeof p->held);
    for (int i = 0; i < p->plan.count; i++)
        p->held[p->plan.entry[i].cell] = 1;
    ek_detector_retain_cells(p->through, p->held, sizeof p->held);
    ek_detector_retain_cells(p->stopped, p->held, sizeof p->held);
}

/* Restarts before and after a finding is fetched, often during a change, and at random. */
static void observe(struct pair *p, const struct ek_list *q)
{
    struct ek_finding f, g;
    ck_assert_int_eq(ek_detector_observe(p->through, q, q->time_ms, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_observe(p->stopped, q, q->time_ms, NULL), EK_OK);
    int waiting = p->through->findings != p->through->fetched;
    if (waiting)
        cut(p);
    while (ek_detector_next(p->through, &f)) {
        ck_assert_int_eq(ek_detector_next(p->stopped, &g), 1);
        assert_same(&f, &g);
        follow(p, &f);
        p->findings[f.state]++;
        p->categories += f.class == EK_NEW_CATEGORY;
    }
    ck_assert_int_eq(ek_detector_next(p->stopped, &g), 0);
    uint64_t every = ek_episodes_available(p->through) < EK_EPISODES_MAX ? EVERY_OPEN : EVERY;
    if (waiting || ek_detector_list_count(p->through) % every == 0)
        cut(p);
}

static struct ek_profile *hotel_profile(const struct ek_manifest *m, int lists)
{
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct ek_hotel *h;
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_hotel_new(&h, 1, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, "market", NULL), EK_OK);
    for (int i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_hotel_list(h, (uint64_t)i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ek_hotel_free(h);
    ek_list_release(&q);
    return p;
}

/* Half of the traffic is for two new places. */
static void summer(struct ek_list *q, uint64_t n)
{
    static const char *const place[] = {"beach", "island"};
    if (n % 2)
        q->segments[1].value = shop_text(place[n / 2 % 2]);
}

/* Hotel traffic with these faults, with new places from list `moves` on; some lists are duplicates.
 */
static void run_hotel(struct pair *p, const char *const *spec, int faults, uint64_t lists,
                      uint64_t moves)
{
    enum { FAULTS_MAX = 8, SEED = 5 };
    struct ek_fault fault[FAULTS_MAX];
    struct ek_hotel *h;
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_hotel_new(&h, SEED, NULL), EK_OK);
    for (int i = 0; i < faults; i++)
        ck_assert_int_eq(ek_fault_parse(&fault[i], p->manifest, spec[i], NULL), EK_OK);
    for (uint64_t n = 0; n < lists; n++) {
        ck_assert_int_eq(ek_hotel_list(h, n, &q, NULL), EK_OK);
        for (int i = 0; i < faults; i++)
            ek_fault_apply(&fault[i], &q, n, SEED);
        if (n >= moves)
            summer(&q, n);
        observe(p, &q);
        if (n % AGAIN == 0)
            observe(p, &q);
    }
    for (int i = 0; i < faults; i++)
        ek_fault_release(&fault[i]);
    ek_hotel_free(h);
    ek_list_release(&q);
}

static void open_hotel(struct pair *p, const char *rules, int cells)
{
    struct ek_manifest *m;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    pair_open(p, m, hotel_profile(m, 3000), rules, cells);
}

static uint64_t pooled(const struct ek_detector *d)
{
    return ek_detector_limit_counters(d).count[EK_BOUND_CELLS];
}

/* Longer than the history of 4,096 lists, so that its ring wraps. */
START_TEST(a_restored_detector_goes_on_as_if_it_had_never_stopped)
{
    static const char *const faults[] = {
        "price=x100,arm=B,from=900,to=1700",     "room_size=x10.764,from=2300,to=3000",
        "review_score=nan@.5,from=3300,to=3900", "taxes=*stay_nights,from=4200,to=4900",
        "distance_center=^2,from=4400,to=4900",
    };
    struct pair p;
    open_hotel(&p, "version: 1\nsegments: [arm]\n", EK_CELLS_DEFAULT_MAX);
    run_hotel(&p, faults, sizeof faults / sizeof *faults, 5500, UINT64_MAX);
    for (int state = EK_SUSPECTED; state <= EK_RECOVERED; state++)
        ck_assert_msg(p.findings[state] > 0, "none was %s",
                      ek_finding_state_name((enum ek_finding_state)state));
    ck_assert_int_gt(p.cuts, p.findings[EK_CONFIRMED]);
    pair_close(&p);
}
END_TEST

/* 24 markets for 10 segments: pooled and reassigned ones. */
START_TEST(so_does_one_whose_cells_change_hands)
{
    static const char *const faults[] = {"price=x100,market=m03,from=300,to=1900"};
    struct pair p;
    open_hotel(&p, "version: 1\nsegments: [market, arm]\n", 10);
    run_hotel(&p, faults, 1, 3000, 1200);
    ck_assert_uint_gt(pooled(p.through), 0);
    ck_assert_uint_gt(ek_cells_reuse_count(ek_detector_registry(p.through)), 0);
    ck_assert_int_gt(p.findings[EK_SUSPECTED], 0);
    pair_close(&p);
}
END_TEST

/* Codes that are new for some items of an arm, that dominate, that vanish, that are new for all. */
static void disturb_code(float *code, int item, int n, int arm_b)
{
    if (n >= 1000 && n < 1600 && arm_b && item % 2)
        *code = 99;
    if (n >= 2000 && n < 2600 && item % 4)
        *code = 8;
    if (n >= 3000 && n < 3600 && *code < 3)
        *code += 3;
    if (n >= 4200 && n < 4600)
        *code = 100;
}

START_TEST(so_does_one_that_watches_codes)
{
    struct ek_manifest *m = shop_manifest();
    struct pair p;
    struct shop s;
    pair_open(&p, m, shop_profile(m, 2000, 6, "market"), "version: 1\nsegments: [arm, market]\n",
              64);
    shop_open(&s, 3, 6);
    for (int n = 0; n < 5000; n++) {
        struct ek_list *q = shop_next(&s);
        for (int i = 0; i < q->items; i++)
            disturb_code(&q->x[2 * i + 1], i, n, s.arm_b);
        observe(&p, q);
    }
    ck_assert_int_gt(p.categories, 0);
    ck_assert_int_gt(p.findings[EK_RECOVERED], 0);
    shop_close(&s);
    pair_close(&p);
}
END_TEST

Suite *suite_detector_parts(void)
{
    return ek_suite("detector parts", a_restored_detector_goes_on_as_if_it_had_never_stopped,
                    so_does_one_whose_cells_change_hands, so_does_one_that_watches_codes);
}
