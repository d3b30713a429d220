/* Operator commands in a fleet: the leader applies each once and replies, all instances follow the
 * plan, and the next leader continues with it. Golden files hold the format of the records. */
#include "base/file.h"
#include "daemon/fleet/fleet.h"
#include "fleet/controller_record.h"
#include "tests/check.h"
#include "tests/fleet_people.h"
#include "tests/must.h"

static const char ORDER[] = "tests/format/golden/fleet-order-4.bin";
static const char ANSWER[] = "tests/format/golden/fleet-answer-4.bin";

START_TEST(an_order_is_carried_out_once_for_all_and_answered)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    struct ek_order w = order_of(EK_DECIDED_PIN, 1);
    ek_buf_init(&a.bytes, 0);
    give(f, 0, &w);
    give(f, 0, &w); /* a retry before the reply */
    fleet_between(f, 1, quiet);
    static struct ek_fleet_reply r;
    r = answered(f, 0, &a, 1);
    ck_assert_int_eq(r.code, EK_OK);
    ck_assert_str_eq(r.decided.is.request, "node-1/1790000000000/1");
    ck_assert_str_eq(r.decided.is.actor, "ana");
    ck_assert_str_eq(r.decided.is.reason, "miles");
    ck_assert_uint_eq(r.decided.is.after, r.decided.is.before + 1);
    answered(f, 0, &a, 0);
    fleet_run(f, 3, quiet);
    for (int i = 0; i < 2; i++) {
        const struct ek_plan *p = fleet_plan(f, i);
        ck_assert_int_eq(p->count, 1);
        ck_assert(p->entry[0].by == EK_BY_OPERATOR && p->entry[0].feature == PRICE);
    }
    give(f, 0, &w); /* a retry after a lost reply */
    fleet_tick(f, quiet);
    ck_assert_uint_eq(answered(f, 0, &a, 1).decided.is.after, r.decided.is.after);
    w = order_of(EK_DECIDED_PAUSE, 2);
    give(f, 0, &w);
    fleet_run(f, 4, quiet);
    ck_assert(fleet_plan(f, 0)->paused && fleet_plan(f, 1)->paused);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

START_TEST(what_cannot_be_is_refused_with_a_reason)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    struct ek_order w = order_of(EK_DECIDED_UNPIN, 1);
    static struct ek_fleet_reply r;
    ek_buf_init(&a.bytes, 0);
    give(f, 0, &w);
    uint64_t version = ek_leader_version(f->decider[0]);
    fleet_tick(f, quiet);
    r = answered(f, 0, &a, 1);
    ck_assert_int_eq(r.code, EK_ESTATE);
    ck_assert(ek_text_same(r.refusal, ek_text_from("'price' is not pinned there")));
    ck_assert_uint_eq(ek_leader_version(f->decider[0]), version);
    struct ek_buf out = record_of(f, &w);
    struct ek_error e;
    out.data[out.length - 6] ^= 1;
    ck_assert_int_eq(ek_leader_receive(f->decider[0], out.data, out.length, 0, &e), EK_EFORMAT);
    ek_buf_release(&out);
    must(ek_fleet_order_write(&w, f->world.manifest->hash + 1, &out));
    ck_assert_int_eq(ek_leader_receive(f->decider[0], out.data, out.length, 0, &e), EK_ESTATE);
    ek_buf_release(&out);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

/* An instance that is not the leader sends no reply, and continues with the records it has read. */
START_TEST(the_next_decider_keeps_what_people_said)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    ek_buf_init(&a.bytes, 0);
    fleet_decider(f, 1);
    const struct ek_order pin = order_of(EK_DECIDED_PIN, 1), pause = order_of(EK_DECIDED_PAUSE, 2),
                          resume = order_of(EK_DECIDED_RESUME, 3),
                          unpin = order_of(EK_DECIDED_UNPIN, 4);
    give(f, 1, &pin);
    answered(f, 1, &a, 0);
    give(f, 0, &pin);
    give(f, 0, &pause);
    fleet_run(f, 2, quiet);
    answered(f, 0, &a, 2);
    f->dead[0] = true;
    ek_leader_start(f->decider[1], f->clock_ms);
    fleet_run(f, 3, quiet);
    ck_assert(fleet_plan(f, 0)->paused);
    give(f, 1, &resume);
    fleet_run(f, 4, quiet);
    answered(f, 1, &a, 1);
    ck_assert(!fleet_plan(f, 0)->paused);
    ck_assert_int_eq(fleet_plan(f, 1)->count, 1);
    give(f, 1, &unpin);
    fleet_run(f, 4, quiet);
    ck_assert_int_eq(answered(f, 1, &a, 1).code, EK_OK);
    ck_assert_int_eq(fleet_plan(f, 1)->count, 0);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

/* -------------------------------------------------- records written under other rules */

enum { MANY = 150, EACH = 64 };

static struct ek_fleet_cell market_of(const void *context, int cell)
{
    (void)context;
    return (struct ek_fleet_cell){ek_text_from("market"), ek_text_from(cell ? "B" : "C")};
}

static struct ek_fleet_cell arm_of(const void *context, int cell)
{
    static char value[16];
    (void)context;
    snprintf(value, sizeof value, "v%d", cell);
    return (struct ek_fleet_cell){ek_text_from("arm"), ek_text_from(value)};
}

/* Let leader 1 continue from a plan record of another instance with this controller state. */
static void go_on_from(struct fleet *f, const struct ek_controller_memory *memory,
                       const char *dimension,
                       struct ek_fleet_cell (*names_of)(const void *context, int cell))
{
    const struct ek_fleet_plan_head head = {.decider = ek_text_from("node-9"),
                                            .term = 9,
                                            .version = 90,
                                            .from_ms = 1000,
                                            .dimensions = {1, {ek_text_from(dimension)}}};
    static const struct ek_fleet_accepted_set nothing;
    struct ek_serialize w;
    struct ek_buf record;
    ek_buf_init(&record, 0);
    ek_fleet_plan_start(&w, &record, &head);
    ek_controller_record_write(&w, &head.dimensions, f->world.manifest, memory, &nothing, names_of,
                               NULL);
    for (int parts = 0; parts < 3; parts++) /* decisions, findings, row requests */
        ek_record_write(&w, 0);
    must(ek_record_writer_finish(&w));
    must(ek_leader_apply_record(fleet_decider(f, 1), record.data, record.length, NULL));
    ek_buf_release(&record);
    f->dead[0] = true;
    fleet_tick(f, quiet);
    ek_leader_start(f->decider[1], f->clock_ms);
}

START_TEST(a_dimension_that_the_rules_do_not_have_is_passed_over)
{
    struct fleet *f = start();
    static struct ek_plan plan, desired;
    static struct ek_rollouts ended = {.count = 1};
    struct ek_controller_pin pin = {.feature = PRICE, .cell = 1, .is = {.action = EK_ACT_ROUTE}};
    const struct ek_controller_memory memory = {
        .plan = &plan, .desired = &desired, .rollouts = &ended, .pin = &pin, .pins = 1};
    ended.one[0] = (struct ek_rollout){.feature = PRICE, .cell = 0, .ended_ms = 500};
    go_on_from(f, &memory, "market", market_of);
    int published = f->published;
    fleet_run(f, 3, quiet);
    ck_assert_int_eq(f->published, published + 3);
    struct answers a = {.count = 0};
    struct ek_order w = order_of(EK_DECIDED_PIN, 1);
    ek_buf_init(&a.bytes, 0);
    w.segment = "market";
    give(f, 1, &w);
    fleet_tick(f, quiet);
    static struct ek_fleet_reply r;
    r = answered(f, 1, &a, 1);
    ck_assert_int_eq(r.code, EK_EUSAGE);
    ck_assert(ek_text_same(
        r.refusal, ek_text_from("no segment 'market': 'segments' of the rules must name it")));
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

static int see(void *context, const struct ek_decision_record *m)
{
    bool *seen = context;
    ck_assert_uint_le(m->number, MANY);
    seen[m->number] = true;
    return EK_OK;
}

/* Write the next plan record, and set `seen` for the decisions in it. */
static void see_record(struct fleet *f, bool *seen)
{
    struct ek_fleet_plan plan;
    struct ek_buf record;
    const struct ek_fleet_plan_visitor callbacks = {.context = seen, .decided = see};
    ek_buf_init(&record, 0);
    must(ek_leader_check(f->decider[1], f->clock_ms, &record, NULL));
    ck_assert_uint_gt(record.length, 0);
    must(ek_fleet_plan_open(&plan, record.data, record.length, f->world.manifest, NULL));
    must(ek_fleet_plan_visit(&plan, &callbacks));
    ek_buf_release(&record);
}

START_TEST(more_decisions_than_a_record_takes_are_told_one_record_after_the_other)
{
    struct fleet *f = start();
    static struct ek_plan plan, desired = {.count = MANY};
    static struct ek_rollouts none;
    static bool seen[MANY + 1];
    const struct ek_controller_memory memory = {
        .plan = &plan, .desired = &desired, .rollouts = &none};
    for (int i = 0; i < MANY; i++)
        desired.entry[i] = ek_plan_entry_init(PRICE, i, (struct ek_treatment){EK_ACT_ROUTE, 0});
    go_on_from(f, &memory, "arm", arm_of);
    for (int record = 1; record <= 3; record++) {
        see_record(f, seen);
        for (int i = 1; i <= MANY; i++)
            ck_assert_int_eq(seen[i], i <= record * EACH);
    }
    finish(f);
}
END_TEST

START_TEST(an_order_waits_until_the_decider_knows_the_time)
{
    struct fleet *f = calloc(1, sizeof *f);
    struct answers a = {.count = 0};
    ek_buf_init(&a.bytes, 0);
    fleet_start(f, 2, TRAINING, 7);
    const struct ek_order w = order_of(EK_DECIDED_PAUSE, 1);
    give(f, 0, &w);
    fleet_run(f, 3, quiet);
    answered(f, 0, &a, 0);
    give(f, 0, &w);
    fleet_run(f, 1, quiet);
    ck_assert_int_gt(answered(f, 0, &a, 1).decided.is.time_ms, 0);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

START_TEST(only_a_pin_makes_a_place)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    ek_buf_init(&a.bytes, 0);
    const enum ek_decision_kind what[] = {EK_DECIDED_UNPIN, EK_DECIDED_RESUME};
    const char *const refusal[] = {
        "'price' is not pinned there",
        "no lists of arm=nowhere are watched on their own: wait for the "
        "first, or raise 'limits.segments', above which values are watched "
        "together"};
    int places = ek_fleet_pool_places(ek_leader_pool(f->decider[0]));
    for (uint64_t i = 0; i < 2; i++) {
        struct ek_order w = order_of(EK_DECIDED_UNPIN, i + 1);
        w.kind = what[i];
        w.value = "nowhere";
        give(f, 0, &w);
        fleet_tick(f, quiet);
        static struct ek_fleet_reply r;
        r = answered(f, 0, &a, 1);
        ck_assert_int_eq(r.code, EK_ESTATE);
        ck_assert(ek_text_same(r.refusal, ek_text_from(refusal[i])));
    }
    ck_assert_int_eq(ek_fleet_pool_places(ek_leader_pool(f->decider[0])), places);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

static int sent;

static void send(void *context, const void *bytes, size_t length)
{
    ck_assert(!context && bytes && length);
    sent++;
}

static void ck_orders(struct ek_fleet_commands *o, const char *want)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_fleet_commands_json(o, &out));
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

START_TEST(an_order_is_told_until_it_is_answered_or_nobody_waits_any_more)
{
    struct fleet *f = start();
    struct ek_fleet_commands *o;
    struct ek_order w = order_of(EK_DECIDED_PAUSE, 1);
    uint64_t number;
    must(ek_fleet_commands_new(&o, "node-1", 5));
    ck_orders(o, "[]");
    must(ek_fleet_commands_submit(o, &w, 0, 1000, &number));
    ck_assert_uint_eq(number, 1);
    must(ek_fleet_commands_submit(o, &w, 0, 1000, &number));
    sent = 0;
    for (int64_t now = 1000; now < 1000 + 2 * EK_COMMANDS_RETRY_MS; now += 50)
        ek_fleet_commands_send_due(o, now, send, NULL);
    ck_assert_int_eq(sent, 4);
    static struct ek_fleet_reply r;
    r = (struct ek_fleet_reply){.id = {ek_text_from("node-1"), 4, 1},
                                .decider = ek_text_from("node-0"),
                                .code = EK_ESTATE,
                                .refusal = ek_text_from("no")};
    ek_fleet_commands_receive(o, &r); /* of an earlier run of the instance */
    ck_orders(
        o, "[{\"command_id\":1,\"state\":\"pending\"},{\"command_id\":2,\"state\":\"pending\"}]");
    r.id.start = 5;
    ek_fleet_commands_receive(o, &r);
    ek_fleet_commands_send_due(o, 1000 + EK_COMMANDS_TIMEOUT_MS, send, NULL);
    ck_assert_int_eq(sent, 4);
    ck_orders(o,
              "[{\"command_id\":1,\"state\":\"rejected\",\"leader\":\"node-0\",\"error\":\"no\"},"
              "{\"command_id\":2,\"state\":\"lost\"}]");
    ek_fleet_commands_free(o);
    finish(f);
}
END_TEST

static void hold_to_golden(const char *path, const struct ek_buf *record)
{
    struct ek_buf kept;
    ek_buf_init(&kept, 0);
    if (getenv("EK_WRITE_GOLDEN")) {
        FILE *file = fopen(path, "wb");
        ck_assert_ptr_nonnull(file);
        ck_assert_uint_eq(fwrite(record->data, 1, record->length, file), record->length);
        fclose(file);
    }
    must(ek_file_read(path, &kept, NULL));
    ck_assert_uint_eq(kept.length, record->length);
    ck_assert_mem_eq(kept.data, record->data, kept.length);
    ek_buf_release(&kept);
}

START_TEST(the_records_are_written_as_they_always_were)
{
    struct fleet *f = start();
    struct ek_order w = order_of(EK_DECIDED_PIN, 3);
    struct ek_serialize out;
    static struct ek_fleet_reply r;
    w.until_ms = 1800000000000;
    struct ek_buf record = record_of(f, &w);
    hold_to_golden(ORDER, &record);
    ek_buf_clear(&record);
    r = (struct ek_fleet_reply){.id = w.id, .decider = ek_text_from("node-0")};
    r.decided.is = ek_decision_get(EK_DECIDED_PIN);
    r.decided.is.number = 1;
    r.decided.is.actor = "ana";
    r.decided.is.request = "node-1/1790000000000/3";
    r.decided.is.feature = "price";
    ek_record_writer_start(&out, &record, EK_FLEET_REPLY);
    ek_fleet_reply_write(&out, &r);
    must(ek_record_writer_finish(&out));
    hold_to_golden(ANSWER, &record);
    r.decided.is.request = NULL; /* reply without a command */
    ek_buf_clear(&record);
    ek_record_writer_start(&out, &record, EK_FLEET_REPLY);
    ek_fleet_reply_write(&out, &r);
    must(ek_record_writer_finish(&out));
    ck_assert_int_eq(ek_fleet_reply_open(&r, record.data, record.length, NULL), EK_EFORMAT);
    ek_buf_release(&record);
    finish(f);
}
END_TEST

Suite *suite_fleet_commands(void)
{
    return ek_suite("fleet_orders", an_order_is_carried_out_once_for_all_and_answered,
                    what_cannot_be_is_refused_with_a_reason,
                    the_next_decider_keeps_what_people_said,
                    a_dimension_that_the_rules_do_not_have_is_passed_over,
                    more_decisions_than_a_record_takes_are_told_one_record_after_the_other,
                    an_order_waits_until_the_decider_knows_the_time, only_a_pin_makes_a_place,
                    an_order_is_told_until_it_is_answered_or_nobody_waits_any_more,
                    the_records_are_written_as_they_always_were);
}
