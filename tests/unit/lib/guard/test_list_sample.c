/* Sample of dense traffic: which lists a guard observes, and that faults, plans and states do not
 * depend on the others. */
#include "guard/list_sample.h"

#include "base/hash.h"
#include "detect/evidence_export.h"
#include "guard/operator_commands.h"
#include "guard/guard_internal.h"
#include "tests/check.h"
#include "tests/state_world.h"
#include "tests/stream_assets.h"

enum { SECOND = 1000, CELLS = 4, SMALL_EVERY = 50 };

static uint64_t key_of(uint64_t number)
{
    return ek_hash(&number, sizeof number, 0);
}

/* Send `rate` lists of each of `seconds` seconds, from `from`, to one cell. Return those observed
 * in the last second. */
static int observe_at(struct ek_list_sample *s, int cell, int rate, int seconds, int64_t from)
{
    int observed = 0;
    for (int second = 0; second < seconds; second++) {
        observed = 0;
        for (int i = 0; i < rate; i++) {
            const int16_t cells[] = {(int16_t)cell};
            int64_t now = from + SECOND * (int64_t)second + (int64_t)i * SECOND / rate;
            observed += (int)ek_list_sample_choose(s, cells, 1, now,
                                                   key_of((uint64_t)now << 32 | (uint64_t)i));
        }
    }
    return observed;
}

START_TEST(at_least_2000_lists_a_second_are_observed_and_all_below_twice_that)
{
    static const struct {
        int rate, every;
    } cases[] = {{1, 1},    {1999, 1},  {3999, 1},   {4000, 2},   {7999, 2},
                 {8000, 4}, {30000, 8}, {32000, 16}, {100000, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_list_sample *s;
        must(ek_list_sample_new(&s, CELLS));
        int rate = cases[i].rate, expected = rate / cases[i].every;
        ck_assert_int_eq(observe_at(s, 1, rate, 1, 0), rate); /* the first second */
        int observed = observe_at(s, 1, rate, 3, SECOND);
        ck_assert_int_ge(observed, cases[i].every == 1 ? expected : expected * 9 / 10);
        ck_assert_int_le(observed, cases[i].every == 1 ? expected : expected * 11 / 10);
        ek_list_sample_free(s);
    }
}
END_TEST

START_TEST(a_rate_is_that_of_the_time_that_has_passed)
{
    struct ek_list_sample *s;
    must(ek_list_sample_new(&s, CELLS));
    ck_assert_int_lt(observe_at(s, 1, 30000, 2, 0), 8000);
    /* the same lists after an hour without any are few for that hour */
    ck_assert_int_eq(observe_at(s, 1, 30000, 1, 3600 * SECOND), 30000);
    /* a step back has no rate */
    ck_assert_int_eq(observe_at(s, 1, 30000, 1, 1800 * SECOND), 30000);
    /* nor have times that stand still, however many lists come */
    ck_assert_int_eq(observe_at(s, 1, 1, 1, 7200 * SECOND), 1);
    const int16_t cells[] = {1};
    for (uint64_t i = 0; i < 100000; i++)
        ck_assert_uint_eq(ek_list_sample_choose(s, cells, 1, 7200 * SECOND, key_of(i)), 1);
    /* the largest times are no smaller */
    ck_assert_uint_eq(ek_list_sample_choose(s, cells, 1, INT64_MAX, 1), 1);
    ck_assert_uint_eq(ek_list_sample_choose(s, cells, 1, 0, 1), 1);
    ek_list_sample_free(s);
}
END_TEST

START_TEST(a_cell_of_another_value_observes_all_lists_again)
{
    struct ek_list_sample *s;
    must(ek_list_sample_new(&s, CELLS));
    ck_assert_int_lt(observe_at(s, 1, 30000, 2, 0), 8000);
    ek_list_sample_reset_cell(s, 1);
    ck_assert_int_eq(observe_at(s, 1, 3000, 1, 2 * SECOND - 1), 3000);
    ek_list_sample_free(s);
}
END_TEST

/* All traffic at 30,000 lists per second, of which one in SMALL_EVERY is of a small segment. */
START_TEST(a_small_segment_is_observed_whole_and_no_more_than_others_in_all_traffic)
{
    enum { RATE = 30000 };
    struct ek_list_sample *s;
    int lists = 0, small = 0, both = 0;
    must(ek_list_sample_new(&s, CELLS));
    for (uint64_t i = 0; i < 10 * RATE; i++) {
        bool is_small = i % SMALL_EVERY == 0;
        const int16_t cells[] = {0, is_small ? 2 : 1, -1};
        uint32_t observed =
            ek_list_sample_choose(s, cells, 3, (int64_t)(i * SECOND / RATE), key_of(i));
        if (i < 2 * RATE)
            continue;
        ck_assert_uint_eq(observed & 4, 0);           /* it has no such cell */
        ck_assert(!(observed & 1) || (observed & 2)); /* what all traffic observes, all cells do */
        ck_assert(!is_small || (observed & 2));
        lists += observed & 1;
        small += is_small;
        both += is_small && (observed & 1);
    }
    ck_assert_int_eq(small, 8 * RATE / SMALL_EVERY);
    ck_assert_int_gt(lists, 8 * RATE / 8 * 9 / 10);
    ck_assert_int_lt(lists, 8 * RATE / 8 * 11 / 10);
    ck_assert_int_gt(both, lists / SMALL_EVERY * 3 / 4);
    ck_assert_int_lt(both, lists / SMALL_EVERY * 5 / 4);
    ek_list_sample_free(s);
}
END_TEST

static const char ENFORCE[] =
    "version: 1\n"
    "defaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
    "segments: [arm]\n";

/* A guard that chooses its lists. Arm B has one list in SMALL_EVERY. */
struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct ek_context *context;
    struct stream stream;
    struct ek_buf message;
    int rate; /* lists per second */
    int observed, in_all, routed, confirmed;
    uint64_t observed_keys; /* hash of the numbers of observed lists */
    char finding[2000];     /* the last confirmed one */
};

static void setup(struct bench *b, int rate)
{
    memset(b, 0, sizeof *b);
    stream_assets_open(&b->assets, ENFORCE, NULL);
    must(ek_guard_new(&b->guard, &b->assets, NULL));
    must(ek_context_new(&b->context, &b->assets, NULL));
    stream_start(&b->stream, 21);
    ek_buf_init(&b->message, 0);
    b->rate = rate;
}

static void teardown(struct bench *b)
{
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_context_free(b->context);
    ek_guard_free(b->guard);
    ek_assets_release(&b->assets);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        if (!strstr(text, "\"state\":\"confirmed\""))
            continue;
        b->confirmed++;
        snprintf(b->finding, sizeof b->finding, "%s", text);
    }
}

static void pass(struct bench *b, struct ek_list *q, uint64_t number)
{
    struct ek_context *c = b->context;
    size_t length;
    ek_buf_clear(&b->message);
    must(ek_codec_encode(b->assets.manifest, q, EK_FEATURES_ARRAY, &b->message, NULL));
    must(ek_context_read_message(c, b->message.data, b->message.length, NULL));
    ek_guard_choose(b->guard, c, key_of(number));
    if (c->observed) {
        must(ek_context_add_statistics(c, NULL));
        b->observed++;
        b->in_all += c->observed & 1;
        b->observed_keys = ek_hash(&number, sizeof number, b->observed_keys);
    }
    must(ek_guard_update(b->guard, c, q->time_ms, NULL));
    ck_assert_ptr_nonnull(ek_context_score(c, &length, NULL));
    b->routed += !strcmp(ek_context_action(c), "routed");
    read_events(b);
}

/* Run lists, with prices in cents in all of them or in arm B. */
enum fault { HEALTHY, CENTS, CENTS_IN_B };

static void run(struct bench *b, int lists, enum fault fault)
{
    for (int i = 0; i < lists; i++) {
        uint64_t number = b->stream.number;
        struct ek_list *q = stream_next(&b->stream);
        bool arm_b = number % SMALL_EVERY == 0;
        q->segments[0].value = stream_text(arm_b ? "B" : "A");
        q->time_ms = 1790000000000 + (int64_t)number * SECOND / b->rate;
        if (fault == CENTS || (fault == CENTS_IN_B && arm_b))
            stream_scale(q, 0, 100);
        pass(b, q, number);
    }
}

START_TEST(a_fault_is_found_and_each_list_is_treated)
{
    enum { RATE = 20000 };
    struct bench b;
    setup(&b, RATE);
    run(&b, 2 * RATE, HEALTHY);
    ck_assert_int_eq(b.confirmed, 0);
    ck_assert_int_eq(b.routed, 0);
    b.observed = 0;
    run(&b, RATE / 4, CENTS);
    ck_assert_int_lt(b.observed, RATE / 4 / 5); /* an eighth, and the lists of arm B */
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_ptr_nonnull(strstr(b.finding, "\"segment\":null"));
    b.routed = 0;
    run(&b, RATE / 4, CENTS);
    ck_assert_int_eq(b.routed, RATE / 4);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), b.stream.number);
    teardown(&b);
}
END_TEST

START_TEST(a_fault_of_a_small_segment_is_found_in_its_few_lists)
{
    enum { RATE = 20000 };
    struct bench b;
    setup(&b, RATE);
    run(&b, 2 * RATE, HEALTHY);
    run(&b, 64 * SMALL_EVERY, CENTS_IN_B); /* 8 of these lists are observed in all traffic */
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert_msg(strstr(b.finding, "\"segment\":{\"arm\":\"B\"}") != NULL, "%s", b.finding);
    teardown(&b);
}
END_TEST

/* Count the rows that all traffic observed, and those of them in arm B. */
static void count_rows(const struct bench *b, int *all, int *small)
{
    int cell_b = ek_guard_find_cell(b->guard, "arm", "B");
    uint64_t first, end = ek_detector_rows(b->guard->detector, &first);
    *all = *small = 0;
    for (uint64_t i = first; i < end; i++) {
        struct ek_pooled_row row;
        ek_detector_row(b->guard->detector, i, 0, &row);
        *all += row.cell[0] == 0;
        *small += row.cell[0] == 0 && row.cell[1] == cell_b;
    }
}

START_TEST(all_traffic_has_its_own_mixture_of_segments)
{
    enum { RATE = 30000 };
    struct bench b;
    int all, small;
    setup(&b, RATE);
    run(&b, 4 * RATE, HEALTHY);
    count_rows(&b, &all, &small);
    ck_assert_int_gt(all, EK_LIST_SAMPLE_RATE);
    ck_assert_int_lt(small, all * 3 / 2 / SMALL_EVERY);
    ck_assert_int_gt(small, all / 2 / SMALL_EVERY);
    ck_assert_int_eq(b.confirmed, 0);
    teardown(&b);
}
END_TEST

START_TEST(a_replay_observes_the_same_lists)
{
    enum { RATE = 20000 };
    struct bench b[2];
    for (int i = 0; i < 2; i++) {
        setup(&b[i], RATE);
        run(&b[i], RATE / 2, HEALTHY);
        if (i == 1) { /* a pause of the program is none of the traffic */
            int64_t now_ms = 1790000000000 + SECOND / 2;
            must(ek_guard_advance(b[i].guard, now_ms + SECOND * 2 / 3, NULL));
        }
        run(&b[i], 2 * RATE - RATE / 2, HEALTHY);
        run(&b[i], RATE / 4, CENTS);
    }
    ck_assert_int_lt(b[0].observed, 2 * RATE);
    ck_assert_uint_eq(b[0].observed_keys, b[1].observed_keys);
    ck_assert_str_eq(b[0].finding, b[1].finding);
    teardown(&b[0]);
    teardown(&b[1]);
}
END_TEST

START_TEST(a_restored_guard_goes_on_with_the_same_rows)
{
    enum { RATE = 20000 };
    static struct state_store store;
    struct bench b;
    struct ek_guard *restored;
    enum ek_restore_result fit;
    int all, small, all_before, small_before;
    setup(&b, RATE);
    run(&b, 2 * RATE, HEALTHY);
    run(&b, RATE / 4, CENTS);
    count_rows(&b, &all_before, &small_before);
    must(ek_guard_save(b.guard, 1, NULL, 0, state_put, &store, NULL));
    struct ek_state *state = state_of(&store, 1);
    must(ek_guard_load(&restored, &b.assets, state, &fit, NULL));
    ck_assert_int_eq(fit, EK_RESTORE_FULL);
    ek_guard_free(b.guard);
    b.guard = restored;
    count_rows(&b, &all, &small);
    ck_assert_int_eq(all, all_before);
    ck_assert_int_eq(small, small_before);
    b.observed = b.routed = b.confirmed = 0;
    run(&b, RATE, CENTS); /* the rate of the first second is unknown */
    ck_assert_int_gt(b.observed, RATE * 9 / 10);
    ck_assert_int_eq(b.routed, RATE);
    b.observed = 0;
    run(&b, RATE, CENTS);
    ck_assert_int_lt(b.observed, RATE / 4);
    ck_assert_int_eq(b.confirmed, 0);
    ck_assert_uint_eq(ek_guard_list_count(b.guard), b.stream.number);
    ek_state_free(state);
    state_clear(&store);
    teardown(&b);
}
END_TEST

Suite *suite_list_sample(void)
{
    return ek_suite("list sample",
                    at_least_2000_lists_a_second_are_observed_and_all_below_twice_that,
                    a_rate_is_that_of_the_time_that_has_passed,
                    a_cell_of_another_value_observes_all_lists_again,
                    a_small_segment_is_observed_whole_and_no_more_than_others_in_all_traffic,
                    a_fault_is_found_and_each_list_is_treated,
                    a_fault_of_a_small_segment_is_found_in_its_few_lists,
                    all_traffic_has_its_own_mixture_of_segments, a_replay_observes_the_same_lists,
                    a_restored_guard_goes_on_with_the_same_rows);
}
