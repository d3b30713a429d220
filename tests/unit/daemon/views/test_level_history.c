/* Levels per minute of the feature table. */
#include "daemon/views/level_history.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { MINUTE = 60000 };

static const struct ek_values TRAINED = {.items = 100};

/* Statistics since the start, of `items` values with this mean of ln|x|. */
static void add(struct ek_level_history *h, uint64_t items, double log_mean, int64_t minute)
{
    const struct ek_feature_view life = {.values = {.items = items, .log_mean = log_mean},
                                         .accepted = {.factor = 1}};
    ek_level_history_add(h, &life, &TRAINED, minute * MINUTE);
}

static void assert_json(const struct ek_level_history *h, const char *want)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_level_history_json(h, &out), 0);
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

START_TEST(a_level_is_that_of_the_values_of_its_minute)
{
    struct ek_level_history h = {0};
    assert_json(&h, ",\"levels\":null");
    add(&h, 50, 0, 1);
    add(&h, 100, log(2) / 2, 2); /* another 50 values at level 2 */
    add(&h, 100, log(2) / 2, 3); /* no values */
    add(&h, 150, (50 * log(2) + 50 * log(10)) / 150, 4);
    add(&h, 200, (50 * log(2) + 100 * log(10)) / 200, 4); /* the same minute */
    assert_json(&h, ",\"levels\":{\"from_ms\":60000,\"level\":[null,2,null,10]}");
}
END_TEST

START_TEST(only_the_last_hour_is_kept)
{
    struct ek_level_history h = {0};
    struct ek_buf out;
    for (int i = 1; i <= 100; i++)
        add(&h, (uint64_t)(50 * i), 0, i);
    add(&h, 1, 0, 99); /* earlier, of statistics that restarted */
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_level_history_json(&h, &out), 0);
    const char *text = ek_buf_string(&out);
    ck_assert_ptr_nonnull(strstr(text, "\"from_ms\":2460000,"));
    int values = 0;
    for (const char *at = strchr(text, '['); *at; at++)
        values += *at == '1';
    ck_assert_int_eq(values, EK_LEVEL_MINUTES);
    ek_buf_release(&out);
}
END_TEST

START_TEST(an_accepted_level_is_one_and_missing_values_do_not_count)
{
    struct ek_level_history h = {0};
    const struct ek_feature_view
        none = {.values = {.items = 10, .missing = 1, .log_mean = NAN}, .accepted = {.factor = 4}},
        half = {.values = {.items = 20, .missing = .5, .zero = .25, .log_mean = log(8)},
                .accepted = {.factor = 4}};
    ek_level_history_add(&h, &none, &TRAINED, MINUTE);
    ek_level_history_add(&h, &half, &TRAINED, MINUTE);
    ek_level_history_add(&h, &half, &TRAINED, -1); /* no event time */
    assert_json(&h, ",\"levels\":{\"from_ms\":60000,\"level\":[2]}");
}
END_TEST

Suite *suite_level_history(void)
{
    return ek_suite("level_history", a_level_is_that_of_the_values_of_its_minute,
                    only_the_last_hour_is_kept,
                    an_accepted_level_is_one_and_missing_values_do_not_count);
}
