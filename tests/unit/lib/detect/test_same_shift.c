/* A new diagnosis is unnecessary while the change still matches the reported one. */
#include "detect/classify.h"
#include "tests/check.h"

#include <math.h>

enum { MEASURED = 320 };

static const struct ek_diagnosis TOLD = {
    .class = EK_SCALE,
    .level = {.shift_ln = 4.6, .share = 1, .gain_ln = 37120, .error_ln = .02},
    .mean_ln = 4.6,
    .mean_error_ln = .005,
    .spread_ratio = 1,
    .spread_test = .5,
    .incoherent = .005,
    .share = {.1, .05, 0, .02},
    .share_error = {.002, .002, 0, .001},
    .lists = 4096,
};

/* Return the same diagnosis of the newest lists. */
static struct ek_diagnosis newest(void)
{
    struct ek_diagnosis now = TOLD;
    now.class = EK_CLASS_NONE; /* left open by a description */
    now.mean_error_ln = .005 * sqrt(4096. / MEASURED);
    now.lists = MEASURED;
    now.level.gain_ln = 2900;
    now.spread_test = .14;
    for (int i = 0; i < EK_SHARES; i++)
        now.share_error[i] *= 3.5;
    return now;
}

static int alike(const struct ek_diagnosis *now)
{
    return ek_diagnosis_is_same(&TOLD, now, MEASURED);
}

START_TEST(chance_is_no_other_story)
{
    struct ek_diagnosis now = newest();
    ck_assert(alike(&now));
    now.mean_ln += .05;
    now.level.shift_ln -= .05;
    now.level.share = .97;
    now.level.gain_ln -= 40;
    now.spread_test += 2;
    now.spread_ratio = 1.1;
    now.incoherent = .015;
    now.share[EK_SHARE_MISSING] = .115;
    ck_assert(alike(&now));
}
END_TEST

START_TEST(whatever_moved_is_another_story)
{
    for (int what = 0; what < 8; what++) {
        struct ek_diagnosis now = newest();
        double *const moved[] = {&now.mean_ln,
                                 &now.level.shift_ln,
                                 &now.level.share,
                                 &now.incoherent,
                                 &now.share[EK_SHARE_MISSING],
                                 &now.share[EK_SHARE_ZERO],
                                 &now.share[EK_SHARE_NEGATIVE],
                                 &now.share[EK_SHARE_TIED]};
        *moved[what] += what < 2 ? .12 : what == 2 ? -.12 : .04;
        ck_assert_msg(!alike(&now), "number %d", what);
    }
}
END_TEST

START_TEST(lists_that_fit_worse_or_are_apart_are_another_story)
{
    struct ek_diagnosis now = newest();
    now.level.gain_ln -= 100;
    ck_assert(!alike(&now));
    now = newest();
    now.spread_test = -5;
    now.spread_ratio = .9;
    ck_assert(!alike(&now));
    now = newest();
    now.lists = 0;
    ck_assert(!alike(&now));
}
END_TEST

START_TEST(shares_that_tell_another_class_are_another_story)
{
    struct ek_diagnosis now = newest();
    now.class = EK_STUCK;
    ck_assert(!alike(&now));
}
END_TEST

Suite *suite_same_shift(void)
{
    return ek_suite("alike", chance_is_no_other_story, whatever_moved_is_another_story,
                    lists_that_fit_worse_or_are_apart_are_another_story,
                    shares_that_tell_another_class_are_another_story);
}
