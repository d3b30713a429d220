/* Fleet simulation under a virtual clock: 100 instances share 1,000 partitions over a network with
 * delays, without a broker. It runs the daemon's code: detectors, evidence reports, rows, leader,
 * plans. Prints one JSON object per event with its time. */
#include "base/rng.h"
#include "fleet/leader.h"
#include "fleet/fleet_instance.h"
#include "tests/must.h"
#include "tests/stream.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    PARTITIONS = 1000,
    INSTANCES = 100,
    TRAINING = 20000,
    STEP_MS = 100,
    TICK_STEPS = 10,
    EARLY_STEPS = 3, /* a quarter of the daemon's report interval, plus one step to check */
    WARM_STEPS = 200,
    MOST_STEPS = 1200,
    LISTS_PER_STEP = 5,   /* of an instance: 5 a second per partition */
    LAG_MS = 500,         /* skew between partitions */
    NEAR_MS = 50,         /* minimum delay of a record */
    TICK_FAR_MS = 250,    /* maximum delay to the leader */
    PLAN_FAR_MS = 500,    /* maximum delay to an instance */
    TAKE_OVER_MS = 10000, /* until another instance replaces a dead leader */
    THREADS = 4,
    TIMES = (MOST_STEPS + WARM_STEPS) * STEP_MS + 2 * LAG_MS,
};

static const char RULES[] =
    "version: 1\n"
    "defaults: {mode: enforce, false_alarms: 1 per 453333333 lists, confirmation_lists: 64}\n"
    "segments: [arm]\n";

enum fault { TENTH, ONE_PARTITION, DYING_DECIDER, FAULTS };
static const char *const FAULT[FAULTS] = {"x2 in a tenth of the lists, everywhere",
                                          "x100 in one partition of the thousand",
                                          "x2 in a tenth, and the leader dies at the alarm"};

struct record {
    uint8_t *bytes;
    size_t length;
    int64_t due_ms;
    int to; /* instance, -1: the leaders */
};

/* A scored list: its event time and its plan version. */
struct scored {
    int64_t time_ms;
    uint64_t version;
};

struct instance {
    struct stream stream;
    struct ek_detector *detector;
    struct ek_fleet_instance *member;
    int64_t stream_ms;
    int number, told; /* step of the last report */
    struct scored scored[LISTS_PER_STEP];
};

struct fleet {
    enum fault fault;
    bool faulty;
    int64_t clock_ms;
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct instance instance[INSTANCES];
    struct ek_leader *decider[2];
    bool dead;
    struct record *log;
    int records, room;
    struct ek_rng rng;
    uint64_t version[TIMES]; /* of the lists of a ms; 0: none yet */
    uint64_t apart;          /* lists scored under another version than others of the same ms */
};

static void send_to(struct fleet *f, const void *bytes, size_t length, int to, int far_ms)
{
    if (f->records == f->room) {
        f->room = f->room ? 2 * f->room : 1024;
        f->log = realloc(f->log, (size_t)f->room * sizeof *f->log);
    }
    uint8_t *copy = malloc(length);
    if (!f->log || !copy)
        abort();
    memcpy(copy, bytes, length);
    int64_t takes = NEAR_MS + (int64_t)ek_rng_uniform_int(&f->rng, (uint64_t)(far_ms - NEAR_MS));
    f->log[f->records++] = (struct record){copy, length, f->clock_ms + takes, to};
}

static int to_deciders(void *context, const void *bytes, size_t length)
{
    send_to(context, bytes, length, -1, TICK_FAR_MS);
    return EK_OK;
}

static bool is_hit(const struct fleet *f, int partition, struct ek_rng *r)
{
    if (!f->faulty)
        return false;
    return f->fault == ONE_PARTITION ? partition == 0 : ek_rng_uniform(r) < .1;
}

/* Observe the lists of one step from all partitions of an instance, which are skewed. */
static void observe(struct fleet *f, struct instance *o)
{
    const struct ek_instance_plans *plans = ek_fleet_instance_plans(o->member);
    struct ek_finding told;
    for (int i = 0; i < LISTS_PER_STEP; i++) {
        struct ek_list *q = stream_next(&o->stream);
        int own = PARTITIONS / INSTANCES;
        int partition = o->number * own + (int)ek_rng_uniform_int(&o->stream.rng, (uint64_t)own);
        int64_t lag = partition * 7919 % LAG_MS;
        q->time_ms =
            f->clock_ms + LAG_MS - lag + (int64_t)ek_rng_uniform_int(&o->stream.rng, STEP_MS);
        if (is_hit(f, partition, &o->stream.rng))
            stream_scale(q, 0, f->fault == ONE_PARTITION ? 100 : 2);
        o->stream_ms = q->time_ms > o->stream_ms ? q->time_ms : o->stream_ms;
        must(ek_detector_observe(o->detector, q, q->time_ms, NULL));
        while (ek_detector_next(o->detector, &told))
            ek_fleet_instance_add_finding(o->member, &told);
        const struct ek_plan *plan = ek_instance_plans_get(plans, q->time_ms, o->stream_ms);
        o->scored[i] = (struct scored){q->time_ms, plan->version + 1};
    }
}

struct part {
    struct fleet *fleet;
    int first;
};

static void *observe_part(void *context)
{
    struct part *p = context;
    for (int i = p->first; i < INSTANCES; i += THREADS)
        observe(p->fleet, &p->fleet->instance[i]);
    return NULL;
}

static void observe_all(struct fleet *f)
{
    pthread_t thread[THREADS];
    struct part part[THREADS];
    for (int t = 0; t < THREADS; t++) {
        part[t] = (struct part){f, t};
        must(pthread_create(&thread[t], NULL, observe_part, &part[t]));
    }
    for (int t = 0; t < THREADS; t++)
        must(pthread_join(thread[t], NULL));
    for (int i = 0; i < INSTANCES; i++)
        for (int n = 0; n < LISTS_PER_STEP; n++) {
            const struct scored *s = &f->instance[i].scored[n];
            uint64_t *version = &f->version[s->time_ms];
            f->apart += *version && *version != s->version;
            *version = s->version;
        }
}

static void arrive(struct fleet *f, const struct record *r)
{
    if (r->to >= 0) {
        struct instance *o = &f->instance[r->to];
        must(ek_instance_plans_receive(ek_fleet_instance_plans(o->member), r->bytes, r->length,
                                       f->clock_ms, o->stream_ms, NULL));
        return;
    }
    for (int d = f->dead; d < 2; d++) {
        bool plan = ek_record_has_kind(r->bytes, r->length, EK_FLEET_PLAN);
        must(plan ? ek_leader_apply_record(f->decider[d], r->bytes, r->length, NULL)
                  : ek_leader_receive(f->decider[d], r->bytes, r->length, f->clock_ms, NULL));
    }
}

static void deliver(struct fleet *f)
{
    int kept = 0;
    for (int i = 0; i < f->records; i++) {
        if (f->log[i].due_ms > f->clock_ms) {
            f->log[kept++] = f->log[i];
            continue;
        }
        arrive(f, &f->log[i]);
        free(f->log[i].bytes);
    }
    f->records = kept;
}

/* Findings reported by the leader so far. */
struct seen {
    int64_t suspected_ms, confirmed_ms;
};

static void decide(struct fleet *f, int d, bool tick, struct seen *seen)
{
    struct ek_buf record;
    struct ek_finding told;
    ek_buf_init(&record, 0);
    must(tick ? ek_leader_advance(f->decider[d], f->clock_ms, &record, NULL)
              : ek_leader_check(f->decider[d], f->clock_ms, &record, NULL));
    if (record.length) {
        send_to(f, record.data, record.length, -1, TICK_FAR_MS);
        for (int i = 0; i < INSTANCES; i++)
            send_to(f, record.data, record.length, i, PLAN_FAR_MS);
    }
    ek_buf_release(&record);
    while (ek_leader_next(f->decider[d], &told)) {
        if (told.state == EK_SUSPECTED && seen->suspected_ms < 0)
            seen->suspected_ms = f->clock_ms;
        if (told.state == EK_CONFIRMED && seen->confirmed_ms < 0)
            seen->confirmed_ms = f->clock_ms;
    }
}

/* Send the periodic reports, and urgent ones between them. */
static void tell(struct fleet *f, struct instance *o)
{
    int step = (int)(f->clock_ms / STEP_MS);
    bool tick = step % TICK_STEPS == o->number % TICK_STEPS;
    bool early =
        ek_fleet_instance_has_findings(o->member) || ek_fleet_instance_is_sampled(o->member);
    if (!tick && (!early || step - o->told < EARLY_STEPS))
        return;
    o->told = step;
    must(tick ? ek_fleet_instance_report(o->member, o->stream_ms, to_deciders, f, NULL)
              : ek_fleet_instance_report_early(o->member, o->stream_ms, to_deciders, f, NULL));
}

/* Plans and reports keep their order, as in a log. */
static void step(struct fleet *f, int number, struct seen *seen)
{
    f->clock_ms += STEP_MS;
    observe_all(f);
    for (int i = 0; i < INSTANCES; i++)
        tell(f, &f->instance[i]);
    deliver(f);
    for (int d = f->dead; d < 2; d++)
        decide(f, d, number % TICK_STEPS == 0, seen);
}

static void start(struct fleet *f, enum fault fault)
{
    static const char *const name[2] = {"node-0", "node-50"};
    memset(f, 0, sizeof *f);
    f->fault = fault;
    ek_rng_seed(&f->rng, 1);
    f->manifest = stream_manifest();
    f->profile = stream_profile(f->manifest, TRAINING);
    must(ek_rules_parse(&f->rules, f->manifest, "rules", RULES, sizeof RULES - 1, NULL));
    for (int i = 0; i < INSTANCES; i++) {
        struct instance *o = &f->instance[i];
        char own[16];
        snprintf(own, sizeof own, "node-%d", i);
        const struct ek_fleet_instance_setup setup = {f->profile, own, 1, 0};
        o->number = i;
        stream_start(&o->stream, 7000 + (uint64_t)i);
        must(ek_detector_new(&o->detector, f->manifest, f->profile, f->rules, NULL));
        must(ek_fleet_instance_new(&o->member, o->detector, &setup, NULL));
    }
    for (int d = 0; d < 2; d++) {
        const struct ek_leader_setup setup = {.manifest = f->manifest,
                                              .profile = f->profile,
                                              .rules = f->rules,
                                              .means = {.model = true},
                                              .name = name[d]};
        must(ek_leader_new(&f->decider[d], &setup, NULL));
    }
    ek_leader_start(f->decider[0], 0);
}

static void end(struct fleet *f)
{
    for (int i = 0; i < INSTANCES; i++) {
        ek_fleet_instance_free(f->instance[i].member);
        ek_detector_free(f->instance[i].detector);
        stream_end(&f->instance[i].stream);
    }
    for (int d = 0; d < 2; d++)
        ek_leader_free(f->decider[d]);
    for (int i = 0; i < f->records; i++)
        free(f->log[i].bytes);
    free(f->log);
    ek_rules_free(f->rules);
    ek_profile_free(f->profile);
    ek_manifest_free(f->manifest);
}

/* Return the instances that score their next list under a non-empty plan. */
static int applied(const struct fleet *f)
{
    int count = 0;
    for (int i = 0; i < INSTANCES; i++) {
        const struct instance *o = &f->instance[i];
        count +=
            ek_instance_plans_get(ek_fleet_instance_plans(o->member), o->stream_ms, o->stream_ms)
                ->count > 0;
    }
    return count;
}

static uint64_t late_plans(const struct fleet *f)
{
    uint64_t late = 0;
    for (int i = 0; i < INSTANCES; i++)
        late += ek_instance_plans_late_count(ek_fleet_instance_plans(f->instance[i].member));
    return late;
}

static double seconds(int64_t to_ms, int64_t from_ms)
{
    return to_ms < 0 ? -1 : (double)(to_ms - from_ms) / 1000;
}

static void run(struct fleet *f, enum fault fault)
{
    struct seen seen = {-1, -1};
    int64_t from_ms = 0, first_ms = -1, all_ms = -1, died_ms = -1;
    uint64_t late;
    start(f, fault);
    for (int n = 1; n <= WARM_STEPS; n++)
        step(f, n, &seen);
    from_ms = f->clock_ms;
    f->faulty = true;
    f->apart = 0;
    late = late_plans(f);
    for (int n = 1; n <= MOST_STEPS - TICK_STEPS && all_ms < 0; n++) {
        step(f, n, &seen);
        if (fault == DYING_DECIDER && seen.suspected_ms >= 0 && !f->dead) {
            f->dead = true;
            died_ms = f->clock_ms;
        }
        if (f->dead && f->clock_ms - died_ms >= TAKE_OVER_MS)
            ek_leader_start(f->decider[1], f->clock_ms);
        int have = applied(f);
        first_ms = have && first_ms < 0 ? f->clock_ms : first_ms;
        all_ms = have == INSTANCES ? f->clock_ms : -1;
    }
    late = late_plans(f) - late;
    printf("{\"case\":\"%s\",\"suspected_s\":%.1f,\"confirmed_s\":%.1f,\"first_s\":%.1f,"
           "\"all_s\":%.1f,\"late\":%llu,\"apart\":%llu}\n",
           FAULT[fault], seconds(seen.suspected_ms, from_ms), seconds(seen.confirmed_ms, from_ms),
           seconds(first_ms, from_ms), seconds(all_ms, from_ms), (unsigned long long)late,
           (unsigned long long)f->apart);
    fflush(stdout);
    end(f);
}

int main(void)
{
    static struct fleet f;
    for (int fault = 0; fault < FAULTS; fault++)
        run(&f, (enum fault)fault);
    return 0;
}
