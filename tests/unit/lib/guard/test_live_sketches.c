/* Live sketches equal the observed values of each segment and time span. */
#include "base/buf.h"
#include "detect/cells.h"
#include "guard/live_sketches.h"
#include "tests/check.h"
#include "tests/stream_world.h"

#include <jansson.h>

enum { TRAINING = 2000, MINUTE_MS = 60 * 1000, PRICE = 0, FLAG = 2 };

struct bench {
    struct stream_world world;
    struct ek_cells *cells;
    struct ek_live_sketches *traffic;
};

static void setup(struct bench *b, const char *rules)
{
    stream_world_start(&b->world, rules, TRAINING, 31);
    ck_assert_int_eq(ek_cells_new(&b->cells, b->world.rules->segment, b->world.rules->segment_count,
                                  EK_CELLS_DEFAULT_MAX),
                     EK_OK);
    ck_assert_int_eq(ek_live_sketches_new(&b->traffic, b->world.manifest, b->world.profile,
                                          b->world.rules, b->cells, NULL),
                     EK_OK);
}

static void teardown(struct bench *b)
{
    ek_live_sketches_free(b->traffic);
    ek_cells_free(b->cells);
    stream_world_end(&b->world);
}

/* Run that many lists at that minute, prices times `factor` in arm B. Return the number of arm B.
 */
static int run(struct bench *b, int lists, int64_t minute, double factor)
{
    int of_b = 0;
    for (int i = 0; i < lists; i++) {
        int16_t ids[EK_CELLS_PER_LIST];
        struct ek_list *q = stream_next(&b->world.stream);
        if (b->world.stream.arm_b)
            stream_scale(q, PRICE, factor);
        of_b += b->world.stream.arm_b;
        ck_assert_int_eq(ek_cells_lookup(b->cells, q, 1, ids), EK_OK);
        ck_assert_int_eq(ek_live_sketches_list(b->traffic, ids, 1 + ek_cells_dimensions(b->cells),
                                               minute * MINUTE_MS, q, NULL),
                         EK_OK);
    }
    return of_b;
}

static int cell_of(struct bench *b, const char *arm)
{
    const char *dimension, *value;
    for (int i = 1; i < ek_live_sketches_cells(b->traffic); i++) {
        ek_live_sketches_cell(b->traffic, i, &dimension, &value);
        if (!strcmp(dimension, "arm") && value && !strcmp(value, arm))
            return i;
    }
    return -1;
}

static struct ek_feature_view view(struct bench *b, int cell, int feature, enum ek_span span)
{
    struct ek_feature_view v[EK_SPANS];
    ck_assert(ek_live_sketches_view(b->traffic, cell, feature, v));
    return v[span];
}

START_TEST(traffic_like_training_has_small_figures)
{
    struct bench b;
    setup(&b, "version: 1\n");
    run(&b, 2000, 7, 1);
    for (int f = 0; f < 3; f++) {
        struct ek_feature_view v = view(&b, 0, f, EK_SPAN_RECENT);
        ck_assert_uint_eq(v.lists, 2000);
        ck_assert(v.divergence.psi < .02 && v.divergence.ks < .05);
        ck_assert_double_eq_tol(v.scale_ratio, 1, .03);
        ck_assert_double_eq_tol(v.values.quantile[EK_MEDIAN],
                                ek_live_sketches_training(b.traffic)[f].quantile[EK_MEDIAN],
                                .05 * v.values.quantile[EK_MEDIAN] + 1e-9);
    }
    ck_assert_double_eq_tol(view(&b, 0, FLAG, EK_SPAN_RECENT).values.zero, .6, .03);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_of_an_arm_stands_in_the_cell_of_the_arm)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    int of_b = run(&b, 2000, 7, 100);
    struct ek_feature_view a = view(&b, cell_of(&b, "A"), PRICE, EK_SPAN_RECENT);
    struct ek_feature_view v = view(&b, cell_of(&b, "B"), PRICE, EK_SPAN_RECENT);
    ck_assert_uint_eq(v.lists, (uint64_t)of_b);
    ck_assert_uint_eq(a.lists, (uint64_t)(2000 - of_b));
    ck_assert_double_eq_tol(v.scale_ratio, 100, 3);
    ck_assert_double_eq_tol(v.divergence.wasserstein_ln, log(100), .03);
    ck_assert(v.divergence.psi > 5 && a.divergence.psi < .05);
    ck_assert(view(&b, 0, PRICE, EK_SPAN_RECENT).divergence.psi > 1);
    ck_assert(ek_feature_view_moved(&v) > ek_feature_view_moved(&a));
    teardown(&b);
}
END_TEST

/* Compared with training at the accepted scale; segments that contain such lists are marked. */
START_TEST(an_accepted_level_is_what_figures_are_beside)
{
    struct bench b;
    char text[2048];
    struct ek_buf out;
    struct ek_level_offsets accepts = {0};
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, 2000, 7, 100);
    ck_assert_int_eq(ek_level_offsets_add(&accepts, PRICE, cell_of(&b, "B"), log(100), 0), EK_OK);
    ek_live_sketches_add_offset(b.traffic, &accepts);
    struct ek_feature_view v = view(&b, cell_of(&b, "B"), PRICE, EK_SPAN_RECENT);
    ck_assert_double_eq_tol(v.scale_ratio, 1, .03);
    ck_assert(v.divergence.psi < .05 && v.divergence.wasserstein_ln < .03);
    ck_assert_double_eq_tol(v.values.quantile[EK_MEDIAN], 100 * exp(4.6), 500);
    ck_assert(fabs(v.accepted.factor - 100) < 1e-9 && !v.accepted.in_part);
    struct ek_feature_view all = view(&b, 0, PRICE, EK_SPAN_RECENT);
    ck_assert(all.divergence.psi > 1 && all.accepted.factor == 1 && all.accepted.in_part);
    struct ek_feature_view a = view(&b, cell_of(&b, "A"), PRICE, EK_SPAN_RECENT);
    ck_assert(a.divergence.psi < .05 && a.accepted.factor == 1 && !a.accepted.in_part);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_feature_view_json(&out, &v), EK_OK);
    snprintf(text, sizeof text, "%s", ek_buf_string(&out));
    ck_assert(strstr(text, ",\"accepted\":100}") && !strstr(text, "in_part"));
    ek_buf_clear(&out);
    ck_assert_int_eq(ek_feature_view_json(&out, &all), EK_OK);
    ck_assert(strstr(ek_buf_string(&out), ",\"accepted_in_part\":true}") != NULL);
    ek_buf_clear(&out);
    ck_assert_int_eq(ek_feature_view_json(&out, &a), EK_OK);
    ck_assert(strstr(ek_buf_string(&out), "accepted") == NULL);
    ek_buf_release(&out);
    teardown(&b);
}
END_TEST

START_TEST(spans_are_minutes_of_the_stream)
{
    struct bench b;
    setup(&b, "version: 1\nwindows: {length: 5m, retention: 3}\n");
    run(&b, 100, 0, 1);
    run(&b, 10, 6, 1);
    run(&b, 1, 14, 1);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RECENT).lists, 11);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RETAINED).lists, 111);
    ek_live_sketches_time(b.traffic, 15 * MINUTE_MS);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RECENT).lists, 1);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RETAINED).lists, 111);
    ek_live_sketches_time(b.traffic, 20 * MINUTE_MS);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RECENT).lists, 0);
    ck_assert(isnan(view(&b, 0, PRICE, EK_SPAN_RECENT).divergence.psi));
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RETAINED).lists, 11);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_LIFE).lists, 111);
    teardown(&b);
}
END_TEST

START_TEST(recent_values_are_those_since_the_last_change)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    run(&b, 400, 7, 1);
    int arm_b = cell_of(&b, "B"), of_b = 0;
    uint64_t before = view(&b, arm_b, PRICE, EK_SPAN_RECENT).lists;
    for (int i = 0; i < 2; i++) {
        double factor = i ? 1 : 100;
        ck_assert_int_eq(ek_live_sketches_separate(b.traffic, arm_b, PRICE, NULL), EK_OK);
        of_b = run(&b, 200, 7, factor);
        struct ek_feature_view v = view(&b, arm_b, PRICE, EK_SPAN_RECENT);
        ck_assert_uint_eq(v.lists, (uint64_t)of_b);
        ck_assert_double_eq_tol(v.scale_ratio, factor, .1 * factor);
        before += (uint64_t)of_b;
        ck_assert_uint_eq(view(&b, arm_b, PRICE, EK_SPAN_RETAINED).lists, before);
        ck_assert_uint_eq(view(&b, arm_b, FLAG, EK_SPAN_RECENT).lists, before);
    }
    run(&b, 200, 8, 1);
    ck_assert_uint_gt(view(&b, arm_b, PRICE, EK_SPAN_RECENT).lists, (uint64_t)of_b);
    ck_assert_double_eq_tol(view(&b, arm_b, PRICE, EK_SPAN_RECENT).scale_ratio, 1, .1);
    teardown(&b);
}
END_TEST

START_TEST(a_stream_that_goes_back_a_week_is_looked_at_there)
{
    struct bench b;
    setup(&b, "version: 1\n");
    run(&b, 50, 20000, 1);
    run(&b, 7, 20000 - 7 * 24 * 60, 1);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RECENT).lists, 7);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_LIFE).lists, 57);
    run(&b, 3, -1, 1);
    ck_assert_uint_eq(view(&b, 0, PRICE, EK_SPAN_RECENT).lists, 3);
    teardown(&b);
}
END_TEST

START_TEST(cells_beyond_the_limit_have_no_sketches)
{
    struct bench b;
    struct ek_feature_view v[EK_SPANS];
    setup(&b, "version: 1\nsegments: [arm]\nwindows: {max_segments: 2}\n");
    run(&b, 50, 1, 1);
    ck_assert_int_eq(ek_cells_count(b.cells), 3);
    ck_assert_int_eq(ek_live_sketches_cells(b.traffic), 2);
    ck_assert(ek_live_sketches_view(b.traffic, 1, PRICE, v));
    teardown(&b);
    setup(&b, "version: 1\nwindows: {max_segments: 0}\n");
    run(&b, 50, 1, 1);
    ck_assert_int_eq(ek_live_sketches_cells(b.traffic), 0);
    teardown(&b);
}
END_TEST

START_TEST(a_cell_that_changes_hands_begins_anew)
{
    struct bench b;
    setup(&b, "version: 1\nsegments: [arm]\n");
    ek_live_sketches_free(b.traffic);
    ek_cells_free(b.cells);
    ck_assert_int_eq(ek_cells_new(&b.cells, b.world.rules->segment, 1, 2), EK_OK);
    ck_assert_int_eq(ek_live_sketches_new(&b.traffic, b.world.manifest, b.world.profile,
                                          b.world.rules, b.cells, NULL),
                     EK_OK);
    do
        run(&b, 1, 1, 1);
    while (cell_of(&b, "A") != 1 && cell_of(&b, "B") != 1);
    const char *other = cell_of(&b, "A") == 1 ? "B" : "A";
    uint64_t before = view(&b, 1, PRICE, EK_SPAN_LIFE).lists;
    ck_assert_uint_eq(before, 1);
    for (int i = 0; i < 3000 && cell_of(&b, other) != 1; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        int16_t ids[EK_CELLS_PER_LIST];
        uint64_t taken = ek_cells_reuse_count(b.cells);
        q->segments[0].value = stream_text(other);
        ck_assert_int_eq(ek_cells_lookup(b.cells, q, 1, ids), EK_OK);
        if (ek_cells_is_reused_since(b.cells, 1, taken))
            ek_live_sketches_reset_cell(b.traffic, 1);
        ck_assert_int_eq(ek_live_sketches_list(b.traffic, ids, 2, MINUTE_MS, q, NULL), EK_OK);
    }
    ck_assert_int_eq(cell_of(&b, other), 1);
    ck_assert_uint_eq(view(&b, 1, PRICE, EK_SPAN_LIFE).lists, 1);
    teardown(&b);
}
END_TEST

START_TEST(figures_are_json_and_what_is_unknown_is_null)
{
    struct bench b;
    struct ek_buf text;
    json_t *json;
    setup(&b, "version: 1\n");
    ek_buf_init(&text, 0);
    run(&b, 300, 1, 1);
    struct ek_feature_view v = view(&b, 0, PRICE, EK_SPAN_RECENT);
    ck_assert_int_eq(ek_feature_view_json(&text, &v), EK_OK);
    json = json_loadb((const char *)text.data, text.length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert_int_eq(json_integer_value(json_object_get(json, "lists")), 300);
    ck_assert_double_eq_tol(json_number_value(json_object_get(json, "p50")),
                            v.values.quantile[EK_MEDIAN], 1e-3);
    ck_assert(json_is_number(json_object_get(json, "psi")));
    json_decref(json);
    ek_live_sketches_time(b.traffic, 600 * MINUTE_MS);
    v = view(&b, 0, PRICE, EK_SPAN_RETAINED);
    ek_buf_clear(&text);
    ck_assert_int_eq(ek_feature_view_json(&text, &v), EK_OK);
    json = json_loadb((const char *)text.data, text.length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    ck_assert(json_is_null(json_object_get(json, "psi")));
    ck_assert(json_is_null(json_object_get(json, "missing")));
    json_decref(json);
    ek_buf_release(&text);
    teardown(&b);
}
END_TEST

Suite *suite_live_sketches(void)
{
    return ek_suite("traffic", traffic_like_training_has_small_figures,
                    a_fault_of_an_arm_stands_in_the_cell_of_the_arm,
                    an_accepted_level_is_what_figures_are_beside, spans_are_minutes_of_the_stream,
                    recent_values_are_those_since_the_last_change,
                    a_stream_that_goes_back_a_week_is_looked_at_there,
                    cells_beyond_the_limit_have_no_sketches, a_cell_that_changes_hands_begins_anew,
                    figures_are_json_and_what_is_unknown_is_null);
}
