/* Orders of people in a fleet: the decider carries each out once, all follow the plan, the next
 * decider goes on with it, and whoever was told gets an answer. Golden files hold the records. */
#include "base/file.h"
#include "daemon/fleet_orders.h"
#include "tests/check.h"
#include "tests/fleet_world.h"
#include "tests/must.h"

enum { TRAINING = 2000, PRICE = 0 };

static const char ORDER[] = "tests/format/golden/fleet-order-2.bin";
static const char ANSWER[] = "tests/format/golden/fleet-answer-2.bin";

static void quiet(struct fleet *f, int i, struct ek_query *q)
{
    (void)f, (void)i, (void)q;
}

static struct fleet *start(void)
{
    struct fleet *f = calloc(1, sizeof *f);
    fleet_start(f, 2, TRAINING, 7);
    fleet_run(f, 3, quiet);
    return f;
}

static void finish(struct fleet *f)
{
    fleet_end(f);
    free(f);
}

static struct ek_fleet_wish wish_of(const struct fleet *f, enum ek_did what, uint64_t number)
{
    struct ek_fleet_wish w = {.id = {ek_text_of("node-1"), 1790000000000, number},
                              .manifest = f->world.manifest->hash,
                              .what = what,
                              .dimensions = {1, {ek_text_of("arm")}},
                              .author = ek_text_of("ana")};
    if (what == EK_DID_PAUSE || what == EK_DID_RESUME)
        return w;
    w.feature = ek_text_of("price");
    w.cell = (struct ek_fleet_cell){ek_text_of("arm"), ek_text_of("B")};
    w.action = what == EK_DID_PIN ? EK_ACT_ROUTE : EK_ACT_NONE;
    w.reason = ek_text_of("miles");
    return w;
}

static struct ek_buf record_of(const struct ek_fleet_wish *w)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_fleet_wish_write(w, &out));
    return out;
}

static void give(struct fleet *f, int decider, const struct ek_fleet_wish *w)
{
    struct ek_buf out = record_of(w);
    struct ek_error e;
    int rc = ek_fleet_decider_take(f->decider[decider], out.data, out.length, f->clock_ms, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_buf_release(&out);
}

/* The last answer, and how many there were. */
struct answers {
    struct ek_buf bytes;
    int count;
};

static int hear(void *context, const void *bytes, size_t length)
{
    struct answers *a = context;
    ek_buf_clear(&a->bytes);
    a->count++;
    return ek_buf_add(&a->bytes, bytes, length);
}

static struct ek_fleet_reply answered(struct fleet *f, int decider, struct answers *a, int count)
{
    struct ek_fleet_reply r;
    struct ek_error e;
    a->count = 0;
    must(ek_fleet_decider_answers(f->decider[decider], hear, a));
    ck_assert_int_eq(a->count, count);
    memset(&r, 0, sizeof r);
    int rc = count ? ek_fleet_reply_open(&r, a->bytes.data, a->bytes.length, &e) : EK_OK;
    ck_assert_msg(!rc, "%s", e.message);
    return r;
}

START_TEST(an_order_is_carried_out_once_for_all_and_answered)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    struct ek_fleet_wish w = wish_of(f, EK_DID_PIN, 1);
    ek_buf_init(&a.bytes, 0);
    give(f, 0, &w);
    give(f, 0, &w); /* again, for nobody has answered yet */
    fleet_between(f, 1, quiet);
    static struct ek_fleet_reply r;
    r = answered(f, 0, &a, 1);
    ck_assert_int_eq(r.code, EK_OK);
    ck_assert_str_eq(r.decided.is.request, "node-1/1790000000000/1");
    ck_assert_str_eq(r.decided.is.who, "ana");
    ck_assert_str_eq(r.decided.is.why, "miles");
    ck_assert_uint_eq(r.decided.is.after, r.decided.is.before + 1);
    answered(f, 0, &a, 0);
    fleet_run(f, 3, quiet);
    for (int i = 0; i < 2; i++) {
        const struct ek_plan *p = fleet_plan(f, i);
        ck_assert_int_eq(p->count, 1);
        ck_assert(p->entry[0].by == EK_BY_PERSON && p->entry[0].feature == PRICE);
    }
    give(f, 0, &w); /* whose answer was lost */
    fleet_tick(f, quiet);
    ck_assert_uint_eq(answered(f, 0, &a, 1).decided.is.after, r.decided.is.after);
    w = wish_of(f, EK_DID_PAUSE, 2);
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
    struct ek_fleet_wish w = wish_of(f, EK_DID_UNPIN, 1);
    static struct ek_fleet_reply r;
    ek_buf_init(&a.bytes, 0);
    give(f, 0, &w);
    uint64_t version = ek_fleet_decider_version(f->decider[0]);
    fleet_tick(f, quiet);
    r = answered(f, 0, &a, 1);
    ck_assert_int_eq(r.code, EK_ESTATE);
    ck_assert(ek_text_same(r.refusal, ek_text_of("'price' is not pinned there")));
    ck_assert_uint_eq(ek_fleet_decider_version(f->decider[0]), version);
    struct ek_buf out = record_of(&w);
    struct ek_error e;
    out.data[out.length - 6] ^= 1;
    ck_assert_int_eq(ek_fleet_decider_take(f->decider[0], out.data, out.length, 0, &e), EK_EFORMAT);
    ek_buf_release(&out);
    w.manifest++;
    out = record_of(&w);
    ck_assert_int_eq(ek_fleet_decider_take(f->decider[0], out.data, out.length, 0, &e), EK_ESTATE);
    ek_buf_release(&out);
    ek_buf_release(&a.bytes);
    finish(f);
}
END_TEST

/* Who does not decide answers nothing, and goes on with what it has read. */
START_TEST(the_next_decider_keeps_what_people_said)
{
    struct fleet *f = start();
    struct answers a = {.count = 0};
    ek_buf_init(&a.bytes, 0);
    fleet_decider(f, 1);
    const struct ek_fleet_wish pin = wish_of(f, EK_DID_PIN, 1), pause = wish_of(f, EK_DID_PAUSE, 2),
                               resume = wish_of(f, EK_DID_RESUME, 3),
                               unpin = wish_of(f, EK_DID_UNPIN, 4);
    give(f, 1, &pin);
    answered(f, 1, &a, 0);
    give(f, 0, &pin);
    give(f, 0, &pause);
    fleet_run(f, 2, quiet);
    answered(f, 0, &a, 2);
    f->dead[0] = true;
    ek_fleet_decider_begin(f->decider[1], f->clock_ms);
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

static int sent;

static void send(void *context, const void *bytes, size_t length)
{
    ck_assert(!context && bytes && length);
    sent++;
}

static void ck_orders(struct ek_fleet_orders *o, const char *want)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_fleet_orders_json(o, &out));
    ck_assert_str_eq(ek_buf_string(&out), want);
    ek_buf_release(&out);
}

START_TEST(an_order_is_told_until_it_is_answered_or_nobody_waits_any_more)
{
    struct fleet *f = start();
    struct ek_fleet_orders *o;
    struct ek_fleet_wish w = wish_of(f, EK_DID_PAUSE, 1);
    uint64_t number;
    must(ek_fleet_orders_new(&o, "node-1", 5));
    ck_orders(o, "[]");
    must(ek_fleet_orders_give(o, &w, 1000, &number));
    ck_assert_uint_eq(number, 1);
    must(ek_fleet_orders_give(o, &w, 1000, &number));
    sent = 0;
    for (int64_t now = 1000; now < 1000 + 2 * EK_ORDERS_AGAIN_MS; now += 50)
        ek_fleet_orders_due(o, now, send, NULL);
    ck_assert_int_eq(sent, 4);
    static struct ek_fleet_reply r;
    r = (struct ek_fleet_reply){.id = {ek_text_of("node-1"), 4, 1},
                                .decider = ek_text_of("node-0"),
                                .code = EK_ESTATE,
                                .refusal = ek_text_of("no")};
    ek_fleet_orders_answer(o, &r); /* of an earlier run of it */
    ck_orders(o, "[{\"order\":1,\"state\":\"waiting\"},{\"order\":2,\"state\":\"waiting\"}]");
    r.id.start = 5;
    ek_fleet_orders_answer(o, &r);
    ek_fleet_orders_due(o, 1000 + EK_ORDERS_WAIT_MS, send, NULL);
    ck_assert_int_eq(sent, 4);
    ck_orders(o, "[{\"order\":1,\"state\":\"refused\",\"decider\":\"node-0\",\"error\":\"no\"},"
                 "{\"order\":2,\"state\":\"lost\"}]");
    ek_fleet_orders_free(o);
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
    struct ek_fleet_wish w = wish_of(f, EK_DID_PIN, 3);
    struct ek_wire_out out;
    static struct ek_fleet_reply r;
    w.until_ms = 1800000000000;
    struct ek_buf record = record_of(&w);
    hold_to_golden(ORDER, &record);
    ek_buf_clear(&record);
    r = (struct ek_fleet_reply){.id = w.id, .decider = ek_text_of("node-0")};
    r.decided.is = ek_decided_of(EK_DID_PIN);
    r.decided.is.number = 1;
    r.decided.is.who = "ana";
    r.decided.is.feature = "price";
    ek_wire_begin(&out, &record, EK_FLEET_ANSWER);
    ek_fleet_reply_put(&out, &r);
    must(ek_wire_seal(&out));
    hold_to_golden(ANSWER, &record);
    ek_buf_release(&record);
    finish(f);
}
END_TEST

Suite *suite_fleet_orders(void)
{
    return ek_suite("fleet_orders", an_order_is_carried_out_once_for_all_and_answered,
                    what_cannot_be_is_refused_with_a_reason,
                    the_next_decider_keeps_what_people_said,
                    an_order_is_told_until_it_is_answered_or_nobody_waits_any_more,
                    the_records_are_written_as_they_always_were);
}
