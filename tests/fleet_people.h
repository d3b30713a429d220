/* Fleet (tests/fleet_world.h) that receives operator commands. */
#ifndef EK_TESTS_FLEET_PEOPLE_H
#define EK_TESTS_FLEET_PEOPLE_H

#include "fleet/command_record.h"
#include "tests/check.h"
#include "tests/fleet_world.h"
#include "tests/must.h"

enum { TRAINING = 2000, PRICE = 0 };

static inline void quiet(struct fleet *f, int i, struct ek_list *q)
{
    (void)f, (void)i, (void)q;
}

static inline struct fleet *start(void)
{
    struct fleet *f = calloc(1, sizeof *f);
    fleet_start(f, 2, TRAINING, 7);
    fleet_run(f, 3, quiet);
    return f;
}

static inline void finish(struct fleet *f)
{
    fleet_end(f);
    free(f);
}

static inline struct ek_order order_of(enum ek_decision_kind kind, uint64_t number)
{
    struct ek_order o = {
        .id = {ek_text_from("node-1"), 1790000000000, number}, .kind = kind, .author = "ana"};
    if (kind == EK_DECIDED_PAUSE || kind == EK_DECIDED_RESUME)
        return o;
    o.feature = "price";
    o.segment = "arm";
    o.value = "B";
    o.action = kind == EK_DECIDED_PIN ? EK_ACT_ROUTE : EK_ACT_NONE;
    o.reason = "miles";
    return o;
}

static inline struct ek_buf record_of(const struct fleet *f, const struct ek_order *o)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_fleet_order_write(o, f->world.manifest->hash, &out));
    return out;
}

static inline void give(struct fleet *f, int decider, const struct ek_order *o)
{
    struct ek_buf out = record_of(f, o);
    struct ek_error e;
    int rc = ek_leader_receive(f->decider[decider], out.data, out.length, f->clock_ms, &e);
    ck_assert_msg(!rc, "%s", e.message);
    ek_buf_release(&out);
}

/* The last reply and the number of replies. */
struct answers {
    struct ek_buf bytes;
    int count;
};

static inline int hear(void *context, const void *bytes, size_t length)
{
    struct answers *a = context;
    ek_buf_clear(&a->bytes);
    a->count++;
    return ek_buf_add(&a->bytes, bytes, length);
}

static inline struct ek_fleet_reply answered(struct fleet *f, int decider, struct answers *a,
                                             int count)
{
    static struct ek_fleet_reply r; /* owns the strings of the returned reply */
    struct ek_error e;
    a->count = 0;
    must(ek_leader_write_replies(f->decider[decider], hear, a));
    ck_assert_int_eq(a->count, count);
    memset(&r, 0, sizeof r);
    int rc = count ? ek_fleet_reply_open(&r, a->bytes.data, a->bytes.length, &e) : EK_OK;
    ck_assert_msg(!rc, "%s", e.message);
    return r;
}

#endif
