/* A hostile stream uses no more memory than the limits allow. */
#include "base/alloc.h"
#include "base/rng.h"
#include "daemon/views/event_log.h"
#include "detect/cells.h"
#include "guard/live_sketches.h"
#include "num/windows.h"
#include "tests/event_from.h"
#include "tests/check.h"
#include "tests/measure.h"
#include "tests/must.h"
#include "tests/stream_world.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { MEASURED = 0 };
#else
enum { MEASURED = 1 };
#endif

/* SKETCH_BYTES: address space of the sketch of a feature. */
enum { ARMS = 40, ITEMS = 600, TRAINING = 500, MINUTE_MS = 60000, SKETCH_BYTES = 320 << 10 };

static char ARM[] = "arm";
static const char RULES[] =
    "segments: [arm]\nwindows: {length: 1m, retention: 2, max_segments: 40}\n";

struct bench {
    struct stream_world world;
    struct ek_cells *cells;
    struct ek_live_sketches *traffic;
    struct ek_rng random;
    struct ek_list query;
};

static void setup(struct bench *b)
{
    stream_world_start(&b->world, RULES, TRAINING, 5);
    must(ek_cells_new(&b->cells, b->world.rules->segment, 1, ARMS));
    must(ek_live_sketches_new(&b->traffic, b->world.manifest, b->world.profile, b->world.rules,
                              b->cells, NULL));
    ek_rng_seed(&b->random, 9);
    ek_list_init(&b->query);
    must(ek_list_resize(&b->query, ITEMS, b->world.manifest->item_count, 0));
}

static void teardown(struct bench *b)
{
    ek_list_release(&b->query);
    ek_live_sketches_free(b->traffic);
    ek_cells_free(b->cells);
    stream_world_end(&b->world);
}

/* Return random bits, or a typical feature value. */
static float value(struct bench *b, bool any)
{
    union {
        uint32_t bits;
        float x;
    } of = {.bits = (uint32_t)(ek_rng_u64(&b->random) >> 32)};
    return any ? of.x : (float)(10 + 5 * ek_rng_normal(&b->random));
}

/* Observe a list of each arm in each minute. */
static void stream(struct bench *b, bool any, int minutes)
{
    char name[16];
    int16_t ids[EK_CELLS_PER_LIST];
    for (int i = 0; i < minutes * ARMS; i++) {
        for (int k = 0; k < ITEMS * b->world.manifest->item_count; k++)
            b->query.x[k] = value(b, any);
        snprintf(name, sizeof name, "%d", i % ARMS);
        b->query.segment_count = 1;
        b->query.segments[0] = (struct ek_segment){ek_text_from(ARM), ek_text_from(name)};
        must(ek_cells_lookup(b->cells, &b->query, 1, ids));
        must(ek_live_sketches_list(b->traffic, ids, 2, i / ARMS * (int64_t)MINUTE_MS, &b->query,
                                   NULL));
    }
}

START_TEST(values_of_any_magnitude_take_no_more_than_live_sketches_may)
{
    struct bench b;
    setup(&b);
    double before = ek_measure_resident();
    stream(&b, true, 4);
    double taken = ek_measure_resident() - before;
    int features = b.world.manifest->item_count;
    size_t most =
        ek_live_sketches_max_bytes(features, &b.world.rules->windows, ek_cells_max(b.cells)) +
        (size_t)ARMS * EK_WINDOWS_SCRATCH + (size_t)features * SKETCH_BYTES;
    if (MEASURED)
        ck_assert_double_lt(taken, (double)most);
    ck_assert_uint_gt(ek_live_sketches_dropped(b.traffic), 0);
    teardown(&b);
}
END_TEST

START_TEST(usual_values_lose_no_sketches)
{
    struct bench b;
    setup(&b);
    stream(&b, false, 4);
    ck_assert_uint_eq(ek_live_sketches_dropped(b.traffic), 0);
    teardown(&b);
}
END_TEST

START_TEST(sketches_that_were_dropped_begin_anew_with_the_next_list)
{
    struct bench b;
    struct ek_feature_view view[EK_SPANS];
    setup(&b);
    stream(&b, true, 4);
    uint64_t dropped = ek_live_sketches_dropped(b.traffic);
    stream(&b, false, 2);
    ck_assert_uint_ge(ek_live_sketches_dropped(b.traffic), dropped);
    for (int cell = 0; cell < ek_live_sketches_cells(b.traffic); cell++)
        if (ek_live_sketches_view(b.traffic, cell, 0, view))
            ck_assert_uint_gt(view[EK_SPAN_RECENT].lists, 0);
    teardown(&b);
}
END_TEST

static size_t bytes_of_windows(const struct bench *b)
{
    size_t sum = 0;
    for (int cell = 0; cell < ek_live_sketches_cells(b->traffic); cell++)
        if (ek_live_sketches_windows(b->traffic, cell))
            sum += ek_windows_bytes(ek_live_sketches_windows(b->traffic, cell));
    return sum;
}

/* As the guard does with sketches of an assigned partition or a state. */
START_TEST(sketches_that_are_joined_take_no_more_than_they_may_either)
{
    struct bench b, other;
    setup(&b);
    setup(&other);
    ek_rng_seed(&other.random, 10);
    stream(&b, true, 4);
    stream(&other, true, 4);
    size_t most = ek_live_sketches_max_bytes(b.world.manifest->item_count, &b.world.rules->windows,
                                             ek_cells_max(b.cells));
    uint64_t dropped = ek_live_sketches_dropped(b.traffic);
    for (int cell = 0; cell < ek_live_sketches_cells(other.traffic); cell++) {
        struct ek_windows *had = ek_live_sketches_windows(other.traffic, cell);
        if (!had)
            continue;
        must(ek_live_sketches_open(b.traffic, cell, NULL));
        must(ek_windows_merge(ek_live_sketches_windows(b.traffic, cell), had, false));
        ek_live_sketches_filled(b.traffic, cell);
        ck_assert_uint_le(bytes_of_windows(&b), most);
    }
    ck_assert_uint_eq(ek_live_sketches_bytes(b.traffic), bytes_of_windows(&b));
    ck_assert_uint_gt(ek_live_sketches_dropped(b.traffic), dropped);
    teardown(&other);
    teardown(&b);
}
END_TEST

/* Return the cell of a value of that length, seen once. */
static int cell_of_length(struct bench *b, size_t length)
{
    char text[EK_SEGMENT_BYTES_MAX + 2];
    int16_t ids[EK_CELLS_PER_LIST];
    memset(text, 'x', sizeof text);
    b->query.segment_count = 1;
    b->query.segments[0] = (struct ek_segment){ek_text_from(ARM), {text, length}};
    must(ek_cells_lookup(b->cells, &b->query, 1, ids));
    return ids[1];
}

START_TEST(a_segment_value_of_200_bytes_has_a_cell_and_longer_ones_share_one)
{
    struct bench b;
    int cell;
    setup(&b);
    int below = cell_of_length(&b, EK_SEGMENT_BYTES_MAX - 1);
    int at = cell_of_length(&b, EK_SEGMENT_BYTES_MAX);
    int above = cell_of_length(&b, EK_SEGMENT_BYTES_MAX + 1);
    ck_assert_uint_eq(strlen(ek_cells_value(b.cells, below)), EK_SEGMENT_BYTES_MAX - 1);
    ck_assert_uint_eq(strlen(ek_cells_value(b.cells, at)), EK_SEGMENT_BYTES_MAX);
    ck_assert_int_ne(at, below);
    ck_assert_ptr_null(ek_cells_value(b.cells, above));
    ck_assert_uint_eq(ek_cells_get_share(b.cells, 0).pooled, 1);
    int16_t ids[EK_CELLS_PER_LIST];
    ek_cells_find(b.cells, &b.query, ids); /* the last one */
    ck_assert_int_eq(ids[1], above);
    must(ek_cells_assign(b.cells, ek_text_from(ARM), b.query.segments[0].value, 1, &cell));
    ck_assert_int_eq(cell, -1); /* nor can it be pinned */
    teardown(&b);
}
END_TEST

static void add_event(struct ek_event_log *j, size_t length)
{
    struct ek_event_log_change change;
    char *text = ek_calloc(length + 1, 1);
    ck_assert_ptr_nonnull(text);
    memset(text, '7', length);
    must(ek_event_log_add(j, event_from(text), text, 0, &change));
    ek_free(text);
}

static uint64_t first_kept(struct ek_event_log *j)
{
    struct ek_buf out;
    uint64_t kept = 0;
    ek_buf_init(&out, 0);
    must(ek_event_log_last(j, 100, &out));
    for (size_t i = 0; i < out.length; i++)
        kept += out.data[i] == '\n';
    ek_buf_release(&out);
    return ek_event_log_count(j) - kept;
}

START_TEST(events_are_kept_for_people_up_to_their_bytes)
{
    enum { PART = EK_EVENT_LOG_BYTES_MAX / 4 };
    struct ek_event_log *j = ek_event_log_new(100);
    for (int i = 0; i < 3; i++)
        add_event(j, PART);
    add_event(j, PART - 1);
    ck_assert_uint_eq(first_kept(j), 0); /* one below */
    add_event(j, 1);
    ck_assert_uint_eq(first_kept(j), 0); /* at it */
    add_event(j, 1);
    ck_assert_uint_eq(first_kept(j), 1); /* above: the oldest is removed */
    add_event(j, EK_EVENT_LOG_BYTES_MAX + 1);
    ck_assert_uint_eq(first_kept(j), 6); /* one always stays */
    ck_assert_uint_eq(ek_event_log_count(j), 7);
    ek_event_log_free(j);
}
END_TEST

Suite *suite_memory(void)
{
    return ek_suite("memory", values_of_any_magnitude_take_no_more_than_live_sketches_may,
                    usual_values_lose_no_sketches,
                    sketches_that_were_dropped_begin_anew_with_the_next_list,
                    sketches_that_are_joined_take_no_more_than_they_may_either,
                    a_segment_value_of_200_bytes_has_a_cell_and_longer_ones_share_one,
                    events_are_kept_for_people_up_to_their_bytes);
}
