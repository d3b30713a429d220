/* Two sketches in the same bins. */
#include "num/histogram.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static struct ek_sketch *sketch(void)
{
    struct ek_sketch *s;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

static double sum(const struct ek_histogram *h, const struct ek_histogram_side *s)
{
    double all = (double)(s->missing + s->zero + s->infinite);
    for (int i = 0; i < h->bins[0] + h->bins[1]; i++)
        all += (double)s->share[i];
    return all;
}

START_TEST(shares_are_of_all_items_and_a_factor_moves_bars)
{
    struct ek_sketch *training = sketch(), *recent = sketch();
    struct ek_histogram h;
    for (int i = 1; i <= 1000; i++) {
        ek_sketch_add(training, (float)i, 1);
        ek_sketch_add(recent, (float)i * 100, 1);
        ek_sketch_add(recent, (float)-i, 1);
    }
    ek_sketch_add(recent, NAN, 500);
    ek_sketch_add(recent, 0, 1000);
    ek_sketch_add(recent, -INFINITY, 500);
    ek_histogram_build(training, recent, &h);
    const struct ek_histogram_side *t = &h.side[0], *r = &h.side[1];
    ck_assert_int_le(h.bins[0] + h.bins[1], EK_HISTOGRAM_BINS);
    ck_assert_uint_eq(r->items, 4000);
    ck_assert_double_eq_tol(sum(&h, t), 1, 1e-4);
    ck_assert_double_eq_tol(sum(&h, r), 1, 1e-4);
    ck_assert_double_eq_tol((double)r->missing, .125, 1e-6);
    ck_assert_double_eq_tol((double)r->zero, .25, 1e-6);
    ck_assert_double_eq_tol((double)r->infinite, .125, 1e-6);
    double far = 0, negative = 0;
    for (int i = 0; i < h.bins[1]; i++)
        if (h.low_ln[1] + i * h.width_ln > log(1000) + .1) {
            ck_assert_double_eq((double)t->share[h.bins[0] + i], 0);
            far += (double)r->share[h.bins[0] + i];
        }
    for (int i = 0; i < h.bins[0]; i++)
        negative += (double)r->share[i];
    ck_assert_double_gt(far, .2);
    ck_assert_double_eq_tol(negative, .25, 1e-4);
    ek_sketch_free(training);
    ek_sketch_free(recent);
}
END_TEST

START_TEST(one_value_and_nothing_at_all_have_bins_too)
{
    struct ek_sketch *one = sketch(), *none = sketch();
    struct ek_histogram h;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ek_histogram_build(none, none, &h);
    ck_assert_int_eq(h.bins[0] + h.bins[1], 0);
    ck_assert_int_eq(ek_histogram_json(&h, &text), EK_OK);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&text), "\"bins\":[]}"));
    ek_sketch_add(one, 7, 10);
    ek_histogram_build(one, none, &h);
    ck_assert_int_eq(h.bins[1], 1);
    ck_assert_double_eq_tol((double)h.side[0].share[0], 1, 1e-6);
    ck_assert_double_lt(exp(h.low_ln[1]), 7.1);
    ck_assert_double_gt(exp(h.low_ln[1] + h.width_ln), 6.9);
    ek_buf_release(&text);
    ek_sketch_free(one);
    ek_sketch_free(none);
}
END_TEST

START_TEST(a_stray_value_does_not_make_all_others_one_bar)
{
    struct ek_sketch *s = sketch();
    struct ek_histogram h;
    int bars = 0;
    for (int i = 1000; i <= 2000; i++)
        ek_sketch_add(s, (float)i, 10);
    ek_sketch_add(s, 1e30F, 1);
    ek_histogram_build(s, s, &h);
    for (int i = 0; i < h.bins[1]; i++)
        bars += h.side[0].share[i] > 0;
    ck_assert_int_gt(bars, 30);
    ck_assert_double_eq_tol(sum(&h, &h.side[0]), 1, 1e-4);
    ek_sketch_free(s);
}
END_TEST

Suite *suite_histogram(void)
{
    return ek_suite("histogram", shares_are_of_all_items_and_a_factor_moves_bars,
                    one_value_and_nothing_at_all_have_bins_too,
                    a_stray_value_does_not_make_all_others_one_bar);
}
