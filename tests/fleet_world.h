/* Fleet on small streams with a simulated clock: observing instances, one log of evidence reports,
 * one of plans, and leader candidates. The test controls the delivery of records. */
#ifndef EK_TESTS_FLEET_WORLD_H
#define EK_TESTS_FLEET_WORLD_H

#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "tests/stream_world.h"

#include <stdlib.h>

enum { FLEET_MOST = 128, FLEET_TICK_LISTS = 25, FLEET_TICK_MS = 1000, FLEET_DECIDERS = 3 };

/* Rules with the budget of 136 features for the 3 in event times. */
static const char FLEET_RULES[] =
    "version: 1\n"
    "defaults: {mode: enforce, false_alarms: 1 per 453333333 lists, confirmation_lists: 64}\n"
    "segments: [arm]\n";

struct fleet_record {
    uint8_t *bytes;
    size_t length;
    int due; /* report interval of its arrival */
    int from;
};

struct fleet_instance {
    struct stream stream;
    struct ek_detector *detector;
    struct ek_fleet_instance *member;
    int64_t stream_ms;
    bool cut;  /* receives no plans */
    bool idle; /* has no lists */
    int local; /* lists before its own first suspicion; -1: none yet */
    char name[16];
};

struct fleet {
    struct stream_world world;
    int instances, ticks, tick_lists;
    struct fleet_instance instance[FLEET_MOST];
    struct ek_leader *decider[FLEET_DECIDERS];
    bool dead[FLEET_DECIDERS];
    bool deaf[FLEET_DECIDERS];       /* reads no plans and still acts as leader */
    uint64_t misses[FLEET_DECIDERS]; /* instances with lost records, as bits */
    int teller;                      /* instance that writes at present */
    int64_t clock_ms;
    struct fleet_record *log; /* undelivered evidence reports */
    int records, room;
    int published; /* number of plans */
    /* Return the number of copies that arrive, and set their delay in report intervals. */
    int (*fate)(struct fleet *f, int *late);
    struct ek_rng rng;
    /* last finding of the leaders, by state */
    struct ek_finding last[5];
    int count[5];
    int first[5]; /* lists of each since `since`, at the first finding of that state; -1: none */
    int since;    /* lists before the fault */
};

typedef void fleet_fault(struct fleet *f, int instance, struct ek_list *q);

static inline void fleet_join(struct fleet *f, int i, uint64_t start)
{
    struct fleet_instance *o = &f->instance[i];
    const struct ek_fleet_instance_setup setup = {f->world.profile, o->name, start, 0};
    ck_assert_int_eq(ek_fleet_instance_new(&o->member, o->detector, &setup, NULL), EK_OK);
}

static inline struct ek_leader *fleet_decider(struct fleet *f, int number)
{
    char name[16];
    snprintf(name, sizeof name, "node-%d", number);
    const struct ek_leader_setup setup = {.manifest = f->world.manifest,
                                          .profile = f->world.profile,
                                          .rules = f->world.rules,
                                          .means = {.model = true},
                                          .name = name};
    ck_assert_int_eq(ek_leader_new(&f->decider[number], &setup, NULL), EK_OK);
    return f->decider[number];
}

/* Initialize a fleet in an existing world. */
static inline void fleet_begin(struct fleet *f, int instances, struct stream_world world,
                               uint64_t seed)
{
    memset(f, 0, sizeof *f);
    f->world = world;
    f->instances = instances;
    f->tick_lists = FLEET_TICK_LISTS;
    ek_rng_seed(&f->rng, seed);
    for (int i = 0; i < 5; i++)
        f->first[i] = -1;
    for (int i = 0; i < instances; i++) {
        struct fleet_instance *o = &f->instance[i];
        snprintf(o->name, sizeof o->name, "node-%d", i);
        stream_start(&o->stream, seed * 1000 + (uint64_t)i);
        o->local = -1;
        ck_assert_int_eq(ek_detector_new(&o->detector, f->world.manifest, f->world.profile,
                                         f->world.rules, NULL),
                         EK_OK);
        fleet_join(f, i, 1);
    }
    ek_leader_start(fleet_decider(f, 0), 0);
}

static inline void fleet_start(struct fleet *f, int instances, int training, uint64_t seed)
{
    struct stream_world world;
    stream_world_start(&world, FLEET_RULES, training, seed);
    fleet_begin(f, instances, world, seed);
}

static inline void fleet_end(struct fleet *f)
{
    for (int i = 0; i < f->instances; i++) {
        ek_fleet_instance_free(f->instance[i].member);
        ek_detector_free(f->instance[i].detector);
        stream_end(&f->instance[i].stream);
    }
    for (int i = 0; i < FLEET_DECIDERS; i++)
        ek_leader_free(f->decider[i]);
    for (int i = 0; i < f->records; i++)
        free(f->log[i].bytes);
    free(f->log);
    stream_world_end(&f->world);
}

static inline void fleet_log(struct fleet *f, const void *bytes, size_t length, int due)
{
    if (f->records == f->room) {
        f->room = f->room ? 2 * f->room : 64;
        f->log = realloc(f->log, (size_t)f->room * sizeof *f->log);
        ck_assert_ptr_nonnull(f->log);
    }
    struct fleet_record *r = &f->log[f->records++];
    *r = (struct fleet_record){malloc(length), length, due, f->teller};
    ck_assert_ptr_nonnull(r->bytes);
    memcpy(r->bytes, bytes, length);
}

/* Queue a record of an instance for delivery. */
static inline int fleet_write(void *context, const void *bytes, size_t length)
{
    struct fleet *f = context;
    int late[4] = {0}, copies = f->fate ? f->fate(f, late) : 1;
    for (int i = 0; i < copies; i++)
        fleet_log(f, bytes, length, f->ticks + late[i]);
    return EK_OK;
}

static inline void fleet_lists(struct fleet *f, int i, int lists, fleet_fault *harm)
{
    struct fleet_instance *o = &f->instance[i];
    struct ek_finding told;
    for (int n = 0; n < lists && !o->idle; n++) {
        struct ek_list *q = stream_next(&o->stream);
        if (harm)
            harm(f, i, q);
        o->stream_ms = q->time_ms;
        ck_assert_int_eq(ek_detector_observe(o->detector, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(o->detector, &told)) {
            ek_fleet_instance_add_finding(o->member, &told);
            if (told.state == EK_SUSPECTED && o->local < 0)
                o->local = (int)o->stream.number - f->since;
        }
    }
}

static inline void fleet_observe(struct fleet *f, int i, fleet_fault *harm)
{
    struct fleet_instance *o = &f->instance[i];
    fleet_lists(f, i, f->tick_lists, harm);
    f->teller = i;
    ck_assert_int_eq(ek_fleet_instance_report(o->member, o->stream_ms, fleet_write, f, NULL),
                     EK_OK);
}

/* Deliver all due records to every leader candidate. */
static inline void fleet_deliver(struct fleet *f)
{
    int kept = 0;
    for (int i = 0; i < f->records; i++) {
        struct fleet_record *r = &f->log[i];
        if (r->due > f->ticks) {
            f->log[kept++] = *r;
            continue;
        }
        for (int d = 0; d < FLEET_DECIDERS; d++)
            if (f->decider[d] && !f->dead[d] && !(f->misses[d] >> r->from % 64 & 1))
                ck_assert_int_eq(
                    ek_leader_receive(f->decider[d], r->bytes, r->length, f->clock_ms, NULL),
                    EK_OK);
        free(r->bytes);
    }
    f->records = kept;
}

/* Deliver a plan record to every connected instance and candidate. */
static inline void fleet_publish(struct fleet *f, const struct ek_buf *record)
{
    f->published++;
    for (int d = 0; d < FLEET_DECIDERS; d++)
        if (f->decider[d] && !f->dead[d] && !f->deaf[d])
            ck_assert_int_eq(
                ek_leader_apply_record(f->decider[d], record->data, record->length, NULL), EK_OK);
    for (int i = 0; i < f->instances; i++)
        if (!f->instance[i].cut)
            ck_assert_int_eq(ek_instance_plans_receive(
                                 ek_fleet_instance_plans(f->instance[i].member), record->data,
                                 record->length, f->clock_ms, f->instance[i].stream_ms, NULL),
                             EK_OK);
}

typedef int fleet_decision(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out,
                           struct ek_error *e);

static inline void fleet_decide(struct fleet *f, int d, fleet_decision *decide)
{
    struct ek_buf record;
    struct ek_finding told;
    ek_buf_init(&record, 0);
    ck_assert_int_eq(decide(f->decider[d], f->clock_ms, &record, NULL), EK_OK);
    if (record.length)
        fleet_publish(f, &record);
    ek_buf_release(&record);
    while (ek_leader_next(f->decider[d], &told)) {
        f->last[told.state] = told;
        f->count[told.state]++;
        if (f->first[told.state] < 0)
            f->first[told.state] = (int)f->instance[0].stream.number - f->since;
    }
}

static inline void fleet_tick(struct fleet *f, fleet_fault *harm)
{
    for (int i = 0; i < f->instances; i++)
        fleet_observe(f, i, harm);
    f->ticks++;
    f->clock_ms += FLEET_TICK_MS;
    fleet_deliver(f);
    for (int d = 0; d < FLEET_DECIDERS; d++)
        if (f->decider[d] && !f->dead[d])
            fleet_decide(f, d, ek_leader_advance);
}

/* Run `lists` lists per instance between two reports, send urgent reports, and let the first
 * candidate process them. */
static inline void fleet_between(struct fleet *f, int lists, fleet_fault *harm)
{
    for (int i = 0; i < f->instances; i++) {
        struct fleet_instance *o = &f->instance[i];
        fleet_lists(f, i, lists, harm);
        f->teller = i;
        if (ek_fleet_instance_has_findings(o->member) || ek_fleet_instance_is_sampled(o->member))
            ck_assert_int_eq(
                ek_fleet_instance_report_early(o->member, o->stream_ms, fleet_write, f, NULL),
                EK_OK);
    }
    fleet_deliver(f);
    fleet_decide(f, 0, ek_leader_check);
}

static inline void fleet_run(struct fleet *f, int ticks, fleet_fault *harm)
{
    for (int i = 0; i < ticks; i++)
        fleet_tick(f, harm);
}

/* Return the plan of an instance for its current list. */
static inline const struct ek_plan *fleet_plan(struct fleet *f, int i)
{
    struct fleet_instance *o = &f->instance[i];
    return ek_instance_plans_get(ek_fleet_instance_plans(o->member), o->stream_ms + 1,
                                 o->stream_ms + 1);
}

#endif
