/* Injected faults: affected lists, and changes to values. */
#include "base/alloc.h"
#include "offline/world/faults.h"
#include "offline/world/synthetic_lists.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { MANY = 20000 };

/* Two items of two features: 100, 0 and NaN, -9; one query feature: 3. */
static void open_list(struct ek_list *q, const char *arm)
{
    static const float x[] = {100, 0, NAN, -9};
    ek_list_init(q);
    ck_assert_int_eq(ek_list_resize(q, 2, 2, 1), EK_OK);
    memcpy(q->x, x, sizeof x);
    q->query[0] = 3;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {arm, strlen(arm)}};
    q->segment_count = 1;
}

static struct ek_fault everywhere(enum ek_fault_op op, double value, int *items)
{
    return (struct ek_fault){.item = items,
                             .item_count = 2,
                             .op = op,
                             .value = value,
                             .to = UINT64_MAX,
                             .share = 1,
                             .items = 1,
                             .source = -1};
}

START_TEST(each_operation_does_what_it_says_and_missing_stays_missing)
{
    static const struct {
        enum ek_fault_op op;
        double value, hundred, nothing, negative;
    } cases[] = {
        {EK_FAULT_SCALE, 100, 10000, 0, -900},
        {EK_FAULT_POWER, 2, 10000, 0, -81},
        {EK_FAULT_ADD, 50, 150, 50, 41},
        {EK_FAULT_ADD, -50, 50, -50, -59},
        {EK_FAULT_NEGATE, 0, -100, 0, 9},
        {EK_FAULT_QUERY_FEATURE, 0, 300, 0, -27},
        {EK_FAULT_ZERO, 0, 0, 0, 0},
        {EK_FAULT_SET, 7, 7, 7, 7},
        {EK_FAULT_ADD_MEDIANS, 2, 300, -20, -29},
    };
    double median[] = {100, -10};
    int items[] = {0, 1};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct ek_list q;
        struct ek_fault f = everywhere(cases[c].op, cases[c].value, items);
        f.median = median;
        open_list(&q, "A");
        ck_assert(ek_fault_apply(&f, &q, 0, 1));
        ck_assert_float_eq(q.x[0], (float)cases[c].hundred);
        ck_assert_float_eq(q.x[1], (float)cases[c].nothing);
        ck_assert_float_nan(q.x[2]);
        ck_assert_float_eq(q.x[3], (float)cases[c].negative);
        ek_list_release(&q);
    }
}
END_TEST

START_TEST(nan_makes_every_value_missing)
{
    struct ek_list q;
    int items[] = {0, 1};
    struct ek_fault f = everywhere(EK_FAULT_NAN, 0, items);
    open_list(&q, "A");
    ck_assert(ek_fault_apply(&f, &q, 0, 1));
    for (int i = 0; i < 4; i++)
        ck_assert_float_nan(q.x[i]);
    ek_list_release(&q);
}
END_TEST

START_TEST(only_the_named_features_change)
{
    struct ek_list q;
    int items[] = {0};
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.item_count = 1;
    open_list(&q, "A");
    ck_assert(ek_fault_apply(&f, &q, 0, 1));
    ck_assert_float_eq(q.x[0], 1000);
    ck_assert_float_eq(q.x[3], -9);
    ek_list_release(&q);
}
END_TEST

START_TEST(a_window_begins_at_from_and_ends_before_to)
{
    struct ek_list q;
    int items[] = {0, 1};
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.from = 5000;
    f.to = 9000;
    open_list(&q, "A");
    ck_assert(!ek_fault_hits(&f, &q, 4999, 1));
    ck_assert(ek_fault_hits(&f, &q, 5000, 1));
    ck_assert(ek_fault_hits(&f, &q, 8999, 1));
    ck_assert(!ek_fault_hits(&f, &q, 9000, 1));
    ck_assert(!ek_fault_apply(&f, &q, 9000, 1));
    ck_assert_float_eq(q.x[0], 100);
    ek_list_release(&q);
}
END_TEST

START_TEST(a_share_is_that_of_the_queries_and_follows_from_the_seed)
{
    struct ek_list q;
    int items[] = {0, 1}, hit = 0, same = 0, other = 0;
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.share = 0.3;
    open_list(&q, "A");
    for (uint64_t i = 0; i < MANY; i++) {
        bool here = ek_fault_hits(&f, &q, i, 1);
        hit += here;
        same += here == ek_fault_hits(&f, &q, i, 1);
        other += here == ek_fault_hits(&f, &q, i, 2);
    }
    ck_assert_double_eq_tol((double)hit / MANY, 0.3, 0.02);
    ck_assert_int_eq(same, MANY);
    ck_assert_double_eq_tol((double)other / MANY, 0.3 * 0.3 + 0.7 * 0.7, 0.02);
    ek_list_release(&q);
}
END_TEST

START_TEST(faults_of_one_share_hit_the_same_queries)
{
    struct ek_list q;
    int items[] = {0, 1};
    struct ek_fault half = everywhere(EK_FAULT_SCALE, 10, items), third = half;
    half.share = 0.5;
    third.share = 0.3;
    third.op = EK_FAULT_ZERO;
    open_list(&q, "A");
    for (uint64_t i = 0; i < 1000; i++)
        ck_assert(!ek_fault_hits(&third, &q, i, 1) || ek_fault_hits(&half, &q, i, 1));
    ek_list_release(&q);
}
END_TEST

START_TEST(an_arm_is_hit_alone)
{
    struct ek_list a, b, none;
    char arm[] = "arm", value[] = "B";
    int items[] = {0, 1};
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.dimension = arm;
    f.segment_value = value;
    open_list(&a, "A");
    open_list(&b, "B");
    open_list(&none, "BB");
    ck_assert(!ek_fault_hits(&f, &a, 1, 1));
    ck_assert(ek_fault_hits(&f, &b, 1, 1));
    ck_assert(!ek_fault_hits(&f, &none, 1, 1));
    none.segment_count = 0;
    ck_assert(!ek_fault_hits(&f, &none, 1, 1));
    ek_list_release(&a);
    ek_list_release(&b);
    ek_list_release(&none);
}
END_TEST

START_TEST(medians_come_from_the_finite_values)
{
    float x[] = {1, 5, NAN, 7, 9, INFINITY, 2, NAN};
    struct ek_dataset d = {.items = 4, .item_features = 2, .x = x};
    int items[] = {0, 1};
    double median[] = {0, 0};
    struct ek_fault f = everywhere(EK_FAULT_ADD_MEDIANS, 1, items);
    f.median = median;
    ck_assert_int_eq(ek_fault_fit(&f, &d, NULL), EK_OK);
    ck_assert_double_eq(median[0], 2);
    ck_assert_double_eq(median[1], 6);
    d.items = 0;
    ck_assert_int_eq(ek_fault_fit(&f, &d, NULL), EK_OK);
    ck_assert_double_eq(median[0], 0);
}
END_TEST

/* Many items of one feature with the value 1. */
static void open_ones(struct ek_list *q)
{
    ek_list_init(q);
    ck_assert_int_eq(ek_list_resize(q, MANY / 100, 1, 0), EK_OK);
    for (int i = 0; i < q->items; i++)
        q->x[i] = 1;
}

START_TEST(a_share_of_the_items_is_hit_within_a_list)
{
    int items[] = {0}, hit = 0, both = 0;
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.item_count = 1;
    f.items = 0.3;
    for (uint64_t number = 0; number < 100; number++) {
        struct ek_list q;
        open_ones(&q);
        ck_assert(ek_fault_apply(&f, &q, number, 1));
        for (int i = 0; i < q.items; i++) {
            ck_assert(q.x[i] == 1 || q.x[i] == 10);
            hit += q.x[i] == 10;
            both += i && q.x[i] == 10 && q.x[i - 1] == 10;
        }
        ek_list_release(&q);
    }
    ck_assert_double_eq_tol((double)hit / MANY, 0.3, 0.02);
    ck_assert_double_eq_tol((double)both / MANY, 0.09, 0.02);
}
END_TEST

START_TEST(a_fault_of_a_source_hits_its_items_alone)
{
    int items[] = {0}, hit = 0, both = 0;
    struct ek_fault f = everywhere(EK_FAULT_SCALE, 10, items);
    f.item_count = 1;
    f.source = 1;
    for (uint64_t number = 0; number < 100; number++) {
        struct ek_list q;
        open_ones(&q);
        ck_assert_msg(!ek_fault_apply(&f, &q, number, 1), "hits items that do not say theirs");
        q.sources = 3;
        ek_sources_draw(q.source, q.items, q.sources, number, 1);
        ck_assert(ek_fault_apply(&f, &q, number, 1));
        for (int i = 0; i < q.items; i++) {
            ck_assert(q.x[i] == (q.source[i] == 1 ? 10.0f : 1.0f));
            hit += q.source[i] == 1;
            both += i && q.source[i] == 1 && q.source[i - 1] == 1;
        }
        ek_list_release(&q);
    }
    ck_assert_double_eq_tol((double)hit / MANY, 1.0 / 3, 0.02);
    ck_assert_double_eq_tol((double)both / MANY, 1.0 / 9, 0.02);
}
END_TEST

START_TEST(each_list_has_one_of_seven_rates_for_all_its_features)
{
    static const float rates[EK_FAULT_RATES] = {1, 0.8F, 1.3F, 7.2F, 18, 110, 1400};
    int items[] = {0, 1}, lists[EK_FAULT_RATES] = {0};
    struct ek_fault f = everywhere(EK_FAULT_CURRENCY, 0, items);
    f.share = 0.5;
    for (uint64_t number = 0; number < MANY; number++) {
        struct ek_list q;
        open_list(&q, "A");
        q.x[1] = 10;
        int arm = ek_fault_arm(&f, &q, number, 1);
        ck_assert_int_eq(ek_fault_apply(&f, &q, number, 1), arm > 0);
        ck_assert_float_eq(q.x[0], arm ? 100 * rates[arm - 1] : 100);
        ck_assert_float_eq_tol(q.x[1], q.x[0] / 10, 1e-3F * q.x[1]);
        if (arm)
            lists[arm - 1]++;
        ek_list_release(&q);
    }
    for (int i = 0; i < EK_FAULT_RATES; i++)
        ck_assert_double_eq_tol((double)lists[i] / MANY, 0.5 / EK_FAULT_RATES, 0.01);
}
END_TEST

START_TEST(a_recoded_feature_has_the_same_values_in_other_places)
{
    float x[] = {3, NAN, 1, 2, 1, INFINITY};
    struct ek_dataset d = {.items = 6, .item_features = 1, .x = x};
    struct ek_list q;
    int items[] = {0};
    struct ek_codes codes = {0};
    struct ek_fault f = everywhere(EK_FAULT_RECODE, 0, items);
    f.item_count = 1;
    f.codes = &codes;
    ck_assert(ek_fault_needs_fit(&f));
    ck_assert_int_eq(ek_fault_fit(&f, &d, NULL), EK_OK);
    ck_assert_uint_eq(codes.count, 3);
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 6, 1, 0), EK_OK);
    memcpy(q.x, x, sizeof x);
    q.x[4] = 7;
    ck_assert(ek_fault_apply(&f, &q, 0, 1));
    ck_assert_float_eq(q.x[0], 1);
    ck_assert_float_nan(q.x[1]);
    ck_assert_float_eq(q.x[2], 2);
    ck_assert_float_eq(q.x[3], 3);
    ck_assert_float_eq(q.x[4], 7);
    ck_assert(isinf(q.x[5]));
    ek_list_release(&q);
    ek_free(codes.value);
}
END_TEST

START_TEST(a_number_is_no_code)
{
    struct ek_codes codes = {0};
    struct ek_error e;
    int items[] = {0};
    struct ek_fault f = everywhere(EK_FAULT_RECODE, 0, items);
    struct ek_dataset d = {.items = EK_FAULT_CODES_MAX + 1, .item_features = 1};
    f.item_count = 1;
    f.codes = &codes;
    d.x = ek_calloc(d.items, sizeof *d.x);
    for (size_t i = 0; i < d.items; i++)
        d.x[i] = (float)i;
    d.items = EK_FAULT_CODES_MAX;
    ck_assert_int_eq(ek_fault_fit(&f, &d, &e), EK_OK);
    ek_free(codes.value);
    codes = (struct ek_codes){0};
    d.items++;
    ck_assert_int_eq(ek_fault_fit(&f, &d, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "a feature with more than 4096 values cannot be recoded");
    ek_free(d.x);
    ek_free(codes.value);
}
END_TEST

START_TEST(a_query_feature_changes_in_the_lists_that_are_hit)
{
    int queries[] = {1};
    struct ek_fault f = {.query = queries,
                         .query_count = 1,
                         .op = EK_FAULT_SCALE,
                         .value = 24,
                         .from = 1,
                         .to = 9,
                         .share = 1,
                         .items = 1,
                         .source = -1};
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 1, 1, 2), EK_OK);
    q.x[0] = 5;
    q.query[0] = 3;
    q.query[1] = 2;
    ck_assert(!ek_fault_apply(&f, &q, 0, 1));
    ck_assert(ek_fault_apply(&f, &q, 1, 1));
    ck_assert_float_eq(q.query[1], 48);
    ck_assert_float_eq(q.query[0], 3);
    ck_assert_float_eq(q.x[0], 5);
    q.query[1] = NAN;
    ck_assert(ek_fault_apply(&f, &q, 2, 1));
    ck_assert_float_nan(q.query[1]);
    ek_list_release(&q);
}
END_TEST

Suite *suite_faults(void)
{
    return ek_suite("faults", each_operation_does_what_it_says_and_missing_stays_missing,
                    nan_makes_every_value_missing, only_the_named_features_change,
                    a_window_begins_at_from_and_ends_before_to,
                    a_share_is_that_of_the_queries_and_follows_from_the_seed,
                    faults_of_one_share_hit_the_same_queries, an_arm_is_hit_alone,
                    medians_come_from_the_finite_values, a_share_of_the_items_is_hit_within_a_list,
                    a_fault_of_a_source_hits_its_items_alone,
                    each_list_has_one_of_seven_rates_for_all_its_features,
                    a_recoded_feature_has_the_same_values_in_other_places, a_number_is_no_code,
                    a_query_feature_changes_in_the_lists_that_are_hit);
}
