/* Importance and shift impact of a network trained on lists with known features. */
#include "offline/select/importance.h"
#include "tests/check.h"
#include "tests/train_set.h"

enum { F = EK_SMALL_FEATURES, PRICE = 0, RATING, CHAIN };

static struct ek_model *MODEL;
static struct ek_dataset DATA;

static void set_up(void)
{
    struct ek_dataset train, vali;
    struct ek_train_options o = ek_small_options();
    ek_small_data(&train, 1, 400);
    ek_small_data(&vali, 2, 100);
    ek_small_data(&DATA, 3, 200);
    o.epochs = 6;
    o.shift = 0;
    o.shape.log_input = EK_LOG_ROUTED;
    MODEL = ek_trained(ek_small_manifest(), &train, &vali, &o, NULL);
}

static void tear_down(void)
{
    ek_model_free(MODEL);
    ek_dataset_release(&DATA);
}

START_TEST(what_the_label_follows_is_important_and_what_it_does_not_is_not)
{
    struct ek_importance_options o;
    struct ek_importance i[F];
    double whole;
    set_up();
    ek_importance_defaults(&o);
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, i, NULL), EK_OK);
    ck_assert(whole > 0.8 && whole < 1);
    ck_assert(i[PRICE].lost > 0.1 && i[RATING].lost > 0.02);
    ck_assert(i[PRICE].lost > i[RATING].lost && i[RATING].lost > i[CHAIN].lost + 0.02);
    ck_assert(fabs(i[CHAIN].lost) < 0.02 && i[CHAIN].sd < 0.02);
    /* A routed feature keeps a factor-free input, a blanked one none. */
    ck_assert(i[PRICE].routed < 0.02 && i[PRICE].silenced > 0.1);
    ck_assert(isnan(i[CHAIN].routed) && isnan(i[CHAIN].silenced));
    tear_down();
}
END_TEST

START_TEST(importance_is_the_same_for_a_seed_whatever_the_threads)
{
    struct ek_importance_options o;
    struct ek_importance alone[F], together[F], other[F];
    double whole;
    set_up();
    ek_importance_defaults(&o);
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, alone, NULL), EK_OK);
    o.context = ek_pool_new(3);
    o.run = ek_run_on_pool;
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, together, NULL), EK_OK);
    o.seed = 1;
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, other, NULL), EK_OK);
    ek_pool_free(o.context);
    for (int f = 0; f < F; f++)
        ck_assert(alone[f].lost == together[f].lost && alone[f].sd == together[f].sd);
    ck_assert(alone[PRICE].lost != other[PRICE].lost);
    tear_down();
}
END_TEST

START_TEST(a_feature_that_is_one_value_in_a_list_is_shuffled_over_lists)
{
    struct ek_importance_options o;
    struct ek_importance i[F];
    double whole;
    set_up();
    for (size_t q = 0; q < DATA.lists; q++)
        for (size_t k = DATA.offset[q]; k < DATA.offset[q + 1]; k++)
            DATA.x[k * F + PRICE] = (float)exp((double)(q % 7) - 2);
    ek_importance_defaults(&o);
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, i, NULL), EK_OK);
    ck_assert(i[PRICE].lost != 0);
    for (size_t k = 0; k < DATA.items; k++)
        DATA.x[k * F + PRICE] = 5;
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, i, NULL), EK_OK);
    ck_assert_double_eq(i[PRICE].lost, 0);
    ck_assert_double_eq(i[PRICE].sd, 0);
    tear_down();
}
END_TEST

START_TEST(without_labels_or_repeats_nothing_is_measured)
{
    struct ek_importance_options o;
    struct ek_importance i[F];
    struct ek_shift_impact h[F];
    struct ek_error e;
    double whole;
    set_up();
    struct ek_manifest *m = ek_small_manifest();
    for (int f = 0; f < F; f++)
        ek_shift_candidates(m, f, &DATA, &h[f]);
    ek_importance_defaults(&o);
    o.repeats = 0;
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, i, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "there must be at least 1 repeat, not 0");
    o.repeats = 1;
    memset(DATA.label, 0, DATA.items * sizeof *DATA.label);
    ck_assert_int_eq(ek_importance_measure(MODEL, &DATA, &o, &whole, i, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "no list has a positive label, so nothing can be lost");
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &DATA, &o, &whole, h, &e), EK_EUSAGE);
    ek_manifest_free(m);
    tear_down();
}
END_TEST

START_TEST(a_routable_feature_whose_shift_does_harm_is_routed)
{
    struct ek_importance_options o;
    struct ek_manifest *m = ek_small_manifest();
    struct ek_shift_impact h[F], again[F];
    double whole;
    set_up();
    ek_importance_defaults(&o);
    for (int f = 0; f < F; f++)
        ek_shift_candidates(m, f, &DATA, &h[f]);
    memcpy(again, h, sizeof h);
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &DATA, &o, &whole, h, NULL), EK_OK);
    ck_assert_double_gt(h[PRICE].unnoticed, 0.01);
    ck_assert_int_eq(h[PRICE].action, EK_ACT_ROUTE);
    ck_assert(h[PRICE].left < 0.2 * h[PRICE].unnoticed);
    ck_assert_double_eq_tol(h[PRICE].expected, h[PRICE].chance * h[PRICE].unnoticed, 1e-15);
    /* An unroutable feature only raises an alert, which mitigates no shift. */
    ck_assert_int_eq(h[CHAIN].action, EK_ACT_ALERT);
    ck_assert_double_eq(h[CHAIN].left, h[CHAIN].unnoticed);
    ck_assert(isnan(h[CHAIN].routed));
    o.context = ek_pool_new(3);
    o.run = ek_run_on_pool;
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &DATA, &o, &whole, again, NULL), EK_OK);
    ek_pool_free(o.context);
    for (int f = 0; f < F; f++)
        ck_assert(h[f].unnoticed == again[f].unnoticed && h[f].left == again[f].left);
    ek_manifest_free(m);
    tear_down();
}
END_TEST

START_TEST(noise_of_few_lists_is_not_taken_for_no_harm)
{
    static const struct {
        double unnoticed, error;
        enum ek_shift_impact_known known;
    } of[] = {{-.031, .03, EK_HARM_UNKNOWN},
              {-.031, .001, EK_HARM_UNKNOWN},
              {0, 0, EK_HARM_NO},
              {-.0003, .002, EK_HARM_NO},
              {.0003, .003, EK_HARM_UNKNOWN},
              {.03, .02, EK_HARM_UNKNOWN},
              {.03, .01, EK_HARM_YES},
              {.002, .0001, EK_HARM_YES},
              {.1, INFINITY, EK_HARM_UNKNOWN},
              {0, INFINITY, EK_HARM_UNKNOWN},
              {NAN, NAN, EK_HARM_UNKNOWN}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct ek_shift_impact h = {.unnoticed = of[i].unnoticed, .error = of[i].error};
        ck_assert_msg(ek_shift_impact_known(&h) == of[i].known, "case %zu", i);
    }
}
END_TEST

START_TEST(the_error_is_that_of_the_mean_over_lists_with_a_positive_label)
{
    struct ek_importance_options o;
    struct ek_manifest *m = ek_small_manifest();
    struct ek_shift_impact once[F], twice[F];
    struct ek_dataset half;
    double whole;
    set_up();
    ek_importance_defaults(&o);
    for (int f = 0; f < F; f++)
        ek_shift_candidates(m, f, &DATA, &once[f]);
    memcpy(twice, once, sizeof once);
    half = DATA;
    half.lists = 50;
    half.items = DATA.offset[50];
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &DATA, &o, &whole, once, NULL), EK_OK);
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &half, &o, &whole, twice, NULL), EK_OK);
    /* Four times the lists, half the error. */
    ck_assert(once[PRICE].error > 0);
    ck_assert_double_eq_tol(twice[PRICE].error / once[PRICE].error, 2, .7);
    half.lists = 1;
    half.items = DATA.offset[1];
    ck_assert_int_eq(ek_shift_impact_measure(MODEL, m, &half, &o, &whole, twice, NULL), EK_OK);
    ck_assert(isinf(twice[PRICE].error));
    ek_manifest_free(m);
    tear_down();
}
END_TEST

/* Return the shift of a unit's id or spelling, or NULL. */
static const struct ek_shift *shift_of(const struct ek_shift_impact *h, const char *name)
{
    for (int i = 0; i < h->shift_count; i++)
        if (!strcmp(h->shift[i].how, name) || (h->shift[i].unit && !strcmp(h->shift[i].unit, name)))
            return &h->shift[i];
    return NULL;
}

START_TEST(shifts_and_chances_follow_from_the_unit)
{
    static const char text[] = "nights_feature: nights\n"
                               "currency_features: [price]\n"
                               "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: far, index: 2, role: item, routable: true, unit: km}\n"
                               "  - {name: clicks, index: 3, role: item, unit: count}\n"
                               "  - {name: flag, index: 4, role: item}\n"
                               "  - {name: brand, index: 5, role: item, type: category, unit: km}\n"
                               "  - {name: nights, index: 6, role: query}\n";
    enum { ALL = 5 };
    float x[] = {80, 3, 7, 0, 2, /**/ 90, 5, 9, 1, 3, /**/ 70, 1, 8, NAN, 5};
    struct ek_dataset d = {.items = 3, .item_features = ALL, .x = x};
    struct ek_manifest *m;
    struct ek_shift_impact h[ALL];
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, strlen(text), NULL), EK_OK);
    for (int f = 0; f < ALL; f++)
        ek_shift_candidates(m, f, &d, &h[f]);
    ck_assert_str_eq(h[0].kind, "money");
    ck_assert(shift_of(&h[0], "cents") && shift_of(&h[0], "currency"));
    ck_assert(shift_of(&h[0], "*nights")->by_query);
    ck_assert_str_eq(h[1].kind, "length");
    ck_assert(shift_of(&h[1], "km_to_mi") && shift_of(&h[1], "km_to_m"));
    ck_assert_ptr_null(shift_of(&h[1], "m_to_ft"));
    ck_assert_str_eq(h[2].kind, "number");
    ck_assert(shift_of(&h[2], "tenfold")->weight > shift_of(&h[2], "x100")->weight);
    ck_assert_str_eq(h[3].kind, "indicator");
    ck_assert_str_eq(h[4].kind, "code");
    ck_assert_int_eq(h[4].shift_count, 1);
    ck_assert_str_eq(h[4].shift[0].how, "recode");
    ck_assert(h[0].chance > h[1].chance && h[1].chance > h[2].chance && h[2].chance > h[3].chance);
    ek_manifest_free(m);
}
END_TEST

Suite *suite_importance(void)
{
    return ek_suite("importance", what_the_label_follows_is_important_and_what_it_does_not_is_not,
                    importance_is_the_same_for_a_seed_whatever_the_threads,
                    a_feature_that_is_one_value_in_a_list_is_shuffled_over_lists,
                    without_labels_or_repeats_nothing_is_measured,
                    a_routable_feature_whose_shift_does_harm_is_routed,
                    noise_of_few_lists_is_not_taken_for_no_harm,
                    the_error_is_that_of_the_mean_over_lists_with_a_positive_label,
                    shifts_and_chances_follow_from_the_unit);
}
