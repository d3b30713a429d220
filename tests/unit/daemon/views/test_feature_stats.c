/* Feature statistics of the pages while the guard runs. */
#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/views/feature_stats.h"
#include "tests/event_from.h"
#include "tests/check.h"
#include "tests/stream_world.h"

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

enum { TRAINING = 1500, LISTS = 400, FEATURES = 3 };

struct bench {
    struct stream_world world;
    struct ek_cells *cells;
    struct ek_live_sketches *traffic;
    struct ek_feature_stats *board;
    struct ek_event_log *event_log;
};

static void setup(struct bench *b, const char *rules)
{
    stream_world_start(&b->world, rules, TRAINING, 41);
    ck_assert_int_eq(
        ek_cells_new(&b->cells, b->world.rules->segment, b->world.rules->segment_count, 20), EK_OK);
    ck_assert_int_eq(ek_live_sketches_new(&b->traffic, b->world.manifest, b->world.profile,
                                          b->world.rules, b->cells, NULL),
                     EK_OK);
    ck_assert_ptr_nonnull(b->board =
                              ek_feature_stats_new(b->world.manifest, b->world.rules, b->traffic));
    ck_assert_ptr_nonnull(b->event_log = ek_event_log_new(10));
}

static void teardown(struct bench *b)
{
    ek_event_log_free(b->event_log);
    ek_feature_stats_free(b->board);
    ek_live_sketches_free(b->traffic);
    ek_cells_free(b->cells);
    stream_world_end(&b->world);
}

/* Run lists with prices in cents in arm B, which is named `arm`. */
static void run(struct bench *b, int lists, const char *arm)
{
    for (int i = 0; i < lists; i++) {
        int16_t ids[EK_CELLS_PER_LIST];
        struct ek_list *q = stream_next(&b->world.stream);
        if (b->world.stream.arm_b) {
            stream_scale(q, 0, 100);
            q->segments[0].value = stream_text(arm);
        }
        ck_assert_int_eq(ek_cells_lookup(b->cells, q, 1, ids), EK_OK);
        ck_assert_int_eq(
            ek_live_sketches_list(b->traffic, ids, 1 + ek_cells_dimensions(b->cells), 0, q, NULL),
            EK_OK);
    }
}

static void sweep_at(struct bench *b, int64_t time_ms)
{
    for (int i = 0; i < ek_live_sketches_cells(b->traffic); i++)
        ck_assert_int_eq(ek_feature_stats_update(b->board, time_ms), EK_OK);
}

static void sweep(struct bench *b)
{
    sweep_at(b, 0);
}

static json_t *page(struct bench *b, const char *feature, int code)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ck_assert_int_eq(feature ? ek_feature_stats_feature(b->board, feature, NULL, &text)
                             : ek_feature_stats_features(b->board, &text),
                     code);
    json_t *json = json_loadb((const char *)text.data, text.length, 0, NULL);
    ck_assert_msg(json != NULL, "no JSON: %s", ek_buf_string(&text));
    ek_buf_release(&text);
    return json;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    ck_assert_msg(json_is_number(value), "no number '%s'", key);
    return json_number_value(value);
}

START_TEST(before_the_first_figures_a_feature_has_those_of_training)
{
    struct bench b;
    setup(&b, "version: 1\n");
    json_t *all = page(&b, NULL, EK_OK), *one = page(&b, "price", EK_OK);
    json_t *price = json_array_get(json_object_get(all, "features"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(all, "features")), FEATURES);
    ck_assert(json_is_null(json_object_get(price, "current")));
    ck_assert(number(json_object_get(price, "training"), "p50") > 50);
    ck_assert(json_equal(json_object_get(price, "training"), json_object_get(one, "training")));
    ck_assert_uint_eq(json_array_size(json_object_get(one, "segments")), 0);
    ck_assert_double_eq_tol(number(json_object_get(one, "windows"), "length_ms"), 300000, .5);
    json_decref(all);
    json_decref(one);
    teardown(&b);
}
END_TEST

START_TEST(a_list_of_features_has_the_level_of_each_minute_where_it_moved_most)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\nfeatures: {price: {report_threshold: 1.3}}\n");
    run(&b, 10, "B");
    sweep_at(&b, 60000);
    run(&b, LISTS, "B");
    sweep_at(&b, 120000);
    json_t *all = page(&b, NULL, EK_OK);
    json_t *price = json_array_get(json_object_get(all, "features"), 0);
    json_t *most = json_object_get(price, "most_shifted_segment");
    json_t *levels = json_object_get(json_object_get(most, "levels"), "level");
    ck_assert_ptr_null(json_object_get(price, "levels"));
    ck_assert_double_eq_tol(number(price, "report_threshold"), 1.3, 1e-9);
    ck_assert_uint_eq(json_array_size(levels), 2);
    ck_assert(json_is_null(json_array_get(levels, 0)));
    ck_assert_double_eq_tol(json_number_value(json_array_get(levels, 1)), 100, 8);
    json_decref(all);
    teardown(&b);
}
END_TEST

START_TEST(a_list_of_features_names_the_segment_that_moved_most)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "B");
    sweep(&b);
    json_t *all = page(&b, NULL, EK_OK);
    json_t *price = json_array_get(json_object_get(all, "features"), 0);
    json_t *most = json_object_get(price, "most_shifted_segment");
    ck_assert_str_eq(json_string_value(json_object_get(price, "feature")), "price");
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(most, "segment"), "arm")),
                     "B");
    ck_assert_double_eq_tol(number(json_object_get(most, "current"), "scale_ratio"), 100, 8);
    ck_assert(number(json_object_get(price, "current"), "psi") > 1);
    ck_assert_double_eq_tol(number(json_object_get(price, "current"), "lists"), LISTS, .5);
    json_decref(all);
    teardown(&b);
}
END_TEST

/* The levels of arms in training, as those of markets. */
static void set_levels(struct ek_profile *p)
{
    struct ek_segment_levels *t;
    ck_assert_int_eq(ek_segment_levels_new(&t, 1, 1, 1), EK_OK);
    ck_assert_ptr_nonnull(t->dimension[0] = ek_strdup("arm"));
    ck_assert_ptr_nonnull(t->value[0] = ek_strdup("B"));
    ek_segment_levels_index(t);
    ek_segment_levels_free(p->segment_levels);
    p->segment_levels = t;
}

START_TEST(segments_that_differ_in_training_are_no_shift)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    set_levels(b.world.profile);
    run(&b, LISTS, "B");
    sweep(&b);
    json_t *all = page(&b, NULL, EK_OK);
    json_t *price = json_array_get(json_object_get(all, "features"), 0);
    ck_assert(json_is_null(json_object_get(price, "most_shifted_segment")));
    ck_assert_ptr_nonnull(json_object_get(price, "levels"));
    json_decref(all);
    teardown(&b);
}
END_TEST

START_TEST(a_feature_has_its_cells_and_spans)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "B");
    sweep(&b);
    json_t *one = page(&b, "price", EK_OK), *cells = json_object_get(one, "segments"), *cell;
    size_t i;
    double lists = 0;
    ck_assert_uint_eq(json_array_size(cells), 3);
    json_array_foreach(cells, i, cell)
    {
        double here = number(json_object_get(cell, "current"), "lists");
        ck_assert_double_eq_tol(number(json_object_get(cell, "retained"), "lists"), here, .5);
        ck_assert_double_eq_tol(number(json_object_get(cell, "lifetime"), "lists"), here, .5);
        lists += i ? here : 0;
    }
    ck_assert_double_eq_tol(lists, LISTS, .5);
    ck_assert(json_is_null(json_object_get(json_array_get(cells, 0), "segment")));
    json_decref(one);
    teardown(&b);
}
END_TEST

START_TEST(a_feature_that_is_not_there_is_named_with_the_nearest)
{
    struct bench b;
    setup(&b, "version: 1\n");
    json_t *json = page(&b, "pirce", EK_EUSAGE);
    ck_assert_str_eq(json_string_value(json_object_get(json, "did_you_mean")), "price");
    json_decref(json);
    teardown(&b);
}
END_TEST

static char *metrics(struct bench *b, int cells)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_feature_stats_metrics(b->board, b->event_log, cells, &text), EK_OK);
    char *copy = strdup(ek_buf_string(&text));
    ek_buf_release(&text);
    return copy;
}

static int count(const char *text, const char *part)
{
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static void told(struct bench *b, const char *state)
{
    struct ek_event_log_change change;
    char json[300];
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"price-1\",\"feature\":\"price\","
             "\"segment\":{\"arm\":\"B\"},\"state\":\"%s\"}",
             state);
    ck_assert_int_eq(ek_event_log_add(b->event_log, event_from(json), json, 0, &change), EK_OK);
}

START_TEST(metrics_have_one_series_per_feature_and_cell)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "B");
    sweep(&b);
    char *text = metrics(&b, 10);
    ck_assert_int_eq(count(text, "\nevenkeel_feature_psi{"), 3 * FEATURES);
    ck_assert_int_eq(count(text, "# TYPE evenkeel_feature_quantile summary\n"), 1);
    ck_assert_int_eq(count(text, "\nevenkeel_feature_quantile{"), 3 * 3 * FEATURES);
    ck_assert_ptr_nonnull(
        strstr(text, "\nevenkeel_feature_missing_ratio{feature=\"price\",segment=\"all\"} 0\n"));
    ck_assert_ptr_nonnull(
        strstr(text, "\nevenkeel_feature_scale_ratio{feature=\"price\",segment=\"arm=B\"} "));
    ck_assert_ptr_nonnull(
        strstr(text, "\nevenkeel_feature_state{feature=\"price\",segment=\"arm=B\"} 0\n"));
    free(text);
    teardown(&b);
}
END_TEST

START_TEST(only_the_cells_with_the_most_lists_are_in_the_metrics)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "B");
    run(&b, 10, "C");
    sweep(&b);
    char *text = metrics(&b, 3);
    ck_assert_int_eq(count(text, "\nevenkeel_feature_psi{"), 3 * FEATURES);
    ck_assert_ptr_null(strstr(text, "arm=C"));
    free(text);
    text = metrics(&b, 0);
    ck_assert_int_eq(count(text, "{"), 0);
    free(text);
    teardown(&b);
}
END_TEST

START_TEST(an_open_finding_is_the_state_of_its_feature_and_cell)
{
    static const char name[] = "\nevenkeel_feature_state{feature=\"price\",segment=\"arm=B\"} ";
    static const char *const states[] = {"suspected", "confirmed", "updated", "recovered"};
    static const char digits[] = "1220";
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "B");
    sweep(&b);
    for (int i = 0; i < 4; i++) {
        told(&b, states[i]);
        char *text = metrics(&b, 10), *at = strstr(text, name);
        ck_assert_ptr_nonnull(at);
        ck_assert_int_eq(at[sizeof name - 1], digits[i]);
        ck_assert_int_eq(
            count(text, "evenkeel_feature_state{feature=\"price\",segment=\"all\"} 0\n"), 1);
        free(text);
    }
    teardown(&b);
}
END_TEST

START_TEST(labels_are_escaped)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, LISTS, "a\"b\\c\nd\xff");
    sweep(&b);
    char *text = metrics(&b, 10);
    ck_assert_int_eq(count(text, "segment=\"arm=a\\\"b\\\\c\\nd\xef\xbf\xbd\"} 0\n"),
                     count(text, "segment=\"arm=A\"} 0\n"));
    ck_assert_int_gt(count(text, "segment=\"arm=a\\\"b\\\\c\\nd\xef\xbf\xbd\""), 0);
    free(text);
    json_decref(page(&b, NULL, EK_OK));
    json_decref(page(&b, "price", EK_OK));
    teardown(&b);
}
END_TEST

START_TEST(without_sketches_there_are_no_figures)
{
    struct bench b;
    setup(&b, "version: 1\nwindows: {max_segments: 0}\n");
    run(&b, 10, "B");
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(ek_feature_stats_update(b.board, 0), EK_OK);
    json_decref(page(&b, NULL, EK_OK));
    char *text = metrics(&b, 10);
    ck_assert_int_eq(count(text, "{"), 0);
    free(text);
    teardown(&b);
}
END_TEST

struct reader {
    struct bench *b;
    atomic_bool stop;
    int pages;
};

static void *read_on(void *context)
{
    struct reader *r = context;
    struct ek_buf text;
    ek_buf_init(&text, 0);
    while (!atomic_load(&r->stop)) {
        ek_buf_clear(&text);
        if (ek_feature_stats_features(r->b->board, &text) ||
            ek_feature_stats_feature(r->b->board, "size", NULL, &text) ||
            ek_feature_stats_metrics(r->b->board, r->b->event_log, 5, &text))
            break;
        r->pages++;
    }
    ek_buf_release(&text);
    return NULL;
}

START_TEST(pages_may_be_read_while_the_guard_goes_on)
{
    struct bench b;
    pthread_t thread;
    setup(&b, "version: 1\nsegments: [arm]\n");
    struct reader r = {.b = &b};
    ck_assert_int_eq(pthread_create(&thread, NULL, read_on, &r), 0);
    static const char *const arms[] = {"B", "C", "D", "E"};
    for (int i = 0; i < 400; i++) {
        run(&b, 3, arms[i / 100]);
        ck_assert_int_eq(ek_feature_stats_update(b.board, 0), EK_OK);
        told(&b, i % 2 ? "confirmed" : "recovered");
    }
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    sweep(&b);
    json_t *one = page(&b, "price", EK_OK);
    ck_assert_uint_gt(json_array_size(json_object_get(one, "segments")), 1);
    json_decref(one);
    teardown(&b);
}
END_TEST

Suite *suite_feature_stats(void)
{
    return ek_suite(
        "feature board", before_the_first_figures_a_feature_has_those_of_training,
        a_list_of_features_names_the_segment_that_moved_most,
        segments_that_differ_in_training_are_no_shift,
        a_list_of_features_has_the_level_of_each_minute_where_it_moved_most,
        a_feature_has_its_cells_and_spans, a_feature_that_is_not_there_is_named_with_the_nearest,
        metrics_have_one_series_per_feature_and_cell,
        only_the_cells_with_the_most_lists_are_in_the_metrics,
        an_open_finding_is_the_state_of_its_feature_and_cell, labels_are_escaped,
        without_sketches_there_are_no_figures, pages_may_be_read_while_the_guard_goes_on);
}
