/* Repaired values of a list: only of lists that show the fault, with a note of each operation. */
#include "serve/feature_writer.h"
#include "assets/profile.h"
#include "serve/assets.h"
#include "serve/wide_columns.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 4, NIGHTS = 3 };

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: stars, index: 2, role: item}\n"
                               "  - {name: change, index: 3, role: item}\n"
                               "  - {name: nights, index: 4, role: query, watch: true}\n";

/* A list of two prices in JSON. */
#define LIST(a, b)                                                                                 \
    "{\"query_features\":[3],\"items\":[{\"features\":[" a ",3,1]},{\"features\":[" b ",4,-2]}]}"

struct scene {
    struct ek_assets a;
    struct ek_list q;
    struct ek_buf out;
    struct ek_feature_writer *w;
    struct ek_treatment treatment[FEATURES];
    struct ek_plan_repair repair[FEATURES];
    struct ek_wide_columns *wide; /* NULL: none */
};

/* Prices have the usual level 100 and a scatter of .5 between lists. */
static void setup(struct scene *s)
{
    static const float stars[] = {1, 2, 3, 4, 5};
    memset(s, 0, sizeof *s);
    ck_assert_int_eq(ek_manifest_parse(&s->a.manifest, "m", MANIFEST, strlen(MANIFEST), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_profile_new(&s->a.profile, s->a.manifest, 1, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&s->a.codec, s->a.manifest, NULL, NULL, NULL), EK_OK);
    s->a.profile->level[0] = logf(100);
    s->a.profile->baseline[2].share[2] = .5f;
    memcpy(s->a.profile->known + EK_KNOWN_VALUES_MAX, stars, sizeof stars);
    s->a.profile->known_count[1] = 5;
    ek_list_init(&s->q);
    ek_buf_init(&s->out, 0);
    ck_assert_int_eq(ek_feature_writer_new(&s->w, s->a.manifest), EK_OK);
    for (int f = 0; f < FEATURES; f++)
        s->repair[f] = (struct ek_plan_repair){.factor = NAN, .query_feature = -1, .scale = 1};
}

static void teardown(struct scene *s)
{
    ek_feature_writer_free(s->w);
    ek_wide_columns_free(s->wide);
    ek_buf_release(&s->out);
    ek_list_release(&s->q);
    ek_codec_free(s->a.codec);
    ek_profile_free(s->a.profile);
    ek_manifest_free(s->a.manifest);
}

static void treat(struct scene *s, int feature, enum ek_repair_by by, double number, bool exact)
{
    s->treatment[feature].action = EK_ACT_REPAIR;
    s->repair[feature].by = by;
    s->repair[feature].number = number;
    s->repair[feature].exact = exact;
}

/* Repair a message. to NULL: no value changes. */
static void check(struct scene *s, const char *from, const char *to, const char *note)
{
    struct ek_feature_list l = {.assets = &s->a,
                                .query = &s->q,
                                .treatment = s->treatment,
                                .repair = s->repair,
                                .message = from,
                                .length = strlen(from),
                                .wide = s->wide};
    ck_assert_int_eq(ek_codec_decode(s->a.codec, from, strlen(from), &s->q, NULL), EK_OK);
    ck_assert_int_eq(ek_feature_writer_write(s->w, &l, &s->out, NULL), EK_OK);
    ck_assert_int_eq(ek_feature_writer_changed(s->w) > 0, note != NULL);
    if (!to)
        return;
    ck_assert_msg(s->out.length == strlen(to) && !memcmp(s->out.data, to, strlen(to)),
                  "%.*s, not %s", (int)s->out.length, (const char *)s->out.data, to);
    if (note)
        ck_assert_str_eq(ek_feature_writer_note(s->w), note);
}

START_TEST(a_list_is_divided_if_it_shows_the_fault)
{
    struct scene s;
    setup(&s);
    treat(&s, 0, EK_REPAIR_LIST, 100, true);
    check(&s, LIST("12999", "8050"), LIST("129.99", "80.5"), "price=/100");
    check(&s, LIST("129.99", "80.5"), NULL, NULL);
    check(&s, LIST("0", "null"), NULL, NULL);
    check(&s, LIST("999", "1001"), NULL, NULL);
    check(&s, LIST("1001", "1003"), LIST("10.01", "10.03"), "price=/100");
    treat(&s, 0, EK_REPAIR_LIST, 1. / 60, true);
    check(&s, LIST("2", "1.5"), LIST("120", "90"), "price=*60");
    check(&s, LIST("120", "90"), NULL, NULL);
    teardown(&s);
}
END_TEST

START_TEST(items_are_divided_one_by_one)
{
    struct scene s;
    setup(&s);
    treat(&s, 0, EK_REPAIR_ITEM, 100, true);
    check(&s, LIST("12999", "80.5"), LIST("129.99", "80.5"), "price=/100");
    teardown(&s);
}
END_TEST

START_TEST(a_list_is_put_on_the_usual_level)
{
    struct scene s;
    setup(&s);
    treat(&s, 0, EK_REPAIR_LEVEL, 1, false);
    s.a.profile->level[0] = 0; /* the mean of the logarithms of 1/2 and 2 */
    check(&s, LIST("4", "1"), LIST("2", "0.5"), "price=/2");
    check(&s, LIST("null", "0"), NULL, NULL);
    teardown(&s);
}
END_TEST

/* Two prices of items with ids in JSON, for a number of nights. */
#define ITEMS(nights, a, b)                                                                        \
    "{\"query_features\":[" nights "],\"items\":[{\"id\":\"x\",\"features\":[" a                   \
    ",3,1]},{\"id\":\"y\",\"features\":[" b ",4,-2]}]}"

START_TEST(a_list_is_compared_with_the_levels_of_its_items)
{
    struct scene s;
    setup(&s);
    s.a.profile->level[0] = 0;
    ck_assert_int_eq(ek_item_levels_new(&s.a.profile->item_levels, 2, 1), EK_OK);
    struct ek_item_levels *t = s.a.profile->item_levels;
    uint64_t x = ek_item_key(ek_text_from("x")), y = ek_item_key(ek_text_from("y"));
    t->key[0] = x < y ? x : y;
    t->key[1] = x < y ? y : x;
    t->value[0] = t->value[1] = logf(5000);
    ek_item_levels_index(t);
    treat(&s, 0, EK_REPAIR_LIST, 100, true);
    check(&s, ITEMS("3", "4000", "5500"), NULL, NULL); /* dear items are no fault */
    check(&s, ITEMS("3", "400000", "550000"), ITEMS("3", "4000", "5500"), "price=/100");
    /* Unknown items show only a factor that is far from their variation. */
    s.a.profile->baseline[0].log_sd = 1.5F;
    check(&s, LIST("400000", "550000"), NULL, NULL);
    s.a.profile->baseline[0].log_sd = .9F;
    check(&s, LIST("400000", "550000"), LIST("4000", "5500"), "price=/100");
    check(&s, LIST("4000", "5500"), NULL, NULL);
    teardown(&s);
}
END_TEST

START_TEST(a_list_is_compared_with_the_level_of_its_query)
{
    struct scene s;
    setup(&s);
    ck_assert_int_eq(ek_query_slopes_new(&s.a.profile->query_slopes, 1), EK_OK);
    struct ek_query_slopes *t = s.a.profile->query_slopes;
    t->queries = 1;
    t->low[0] = -1;
    t->high[0] = logf(1000);
    t->slope[0][0] = 1;
    treat(&s, 0, EK_REPAIR_LIST, 10, true);
    check(&s, ITEMS("1", "1000", "900"), ITEMS("1", "100", "90"), "price=/10");
    check(&s, ITEMS("10", "1000", "900"), NULL, NULL);
    check(&s, ITEMS("5000", "1000", "900"), NULL, NULL);
    teardown(&s);
}
END_TEST

static void know_nights(struct scene *s)
{
    static const float nights[] = {1, 2, 3, 4, 5, 7, 14, 24};
    memcpy(s->a.profile->known + (size_t)NIGHTS * EK_KNOWN_VALUES_MAX, nights, sizeof nights);
    s->a.profile->known_count[NIGHTS] = 8;
    s->a.profile->level[NIGHTS] = logf(3);
}

START_TEST(a_query_feature_is_repaired_by_its_value)
{
    struct scene s;
    setup(&s);
    know_nights(&s);
    treat(&s, NIGHTS, EK_REPAIR_LIST, 24, true);
    check(&s, ITEMS("72", "1", "1"), ITEMS("3", "1", "1"), "nights=/24");
    check(&s, ITEMS("72.0", "1", "1"), ITEMS("3.0", "1", "1"), "nights=/24");
    check(&s, ITEMS("14", "1", "1"), NULL, NULL); /* a long stay, not hours */
    check(&s, ITEMS("24", "1", "1"), ITEMS("1", "1", "1"), "nights=/24"); /* both: the nearer */
    check(&s, ITEMS("7", "1", "1"), NULL, NULL);
    check(&s, ITEMS("null", "1", "1"), NULL, NULL);
    check(&s, ITEMS("0", "1", "1"), NULL, NULL);
    treat(&s, NIGHTS, EK_REPAIR_NUMBER, 24, true);
    check(&s, ITEMS("48", "1", "1"), ITEMS("2", "1", "1"), "nights=/24");
    treat(&s, NIGHTS, EK_REPAIR_MISSING, 1, false);
    check(&s, ITEMS("null", "1", "1"), ITEMS("3", "1", "1"), "nights=fill:3");
    check(&s, ITEMS("2", "1", "1"), NULL, NULL);
    treat(&s, NIGHTS, EK_REPAIR_BLANK, 1, false);
    check(&s, ITEMS("2", "1", "1"), ITEMS("null", "1", "1"), "nights=blank");
    teardown(&s);
}
END_TEST

/* The level and the divisor of items are those of the repaired query. */
START_TEST(items_are_repaired_by_the_repaired_query)
{
    struct scene s;
    setup(&s);
    know_nights(&s);
    treat(&s, NIGHTS, EK_REPAIR_LIST, 24, true);
    treat(&s, 0, EK_REPAIR_QUERY_FEATURE, 1, true);
    s.repair[0].query_feature = 0;
    check(&s, ITEMS("72", "300", "90"), ITEMS("3", "100", "30"), "price=/nights, nights=/24");
    ck_assert_int_eq(ek_query_slopes_new(&s.a.profile->query_slopes, 1), EK_OK);
    struct ek_query_slopes *t = s.a.profile->query_slopes;
    t->queries = 1;
    t->low[0] = -1;
    t->high[0] = logf(100);
    t->slope[0][0] = 1;
    s.a.profile->level[0] = 0; /* of a night */
    treat(&s, 0, EK_REPAIR_LIST, 10, true);
    check(&s, ITEMS("48", "30", "40"), ITEMS("2", "3", "4"), "price=/10, nights=/24");
    check(&s, ITEMS("48", "3", "4"), ITEMS("2", "3", "4"), "nights=/24");
    teardown(&s);
}
END_TEST

START_TEST(trees_get_the_repaired_query)
{
    struct scene s;
    double values[2 * NIGHTS];
    static const char list[] = ITEMS("72", "5", "6");
    setup(&s);
    know_nights(&s);
    treat(&s, NIGHTS, EK_REPAIR_LIST, 24, true);
    for (int from_message = 0; from_message < 2; from_message++) {
        struct ek_feature_list l = {.assets = &s.a,
                                    .query = &s.q,
                                    .treatment = s.treatment,
                                    .repair = s.repair,
                                    .message = from_message ? list : NULL,
                                    .length = strlen(list)};
        ck_assert_int_eq(ek_codec_decode(s.a.codec, list, strlen(list), &s.q, NULL), EK_OK);
        ck_assert_int_eq(ek_feature_writer_values(s.w, &l, values, &s.out, NULL), EK_OK);
        ck_assert_uint_eq(ek_feature_writer_changed(s.w), 1);
        ck_assert_float_eq(*ek_feature_writer_query(s.w), 3);
        ck_assert_float_eq(s.q.query[0], 72);
        ck_assert_double_eq(values[0], 5);
        ck_assert_double_eq(values[NIGHTS], 6);
    }
    teardown(&s);
}
END_TEST

START_TEST(a_query_feature_divides_unless_it_is_missing_or_not_positive)
{
    struct scene s;
    setup(&s);
    treat(&s, 0, EK_REPAIR_QUERY_FEATURE, 1, true);
    s.repair[0].query_feature = 0;
    check(&s, LIST("300", "90"), LIST("100", "30"), "price=/nights");
    check(&s, "{\"query_features\":[0],\"items\":[{\"features\":[300,3,1]}]}", NULL, NULL);
    check(&s, "{\"query_features\":[null],\"items\":[{\"features\":[300,3,1]}]}", NULL, NULL);
    teardown(&s);
}
END_TEST

START_TEST(estimates_snap_to_the_values_of_training)
{
    struct scene s;
    setup(&s);
    treat(&s, 1, EK_REPAIR_NUMBER, 2, false);
    check(&s, "{\"query_features\":[3],\"items\":[{\"features\":[1,6.12,1]}]}",
          "{\"query_features\":[3],\"items\":[{\"features\":[1,3,1]}]}", "stars=/2");
    teardown(&s);
}
END_TEST

START_TEST(each_operation_is_noted)
{
    struct scene s;
    setup(&s);
    treat(&s, 0, EK_REPAIR_POWER, 2, true);
    treat(&s, 2, EK_REPAIR_SIGN, 1, true);
    check(&s, LIST("10000", "6400"),
          "{\"query_features\":[3],\"items\":[{\"features\":[100,3,-1]},{\"features\":[80,4,2]}]}",
          "price=^1/2, change=*-1");
    s.treatment[2].action = EK_ACT_NONE;
    treat(&s, 0, EK_REPAIR_OFFSET, 273.15, false);
    s.repair[0].scale = 0;
    check(&s, LIST("373.15", "273.15"), LIST("100", "null"), "price=-273.15");
    treat(&s, 0, EK_REPAIR_SIGN, 1, true);
    check(&s, LIST("-100", "80"), LIST("100", "80"), "price=abs");
    treat(&s, 0, EK_REPAIR_MISSING, 1, false);
    check(&s, LIST("null", "64"), LIST("64", "64"), "price=fill:64");
    treat(&s, 0, EK_REPAIR_BLANK, 1, false);
    check(&s, LIST("100", "null"), LIST("null", "null"), "price=blank");
    teardown(&s);
}
END_TEST

START_TEST(no_healthy_list_changes_under_a_plan)
{
    enum { LISTS = 1000 };
    struct scene s;
    char text[200];
    setup(&s);
    treat(&s, 0, EK_REPAIR_LIST, 100, true);
    for (int i = 0; i < LISTS; i++) { /* levels from a fifth to five times the usual one */
        double level = 100 * exp(1.6 * (2. * i / (LISTS - 1) - 1));
        snprintf(text, sizeof text,
                 "{\"query_features\":[3],\"items\":[{\"features\":[%.2f,3,1]},"
                 "{\"features\":[%.2f,4,1]}]}",
                 level / 1.5, level * 1.5);
        check(&s, text, NULL, NULL);
    }
    teardown(&s);
}
END_TEST

/* z of 200 and 50 is ln 2 and its negative, on a grid of 2^-16. */
#define WIDE(a, b, z)                                                                              \
    "{\"query_features\":[3],\"items\":[{\"features\":[" a ",3,1," z "]},{\"features\":[" b        \
    ",4,-2,-" z "]}]}"

START_TEST(wide_columns_follow_the_repaired_values_in_all_lists)
{
    struct scene s;
    setup(&s);
    ck_assert_int_eq(ek_wide_columns_new(&s.wide, s.a.manifest, s.a.profile, NULL), EK_OK);
    check(&s, LIST("200", "50"), WIDE("200", "50", "0.693145751953125"), NULL);
    treat(&s, 0, EK_REPAIR_LIST, 100, true);
    check(&s, LIST("200", "50"), WIDE("200", "50", "0.693145751953125"), NULL);
    check(&s, LIST("20000", "5000"), WIDE("200", "50", "0.693145751953125"), "price=/100");
    check(&s, LIST("0", "null"),
          "{\"query_features\":[3],\"items\":[{\"features\":[0,3,1,0]},{\"features\":[null,4,-2,"
          "null]}]}",
          NULL);
    teardown(&s);
}
END_TEST

Suite *suite_feature_writer(void)
{
    return ek_suite(
        "feature_writer", a_list_is_divided_if_it_shows_the_fault, items_are_divided_one_by_one,
        a_list_is_put_on_the_usual_level, a_list_is_compared_with_the_levels_of_its_items,
        a_list_is_compared_with_the_level_of_its_query, a_query_feature_is_repaired_by_its_value,
        items_are_repaired_by_the_repaired_query, trees_get_the_repaired_query,
        a_query_feature_divides_unless_it_is_missing_or_not_positive,
        estimates_snap_to_the_values_of_training, each_operation_is_noted,
        no_healthy_list_changes_under_a_plan, wide_columns_follow_the_repaired_values_in_all_lists);
}
