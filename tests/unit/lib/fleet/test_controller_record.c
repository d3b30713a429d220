/* Controller state in plan records and shadow-scoring results of instances survive encoding under
 * other indexes; golden files hold the format. */
#include "base/file.h"
#include "detect/evidence_export.h"
#include "fleet/plan_record.h"
#include "fleet/evidence_report.h"
#include "fleet/controller_record.h"
#include "fleet/comparison_record.h"
#include "tests/check.h"
#include "tests/fleet_plan.h"
#include "tests/must.h"
#include "tests/stream_world.h"

#include <stdlib.h>

enum { PRICE = 0, SIZE = 1, ALL = 0, B = 1, C = 2 };

static const char PLAN[] = "tests/format/golden/fleet-plan-4.bin";
static const char TRIALS[] = "tests/format/golden/fleet-trials-4.bin";
static const char *const VALUE[] = {NULL, "B", "C"};

static const uint64_t PROFILE = 0x1234;
static uint64_t profile_here = 0x1234;
static struct ek_manifest *manifest;
static struct ek_plan plan, read_plan;
static struct ek_controller_record standing, read_standing;
static struct ek_buf record;

static struct ek_plan_entry canary_of(int feature, int cell, int percent, uint32_t restarts)
{
    struct ek_plan_entry e =
        ek_plan_entry_init(feature, cell, (struct ek_treatment){EK_ACT_ROUTE, 0});
    e.mode = EK_MODE_CANARY;
    e.percent = percent;
    e.since_ms = 590000;
    e.min_duration_ms = 600000;
    e.restarts = restarts;
    return e;
}

static struct ek_rollout rollout_of(int feature, int cell, int percent)
{
    return (struct ek_rollout){.feature = feature,
                               .cell = cell,
                               .percent = percent,
                               .step_ms = 595000,
                               .ended_ms = -1,
                               .compared = 210,
                               .restarts = 3,
                               .context = {17, EK_SCALE, 100.5, 99, 102, .75}};
}

/* A route in a canary, one rolled back, one ended, a pin of an operator, a pin of the rules, and
 * values with their own modes. */
static void fill(void)
{
    plan = (struct ek_plan){.version = 42, .count = 3, .modes = 2};
    plan.entry[0] = canary_of(PRICE, B, 500, 3);
    plan.entry[0].repair = (struct ek_plan_repair){.factor = 100.5, .query_feature = -1};
    plan.entry[1] = ek_plan_entry_init(SIZE, ALL, (struct ek_treatment){EK_ACT_BLANK, 0});
    plan.entry[1].by = EK_BY_OPERATOR;
    plan.entry[2] = ek_plan_entry_init(SIZE, C, (struct ek_treatment){EK_ACT_NONE, 0});
    plan.entry[2].by = EK_BY_RULES;
    plan.mode[0] = (struct ek_plan_mode){PRICE, C, EK_MODE_OBSERVE, true};
    plan.mode[1] = (struct ek_plan_mode){SIZE, B, EK_MODE_SHADOW, false};
    standing.desired = (struct ek_plan){.count = 2};
    standing.desired.entry[0] = plan.entry[0];
    standing.desired.entry[1] =
        ek_plan_entry_init(SIZE, B, (struct ek_treatment){EK_ACT_REPAIR, 2.5});
    standing.desired.entry[1].repair = (struct ek_plan_repair){.factor = (double)NAN};
    standing.desired.entry[1].until_ms = 700000;
    standing.rollouts = (struct ek_rollouts){.count = 3};
    standing.rollouts.one[0] = rollout_of(PRICE, B, 500);
    standing.rollouts.one[1] = rollout_of(SIZE, B, 1000);
    standing.rollouts.one[1].rolled_back = EK_GUARDRAIL_RANKS;
    standing.rollouts.one[1].observed = .7;
    standing.rollouts.one[1].limit = .5;
    standing.rollouts.one[2] = rollout_of(PRICE, C, 10000);
    standing.rollouts.one[2].ended_ms = 560000;
    standing.rollouts.one[2].relapses = 2;
    standing.limits = (struct ek_fleet_limits){EK_EXCEEDS_FEATURES, 580000, true, false, 0};
    standing.pins = 1;
    standing.pin[0] = (struct ek_controller_pin){.feature = SIZE,
                                                 .cell = ALL,
                                                 .is = {.action = EK_ACT_BLANK,
                                                        .until_ms = 900000,
                                                        .author = strdup("ana"),
                                                        .reason = strdup("sizes are broken")}};
}

/* The third accepted shift was reverted, so accepted shifts are at version 4. */
static void accept_some(void)
{
    const struct ek_fleet_accept first = {.shift_ln = .75,
                                          .version = 1,
                                          .since_ms = 550000,
                                          .time_ms = 560000,
                                          .author = stream_text("ana"),
                                          .reason = stream_text("cents")},
                                 second = {.shift_ln = -2.5, .version = 2, .since_ms = 570000};
    must(ek_fleet_accepted_load(&standing.normal, &first, PRICE, B));
    must(ek_fleet_accepted_load(&standing.normal, &second, SIZE, ALL));
    standing.normal.levels.version = 4;
    standing.normal.profile = PROFILE;
}

static void setup(void)
{
    manifest = stream_manifest();
    ek_buf_init(&record, 0);
    fill();
    accept_some();
}

static void teardown(void)
{
    ek_controller_record_clear(&read_standing);
    ek_fleet_accepted_set_clear(&standing.normal);
    ek_controller_pin_release(&standing.pin[0]);
    memset(&standing, 0, sizeof standing);
    ek_buf_release(&record);
    ek_manifest_free(manifest);
}

static struct ek_fleet_cell names_of(const void *context, int cell)
{
    (void)context;
    return (struct ek_fleet_cell){cell ? stream_text("arm") : (struct ek_text){NULL, 0},
                                  ek_text_from(VALUE[cell])};
}

/* The reader knows the values up to `known`. */
static int cell_of(void *context, const struct ek_fleet_cell *names, int *cell)
{
    const int *known = context;
    *cell = names->dimension.text ? *known : 0;
    while (*cell > 0 && ek_text_compare(names->value, VALUE[*cell]))
        --*cell;
    if (names->dimension.text && !*cell)
        *cell = -1;
    return EK_OK;
}

static struct ek_decision_record decided(void)
{
    struct ek_decision_record d = ek_decision_get(EK_DECIDED_ROLLBACK);
    d.number = 9;
    d.before = 41;
    d.after = 42;
    d.time_ms = 595000;
    d.finding = 17;
    d.class = EK_SCALE;
    d.action = EK_ACT_REPAIR;
    d.guardrail = EK_GUARDRAIL_RANKS;
    d.observed = .7;
    d.limit = .5;
    d.reason = "rank_change_p95 is 0.7, and 'abort_if' allows 0.5";
    d.feature = "size";
    d.dimension = "arm";
    d.value = "B";
    return d;
}

static struct ek_finding finding(void)
{
    return (struct ek_finding){.feature = PRICE,
                               .episode = 17,
                               .since_ms = 590000,
                               .class = EK_SCALE,
                               .query_feature = -1,
                               .factor = 100.5,
                               .factor_low = 99,
                               .factor_high = 102,
                               .error_ln = .01,
                               .share = .75,
                               .spread_ratio = 1,
                               .exponent = (double)NAN,
                               .cause = 5};
}

static void write_record(const struct ek_controller_memory *memory,
                         const struct ek_fleet_accepted_set *normal)
{
    static const struct ek_fleet_plan_head head = {.decider = {"node-0", 6},
                                                   .term = 3,
                                                   .version = 42,
                                                   .episodes = 17,
                                                   .from_ms = 602000,
                                                   .clock_ms = 1790000000000,
                                                   .dimensions = {1, {{"arm", 3}}}};
    const struct ek_decision_record d = decided();
    struct ek_finding f = finding();
    struct ek_fleet_cell cell = names_of(NULL, B);
    struct ek_row_request ask = {stream_text("size"), 6, 512};
    struct ek_serialize w;
    ek_buf_clear(&record);
    ek_fleet_plan_start(&w, &record, &head);
    ek_controller_record_write(&w, &head.dimensions, manifest, memory, normal, names_of, NULL);
    ek_record_write(&w, 1);
    ek_fleet_decision_write(&w, &d);
    ek_record_write(&w, 1);
    ek_wire_cell(&w, &head.dimensions, &cell);
    ek_fleet_finding_walk(&w, manifest, &f);
    ek_record_write(&w, 1);
    ek_row_request_walk(&w, &ask);
    ck_assert_int_eq(ek_record_writer_finish(&w), EK_OK);
}

static void write_all(void)
{
    const struct ek_controller_memory memory = ek_controller_record_memory(&standing, &plan);
    write_record(&memory, &standing.normal);
}

static void open_record(struct ek_fleet_plan *p)
{
    struct ek_error e = {0};
    ck_assert_msg(!ek_fleet_plan_open(p, record.data, record.length, manifest, &e), "%s",
                  e.message);
}

static struct ek_controller_record_reader read_record(int known, bool decides)
{
    static int knows;
    struct ek_fleet_plan p;
    struct ek_controller_record_reader by = {.manifest = manifest,
                                             .cell_of = cell_of,
                                             .context = &knows,
                                             .decides = decides,
                                             .profile = profile_here};
    knows = known;
    open_record(&p);
    read_plan = (struct ek_plan){0};
    ek_controller_record_clear(&read_standing);
    ck_assert_int_eq(ek_controller_record_read(&p, &by, &read_plan, &read_standing), EK_OK);
    return by;
}

/* Compare with the file from the format's creation; EK_WRITE_GOLDEN writes it. */
static void hold_to_golden(const char *path)
{
    struct ek_buf kept;
    ek_buf_init(&kept, 0);
    if (getenv("EK_WRITE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(record.data, 1, record.length, file), record.length);
        fclose(file);
    }
    ck_assert_int_eq(ek_file_read(path, &kept, NULL), EK_OK);
    ck_assert_uint_eq(kept.length, record.length);
    ck_assert_mem_eq(kept.data, record.data, kept.length);
    ek_buf_release(&kept);
}

START_TEST(a_record_is_written_as_it_always_was)
{
    setup();
    write_all();
    hold_to_golden(PLAN);
    teardown();
}
END_TEST

START_TEST(what_a_decider_went_by_is_read_and_written_again_to_the_bit)
{
    struct ek_buf first;
    setup();
    write_all();
    first = record;
    read_record(C, true);
    ek_buf_init(&record, 0);
    const struct ek_controller_memory memory =
        ek_controller_record_memory(&read_standing, &read_plan);
    write_record(&memory, &read_standing.normal);
    ck_assert_uint_eq(record.length, first.length);
    ck_assert_mem_eq(record.data, first.data, first.length);
    ek_buf_release(&first);
    teardown();
}
END_TEST

START_TEST(an_instance_reads_the_plan_and_what_goes_on)
{
    setup();
    write_all();
    struct ek_controller_record_reader by = read_record(C, false);
    ck_assert_int_eq(by.missed, 0);
    ck_assert_uint_eq(read_plan.version, 42);
    ck_assert(ek_plan_same(&read_plan, &plan));
    ck_assert_int_eq(read_plan.entry[0].restarts, 3);
    ck_assert_int_eq(read_standing.desired.count, 2);
    ck_assert_int_eq(read_standing.rollouts.count, 2); /* one has ended */
    ck_assert_int_eq(read_standing.rollouts.one[1].rolled_back, EK_GUARDRAIL_RANKS);
    ck_assert_int_eq(read_standing.pins, 0);
    teardown();
}
END_TEST

START_TEST(a_repair_goes_with_its_entry)
{
    setup();
    plan.entry[0].repair.by = EK_REPAIR_LIST;
    plan.entry[0].repair.number = 100;
    plan.entry[0].repair.exact = true;
    standing.desired.entry[1].repair.by = EK_REPAIR_OFFSET;
    standing.desired.entry[1].repair.number = -5;
    standing.desired.entry[1].repair.scale = .25;
    write_all();
    read_record(C, false);
    const struct ek_plan_repair *r = &read_plan.entry[0].repair;
    ck_assert(r->by == EK_REPAIR_LIST && r->number == 100 && r->exact);
    ck_assert_int_eq(read_plan.entry[0].percent, 500);
    ck_assert_int_eq(read_plan.entry[1].repair.by, EK_REPAIR_UNKNOWN);
    r = &read_standing.desired.entry[1].repair;
    ck_assert(r->by == EK_REPAIR_OFFSET && r->number == -5 && r->scale == .25);
    teardown();
}
END_TEST

START_TEST(what_was_accepted_under_another_profile_is_passed_over)
{
    setup();
    write_all();
    ck_assert_int_eq(read_record(C, false).outdated, 0);
    ck_assert_int_eq(read_standing.normal.levels.count, 2);
    profile_here = PROFILE + 1;
    ck_assert_int_eq(read_record(C, false).outdated, 2);
    ck_assert_int_eq(read_standing.normal.levels.count, 0);
    ck_assert_uint_eq(read_standing.normal.levels.version, 4);
    profile_here = PROFILE;
    teardown();
}
END_TEST

START_TEST(a_value_that_has_no_cell_here_is_told)
{
    setup();
    write_all();
    struct ek_controller_record_reader by = read_record(B, false);
    ck_assert_int_eq(by.missed, 1); /* the pin of C */
    ck_assert(by.apart[PRICE] && !by.apart[SIZE]);
    ck_assert_int_eq(read_plan.count, 2);
    ck_assert_int_eq(read_plan.modes, 1);
    teardown();
}
END_TEST

/* Callback for the decisions of a record. */
static int hear_decided(void *context, const struct ek_decision_record *d)
{
    struct ek_decision_record was = decided();
    ck_assert_uint_eq(d->number, was.number);
    ck_assert_int_eq(d->kind, was.kind);
    ck_assert_int_eq(d->guardrail, was.guardrail);
    ck_assert_int_eq(d->percent, -1);
    ck_assert_uint_eq(d->before, was.before);
    ck_assert_uint_eq(d->after, was.after);
    ck_assert_str_eq(d->actor, "system");
    ck_assert_str_eq(d->reason, was.reason);
    ck_assert_str_eq(d->value, "B");
    ck_assert_ptr_null(d->request);
    ck_assert(isnan(d->factor) && d->observed == .7);
    ++*(int *)context;
    return EK_OK;
}

START_TEST(a_decision_is_heard_with_its_reason)
{
    int count = 0;
    struct ek_fleet_plan p;
    const struct ek_fleet_plan_visitor callbacks = {.context = &count, .decided = hear_decided};
    setup();
    write_all();
    open_record(&p);
    ck_assert_int_eq(ek_fleet_plan_visit(&p, &callbacks), EK_OK);
    ck_assert_int_eq(count, 1);
    teardown();
}
END_TEST

/* Return the length of a decoded reason of that many bytes. */
static size_t told_of(size_t length)
{
    static char why[3 * EK_FLEET_TEXT_MAX + 1];
    struct ek_serialize w;
    struct ek_serialize r;
    static struct ek_fleet_decision back;
    setup();
    struct ek_decision_record d = decided();
    memset(why, 'x', length);
    why[length] = 0;
    d.reason = why;
    ek_record_writer_start(&w, &record, EK_FLEET_PLAN);
    ek_fleet_decision_write(&w, &d);
    ck_assert_int_eq(ek_record_writer_finish(&w), EK_OK);
    ck_assert_int_eq(ek_record_reader_open(&r, record.data, record.length, EK_FLEET_PLAN, NULL),
                     EK_OK);
    ek_fleet_decision_read(&r, &back);
    ck_assert_int_eq(ek_record_reader_is_done(&r, "it", NULL), EK_OK);
    length = strlen(back.is.reason);
    teardown();
    return length;
}

START_TEST(a_text_that_is_too_long_is_cut_and_the_record_stays_good)
{
    for (size_t length = EK_FLEET_TEXT_MAX - 1; length <= EK_FLEET_TEXT_MAX; length++)
        ck_assert_uint_eq(told_of(length), length);
    ck_assert_uint_eq(told_of(EK_FLEET_TEXT_MAX + 1), EK_FLEET_TEXT_MAX);
    ck_assert_uint_eq(told_of((size_t)3 * EK_FLEET_TEXT_MAX), EK_FLEET_TEXT_MAX);
}
END_TEST

START_TEST(records_of_another_version_are_refused_by_name)
{
    struct ek_error e = {0};
    struct ek_fleet_plan p;
    setup();
    write_all();
    record.data[2] = '3';
    ck_assert_int_eq(ek_fleet_plan_open(&p, record.data, record.length, manifest, &e), EK_EFORMAT);
    ck_assert_ptr_nonnull(strstr(e.message, "version '3', not '4'"));
    teardown();
}
END_TEST

/* --------------------------------------------------------------- shadow scoring */

static int take_trial(void *context, const struct ek_fleet_comparison *t)
{
    struct ek_fleet_comparison *all = context;
    all[!ek_text_compare(t->place.feature, "size")] = *t;
    return EK_OK;
}

/* Comparisons of two entries: the first is active for every second list. */
static struct ek_comparisons *trials_of(const struct ek_plan *p, int lists)
{
    struct ek_comparisons *t;
    struct ek_route_stats acts = {.plan = p->version, .lists = 7, .entries = 1};
    const struct ek_output_counts load = {{100, 50}, {1, 2}};
    ck_assert_int_eq(ek_comparisons_new(&t, NULL), EK_OK);
    for (int i = 0; i < lists; i++) {
        double change = (double)i / lists;
        struct ek_comparison one = {.plan = p->version, .entries = 2, .entry = {0, 1}};
        one.acting = i % 2;
        one.result.moved = one.result.out = (struct ek_rank_change){1 - change, .5, 2.25, change};
        one.result.has_harm = i % 4 == 0;
        one.result.harm = change / 2;
        ck_assert_int_eq(ek_comparisons_add(t, p, &one, NULL), EK_OK);
    }
    acts.acted[0] = 7;
    acts.failed[0] = 1;
    acts.latency[9] = 7;
    ck_assert_int_eq(ek_comparisons_add_routes(t, p, &acts, NULL), EK_OK);
    ek_comparisons_add_output_counts(t, &load);
    return t;
}

START_TEST(what_an_instance_has_tried_is_read_as_it_was)
{
    struct stream_world world;
    struct ek_detector *d;
    struct ek_fleet_comparisons t;
    static struct ek_fleet_comparison got[2];
    struct ek_error e = {0};
    int cell;
    setup();
    stream_world_start(&world, "version: 1\nsegments: [arm]\n", 2000, 3);
    ck_assert_int_eq(ek_detector_new(&d, world.manifest, world.profile, world.rules, NULL), EK_OK);
    ck_assert_int_eq(ek_detector_retain_cell(d, stream_text("arm"), stream_text("B"), &cell),
                     EK_OK);
    plan = (struct ek_plan){.version = 42, .count = 2};
    plan.entry[0] = canary_of(PRICE, cell, 500, 3);
    plan.entry[1] = canary_of(SIZE, ALL, 1000, 1);
    struct ek_comparisons *trials = trials_of(&plan, 40);
    const struct ek_fleet_head head = {.instance = {"node-0", 6},
                                       .start = 1790000000000,
                                       .number = 61,
                                       .manifest = world.manifest->hash,
                                       .profile = 0x1234,
                                       .time_ms = 604000};
    ck_assert_int_eq(ek_fleet_comparisons_write(trials, true, world.manifest,
                                                ek_detector_registry(d), &head, &record),
                     EK_OK);
    ck_assert_msg(!ek_fleet_comparisons_open(&t, record.data, record.length, world.manifest, &e),
                  "%s", e.message);
    ck_assert_int_eq(ek_fleet_comparisons_each(&t, take_trial, got), EK_OK);
    ck_assert(t.all.drifted);
    ck_assert_uint_eq(t.all.is.load.dead[1], 2);
    ck_assert_uint_eq(t.all.is.latency[9], 7);
    for (int i = 0; i < 2; i++) {
        const struct ek_comparison_sums *was = ek_comparisons_get(trials, &plan.entry[i]),
                                        *is = &got[i].is;
        ck_assert_uint_eq(is->compared, 40);
        ck_assert_uint_eq(is->restarts, was->restarts);
        ck_assert_uint_eq(is->acts, i ? 0 : 7);
        ck_assert_uint_eq(is->acted.lists, i ? 0 : 20);
        ck_assert_uint_eq(is->measured, 10);
        ck_assert_mem_eq(&is->moved, &was->moved, sizeof is->moved);
        ck_assert_mem_eq(&is->acted, &was->acted, sizeof is->acted);
        ck_assert_mem_eq(is->worse_sum, was->worse_sum, sizeof is->worse_sum);
    }
    ck_assert(got[0].place.cell.value.length == 1 && !got[1].place.cell.dimension.text);
    hold_to_golden(TRIALS);
    ek_comparisons_free(trials);
    ek_detector_free(d);
    stream_world_end(&world);
    teardown();
}
END_TEST

START_TEST(trials_that_cannot_be_are_refused)
{
    struct ek_buf bytes;
    struct ek_fleet_comparisons t;
    setup();
    ek_buf_init(&bytes, 0);
    ck_assert_int_eq(ek_file_read(TRIALS, &bytes, NULL), EK_OK);
    for (size_t length = 0; length < bytes.length; length++)
        ck_assert_int_ne(ek_fleet_comparisons_open(&t, bytes.data, length, manifest, NULL), EK_OK);
    for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_ne(ek_fleet_comparisons_open(&t, bytes.data, bytes.length, manifest, NULL),
                         EK_OK);
        bytes.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    ck_assert_int_eq(ek_fleet_comparisons_open(&t, bytes.data, bytes.length, manifest, NULL),
                     EK_OK);
    manifest->hash++;
    ck_assert_int_eq(ek_fleet_comparisons_open(&t, bytes.data, bytes.length, manifest, NULL),
                     EK_ESTATE);
    ek_buf_release(&bytes);
    teardown();
}
END_TEST

Suite *suite_controller_record(void)
{
    return ek_suite("fleet standing", a_record_is_written_as_it_always_was,
                    what_a_decider_went_by_is_read_and_written_again_to_the_bit,
                    an_instance_reads_the_plan_and_what_goes_on, a_repair_goes_with_its_entry,
                    what_was_accepted_under_another_profile_is_passed_over,
                    a_value_that_has_no_cell_here_is_told, a_decision_is_heard_with_its_reason,
                    a_text_that_is_too_long_is_cut_and_the_record_stays_good,
                    records_of_another_version_are_refused_by_name,
                    what_an_instance_has_tried_is_read_as_it_was,
                    trials_that_cannot_be_are_refused);
}
