/* Manifest: its orders, hash and defaults. Invalid ones are in tests/bad. */
#include "lists/list.h"
#include "base/hash.h"
#include "schema/manifest.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char TEXT[] = "set: shop\n"
                           "derived_query_features: [log_list_size]\n"
                           "main_feature: price\n"
                           "nights_feature: nights\n"
                           "training: {hidden: [32, 16], learning_rate: 0.001}\n"
                           "features:\n"
                           "  - {name: nights, index: 4, role: query}\n"
                           "  - {name: stars, index: 3, role: item, type: category}\n"
                           "  - {name: price, index: 1, role: item, routable: true, positive: true,"
                           " unit: EUR, missing: expected, note: \"\"}\n"
                           "  - {name: size, index: 2, role: item, routable: true}\n";

static struct ek_manifest *parse(const char *text)
{
    struct ek_manifest *m = NULL;
    struct ek_error e;
    ck_assert_msg(!ek_manifest_parse(&m, "m.yaml", text, strlen(text), &e), "%s", e.message);
    return m;
}

START_TEST(features_are_numbered_by_their_index_whatever_their_order_in_the_file)
{
    struct ek_manifest *m = parse(TEXT);
    ck_assert_int_eq(m->item_count, 3);
    ck_assert_int_eq(m->width, 4);
    ck_assert_int_eq(ek_manifest_item(m, "price"), 0);
    ck_assert_int_eq(ek_manifest_item(m, "size"), 1);
    ck_assert_int_eq(ek_manifest_item(m, "stars"), 2);
    ck_assert_int_eq(ek_manifest_item(m, "nights"), -1);
    ck_assert_int_eq(ek_manifest_feature(m, "stars"), 1);
    ck_assert_int_eq(m->routable_count, 2);
    ck_assert_int_eq(m->routable[1], 1);
    ck_assert_int_eq(m->routable_of_item[2], -1);
    ck_assert_int_eq(m->item[2]->type, EK_TYPE_CATEGORY);
    ck_assert(m->item[0]->missing_expected && m->item[0]->positive && !m->item[1]->positive);
    ck_assert_str_eq(m->item[0]->unit, "EUR");
    ck_assert_ptr_null(m->item[1]->unit);
    ek_manifest_free(m);
}
END_TEST

START_TEST(columns_that_are_unused_change_nothing_else)
{
    struct ek_manifest *m = parse(TEXT);
    char text[sizeof TEXT + 40];
    snprintf(text, sizeof text, "unused: [9, 5]\n%s", TEXT);
    struct ek_manifest *more = parse(text);
    ck_assert_int_eq(m->unused_count, 0);
    ck_assert_int_eq(more->unused_count, 2);
    ck_assert_int_eq(more->unused[0], 5);
    ck_assert_int_eq(more->unused[1], 9);
    ck_assert_int_eq(more->width, m->width);
    ck_assert_uint_eq(more->hash, m->hash);
    ek_manifest_free(more);
    ek_manifest_free(m);
}
END_TEST

START_TEST(derived_query_features_come_last_and_know_the_list_size)
{
    struct ek_manifest *m = parse(TEXT);
    ck_assert_int_eq(m->query_count, 2);
    ck_assert_int_eq(m->derived_count, 1);
    ck_assert_int_eq(ek_manifest_query(m, "log_list_size"), 1);
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 7, m->item_count, m->query_count), EK_OK);
    q.query[0] = 3;
    ek_list_derive(&q, m);
    ck_assert(q.query[0] == 3);
    ck_assert(q.query[1] == (float)log(7));
    q.list_items = 20; /* the items are a part of it */
    ek_list_derive(&q, m);
    ck_assert(q.query[1] == (float)log(20));
    q.items = q.list_items = 0;
    ek_list_derive(&q, m);
    ck_assert(q.query[1] == 0);
    ek_list_release(&q);
    ek_manifest_free(m);
}
END_TEST

START_TEST(watched_query_features_are_numbered_after_the_item_features)
{
    static const char text[] = "derived_query_features: [log_list_size]\n"
                               "features:\n"
                               "  - {name: late, index: 9, role: query, watch: true}\n"
                               "  - {name: price, index: 2, role: item, routable: true}\n"
                               "  - {name: plain, index: 3, role: query}\n"
                               "  - {name: off, index: 4, role: query, watch: false}\n"
                               "  - {name: nights, index: 1, role: query, watch: true}\n";
    struct ek_manifest *m = parse(text);
    ck_assert_int_eq(m->item_count, 1);
    ck_assert_int_eq(m->watched_count, 3);
    ck_assert_str_eq(m->item[1]->name, "nights");
    ck_assert_str_eq(m->item[2]->name, "late");
    ck_assert_int_eq(ek_manifest_watched(m, "price"), 0);
    ck_assert_int_eq(ek_manifest_watched(m, "late"), 2);
    ck_assert_int_eq(ek_manifest_watched(m, "plain"), -1);
    ck_assert_int_eq(ek_manifest_item(m, "late"), -1);
    ck_assert_int_eq(ek_manifest_query_of(m, 0), -1);
    ck_assert_int_eq(ek_manifest_query_of(m, 1), ek_manifest_query(m, "nights"));
    ck_assert_int_eq(ek_manifest_query_of(m, 2), ek_manifest_query(m, "late"));
    ck_assert_int_eq(m->routable_of_item[2], -1);
    ek_manifest_free(m);
}
END_TEST

START_TEST(the_hash_is_that_of_name_index_and_role_only)
{
    static const char canonical[] = "price 1 item\nsize 2 item\nstars 3 item\nnights 4 query\n";
    struct ek_manifest *m = parse(TEXT);
    ck_assert_uint_eq(m->hash, ek_hash(canonical, strlen(canonical), 0));
    ek_manifest_free(m);
}
END_TEST

START_TEST(training_hints_say_only_what_the_file_says)
{
    struct ek_manifest *m = parse(TEXT);
    ck_assert_int_eq(m->training.hidden_count, 2);
    ck_assert_int_eq(m->training.hidden[1], 16);
    ck_assert(m->training.learning_rate == 0.001);
    ck_assert(m->training.weight_decay == -1);
    ck_assert_int_eq(m->training.epochs, -1);
    ek_manifest_free(m);
    m = parse("features: [{name: a, index: 1, role: item}]");
    ck_assert_int_eq(m->training.hidden_count, 0);
    ck_assert(m->training.learning_rate == -1);
    ck_assert_ptr_null(m->set);
    ek_manifest_free(m);
}
END_TEST

START_TEST(the_manifests_of_the_published_sets_load)
{
    static const struct {
        const char *set;
        int items, queries, routable;
    } sets[] = {
        {"hotel", 13, 8, 10}, {"swissmetro", 6, 11, 3}, {"car", 19, 3, 9}, {"mq2008", 46, 1, 46}};
    const char *data = getenv("EK_DATA");
    if (!data) {
        fputs("skipped without EK_DATA: the_manifests_of_the_published_sets_load\n", stderr);
        return;
    }
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[500];
        struct ek_manifest *m = NULL;
        struct ek_error e;
        snprintf(path, sizeof path, "%s/%s/features.yaml", data, sets[i].set);
        ck_assert_msg(!ek_manifest_load(&m, path, &e), "%s: %s", path, e.message);
        ck_assert_int_eq(m->item_count, sets[i].items);
        ck_assert_int_eq(m->query_count, sets[i].queries);
        ck_assert_int_eq(m->routable_count, sets[i].routable);
        ck_assert_str_eq(m->set, sets[i].set);
        ek_manifest_free(m);
    }
}
END_TEST

Suite *suite_manifest(void)
{
    return ek_suite(
        "manifest", features_are_numbered_by_their_index_whatever_their_order_in_the_file,
        columns_that_are_unused_change_nothing_else,
        derived_query_features_come_last_and_know_the_list_size,
        watched_query_features_are_numbered_after_the_item_features,
        the_hash_is_that_of_name_index_and_role_only, training_hints_say_only_what_the_file_says,
        the_manifests_of_the_published_sets_load);
}
