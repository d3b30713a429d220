/* Accepted shifts: not found again in any segment, reported when they change again, and found again
 * after a revert. */
#include "detect/detector_internal.h"
#include "detect/evidence_export.h"
#include "tests/detector.h"
#include "tests/detector_parts.h"
#include "tests/must.h"

enum { FAULTY = 400, LONG = 100000, PRICE = 0, SIZE = 1 };

static const char TWO_SEGMENTS[] =
    "version: 1\n"
    "defaults: {false_alarms: 1 per 10000000 lists, confirmation_lists: 64}\n"
    "segments: [arm, app]\n";

/* Give every list an app, independent of the arms. */
static void with_app(struct bench *b, struct ek_list *q)
{
    uint64_t app = b->world.stream.number / 3 % 2;
    q->segments[1] = (struct ek_segment){stream_text("app"), stream_text(app ? "7.1" : "7.0")};
    q->segment_count = 2;
}

static void in_arm_b(struct bench *b, struct ek_list *q, double factor)
{
    with_app(b, q);
    if (b->world.stream.arm_b)
        stream_scale(q, PRICE, factor);
}

static void cents_in_b(struct bench *b, struct ek_list *q)
{
    in_arm_b(b, q, 100);
}

static void twice_cents_in_b(struct bench *b, struct ek_list *q)
{
    in_arm_b(b, q, 200);
}

static void cents_everywhere(struct bench *b, struct ek_list *q)
{
    with_app(b, q);
    stream_scale(q, PRICE, 100);
}

static int cell_of(const struct bench *b, const char *dimension, const char *value)
{
    int cell = -1;
    ck_assert_int_eq(
        ek_cells_assign(b->detector->cells, stream_text(dimension), stream_text(value), 0, &cell),
        EK_OK);
    ck_assert_int_ge(cell, 0);
    return cell;
}

static struct ek_level_offset accept(struct bench *b, int feature, int cell)
{
    struct ek_level_offset one;
    struct ek_error e = {0};
    int rc = ek_detector_accept(b->detector, feature, cell, &one, &e);
    ck_assert_msg(!rc, "%s", e.message);
    return one;
}

static void revert(struct bench *b, uint64_t version)
{
    struct ek_level_offset one;
    ck_assert_int_eq(ek_detector_revert(b->detector, version, &one, NULL), EK_OK);
    ck_assert_uint_eq(one.version, version);
}

/* Fetch pending findings, as after a list. */
static void fetch(struct bench *b)
{
    struct ek_finding f;
    while (ek_detector_next(b->detector, &f)) {
        b->last[f.state] = f;
        b->count[f.state]++;
    }
}

/* Return the cell of a confirmed finding of cents in arm B. */
static int found_in_arm_b(struct bench *b, uint64_t seed)
{
    setup_with(b, seed, TWO_SEGMENTS);
    run(b, BEFORE, with_app);
    run(b, FAULTY, cents_in_b);
    ck_assert_int_eq(b->count[EK_CONFIRMED], 1);
    ck_assert_str_eq(b->last[EK_CONFIRMED].value, "B");
    return cell_of(b, "arm", "B");
}

/* Run lists without any finding. */
static void run_calm(struct bench *b, int lists, fault *harm)
{
    int suspected = b->count[EK_SUSPECTED];
    run(b, lists, harm);
    ck_assert_int_eq(b->count[EK_SUSPECTED], suspected);
}

START_TEST(an_accepted_level_is_normal_in_every_cell)
{
    struct bench b;
    struct ek_level_offset one = accept(&b, PRICE, found_in_arm_b(&b, 3));
    ck_assert_double_eq_tol(one.shift_ln, log(newest(&b)->factor), 1e-9);
    ck_assert_uint_eq(one.version, 1);
    fetch(&b);
    ck_assert_str_eq(b.last[EK_DISMISSED].reason, "accepted as normal");
    ck_assert_str_eq(b.last[EK_DISMISSED].value, "B");
    ck_assert_int_eq(b.last[EK_DISMISSED].class, EK_SCALE);
    run_calm(&b, LONG, cents_in_b);
    run(&b, FAULTY, twice_cents_in_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert_double_eq_tol(newest(&b)->factor, 2, .15);
    teardown(&b);
}
END_TEST

START_TEST(what_is_accepted_of_all_traffic_is_normal_in_its_segments)
{
    struct bench b;
    setup_with(&b, 5, TWO_SEGMENTS);
    run(&b, BEFORE, with_app);
    run(&b, FAULTY, cents_everywhere);
    ck_assert_ptr_null(b.last[EK_CONFIRMED].dimension);
    accept(&b, PRICE, 0);
    fetch(&b);
    run_calm(&b, 20000, cents_everywhere);
    run(&b, FAULTY, with_app); /* the accepted shift no longer applies */
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_double_eq_tol(newest(&b)->factor, .01, .001);
    teardown(&b);
}
END_TEST

START_TEST(a_reverted_accept_is_found_again)
{
    struct bench b;
    struct ek_level_offset one = accept(&b, PRICE, found_in_arm_b(&b, 7));
    fetch(&b);
    run_calm(&b, 6000, cents_in_b);
    revert(&b, one.version);
    ck_assert_int_eq(ek_detector_offsets(b.detector)->count, 0);
    ck_assert_uint_eq(ek_detector_offsets(b.detector)->version, 2);
    run(&b, FAULTY, cents_in_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_str_eq(b.last[EK_CONFIRMED].value, "B");
    ck_assert_double_eq_tol(newest(&b)->factor, 100, 8);
    ck_assert_uint_eq(accept(&b, PRICE, cell_of(&b, "arm", "B")).version, 3);
    teardown(&b);
}
END_TEST

/* Upstream undoes its change, which is a finding; after the revert the values equal training again.
 */
START_TEST(a_revert_of_what_has_gone_ends_the_finding_that_it_has_gone)
{
    struct bench b;
    struct ek_level_offset one = accept(&b, PRICE, found_in_arm_b(&b, 8));
    fetch(&b);
    run_calm(&b, 1000, cents_in_b);
    run(&b, FAULTY, with_app);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_double_eq_tol(newest(&b)->factor, .01, .001);
    revert(&b, one.version);
    fetch(&b);
    ck_assert_str_eq(b.last[EK_DISMISSED].reason, "another level is normal now");
    ck_assert_int_eq(ek_detector_changes(b.detector), 0);
    run_calm(&b, 20000, with_app);
    teardown(&b);
}
END_TEST

/* An open finding on top of an accepted shift is reported again when the shift is reverted. */
START_TEST(a_revert_moves_what_is_open_by_as_much)
{
    struct bench b;
    struct ek_level_offset one = accept(&b, PRICE, found_in_arm_b(&b, 9));
    fetch(&b);
    run(&b, 1000, cents_in_b);
    run(&b, FAULTY, twice_cents_in_b);
    ck_assert_double_eq_tol(newest(&b)->factor, 2, .15);
    revert(&b, one.version);
    fetch(&b);
    ck_assert_double_eq_tol(b.last[EK_UPDATED].factor, 200, 16);
    ck_assert(b.last[EK_UPDATED].factor_low < 200 && b.last[EK_UPDATED].factor_high > 190);
    teardown(&b);
}
END_TEST

START_TEST(accepts_of_one_place_add_up_and_each_can_be_taken_back)
{
    struct bench b;
    int cell = found_in_arm_b(&b, 10);
    const int16_t cells[] = {0, (int16_t)cell, -1};
    struct ek_level_offset first = accept(&b, PRICE, cell);
    fetch(&b);
    run(&b, 1000, cents_in_b);
    run(&b, FAULTY, twice_cents_in_b);
    accept(&b, PRICE, cell);
    fetch(&b);
    run_calm(&b, 6000, twice_cents_in_b);
    ck_assert_double_eq_tol(ek_level_offset_find(ek_detector_offsets(b.detector), PRICE, cells, 3),
                            log(200), .1);
    ck_assert(ek_level_offset_find(ek_detector_offsets(b.detector), SIZE, cells, 3) == 0);
    revert(&b, first.version);
    run(&b, FAULTY, twice_cents_in_b);
    ck_assert_double_eq_tol(newest(&b)->factor, 100, 8);
    teardown(&b);
}
END_TEST

/* Bit for bit: earlier rows of the history, and later ones. */
START_TEST(rows_are_as_if_accepted_from_the_start)
{
    struct bench b, start;
    int cell = found_in_arm_b(&b, 11);
    struct ek_level_offset one = accept(&b, PRICE, cell);
    setup_with(&start, 11, TWO_SEGMENTS);
    run(&start, BEFORE, with_app);
    ck_assert_int_eq(cell_of(&start, "arm", "B"), cell);
    ck_assert_int_eq(
        ek_level_offsets_add(&start.detector->level_offsets, PRICE, cell, one.shift_ln, 0), EK_OK);
    run(&start, FAULTY, cents_in_b);
    run(&start, 300, cents_in_b);
    run(&b, 300, cents_in_b);
    uint64_t first = one.row > BEFORE ? one.row : BEFORE,
             end = ek_history_count(b.detector->history);
    ck_assert_uint_le(first, BEFORE + 8);
    ck_assert_uint_eq(end, BEFORE + FAULTY + 300);
    for (uint64_t i = first; i < end; i++)
        for (int f = 0; f < b.detector->features; f++) {
            float r = ek_history_records(b.detector->history, i)[f].r;
            float want = ek_history_records(start.detector->history, i)[f].r;
            ck_assert_mem_eq(&r, &want, sizeof r);
        }
    teardown(&b);
    teardown(&start);
}
END_TEST

START_TEST(a_value_whose_level_was_accepted_keeps_its_cell)
{
    static const char *const other[] = {"C", "D", "E", "F"};
    struct bench b;
    setup_with(&b, 12, RULES);
    ek_detector_free(b.detector);
    ck_assert_int_eq(ek_detector_new_with(&b.detector, b.world.manifest, b.world.profile,
                                          b.world.rules, 3, NULL),
                     EK_OK);
    run(&b, BEFORE, NULL);
    run(&b, FAULTY, cents_in_arm_b);
    int cell = cell_of(&b, "arm", "B");
    struct ek_level_offset one = accept(&b, PRICE, cell);
    fetch(&b);
    for (int i = 0; i < 4000; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        q->segments[0].value = stream_text(other[i / 1000]);
        observe(&b, q);
    }
    ck_assert_str_eq(ek_cells_value(b.detector->cells, cell), "B");
    revert(&b, one.version);
    for (int i = 0; i < 4000; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        q->segments[0].value = stream_text(other[i / 1000]);
        observe(&b, q);
    }
    ck_assert_str_ne(ek_cells_value(b.detector->cells, cell), "B");
    teardown(&b);
}
END_TEST

/* Check that nothing changes, and that the message states a remedy. */
static void ck_refused(struct bench *b, int feature, int cell, int code, const char *remedy)
{
    struct ek_error e = {0};
    struct ek_level_offset one;
    int changes = ek_detector_changes(b->detector);
    ck_assert_int_eq(ek_detector_accept(b->detector, feature, cell, &one, &e), code);
    ck_assert_msg(strstr(e.message, remedy) != NULL, "%s", e.message);
    ck_assert_int_eq(ek_detector_changes(b->detector), changes);
    ck_assert_uint_eq(ek_detector_offsets(b->detector)->version, 0);
}

START_TEST(nothing_is_accepted_where_nothing_is_confirmed)
{
    struct bench b;
    found_in_arm_b(&b, 13);
    ck_refused(&b, SIZE, 0, EK_ESTATE, "no change of 'size' is confirmed in all traffic");
    ck_refused(&b, PRICE, 0, EK_ESTATE, "accept it in arm=B");
    ck_refused(&b, PRICE, cell_of(&b, "app", "7.1"), EK_ESTATE, "in app=7.1: accept it in arm=B");
    teardown(&b);
}
END_TEST

static void found(struct bench *b, uint64_t seed, fault *harm, enum ek_class class)
{
    setup(b, seed);
    run(b, BEFORE, NULL);
    run(b, FAULTY, harm);
    ck_assert_int_eq(b->last[EK_CONFIRMED].class, class);
}

static void cents_now_and_then(struct bench *b, struct ek_list *q)
{
    if (b->world.stream.number % 4 == 0)
        stream_scale(q, PRICE, 100);
}

START_TEST(what_no_shift_makes_normal_is_not_accepted)
{
    struct bench b;
    found(&b, 14, full_stay, EK_SCALE);
    ck_refused(&b, PRICE, 0, EK_ESTATE, "'nights': use their quotient");
    teardown(&b);
    found(&b, 15, absent, EK_MISSING);
    ck_refused(&b, SIZE, 0, EK_ESTATE, "make a new profile");
    teardown(&b);
    found(&b, 16, squared, EK_POWER);
    ck_refused(&b, PRICE, 0, EK_ESTATE, "or set 'watch: false'");
    teardown(&b);
    found(&b, 17, cents_now_and_then, EK_SCALE);
    ck_refused(&b, PRICE, 0, EK_ESTATE, "% of the lists of 'price' in all traffic have moved");
    teardown(&b);
}
END_TEST

START_TEST(more_accepts_than_are_kept_are_refused)
{
    struct bench b;
    struct ek_level_offset one;
    struct ek_error e = {0};
    int cell = found_in_arm_b(&b, 18);
    for (int i = 0; i < EK_LEVEL_OFFSETS_MAX; i++)
        ck_assert_int_eq(ek_level_offsets_add(&b.detector->level_offsets, SIZE, 0, .1, 0), EK_OK);
    ck_assert_int_eq(ek_detector_accept(b.detector, PRICE, cell, &one, &e), EK_ELIMIT);
    ck_assert(strstr(e.message, "revert one") != NULL);
    ck_assert_int_eq(ek_detector_changes(b.detector), 1);
    b.detector->level_offsets.count = 0;
    teardown(&b);
}
END_TEST

START_TEST(only_what_was_accepted_can_be_reverted)
{
    struct bench b;
    struct ek_level_offset one;
    struct ek_error e = {0};
    int cell = found_in_arm_b(&b, 19);
    ck_assert_int_eq(ek_detector_revert(b.detector, 1, &one, &e), EK_ESTATE);
    ck_assert(strstr(e.message, "nothing was accepted") != NULL);
    accept(&b, PRICE, cell);
    ck_assert_int_eq(ek_detector_revert(b.detector, 2, &one, &e), EK_ESTATE);
    ck_assert(strstr(e.message, "there is no accept 2: there are 1") != NULL);
    ck_assert_uint_eq(ek_detector_offsets(b.detector)->version, 1);
    teardown(&b);
}
END_TEST

static int waiting(struct ek_detector *d)
{
    struct ek_finding f;
    int count = 0;
    while (ek_detector_next(d, &f))
        count++;
    return count;
}

/* Its cell stays pinned: the stream continues bit for bit, and a revert finds its rows. */
START_TEST(the_saved_state_has_what_was_accepted)
{
    struct bench b;
    struct ek_detector *again = NULL;
    struct ek_level_offset one = accept(&b, PRICE, found_in_arm_b(&b, 20)), reverted;
    run(&b, 300, cents_in_b);
    struct ek_buf bytes = detector_parts_save(b.detector);
    must(ek_detector_new(&again, b.world.manifest, b.world.profile, b.world.rules, NULL));
    detector_parts_restore(again, &bytes);
    ck_assert_int_eq(ek_detector_offsets(again)->count, 1);
    ck_assert_int_eq(ek_detector_revert(again, one.version, &reverted, NULL), EK_OK);
    revert(&b, one.version);
    for (int i = 0; i < 500; i++) {
        struct ek_list *q = stream_next(&b.world.stream);
        cents_in_b(&b, q);
        ck_assert_int_eq(ek_detector_observe(b.detector, q, q->time_ms, NULL), EK_OK);
        ck_assert_int_eq(ek_detector_observe(again, q, q->time_ms, NULL), EK_OK);
        ck_assert_int_eq(waiting(again), waiting(b.detector));
    }
    struct ek_buf a = detector_parts_save(b.detector), c = detector_parts_save(again);
    ck_assert_uint_eq(a.length, c.length);
    ck_assert_mem_eq(a.data, c.data, a.length);
    ek_buf_release(&a);
    ek_buf_release(&c);
    ek_buf_release(&bytes);
    ek_detector_free(again);
    teardown(&b);
}
END_TEST

/* ------------------------------------------------------ shifts accepted by the fleet */

static void set_normal(struct bench *b, uint64_t version, int accepts, uint64_t number, int cell,
                       int64_t since_ms)
{
    struct ek_level_offsets want = {.version = version, .count = accepts};
    want.one[0] = (struct ek_level_offset){PRICE, cell, log(100), number, 0};
    ek_detector_set_normal(b->detector, &want, &since_ms);
    fetch(b);
    ck_assert_uint_eq(ek_detector_offsets(b->detector)->version, version);
    ck_assert_int_eq(ek_detector_offsets(b->detector)->count, accepts);
}

START_TEST(what_others_accept_is_normal_here_until_they_take_it_back)
{
    struct bench b;
    int cell = found_in_arm_b(&b, 3);
    int64_t since_ms = b.last[EK_CONFIRMED].since_ms;
    int dismissed = b.count[EK_DISMISSED];
    set_normal(&b, 7, 1, 5, cell, since_ms);
    ck_assert_int_eq(b.count[EK_DISMISSED], ++dismissed);
    ck_assert_str_eq(b.last[EK_DISMISSED].reason, "accepted as normal");
    run_calm(&b, 20000, cents_in_b);
    uint64_t row = ek_detector_offsets(b.detector)->one[0].row;
    set_normal(&b, 8, 1, 5, cell, since_ms); /* another shift was changed */
    ck_assert_uint_eq(ek_detector_offsets(b.detector)->one[0].row, row);
    ck_assert_int_eq(b.count[EK_DISMISSED], dismissed);
    set_normal(&b, 9, 0, 0, 0, 0);
    run(&b, FAULTY, cents_in_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    ck_assert_double_eq_tol(newest(&b)->factor, 100, 8);
    teardown(&b);
}
END_TEST

/* An instance that accepted a shift before it joined the fleet. */
START_TEST(what_others_have_not_accepted_is_normal_here_no_longer)
{
    struct bench b;
    int cell = found_in_arm_b(&b, 7);
    uint64_t own = accept(&b, PRICE, cell).version;
    set_normal(&b, own, 1, own, cell, b.last[EK_CONFIRMED].since_ms); /* another level */
    ck_assert(ek_detector_offsets(b.detector)->one[0].shift_ln == log(100));
    run_calm(&b, 4000, cents_in_b);
    set_normal(&b, own, 0, 0, 0, 0);
    run(&b, FAULTY, cents_in_b);
    ck_assert_int_eq(b.count[EK_CONFIRMED], 2);
    teardown(&b);
}
END_TEST

/* Rows since the start of the change are lowered where it was not found, and findings on them are
 * suppressed. */
START_TEST(lists_that_came_before_others_accepted_are_held_against_the_new_level)
{
    struct bench b;
    setup_with(&b, 3, TWO_SEGMENTS);
    run(&b, BEFORE, with_app);
    must(ek_detector_join(b.detector, 1, NULL));
    int cell = cell_of(&b, "arm", "B");
    uint64_t first = ek_history_count(b.detector->history);
    run(&b, 8, cents_in_b);
    int64_t since_ms = ek_history_row(b.detector->history, first)->time_ms;
    ck_assert_uint_gt(ek_evidence_sum_lists(ek_detector_evidence_sum(b.detector), cell, PRICE), 0);
    set_normal(&b, 1, 1, 1, cell, since_ms);
    ck_assert_uint_eq(ek_detector_offsets(b.detector)->one[0].row, first);
    ck_assert_uint_eq(ek_evidence_sum_lists(ek_detector_evidence_sum(b.detector), cell, PRICE), 0);
    for (uint64_t i = first; i < ek_history_count(b.detector->history); i++)
        ck_assert(fabsf(ek_history_records(b.detector->history, i)[PRICE].r) < 2);
    run_calm(&b, 20000, cents_in_b);
    teardown(&b);
}
END_TEST

Suite *suite_accepted_shift(void)
{
    return ek_suite(
        "accept", an_accepted_level_is_normal_in_every_cell,
        what_is_accepted_of_all_traffic_is_normal_in_its_segments, a_reverted_accept_is_found_again,
        a_revert_of_what_has_gone_ends_the_finding_that_it_has_gone,
        a_revert_moves_what_is_open_by_as_much,
        accepts_of_one_place_add_up_and_each_can_be_taken_back,
        rows_are_as_if_accepted_from_the_start, a_value_whose_level_was_accepted_keeps_its_cell,
        nothing_is_accepted_where_nothing_is_confirmed, what_no_shift_makes_normal_is_not_accepted,
        more_accepts_than_are_kept_are_refused, only_what_was_accepted_can_be_reverted,
        the_saved_state_has_what_was_accepted,
        what_others_accept_is_normal_here_until_they_take_it_back,
        what_others_have_not_accepted_is_normal_here_no_longer,
        lists_that_came_before_others_accepted_are_held_against_the_new_level);
}
