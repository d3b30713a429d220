/* The diagnosed class equals the injected fault, on windows as long as those of a first diagnosis.
 */
#include "tests/check.h"
#include "tests/windows.h"

enum { WINDOWS = 40 };

static void scale(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] *= (float)by;
}

static void power(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] = powf(x[i], (float)by);
}

static void offset(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] += (float)by;
}

static void logged(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] = (float)(by * log1p(x[i]));
}

static void third_scaled(float *x, int items, double by, struct ek_rng *rng)
{
    for (int i = 0; i < items; i++)
        x[i] *= ek_rng_uniform(rng) < .3 ? (float)by : 1;
}

static void shape(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    double mean = 0;
    for (int i = 0; i < items; i++)
        mean += log(x[i]) / items;
    for (int i = 0; i < items; i++)
        x[i] = (float)exp(mean + by * (log(x[i]) - mean));
}

/* A factor in a segment with values that always differed a little more, or less. */
static void widened(float *x, int items, double by, struct ek_rng *rng)
{
    shape(x, items, by > 1 ? 1.15 : .87, rng);
    scale(x, items, by, rng);
}

/* A factor in a market with prices that always differed by 40% more, or by a third less. */
static void of_market(float *x, int items, double by, struct ek_rng *rng)
{
    shape(x, items, by < 0 ? .67 : 1.4, rng);
    scale(x, items, fabs(by), rng);
}

/* Only the nearest items: lower and narrower, but much narrower than the power of that level. */
static void nearest(float *x, int items, double by, struct ek_rng *rng)
{
    shape(x, items, .4, rng);
    scale(x, items, by, rng);
}

static void replaced(float *x, int items, double rate, float value, struct ek_rng *rng)
{
    for (int i = 0; i < items; i++)
        if (ek_rng_uniform(rng) < rate)
            x[i] = value;
}

static void missing(float *x, int items, double by, struct ek_rng *rng)
{
    replaced(x, items, by, NAN, rng);
}

static void zero(float *x, int items, double by, struct ek_rng *rng)
{
    replaced(x, items, by, 0, rng);
}

static void stuck(float *x, int items, double by, struct ek_rng *rng)
{
    replaced(x, items, 1, (float)by, rng);
}

static void clip(float *x, int items, double by, struct ek_rng *rng)
{
    (void)rng;
    for (int i = 0; i < items; i++)
        x[i] = fminf(x[i], (float)by);
}

static const struct {
    window_fault *fault;
    double by;
    int lists; /* a small effect needs more of them for detection */
    enum ek_class class;
} FAULTS[] = {
    {scale, 100, 68, EK_SCALE},       {scale, 2, 80, EK_SCALE},
    {scale, .621371, 90, EK_SCALE},   {scale, 1.2, 250, EK_SCALE},
    {widened, 60, 120, EK_SCALE},     {widened, .01, 120, EK_SCALE},
    {power, 2, 72, EK_POWER},         {power, 1.5, 72, EK_POWER},
    {power, .5, 68, EK_POWER},        {offset, 20, 200, EK_OFFSET},
    {offset, 50, 100, EK_OFFSET},     {offset, 200, 72, EK_OFFSET},
    {offset, -20, 180, EK_OFFSET},    {offset, -40, 110, EK_OFFSET},
    {offset, -60, 90, EK_OFFSET},     {third_scaled, 100, 72, EK_ITEMS},
    {third_scaled, 2, 250, EK_ITEMS}, {third_scaled, .5, 220, EK_ITEMS},
    {third_scaled, .1, 80, EK_ITEMS}, {shape, 2, 120, EK_SHAPE},
    {shape, .5, 120, EK_SHAPE},       {logged, 1, 72, EK_POWER},
    {nearest, .4, 72, EK_SHAPE},      {missing, 1, 72, EK_MISSING},
    {missing, .3, 80, EK_MISSING},    {zero, 1, 72, EK_ZERO},
    {zero, .3, 80, EK_ZERO},          {scale, -1, 72, EK_SIGN},
    {stuck, 100, 72, EK_STUCK},       {clip, 60, 72, EK_CLIP},
    {clip, 120, 100, EK_CLIP},        {NULL, 0, 250, EK_CLASS_NONE},
};

static struct ek_diagnosis diagnose(struct windows *w, const struct ek_window *window)
{
    struct ek_diagnosis d;
    ek_classify(&w->baseline, w->density, window, &d);
    return d;
}

START_TEST(every_class_is_told_from_the_others)
{
    static struct windows w;
    windows_train(&w, 1);
    for (size_t f = 0; f < sizeof FAULTS / sizeof *FAULTS; f++) {
        int right = 0;
        for (int i = 0; i < WINDOWS; i++) {
            struct ek_window window =
                windows_next(&w, FAULTS[f].lists, WINDOW_ITEMS, FAULTS[f].fault, FAULTS[f].by, 1);
            right += diagnose(&w, &window).class == FAULTS[f].class;
        }
        ck_assert_msg(right >= WINDOWS - 2, "fault %d: %d of %d right", (int)f, right, WINDOWS);
    }
}
END_TEST

/* Set the density of the residual to a normal one with this sd, as with levels by item. */
static void set_density(struct windows *w, double sd)
{
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double z = ((i + .5) * EK_RESIDUAL_BIN - EK_RESIDUAL_RANGE / 2) / sd;
        w->density[i] = (float)((1 - EK_DENSITY_FLOOR) * exp(-z * z / 2) / (sd * sqrt(2 * M_PI)) +
                                EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    }
    w->baseline.sd = (float)sd;
}

/* Prices in cents and per stay of 1, 2, ... nights: the spread of a list is as usual. */
START_TEST(a_factor_of_each_list_is_no_factor_of_some_items)
{
    static const double SD = .12;
    static struct windows w;
    windows_train(&w, 7);
    set_density(&w, SD);
    for (int i = 0; i < WINDOWS; i++) {
        struct ek_window window = windows_next(&w, 300, WINDOW_ITEMS, NULL, 0, 1);
        for (int k = 0; k < window.count; k++) {
            int nights = 1;
            while (ek_rng_uniform(&w.rng) < .6)
                nights++;
            w.record[k].r = (float)(log(100 * nights) + SD * ek_rng_normal(&w.rng));
        }
        ck_assert_int_eq(diagnose(&w, &window).class, EK_SCALE);
    }
}
END_TEST

START_TEST(an_offset_is_small_up_to_twice_the_threshold_of_a_factor)
{
    static const struct {
        double by;
        bool small;
    } CASES[] = {{20, true}, {50, true}, {200, false}, {-60, false}};
    static struct windows w;
    windows_train(&w, 6);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct ek_window window = windows_next(&w, 250, WINDOW_ITEMS, offset, CASES[i].by, 1);
        struct ek_diagnosis d = diagnose(&w, &window);
        ck_assert_int_eq(d.class, EK_OFFSET);
        ck_assert_msg(ek_is_small_offset(&w.baseline, &d, log(1.25)) == CASES[i].small,
                      "%g moves %g", CASES[i].by, d.level.shift_ln);
    }
}
END_TEST

/* A constant that lowers the level of positive values widens them. */
START_TEST(lower_and_narrower_lists_are_no_offset_whatever_their_level)
{
    static struct windows w;
    windows_train(&w, 7);
    for (int i = 0; i < WINDOWS; i++) {
        struct ek_window window = windows_next(&w, 72, WINDOW_ITEMS, logged, 1, 1);
        memset(w.level, 0, sizeof w.level);
        ck_assert_int_ne(diagnose(&w, &window).class, EK_OFFSET);
    }
}
END_TEST

START_TEST(the_class_does_not_depend_on_the_order_of_the_lists)
{
    static struct windows w;
    windows_train(&w, 2);
    for (size_t f = 0; f < sizeof FAULTS / sizeof *FAULTS; f++) {
        struct ek_window window =
            windows_next(&w, 150, WINDOW_ITEMS, FAULTS[f].fault, FAULTS[f].by, 1);
        enum ek_class class = diagnose(&w, &window).class;
        for (int i = 0; i < 75; i++) {
            struct ek_list_stats record = w.record[i];
            float level = w.level[i];
            w.record[i] = w.record[149 - i];
            w.level[i] = w.level[149 - i];
            w.record[149 - i] = record;
            w.level[149 - i] = level;
        }
        ck_assert_int_eq(diagnose(&w, &window).class, class);
    }
}
END_TEST

START_TEST(the_exponent_of_a_power_is_measured)
{
    static struct windows w;
    windows_train(&w, 3);
    for (double exponent = .5; exponent < 3.1; exponent += .5) {
        if (exponent == 1)
            continue;
        struct ek_window window = windows_next(&w, 72, WINDOW_ITEMS, power, exponent, 1);
        ck_assert_double_eq_tol(diagnose(&w, &window).exponent / exponent, 1, .03);
    }
}
END_TEST

/* A supplier with short lists and any fraction of the items is not a scale fault. */
START_TEST(short_lists_are_told_rightly_or_not_at_all)
{
    static const double factors[] = {100, 10, .1};
    static struct windows w;
    windows_train(&w, 4);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++)
        for (int i = 0; i < WINDOWS; i++) {
            struct ek_window window = windows_next(&w, 120, 3, third_scaled, factors[f], 1);
            enum ek_class class = diagnose(&w, &window).class;
            ck_assert_msg(class == EK_ITEMS || class == EK_CLASS_NONE, "class %d", (int)class);
        }
}
END_TEST

/* A power that lowers the level narrows the lists, and one that raises it widens them. */
START_TEST(a_segment_is_compared_with_its_usual_spread_and_fractions)
{
    static const double factors[] = {1. / 12, .5, 2, -.5, -2, -150}; /* negative: narrower lists */
    static struct windows w;
    windows_train(&w, 8);
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        int right = 0;
        for (int i = 0; i < WINDOWS; i++) {
            struct ek_usual usual;
            struct ek_baseline own;
            struct ek_diagnosis d;
            struct ek_window before =
                windows_next(&w, 400, WINDOW_ITEMS, of_market, factors[f] < 0 ? -1 : 1, 1);
            ek_usual_measure(&w.baseline, &before, &usual);
            ck_assert(usual.known);
            ek_usual_apply(&usual, &w.baseline, &own);
            ck_assert(ek_window_is_normal(&own, w.density, &before, 1.1));
            struct ek_window window = windows_next(&w, 120, WINDOW_ITEMS, of_market, factors[f], 1);
            if ((fabs(factors[f]) < 1) == (factors[f] > 0))
                ck_assert_int_ne(diagnose(&w, &window).class, EK_POWER);
            ek_classify(&own, w.density, &window, &d);
            right += d.class == EK_SCALE;
            ck_assert_msg(d.class == EK_SCALE || d.class == EK_CLASS_NONE, "x%g: class %d",
                          factors[f], (int)d.class);
        }
        ck_assert_msg(right > WINDOWS * 3 / 4, "x%g: %d of %d right", factors[f], right, WINDOWS);
    }
    struct ek_window missing_usually = windows_next(&w, 400, WINDOW_ITEMS, missing, .4, 1);
    struct ek_usual usual;
    struct ek_baseline own;
    struct ek_diagnosis d;
    ek_usual_measure(&w.baseline, &missing_usually, &usual);
    ek_usual_apply(&usual, &w.baseline, &own);
    struct ek_window window = windows_next(&w, 120, WINDOW_ITEMS, missing, .4, 1);
    ck_assert_int_eq(diagnose(&w, &window).class, EK_MISSING);
    ek_classify(&own, w.density, &window, &d);
    ck_assert_int_eq(d.class, EK_CLASS_NONE);
}
END_TEST

START_TEST(few_lists_show_nothing_usual)
{
    static struct windows w;
    struct ek_usual usual;
    windows_train(&w, 9);
    struct ek_window window = windows_next(&w, 60, WINDOW_ITEMS, NULL, 0, 1);
    ek_usual_measure(&w.baseline, &window, &usual);
    ck_assert(!usual.known);
}
END_TEST

START_TEST(lists_like_those_of_training_look_usual_and_others_do_not)
{
    static struct windows w;
    windows_train(&w, 5);
    for (size_t f = 0; f < sizeof FAULTS / sizeof *FAULTS; f++)
        for (int i = 0; i < 5; i++) {
            struct ek_window window =
                windows_next(&w, FAULTS[f].lists, WINDOW_ITEMS, FAULTS[f].fault, FAULTS[f].by, 1);
            ck_assert_int_eq(ek_window_is_normal(&w.baseline, w.density, &window, 1.1),
                             FAULTS[f].class == EK_CLASS_NONE);
        }
}
END_TEST

Suite *suite_classes(void)
{
    return ek_suite("classes", a_factor_of_each_list_is_no_factor_of_some_items,
                    an_offset_is_small_up_to_twice_the_threshold_of_a_factor,
                    every_class_is_told_from_the_others,
                    lower_and_narrower_lists_are_no_offset_whatever_their_level,
                    the_class_does_not_depend_on_the_order_of_the_lists,
                    the_exponent_of_a_power_is_measured, short_lists_are_told_rightly_or_not_at_all,
                    a_segment_is_compared_with_its_usual_spread_and_fractions,
                    few_lists_show_nothing_usual,
                    lists_like_those_of_training_look_usual_and_others_do_not);
}
