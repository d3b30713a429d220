/* Check that lists have the scores configured for them. */
#include "daemon/files/field_mapping.h"
#include "tests/check.h"

#include <string.h>

START_TEST(scores_are_missing_until_the_first_item_has_one)
{
    struct ek_score_check s = {.some = false};
    struct ek_place place[2] = {{0, 0}, {0, 0}};
    struct ek_list q = {.items = 2, .place = place};
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 1);
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 2);
    q.items = 0; /* an empty list is no evidence */
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 0);
    q.items = 2;
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 3);
    place[1].length = 4;
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 0);
    place[1].length = 0;
    ck_assert_uint_eq(ek_score_check_missing(&s, &q), 0);
}
END_TEST

START_TEST(who_only_watches_needs_no_scores)
{
    struct ek_config *c;
    char text[300];
    ck_assert_int_eq(ek_config_new(&c, NULL), 0);
    ck_assert(!ek_score_check_expected(c));
    ck_assert_int_eq(ek_config_set(c, "assets.model", "model.safetensors", NULL), 0);
    ck_assert(ek_score_check_expected(c));
    ek_score_check_text(c, 1, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "no item of 1 list has 'score'"));
    ek_config_free(c);
}
END_TEST

Suite *suite_score_check(void)
{
    return ek_suite("scores_seen", scores_are_missing_until_the_first_item_has_one,
                    who_only_watches_needs_no_scores);
}
