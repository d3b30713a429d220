/* Baseline of `evenkeel watch`: fields, batches, refusals and limits. */
#include "daemon/commands/learned_baseline.h"
#include "tests/check.h"

#include "base/buf.h"
#include "detect/detector.h"
#include "lists/codec.h"
#include "offline/world/hotel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 500, SEED = 5 };

static const struct ek_learned_limits USUAL = {FIRST, 4000, 64 << 20, 64 << 20};

/* Baseline that is fed with hotel searches. */
struct fed {
    char folder[64];
    struct ek_manifest *manifest;
    struct ek_hotel *hotel;
    struct ek_list list;
    struct ek_learned_baseline *baseline;
    uint64_t next;
    double factor;      /* of the price */
    int64_t at_ms, gap; /* time of the next list, and between two; gap 0: as generated */
    int values;         /* of the second segment dimension, 0: as generated */
    bool differ;        /* the prices of these values do */
    enum ek_feature_encoding encoding;
    int profiles, refusals, resumed, daily;
};

static void feed_new(struct fed *f, const struct ek_learned_limits *limits)
{
    struct ek_error e;
    *f = (struct fed){.factor = 1, .encoding = EK_FEATURES_MAP};
    snprintf(f->folder, sizeof f->folder, "/tmp/ek-learned-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(f->folder));
    ck_assert_int_eq(ek_manifest_parse(&f->manifest, "hotel", ek_hotel_manifest(),
                                       strlen(ek_hotel_manifest()), &e),
                     0);
    ck_assert_int_eq(ek_hotel_new(&f->hotel, SEED, &e), 0);
    ek_list_init(&f->list);
    ck_assert_int_eq(ek_learned_new(&f->baseline, f->folder, NULL, limits, &e), 0);
}

static void feed_free(struct fed *f)
{
    ek_learned_free(f->baseline);
    ck_assert_int_eq(rmdir(f->folder), 0); /* all files are deleted */
    ek_list_release(&f->list);
    ek_hotel_free(f->hotel);
    ek_manifest_free(f->manifest);
}

/* Change the next list as the test wants it. value [20]: text of its segment, which it keeps. */
static void change_list(struct fed *f, char *value)
{
    int price = ek_manifest_item(f->manifest, "price");
    int number = f->values ? (int)f->next % f->values : 0;
    double factor = f->differ ? f->factor * exp(number / 20.) : f->factor;
    for (int k = 0; k < f->list.items; k++)
        f->list.x[k * f->list.item_features + price] *= (float)factor;
    if (f->values)
        f->list.segments[1].value =
            (struct ek_text){value, (size_t)snprintf(value, 20, "v%d", number)};
    if (f->gap)
        f->list.time_ms = f->at_ms += f->gap;
}

static void feed(struct fed *f, int lists)
{
    struct ek_buf message;
    struct ek_error e;
    ek_buf_init(&message, 0);
    for (int i = 0; i < lists; i++) {
        enum ek_learned_step step;
        char value[20];
        ck_assert_int_eq(ek_hotel_list(f->hotel, f->next++, &f->list, &e), 0);
        change_list(f, value);
        ek_buf_clear(&message);
        ck_assert_int_eq(ek_codec_encode(f->manifest, &f->list, f->encoding, &message, &e), 0);
        ck_assert_int_eq(ek_learned_add(f->baseline, message.data, message.length, -1, &step, &e),
                         0);
        f->profiles += step == EK_LEARNED_PROFILED;
        f->refusals += step == EK_LEARNED_REFUSED;
        f->resumed += step == EK_LEARNED_RESUMED;
        f->daily += step == EK_LEARNED_DAILY;
    }
    ek_buf_release(&message);
}

START_TEST(the_first_batch_gives_manifest_rules_and_profile_and_later_ones_double_it)
{
    struct fed f;
    struct ek_profile *saved;
    struct ek_error e;
    feed_new(&f, &USUAL);
    f.encoding = EK_FEATURES_JSON_MAP;
    feed(&f, FIRST - 1);
    ck_assert_int_eq(f.profiles, 0);
    ck_assert_uint_eq(ek_learned_collected(f.baseline), FIRST - 1);
    feed(&f, 1);
    ck_assert_int_eq(f.profiles, 1);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), FIRST);
    const struct ek_learned_fields *c = ek_learned_fields(f.baseline);
    ck_assert_uint_eq(c->lists, FIRST);
    ck_assert_uint_eq(c->ids, FIRST);
    ck_assert_int_eq(c->dimensions, 2);
    /* 24 markets have other prices, the levels of which are unknown; the arms are alike. */
    ck_assert_str_eq(c->dimension[0].name, "arm");
    ck_assert(c->dimension[0].in_rules);
    ck_assert(!c->dimension[1].in_rules);
    ck_assert_int_ge(ek_manifest_item(ek_learned_manifest(f.baseline), "price"), 0);
    feed(&f, 3500);
    ck_assert_int_eq(f.profiles, 4); /* 500, 1000, 2000, 4000 lists */
    ck_assert(c->dimension[0].in_rules);
    ck_assert(c->dimension[1].in_rules);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 4000);
    ck_assert_int_eq(ek_profile_load(&saved, ek_learned_path(f.baseline, EK_LEARNED_PROFILE), &e),
                     0);
    ck_assert_uint_eq(saved->queries, 4000);
    ek_profile_free(saved);
    feed_free(&f);
}
END_TEST

START_TEST(a_dimension_of_many_values_is_monitored_if_its_levels_are_known)
{
    static const struct {
        int values;
        bool differ, monitored;
    } cases[] = {{20, false, true},
                 {21, false, false},
                 {EK_LEARNED_VALUES, true, true},
                 {EK_LEARNED_VALUES + 1, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fed f;
        feed_new(&f, &USUAL);
        f.values = cases[i].values;
        f.differ = cases[i].differ;
        feed(&f, 8 * FIRST);
        const struct ek_learned_fields *c = ek_learned_fields(f.baseline);
        ck_assert_uint_eq(ek_learned_lists(f.baseline), 8 * FIRST);
        ck_assert(c->dimension[0].in_rules);
        ck_assert_int_eq(c->dimension[1].values, cases[i].values);
        ck_assert_int_eq(c->dimension[1].in_rules, cases[i].monitored);
        feed_free(&f);
    }
}
END_TEST

START_TEST(of_a_first_batch_of_two_populations_the_lists_before_the_change_are_kept)
{
    struct fed f;
    feed_new(&f, &USUAL);
    feed(&f, FIRST / 2);
    f.factor = 100;
    feed(&f, FIRST / 2);
    ck_assert_int_eq(f.profiles, 0);
    ck_assert_int_eq(f.refusals, 1);
    ck_assert(strstr(ek_learned_reason(f.baseline), "'price' changes (scale x"));
    ck_assert(strstr(ek_learned_reason(f.baseline), ") since 20"));
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 0);
    uint64_t kept = ek_learned_collected(f.baseline);
    ck_assert_uint_gt(kept, FIRST / 2 - 60);
    ck_assert_uint_le(kept, FIRST / 2);
    feed(&f, FIRST);
    ck_assert_int_eq(f.refusals, 1); /* noted once */
    f.factor = 1;
    feed(&f, FIRST);
    ck_assert_int_eq(f.profiles, 1);
    feed_free(&f);
}
END_TEST

START_TEST(a_change_within_the_first_batch_that_lasts_becomes_the_baseline)
{
    struct fed f;
    feed_new(&f, &USUAL);
    feed(&f, FIRST / 2);
    f.factor = 100;
    feed(&f, 6 * FIRST);
    ck_assert_int_eq(f.refusals, 2);
    ck_assert_int_ge(f.profiles, 1);
    feed_free(&f);
}
END_TEST

START_TEST(a_baseline_does_not_learn_a_change_and_goes_on_after_it)
{
    struct fed f;
    feed_new(&f, &USUAL);
    feed(&f, 2 * FIRST);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 2 * FIRST);
    f.factor = 100;
    feed(&f, 3 * FIRST);
    ck_assert_int_eq(f.refusals, 1);
    ck_assert(ek_learned_is_waiting(f.baseline));
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 2 * FIRST);
    f.factor = 1;
    feed(&f, 8 * FIRST);
    ck_assert_int_eq(f.refusals, 1);
    ck_assert(!ek_learned_is_waiting(f.baseline));
    ck_assert_uint_ge(ek_learned_lists(f.baseline), 4 * FIRST);
    feed_free(&f);
}
END_TEST

START_TEST(only_the_lists_of_a_change_are_discarded_and_its_times_are_known)
{
    enum ek_learned_step step;
    struct fed f;
    struct ek_error e;
    feed_new(&f, &USUAL);
    feed(&f, 2 * FIRST + 900);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 2 * FIRST);
    f.factor = 100;
    feed(&f, 300);
    f.factor = 1;
    feed(&f, 200);
    ck_assert_int_eq(f.refusals, 1);
    ck_assert_int_eq(f.resumed, 1);
    ck_assert(strstr(ek_learned_reason(f.baseline), "'price' changes (scale x"));
    ck_assert(strstr(ek_learned_reason(f.baseline), " from 20"));
    ck_assert(strstr(ek_learned_reason(f.baseline), " to 20"));
    ck_assert_uint_ge(ek_learned_lists(f.baseline), 4 * FIRST);
    ck_assert_uint_lt(ek_learned_lists(f.baseline), 4 * FIRST + 100);
    f.factor = 100;
    feed(&f, 100);
    ck_assert(ek_learned_is_waiting(f.baseline));
    uint64_t before = ek_learned_lists(f.baseline), calm = ek_learned_collected(f.baseline);
    ck_assert_uint_lt(calm, 200);
    ck_assert_int_eq(ek_learned_end_batch(f.baseline, &step, &e), 0);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), before + calm);
    feed_free(&f);
}
END_TEST

START_TEST(a_change_that_returns_at_the_hours_of_another_day_is_learned)
{
    enum { DAY = 1200, CALM = 700 }; /* lists */
    struct fed f;
    feed_new(&f, &USUAL);
    f.at_ms = INT64_C(1790000000000);
    f.gap = 86400000 / DAY;
    for (int day = 0; day < 3; day++) {
        f.factor = 1;
        feed(&f, CALM);
        f.factor = 10;
        feed(&f, DAY - CALM);
        ck_assert_int_eq(f.refusals, 1);
        ck_assert_int_eq(f.daily > 0, day > 0);
    }
    ck_assert_uint_ge(ek_learned_lists(f.baseline), 2000);
    feed_free(&f);
}
END_TEST

START_TEST(a_small_change_that_ends_is_learned_and_one_that_lasts_is_not)
{
    struct fed f;
    feed_new(&f, &USUAL);
    feed(&f, 4 * FIRST);
    f.factor = 2;
    feed(&f, FIRST);
    ck_assert(ek_learned_is_waiting(f.baseline));
    f.factor = 1;
    feed(&f, 4 * FIRST);
    ck_assert_int_eq(f.refusals, 0);
    ck_assert_uint_ge(ek_learned_lists(f.baseline), 8 * FIRST);
    feed_free(&f);
    feed_new(&f, &USUAL);
    feed(&f, 4 * FIRST);
    f.factor = 2;
    feed(&f, 9 * FIRST);
    ck_assert_int_eq(f.refusals, 1);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), 4 * FIRST);
    feed_free(&f);
}
END_TEST

START_TEST(after_the_past_a_batch_ends_early_unless_it_is_too_small)
{
    struct fed f;
    struct ek_error e;
    enum ek_learned_step step;
    feed_new(&f, &USUAL);
    feed(&f, EK_LEARNED_FIRST_LEAST - 1);
    ck_assert_int_eq(ek_learned_end_batch(f.baseline, &step, &e), 0);
    ck_assert_int_eq(step, EK_LEARNED_MORE);
    feed(&f, 1);
    ck_assert_int_eq(ek_learned_end_batch(f.baseline, &step, &e), 0);
    ck_assert_int_eq(step, EK_LEARNED_PROFILED);
    feed(&f, 10);
    ck_assert_int_eq(ek_learned_end_batch(f.baseline, &step, &e), 0);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), EK_LEARNED_FIRST_LEAST + 10);
    feed_free(&f);
}
END_TEST

static uint64_t most_lists(const struct ek_learned_limits *limits)
{
    struct fed f;
    feed_new(&f, limits);
    feed(&f, 1200);
    ck_assert(ek_learned_is_complete(f.baseline));
    uint64_t lists = ek_learned_lists(f.baseline);
    feed(&f, 600);
    ck_assert_uint_eq(ek_learned_lists(f.baseline), lists);
    feed_free(&f);
    return lists;
}

START_TEST(a_baseline_grows_to_its_lists_its_bytes_and_the_memory_of_a_fit)
{
    struct ek_learned_limits limits = USUAL;
    limits.lists = 700;
    ck_assert_uint_eq(most_lists(&limits), 700);
    limits = USUAL;
    limits.fit_bytes = 16 * 13 * 800 + 800;
    ck_assert_uint_eq(most_lists(&limits), 800);
    limits = USUAL;
    limits.bytes = 5 << 20;
    uint64_t lists = most_lists(&limits);
    ck_assert_uint_gt(lists, FIRST);
    ck_assert_uint_lt(lists, 1200);
}
END_TEST

START_TEST(messages_that_are_no_lists_are_an_error_with_a_remedy)
{
    static const char *const bad[] = {"no list", "{\"user\":\"ana\",\"click\":\"h-1\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct fed f;
        struct ek_error e;
        int rc = 0;
        feed_new(&f, &USUAL);
        for (int k = 0; k < FIRST && !rc; k++) {
            enum ek_learned_step step;
            rc = ek_learned_add(f.baseline, bad[i], strlen(bad[i]), -1, &step, &e);
        }
        ck_assert_int_eq(rc, EK_EFORMAT);
        ck_assert(strstr(e.message, "the messages are no lists that can be read"));
        ck_assert(strstr(e.message, "--config"));
        feed_free(&f);
    }
}
END_TEST

START_TEST(a_profile_of_few_lists_shows_that_it_finds_small_factors_late)
{
    char text[EK_LEARNED_TEXT_BYTES];
    struct fed f;
    struct ek_error e;
    int after = 0;
    feed_new(&f, &USUAL);
    feed(&f, FIRST);
    ck_assert_int_eq(ek_learned_measure(f.baseline, &e), 0);
    ek_learned_sharpness(f.baseline, text);
    ck_assert_int_eq(sscanf(text, "500 lists: x10 after about %d, x2 not yet", &after), 1);
    ck_assert_int_gt(after, 5);
    ck_assert_int_lt(after, 200);
    feed(&f, 3 * FIRST);
    ck_assert_int_eq(ek_learned_measure(f.baseline, &e), 0);
    ek_learned_sharpness(f.baseline, text);
    ck_assert(strstr(text, "2000 lists: x10 after about "));
    ck_assert(strstr(text, ", x2 after about "));
    feed_free(&f);
}
END_TEST

Suite *suite_learned_baseline(void)
{
    return ek_suite("learned_baseline",
                    the_first_batch_gives_manifest_rules_and_profile_and_later_ones_double_it,
                    a_dimension_of_many_values_is_monitored_if_its_levels_are_known,
                    of_a_first_batch_of_two_populations_the_lists_before_the_change_are_kept,
                    a_change_within_the_first_batch_that_lasts_becomes_the_baseline,
                    a_baseline_does_not_learn_a_change_and_goes_on_after_it,
                    only_the_lists_of_a_change_are_discarded_and_its_times_are_known,
                    a_change_that_returns_at_the_hours_of_another_day_is_learned,
                    a_small_change_that_ends_is_learned_and_one_that_lasts_is_not,
                    after_the_past_a_batch_ends_early_unless_it_is_too_small,
                    a_baseline_grows_to_its_lists_its_bytes_and_the_memory_of_a_fit,
                    messages_that_are_no_lists_are_an_error_with_a_remedy,
                    a_profile_of_few_lists_shows_that_it_finds_small_factors_late);
}
