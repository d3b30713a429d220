/* A fleet (tests/fleet_world.h) that is told something by people. */
#ifndef EK_TESTS_FLEET_PEOPLE_H
#define EK_TESTS_FLEET_PEOPLE_H

#include "fleet/command_record.h"
#include "tests/check.h"
#include "tests/fleet_world.h"
#include "tests/must.h"

enum { TRAINING = 2000, PRICE = 0 };

static inline void quiet(struct fleet *f, int i, struct ek_query *q)
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

static inline struct ek_fleet_wish wish_of(const struct fleet *f, enum ek_did what, uint64_t number)
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

static inline struct ek_buf record_of(const struct ek_fleet_wish *w)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    must(ek_fleet_wish_write(w, &out));
    return out;
}

static inline void give(struct fleet *f, int decider, const struct ek_fleet_wish *w)
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
    static struct ek_fleet_reply r; /* has the texts that what is given back points to */
    struct ek_error e;
    a->count = 0;
    must(ek_fleet_decider_answers(f->decider[decider], hear, a));
    ck_assert_int_eq(a->count, count);
    memset(&r, 0, sizeof r);
    int rc = count ? ek_fleet_reply_open(&r, a->bytes.data, a->bytes.length, &e) : EK_OK;
    ck_assert_msg(!rc, "%s", e.message);
    return r;
}

#endif
