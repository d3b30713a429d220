#include "tests/fuzz/company.h"

#include "tests/fuzz/fuzz.h"
#include "tests/stream.h"

enum { TRAINING = 400, LISTS = 320, CELLS = 4, PLACES = 8, TRIES = 12 };

static const char RULES[] = "version: 1\n"
                            "defaults:\n"
                            "  mode: canary\n"
                            "  mode_in: {arm: {B: enforce}}\n"
                            "  confirmation_lists: 8\n"
                            "  min_duration: 5s\n"
                            "  false_alarms: 1 per 10000 lists\n"
                            "  canary: {initial_percent: 40, step_percent: 30, step_interval: 2s, "
                            "min_lists: 2, abort_if: {rank_change_p95: 0.9}}\n"
                            "segments: [arm]\n"
                            "limits: {max_routed_features: 1, on_limit: keep}\n";

static const char *const NAMES[] = {"node-0", "node-1"};
static const uint8_t KINDS[COMPANY_KINDS] = {EK_FLEET_REPORT,  EK_FLEET_PLAN,
                                             EK_FLEET_ROWS,    EK_FLEET_COMPARISONS,
                                             EK_FLEET_COMMAND, EK_FLEET_REPLY};

static void good(int rc, const struct ek_error *e)
{
    ek_fuzz_require(!rc, e->message);
}

/* Requires a message with every error. */
static bool taken(int rc, const struct ek_error *e)
{
    ek_fuzz_require(!rc || e->message[0], "refused without a word");
    return !rc;
}

const struct company_assets *company_assets(void)
{
    static struct company_assets a;
    struct ek_error e = {0};
    if (a.rules)
        return &a;
    a.manifest = stream_manifest();
    a.profile = stream_profile(a.manifest, TRAINING);
    good(ek_rules_parse(&a.rules, a.manifest, "rules", RULES, sizeof RULES - 1, &e), &e);
    return &a;
}

/* Return list n of the genuine stream, which is created once. */
static const struct ek_list *list_of(int n)
{
    static struct stream lists[LISTS];
    static bool made;
    for (int i = 0; !made && i < LISTS; i++) {
        stream_start(&lists[i], 900 + (uint64_t)i);
        lists[i].number = (uint64_t)i;
        stream_next(&lists[i]);
    }
    made = true;
    return &lists[n].query;
}

/* Keep the newest record of its kind. */
static void keep(struct company *c, const void *bytes, size_t length)
{
    for (int i = 0; i < COMPANY_KINDS; i++) {
        if (((const uint8_t *)bytes)[3] != KINDS[i])
            continue;
        ek_buf_clear(&c->last[i].bytes);
        ek_fuzz_require(!ek_buf_add(&c->last[i].bytes, bytes, length), "no memory");
    }
}

/* All members read one log, so their plans must be equal. */
static void same_plan(const struct company *c)
{
    const struct ek_instance_plans *one = ek_fleet_instance_plans(c->member[0]),
                                   *other = ek_fleet_instance_plans(c->member[1]);
    const struct ek_record_order *a = ek_instance_plans_order(one),
                                 *b = ek_instance_plans_order(other);
    ek_fuzz_require(a->term == b->term && a->version == b->version &&
                        !strcmp(a->decider, b->decider),
                    "two instances follow two plans");
    ek_fuzz_require(ek_instance_plans_has_version(one) == ek_instance_plans_has_version(other),
                    "a record counts for one instance alone");
}

/* A plan record must be valid for all members or for none. */
static void send_plan(struct company *c, const void *bytes, size_t length)
{
    struct ek_error e = {0};
    int refused = 0;
    for (int i = 0; i < COMPANY_DECIDERS; i++)
        refused += !taken(ek_leader_apply_record(c->decider[i], bytes, length, &e), &e);
    for (int i = 0; i < COMPANY_MEMBERS; i++)
        refused += !taken(ek_instance_plans_receive(ek_fleet_instance_plans(c->member[i]), bytes,
                                                    length, c->clock_ms, c->stream_ms, &e),
                          &e);
    ek_fuzz_require(!refused || refused == COMPANY_DECIDERS + COMPANY_MEMBERS,
                    "a record is taken by some and refused by others");
    same_plan(c);
}

void company_send(struct company *c, const void *bytes, size_t length, bool plans)
{
    struct ek_error e = {0};
    uint8_t *exact = ek_fuzz_exact(bytes, length);
    if (plans)
        send_plan(c, exact, length);
    for (int i = 0; !plans && i < COMPANY_DECIDERS; i++)
        taken(ek_leader_receive(c->decider[i], exact, length, c->clock_ms, &e), &e);
    free(exact);
}

/* Write callback of a member. */
static int write_tick(void *context, const void *bytes, size_t length)
{
    keep(context, bytes, length);
    company_send(context, bytes, length, false);
    return 0;
}

static int write_answer(void *context, const void *bytes, size_t length)
{
    static struct ek_fleet_reply answer;
    struct ek_error e = {0};
    good(ek_fleet_reply_open(&answer, bytes, length, &e), &e);
    ek_fuzz_require(answer.code == EK_OK || answer.refusal.length, "refused without a word");
    keep(context, bytes, length);
    send_plan(context, bytes, length);
    return 0;
}

/* A duplicate instance has a valid name; a finding has a valid feature and segment. */
static void hear(const struct company *c, struct ek_leader *d)
{
    const struct ek_fleet_pool *pool = ek_leader_pool(d);
    struct ek_finding f;
    const char *name = NULL;
    for (size_t at = 0; (at = ek_fleet_pool_next_duplicate(pool, at, c->clock_ms, &name)) > 0;)
        ek_fuzz_require(name && strlen(name) <= EK_FLEET_NAME_MAX, "a name that is none");
    while (ek_leader_next(d, &f))
        ek_fuzz_require(f.feature >= 0 && f.feature < company_assets()->manifest->item_count &&
                            f.cell >= 0 && f.cell < ek_fleet_pool_places(pool),
                        "a finding of nothing");
}

typedef int decision(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e);

/* The last version has no successor (docs/limitations.md). */
static bool is_at_the_end(const struct ek_leader *d)
{
    return ek_leader_version(d) > UINT64_MAX >> 2;
}

/* A leader's plan must be readable by every member, whichever records it received. */
static void decide(struct company *c, decision *how)
{
    struct ek_error e = {0};
    struct ek_buf out;
    ek_buf_init(&out, 0);
    for (int i = 0; i < COMPANY_DECIDERS; i++) {
        struct ek_fleet_plan plan;
        ek_buf_clear(&out);
        good(how(c->decider[i], c->clock_ms, &out, &e), &e);
        hear(c, c->decider[i]);
        if (!out.length || is_at_the_end(c->decider[i]))
            continue;
        good(ek_fleet_plan_open(&plan, out.data, out.length, company_assets()->manifest, &e), &e);
        keep(c, out.data, out.length);
        send_plan(c, out.data, out.length);
        ek_fuzz_require(!ek_leader_write_replies(c->decider[i], write_answer, c), "no answer");
    }
    ek_buf_release(&out);
}

static void harm(struct ek_list *q, int member, enum company_fault fault)
{
    for (int i = 0; i < q->items; i++) {
        float *price = &q->x[3 * i];
        if (fault == CENTS || (fault == HALF_CENTS && i % 2) || (fault == CENTS_IN_ONE && member) ||
            (fault == CENTS_IN_B && ek_text_same(q->segments[0].value, ek_text_from("B"))))
            *price *= 100;
        else if (fault == DEARER)
            *price *= 1.5f;
        else if (fault == SIZES)
            price[1] *= 10;
    }
}

static void observe(struct company *c, int member, int n, enum company_fault fault)
{
    enum { ITEMS_MOST = 24 };
    float x[3 * ITEMS_MOST];
    struct ek_list q = *list_of(n);
    struct ek_finding f;
    struct ek_error e = {0};
    ek_fuzz_require(q.items <= ITEMS_MOST, "a longer list than there are");
    memcpy(x, q.x, sizeof *x * 3 * (size_t)q.items);
    q.x = x;
    harm(&q, member, fault);
    good(ek_detector_observe(c->detector[member], &q, q.time_ms, &e), &e);
    while (ek_detector_next(c->detector[member], &f))
        ek_fleet_instance_add_finding(c->member[member], &f);
    c->stream_ms = q.time_ms > c->stream_ms ? q.time_ms : c->stream_ms;
}

/* Observe lists in turn; with GONE the second instance has none and sends no report. */
static bool lists(struct company *c, int count, enum company_fault fault)
{
    for (int n = 0; n < count && c->list < LISTS; n++, c->list++)
        observe(c, fault == GONE ? 0 : c->list % COMPANY_MEMBERS, c->list, fault);
    return c->list < LISTS;
}

/* A current list is scored by the newest plan. */
static void follow(struct company *c, int member)
{
    struct ek_instance_plans *plans = ek_fleet_instance_plans(c->member[member]);
    const struct ek_plan *plan = ek_instance_plans_get(plans, c->stream_ms + 1, c->stream_ms + 1);
    ek_fuzz_require(plan && plan->count <= EK_PLAN_MAX, "no plan");
    ek_fuzz_require(ek_instance_plans_levels(plans, plan)->count <= EK_LEVEL_OFFSETS_MAX,
                    "no levels");
}

bool company_tick(struct company *c, enum company_fault fault)
{
    struct ek_error e = {0};
    bool more = lists(c, COMPANY_LISTS, fault);
    c->clock_ms += COMPANY_TICK_MS;
    for (int i = 0; i < (fault == GONE ? 1 : COMPANY_MEMBERS); i++) {
        follow(c, i);
        good(ek_fleet_instance_report(c->member[i], c->stream_ms, write_tick, c, &e), &e);
    }
    decide(c, ek_leader_advance);
    return more;
}

bool company_early(struct company *c, enum company_fault fault)
{
    struct ek_error e = {0};
    bool more = lists(c, COMPANY_LISTS, fault);
    for (int i = 0; i < COMPANY_MEMBERS; i++)
        if (ek_fleet_instance_has_findings(c->member[i]) ||
            ek_fleet_instance_is_sampled(c->member[i]))
            good(ek_fleet_instance_report_early(c->member[i], c->stream_ms, write_tick, c, &e), &e);
    decide(c, ek_leader_check);
    return more;
}

void company_try(struct company *c, double harm)
{
    struct ek_error e = {0};
    for (int i = 0; i < COMPANY_MEMBERS; i++) {
        const struct ek_plan *plan = ek_instance_plans_get(ek_fleet_instance_plans(c->member[i]),
                                                           c->stream_ms + 1, c->stream_ms);
        struct ek_comparison trial = {
            .plan = plan->version,
            .result = {.has_harm = true, .harm = harm, .moved = {.5, .5, 2, harm}}};
        trial.result.out = trial.result.moved;
        while (trial.entries < plan->count && trial.entries < EK_ROUTING_ENTRIES) {
            trial.acting |= 1u << trial.entries;
            trial.entry[trial.entries] = (int16_t)trial.entries;
            trial.entries++;
        }
        for (int n = 0; n < TRIES && trial.entries; n++)
            good(ek_comparisons_add(c->trials[i], plan, &trial, &e), &e);
        good(
            ek_fleet_instance_comparisons(c->member[i], c->trials[i], harm > .9, write_tick, c, &e),
            &e);
    }
}

static void join(struct company *c)
{
    const struct company_assets *a = company_assets();
    struct ek_error e = {0};
    c->start++;
    for (int i = 0; i < COMPANY_MEMBERS; i++) {
        const struct ek_fleet_instance_setup setup = {a->profile, NAMES[i], c->start, 0};
        good(ek_detector_new_with(&c->detector[i], a->manifest, a->profile, a->rules, CELLS, &e),
             &e);
        good(ek_fleet_instance_new(&c->member[i], c->detector[i], &setup, &e), &e);
        good(ek_comparisons_new(&c->trials[i], &e), &e);
    }
}

static void leave(struct company *c)
{
    for (int i = 0; i < COMPANY_MEMBERS; i++) {
        ek_fleet_instance_free(c->member[i]);
        ek_detector_free(c->detector[i]);
        ek_comparisons_free(c->trials[i]);
    }
}

void company_restart(struct company *c)
{
    leave(c);
    join(c);
}

struct company *company_open(void)
{
    const struct company_assets *a = company_assets();
    struct ek_error e = {0};
    struct company *c = calloc(1, sizeof *c);
    ek_fuzz_require(c != NULL, "no memory");
    for (int i = 0; i < COMPANY_KINDS; i++)
        ek_buf_init(&c->last[i].bytes, 0);
    join(c);
    for (int i = 0; i < COMPANY_DECIDERS; i++) {
        const struct ek_leader_setup setup = {.manifest = a->manifest,
                                              .profile = a->profile,
                                              .rules = a->rules,
                                              .means = {.model = true},
                                              .name = NAMES[i],
                                              .places = PLACES};
        good(ek_leader_new(&c->decider[i], &setup, &e), &e);
    }
    ek_leader_start(c->decider[0], 0);
    return c;
}

void company_close(struct company *c)
{
    leave(c);
    for (int i = 0; i < COMPANY_DECIDERS; i++)
        ek_leader_free(c->decider[i]);
    for (int i = 0; i < COMPANY_KINDS; i++)
        ek_buf_release(&c->last[i].bytes);
    free(c);
}
