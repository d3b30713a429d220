/* Sampled segment values for lists without any. */
#include "daemon/tools/data/list_writer.h"
#include "tests/check.h"

enum { MANY = 20000 };

START_TEST(values_are_equally_likely_and_dimensions_independent)
{
    struct ek_segment_sampler d = {0};
    int b = 0, z = 0, both = 0;
    ck_assert_int_eq(ek_segment_sampler_add(&d, "arm=A,B", NULL), EK_OK);
    ck_assert_int_eq(ek_segment_sampler_add(&d, "app=x,y,z", NULL), EK_OK);
    for (uint64_t i = 0; i < MANY; i++) {
        struct ek_list q;
        ek_list_init(&q);
        ck_assert_int_eq(ek_segment_sampler_apply(&d, &q, i, 1, NULL), EK_OK);
        ck_assert_int_eq(q.segment_count, 2);
        int is_b = *ek_list_segment(&q, "arm").text == 'B';
        int is_z = *ek_list_segment(&q, "app").text == 'z';
        b += is_b;
        z += is_z;
        both += is_b && is_z;
    }
    ck_assert_double_eq_tol((double)b / MANY, 1.0 / 2, 0.02);
    ck_assert_double_eq_tol((double)z / MANY, 1.0 / 3, 0.02);
    ck_assert_double_eq_tol((double)both / MANY, 1.0 / 6, 0.02);
    ek_segment_sampler_release(&d);
}
END_TEST

START_TEST(a_value_may_contain_an_equals_sign)
{
    struct ek_segment_sampler d = {0};
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_segment_sampler_add(&d, "build=v=2", NULL), EK_OK);
    ck_assert_int_eq(ek_segment_sampler_apply(&d, &q, 1, 1, NULL), EK_OK);
    ck_assert_str_eq(ek_list_segment(&q, "build").text, "v=2");
    ek_segment_sampler_release(&d);
}
END_TEST

START_TEST(bad_segments_are_refused_with_a_reason)
{
    static const char *const bad[][2] = {
        {"arm", "segment 'arm': expected NAME=VALUE,VALUE..."},
        {"=A", "segment '=A': expected NAME=VALUE,VALUE..."},
        {"arm=", "segment 'arm=': an empty value"},
        {"arm=A,", "segment 'arm=A,': an empty value"},
        {"app=1", "segment 'app=1': duplicate dimension"},
    };
    struct ek_segment_sampler d = {0};
    struct ek_error e;
    ck_assert_int_eq(ek_segment_sampler_add(&d, "app=1,2", NULL), EK_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(ek_segment_sampler_add(&d, bad[i][0], &e), EK_EUSAGE);
        ck_assert_str_eq(e.message, bad[i][1]);
    }
    ck_assert_int_eq(d.count, 1);
    ek_segment_sampler_release(&d);
}
END_TEST

START_TEST(a_list_with_many_segments_takes_no_more)
{
    struct ek_segment_sampler d = {0};
    struct ek_list q;
    ek_list_init(&q);
    q.segment_count = EK_SEGMENTS_MAX;
    ck_assert_int_eq(ek_segment_sampler_add(&d, "arm=A,B", NULL), EK_OK);
    ck_assert_int_eq(ek_segment_sampler_apply(&d, &q, 1, 1, NULL), EK_ELIMIT);
    ck_assert_int_eq(q.segment_count, EK_SEGMENTS_MAX);
    ek_segment_sampler_release(&d);
}
END_TEST

Suite *suite_segment_sampler(void)
{
    return ek_suite("segment_draw", values_are_equally_likely_and_dimensions_independent,
                    a_value_may_contain_an_equals_sign, bad_segments_are_refused_with_a_reason,
                    a_list_with_many_segments_takes_no_more);
}
