/* Paired t-test against values of SciPy 1.17 (stats.t.sf, stats.ttest_rel). */
#include "tests/check.h"

#include "offline/scale/crossval.h"

#include <math.h>

START_TEST(probabilities_agree_with_scipy)
{
    static const struct {
        double t, degrees, p;
    } CASES[] = {
        {0.001, 1, 0.9993633804398159},      {0.5, 1, 0.7048327646991335},
        {1.3, 1, 0.41742880032030544},       {2.5, 1, 0.24223788318168682},
        {6, 1, 0.10513691342250688},         {12, 1, 0.052929352119179755},
        {0.001, 2, 0.9992928933955901},      {0.5, 2, 0.6666666666666667},
        {1.3, 2, 0.3232470318160403},        {2.5, 2, 0.12961172022151082},
        {6, 2, 0.02667147321542477},         {12, 2, 0.00687293367715846},
        {0.001, 3, 0.9992648949694609},      {0.5, 3, 0.651447964848151},
        {1.3, 3, 0.28446750872789706},       {2.5, 3, 0.08770664700806556},
        {6, 3, 0.009272714892284666},        {12, 3, 0.0012450158007893362},
        {0.001, 7, 0.9992300172449988},      {0.5, 7, 0.6324071356892844},
        {1.3, 7, 0.23476783539237725},       {2.5, 7, 0.04099221858575289},
        {6, 7, 0.0005422583420028105},       {12, 7, 6.358310378185098e-06},
        {0.001, 30, 0.9992087357664851},     {0.5, 30, 0.6207230048851272},
        {1.3, 30, 0.20350095853811687},      {2.5, 30, 0.01811564906806669},
        {6, 30, 1.3942768767204764e-06},     {12, 30, 5.580185415199261e-13},
        {0.001, 156.5, 0.9992033891226406},  {0.5, 156.5, 0.6177773848042835},
        {1.3, 156.5, 0.19551237115341724},   {2.5, 156.5, 0.013449965168321096},
        {6, 156.5, 1.3209881505453202e-08},  {12, 156.5, 6.1690448773550825e-24},
        {0.001, 783, 0.9992023702839851},    {0.5, 783, 0.6172155610490876},
        {1.3, 783, 0.19398352015200165},     {2.5, 783, 0.012622835235896988},
        {6, 783, 3.0143688960398925e-09},    {12, 783, 1.4201527775001598e-30},
        {0.001, 6000, 0.9992021488166918},   {0.5, 6000, 0.6170934137149343},
        {1.3, 6000, 0.19365090664819654},    {2.5, 6000, 0.01244581645585906},
        {6, 6000, 2.0883745431951752e-09},   {12, 6000, 8.415045092236991e-33},
        {0.001, 250000, 0.9992021163700624}, {0.5, 250000, 0.61707551753336},
        {1.3, 250000, 0.1936021677218939},   {2.5, 250000, 0.012419966058649173},
        {6, 250000, 1.975874570972846e-09},  {12, 250000, 3.628419878616344e-33},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        double p = ek_student_two_sided(CASES[i].t, CASES[i].degrees);
        ck_assert_msg(fabs(p / CASES[i].p - 1) < 1e-10, "t %g, %g degrees: %.16g, not %.16g",
                      CASES[i].t, CASES[i].degrees, p, CASES[i].p);
        ck_assert(p == ek_student_two_sided(-CASES[i].t, CASES[i].degrees));
    }
}
END_TEST

START_TEST(a_test_agrees_with_scipy)
{
    const double a[] = {.5, .61, .3, 1, 0, .25, .75, .9}, b[] = {.4, .6, .35, .8, 0, .2, .5, .95};
    struct ek_paired_test r;
    ek_paired_test(a, b, 8, &r);
    ck_assert_uint_eq(r.pairs, 8);
    ck_assert_double_eq(r.degrees, 7);
    ck_assert_double_eq_tol(r.mean, 0.06375, 1e-14);
    ck_assert_double_eq_tol(r.t, 1.611955830164586, 1e-12);
    ck_assert_double_eq_tol(r.p, 0.1510066069589078, 1e-12);
    ek_paired_test(b, a, 8, &r);
    ck_assert_double_eq_tol(r.t, -1.611955830164586, 1e-12);
}
END_TEST

START_TEST(lists_that_one_side_lacks_are_left_out)
{
    const double a[] = {NAN, .5, .61, .3, 1, NAN}, b[] = {1, .4, .6, .35, .8, NAN};
    struct ek_paired_test with, without;
    ek_paired_test(a, b, 6, &with);
    ek_paired_test(a + 1, b + 1, 4, &without);
    ck_assert_uint_eq(with.pairs, 4);
    ck_assert(with.t == without.t && with.p == without.p && with.mean == without.mean);
}
END_TEST

START_TEST(the_same_twice_is_no_difference)
{
    const double a[] = {.5, .25, 1, 0};
    struct ek_paired_test r;
    ek_paired_test(a, a, 4, &r);
    ck_assert(r.t == 0 && r.p == 1 && r.mean == 0);
}
END_TEST

START_TEST(one_difference_everywhere_is_beyond_chance)
{
    const double a[] = {1.5, 1.25, 2, 1}, b[] = {1, .75, 1.5, .5};
    struct ek_paired_test r;
    ek_paired_test(a, b, 4, &r);
    ck_assert(isinf(r.t) && r.t > 0 && r.p == 0);
}
END_TEST

START_TEST(of_fewer_than_two_lists_nothing_can_be_said)
{
    const double a[] = {.5, NAN}, b[] = {.25, 1};
    struct ek_paired_test r;
    ek_paired_test(a, b, 2, &r);
    ck_assert(isnan(r.t) && isnan(r.p) && r.pairs == 1 && r.mean == .25 && r.degrees == 0);
    ek_paired_test(a, b, 0, &r);
    ck_assert(isnan(r.t) && isnan(r.p) && isnan(r.mean) && r.pairs == 0);
}
END_TEST

Suite *suite_paired_test(void)
{
    return ek_suite("paired_test", probabilities_agree_with_scipy, a_test_agrees_with_scipy,
                    lists_that_one_side_lacks_are_left_out, the_same_twice_is_no_difference,
                    one_difference_everywhere_is_beyond_chance,
                    of_fewer_than_two_lists_nothing_can_be_said);
}
