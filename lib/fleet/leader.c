#include "fleet/leader.h"

#include "base/alloc.h"
#include "fleet/command_record.h"
#include "fleet/controller_record.h"
#include "fleet/diagnosis.h"
#include "fleet/fleet_findings.h"
#include "fleet/guardrails.h"
#include "fleet/plan_record.h"
#include "plan/route_controller.h"

#include <string.h>

enum {
    POOL = -1,       /* source of findings from pooled evidence */
    FRESH_MS = 1000, /* before start: reports that give the event time */
    SETTLE_MS = 5000 /* without reports, then continue with the previous plan */
};

struct ek_leader {
    struct ek_leader_setup setup;
    char name[EK_FLEET_NAME_MAX + 1];
    struct ek_fleet_pool *pool;
    struct ek_fleet_findings *findings;
    struct ek_leader_commands *commands;      /* operator commands */
    bool answerable;                          /* applied commands are in a plan record */
    struct ek_controller *control;            /* the plan; cells are cells of the pool */
    uint64_t published;                       /* version of `control` in the last record */
    struct ek_plan record_plan;               /* scratch: plan of the record being read */
    struct ek_controller_record record_state; /* scratch: controller state of that record */
    struct ek_fleet_accepted_set normal;      /* accepted levels; cells are cells of the pool */
    uint64_t normal_published;                /* version of `normal` in the last record */
    struct ek_fleet_guardrails *guardrails;   /* comparisons of all instances */
    struct ek_decisions *decisions;           /* by number in the fleet */
    uint64_t first_unnumbered;                /* first decision without a plan version */
    uint64_t shown;                           /* first decision that no record has */
    struct ek_record_order order;             /* of the log */
    uint64_t term, version;                   /* while it is leader */
    struct ek_fleet_diagnosis *open[EK_ROW_REQUESTS_MAX]; /* diagnoses; NULL: free */
    uint32_t rows;                                        /* requested from each instance */
    uint32_t requests;                                    /* number of row requests so far */
    bool is_leader;
    bool renewed;               /* publish a new version even if the plan is unchanged */
    int64_t began_ms, taken_ms; /* clock: start as leader; last report */
    int64_t orphans_ms;         /* clock: start of the wait for proposals of open findings */
    int64_t from_ms, time_ms;   /* event time */
    int64_t clock_ms;           /* current clock */
    int rc;                     /* EK_ENOMEM: some decisions were not reported */
};

static int dimension_of(void *context, int place)
{
    const struct ek_leader *d = context;
    struct ek_fleet_cell cell = ek_fleet_pool_cell(d->pool, place);
    for (int i = 0; i < d->setup.rules->segment_count; i++)
        if (ek_text_same(cell.dimension, ek_text_from(d->setup.rules->segment[i])))
            return i;
    return -1;
}

static const char *name_of(void *context, int place)
{
    return ek_fleet_pool_cell(((struct ek_leader *)context)->pool, place).dimension.text;
}

static const char *value_of(void *context, int place)
{
    return ek_fleet_pool_cell(((struct ek_leader *)context)->pool, place).value.text;
}

static double share_of(void *context, const int *place, int count)
{
    return ek_fleet_pool_share(((struct ek_leader *)context)->pool, place, count);
}

static int find(void *context, const char *dimension, const char *value)
{
    const struct ek_fleet_cell cell = {ek_text_from(dimension), ek_text_from(value)};
    return ek_fleet_pool_find(((struct ek_leader *)context)->pool, &cell);
}

static int assign_cell(void *context, const char *dimension, const char *value)
{
    struct ek_leader *d = context;
    const struct ek_fleet_cell cell = {ek_text_from(dimension), ek_text_from(value)};
    int place;
    return ek_fleet_pool_place(d->pool, &cell, &place) ? -2 : place;
}

/* The plan version is set when the plan is numbered. */
static int decided(void *context, const struct ek_decision_record *m)
{
    struct ek_leader *d = context;
    bool is_new;
    return ek_decisions_add(d->decisions, m, &is_new);
}

static bool get_stats(void *context, int feature, int place, struct ek_rollout_stats *out)
{
    struct ek_leader *d = context;
    const struct ek_plan *p = ek_controller_plan(d->control);
    int i;
    for (i = 0; i < p->count; i++)
        if (p->entry[i].feature == feature && p->entry[i].cell == place &&
            p->entry[i].by == EK_BY_FINDING)
            break;
    if (i == p->count || !ek_fleet_guardrails_stats(d->guardrails, &p->entry[i], d->clock_ms, out))
        return false;
    if (d->setup.means.features && !d->setup.means.ranker) /* repaired lists are not compared */
        out->compared = out->acted + out->earlier;
    return true;
}

static void reset_stats(void *context, int feature, int place)
{
    (void)feature;
    (void)place; /* the route restarts, and its statistics with it */
    ek_fleet_guardrails_begin(((struct ek_leader *)context)->guardrails);
}

static struct ek_fleet_diagnosis *find_diagnosis(const struct ek_leader *d, int feature)
{
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++)
        if (d->open[i] && ek_fleet_diagnosis_feature(d->open[i]) == feature)
            return d->open[i];
    return NULL;
}

/* Evidence relative to the previous level is invalid after an accept or revert, so reset it. */
static void restart(struct ek_leader *d, int feature)
{
    struct ek_fleet_diagnosis *of = find_diagnosis(d, feature);
    for (int i = 0; of && i < EK_ROW_REQUESTS_MAX; i++)
        if (d->open[i] == of)
            d->open[i] = NULL;
    ek_fleet_diagnosis_free(of);
    ek_fleet_findings_release_source(d->findings, feature, POOL);
    d->orphans_ms = d->clock_ms;
    ek_fleet_pool_restart_all(d->pool, feature);
    ek_fleet_pool_set_accepted_version(d->pool, d->normal.levels.version);
}

static int accept(void *context, int feature, int place, struct ek_decision_record *m,
                  struct ek_error *e)
{
    struct ek_leader *d = context;
    const struct ek_fleet_accepted_set_tools tools = {d->setup.manifest, d->pool, d->findings,
                                                      d->time_ms};
    struct ek_finding over;
    int rc = ek_fleet_accepted_set_add(&d->normal, &tools, feature, place, m, &over, e);
    if (rc)
        return rc;
    ek_controller_add_finding(d->control, &over, d->time_ms);
    restart(d, feature);
    return EK_OK;
}

static int revert(void *context, uint64_t version, struct ek_decision_record *m, struct ek_error *e)
{
    struct ek_leader *d = context;
    struct ek_level_offset one;
    int rc = ek_fleet_accepted_set_remove(&d->normal, version, m, &one, e);
    if (rc)
        return rc;
    m->feature = d->setup.manifest->item[one.feature]->name;
    m->dimension = name_of(d, one.cell);
    m->value = value_of(d, one.cell);
    restart(d, one.feature);
    return EK_OK;
}

static int new_control(struct ek_leader *d, struct ek_error *e)
{
    const struct ek_controller_setup setup = {.manifest = d->setup.manifest,
                                              .rules = d->setup.rules,
                                              .means = d->setup.means,
                                              .cells = {.dimension_of = dimension_of,
                                                        .name_of = name_of,
                                                        .value_of = value_of,
                                                        .find = find,
                                                        .assign = assign_cell,
                                                        .share_of = share_of,
                                                        .context = d},
                                              .callbacks = {.decided = decided,
                                                            .get_stats = get_stats,
                                                            .reset_stats = reset_stats,
                                                            .context = d},
                                              .levels = {accept, revert, d}};
    return ek_controller_new(&d->control, &setup, e);
}

int ek_leader_new(struct ek_leader **out, const struct ek_leader_setup *setup, struct ek_error *e)
{
    int places = setup->places > 0 ? setup->places : EK_FLEET_PLACES_DEFAULT_MAX;
    struct ek_leader *d = ek_calloc(1, sizeof *d);
    if (!d)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    d->setup = *setup;
    memcpy(d->name, setup->name, strnlen(setup->name, EK_FLEET_NAME_MAX));
    int rc = ek_fleet_pool_new(&d->pool, setup->manifest, setup->profile, setup->rules,
                               EK_FLEET_SHARE_POOLED, places, e);
    if (!rc && (ek_fleet_findings_new(&d->findings, d->pool, setup->manifest, setup->rules) ||
                ek_fleet_guardrails_new(&d->guardrails, setup->manifest) ||
                ek_decisions_new(&d->decisions)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && ek_leader_commands_new(&d->commands, d->name))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = new_control(d, e);
    if (!rc)
        d->normal.profile = ek_fleet_pool_profile(d->pool);
    if (rc) {
        ek_leader_free(d);
        return rc;
    }
    *out = d;
    return EK_OK;
}

static void close_diagnoses(struct ek_leader *d)
{
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++) {
        ek_fleet_diagnosis_free(d->open[i]);
        d->open[i] = NULL;
    }
}

void ek_leader_free(struct ek_leader *d)
{
    if (!d)
        return;
    close_diagnoses(d);
    ek_leader_commands_free(d->commands);
    ek_controller_free(d->control);
    ek_fleet_guardrails_free(d->guardrails);
    ek_decisions_free(d->decisions);
    ek_fleet_accepted_set_clear(&d->normal);
    ek_fleet_findings_free(d->findings);
    ek_fleet_pool_free(d->pool);
    ek_free(d);
}

const struct ek_fleet_pool *ek_leader_pool(const struct ek_leader *d)
{
    return d->pool;
}

const struct ek_plan *ek_leader_plan(const struct ek_leader *d)
{
    return ek_controller_plan(d->control);
}

uint64_t ek_leader_version(const struct ek_leader *d)
{
    return d->is_leader ? d->version : d->order.version;
}

bool ek_leader_is_active(const struct ek_leader *d)
{
    return d->is_leader;
}

int ek_leader_next(struct ek_leader *d, struct ek_finding *out)
{
    return ek_fleet_findings_next(d->findings, out);
}

static int place_of(void *context, const struct ek_fleet_cell *cell, int *place)
{
    return ek_fleet_pool_place(((struct ek_leader *)context)->pool, cell, place);
}

static int restore_finding(void *context, const struct ek_fleet_cell *cell,
                           const struct ek_finding *f)
{
    struct ek_leader *d = context;
    struct ek_finding one = *f;
    int rc = ek_fleet_pool_place(d->pool, cell, &one.cell);
    if (!rc && one.feature >= 0 && one.cell >= 0) {
        ek_fleet_findings_restore(d->findings, &one);
        ek_controller_set_incident(d->control, one.feature, one.cell, one.cause);
    }
    return rc;
}

static int restore_decision(void *context, const struct ek_decision_record *m)
{
    struct ek_leader *d = context;
    bool is_new;
    int rc = ek_decisions_add(d->decisions, m, &is_new);
    d->first_unnumbered = ek_decisions_last(d->decisions) + 1;
    return rc;
}

/* Apply the accepted levels of the log. If accepts of another profile were skipped, the levels
 * changed. */
static void follow_normal(struct ek_leader *d, struct ek_fleet_accepted_set *read, int outdated)
{
    ek_fleet_accepted_set_clear(&d->normal);
    d->normal = *read;
    *read = (struct ek_fleet_accepted_set){.levels.count = 0};
    d->normal.profile = ek_fleet_pool_profile(d->pool);
    d->normal.levels.version += outdated > 0;
    ek_fleet_pool_set_accepted_version(d->pool, d->normal.levels.version);
}

static int follow_control(struct ek_leader *d, const struct ek_fleet_plan *record)
{
    struct ek_controller_record_reader by = {.manifest = d->setup.manifest,
                                             .cell_of = place_of,
                                             .context = d,
                                             .decides = true,
                                             .profile = ek_fleet_pool_profile(d->pool)};
    d->record_plan.count = d->record_plan.modes = 0;
    int rc = ek_controller_record_read(record, &by, &d->record_plan, &d->record_state);
    d->record_plan.version = ek_controller_plan(d->control)->version; /* numbered separately */
    const struct ek_controller_memory memory =
        ek_controller_record_memory(&d->record_state, &d->record_plan);
    ek_controller_apply_record(d->control, &memory);
    int rc_operators = ek_controller_apply_operators(d->control, &memory);
    follow_normal(d, &d->record_state.normal, by.outdated);
    ek_controller_record_clear(&d->record_state);
    return rc ? rc : rc_operators;
}

/* Standby instances follow the plan and controller state of the log. */
static int restore_record(struct ek_leader *d, const struct ek_fleet_plan *record,
                          struct ek_error *e)
{
    const struct ek_fleet_plan_visitor callbacks = {
        .context = d, .decided = restore_decision, .finding = restore_finding};
    d->from_ms = record->head.from_ms;
    ek_fleet_findings_reset(d->findings, record->head.episodes);
    int rc = follow_control(d, record);
    if (!rc)
        rc = ek_fleet_plan_visit(record, &callbacks);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

static bool is_ours(const struct ek_leader *d)
{
    return d->order.term == d->term && !strcmp(d->order.decider, d->name);
}

int ek_leader_apply_record(struct ek_leader *d, const void *bytes, size_t length,
                           struct ek_error *e)
{
    struct ek_fleet_plan record;
    int rc = ek_fleet_plan_open(&record, bytes, length, d->setup.manifest, e);
    if (rc)
        return rc;
    if (d->is_leader && ek_fleet_plan_compare(&record.head, d->term, d->name) > 0)
        ek_leader_stop(d);
    enum ek_record_arrival turn = ek_record_order_check(&d->order, &record.head);
    if (!d->is_leader)
        return turn == EK_FLEET_VOID ? EK_OK : restore_record(d, &record, e);
    if (d->version <= d->order.version && !is_ours(d)) {
        d->version = d->order.version + 1; /* a previous leader has used the version */
        d->renewed = true;
    }
    return EK_OK;
}

/* Rows for a diagnosis. */
struct rows {
    struct ek_leader *leader;
    struct ek_fleet_diagnosis *of;
    int instance;
    uint64_t start;
};

static int add_row(void *context, const struct ek_fleet_row *row)
{
    struct rows *r = context;
    return ek_fleet_diagnosis_row(r->of, r->leader->pool, r->instance, r->start, row);
}

static int add_rows(struct ek_leader *d, const void *bytes, size_t length, struct ek_error *e)
{
    struct rows r = {.leader = d};
    const struct ek_fleet_rows_visitor callbacks = {&r, add_row};
    struct ek_fleet_rows rows;
    int rc =
        ek_fleet_rows_open(&rows, bytes, length, d->setup.manifest, d->setup.profile->strata, e);
    if (rc)
        return rc;
    if (rows.head.profile != ek_fleet_pool_profile(d->pool))
        return ek_fail(e, EK_ESTATE, "rows of an instance with another profile");
    r.of = find_diagnosis(d, rows.feature);
    r.instance = ek_fleet_pool_instance(d->pool, rows.head.instance);
    r.start = rows.head.start;
    if (!r.of || ek_fleet_diagnosis_number(r.of) != rows.request || r.instance < 0)
        return EK_OK;
    ek_fleet_diagnosis_mark_complete(r.of, r.instance);
    rc = ek_fleet_rows_visit(&rows, &callbacks);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

/* Standby instances ignore commands. Before event time is known, the command is ignored and sent
 * again. */
static int run_command(struct ek_leader *d, const void *bytes, size_t length, struct ek_error *e)
{
    if (!d->is_leader || d->time_ms <= 0)
        return EK_OK;
    return ek_leader_commands_run(d->commands, d->control, d->setup.manifest, d->time_ms,
                                  d->version, bytes, length, e);
}

int ek_leader_write_replies(struct ek_leader *d,
                            int (*write)(void *context, const void *bytes, size_t length),
                            void *context)
{
    if (!d->answerable)
        return EK_OK;
    d->answerable = false;
    return ek_leader_commands_reply(d->commands, d->version, write, context);
}

int ek_leader_receive(struct ek_leader *d, const void *bytes, size_t length, int64_t clock_ms,
                      struct ek_error *e)
{
    if (ek_record_has_kind(bytes, length, EK_FLEET_COMMAND))
        return run_command(d, bytes, length, e);
    if (ek_record_has_kind(bytes, length, EK_FLEET_ROWS))
        return add_rows(d, bytes, length, e);
    if (ek_record_has_kind(bytes, length, EK_FLEET_COMPARISONS))
        return ek_fleet_guardrails_receive(
            d->guardrails, bytes, length, ek_fleet_pool_profile(d->pool), clock_ms, place_of, d, e);
    int rc = ek_fleet_pool_add(d->pool, bytes, length, clock_ms, e);
    if (!rc)
        d->taken_ms = clock_ms;
    return rc;
}

void ek_leader_start(struct ek_leader *d, int64_t clock_ms)
{
    if (d->is_leader)
        return;
    d->is_leader = true;
    d->term = d->order.term + 1;
    d->version = d->order.version + 1;
    d->renewed = true;
    ek_controller_restored(d->control, d->time_ms); /* the rules may have changed */
    d->requests = (uint32_t)d->term << 16;          /* differs from the numbers of other leaders */
    d->began_ms = d->orphans_ms = clock_ms;
    d->first_unnumbered = d->shown = ek_decisions_last(d->decisions) + 1;
}

void ek_leader_stop(struct ek_leader *d)
{
    d->is_leader = false;
    d->time_ms = 0; /* may be far in the past at the next start */
    close_diagnoses(d);
}

/* Add a finding to the controller. */
static void act_on(void *context, const struct ek_finding *f)
{
    struct ek_leader *d = context;
    ek_controller_add_finding(d->control, f, d->time_ms);
}

/* Merge the findings of all instances and diagnoses, and pass them to the controller. */
static void merge(struct ek_leader *d, int64_t clock_ms)
{
    struct ek_finding f;
    int instance;
    bool current, settled = clock_ms - d->orphans_ms > EK_FLEET_EXPIRED_MS;
    ek_fleet_findings_start(d->findings);
    for (size_t at = 0;
         (at = ek_fleet_pool_finding(d->pool, at, clock_ms, &f, &instance, &current)) > 0;)
        if (current)
            ek_fleet_findings_propose(d->findings, &f, instance);
        else
            ek_fleet_findings_confirm_open(d->findings, &f);
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++)
        for (int at = 0;
             d->open[i] && (at = ek_fleet_diagnosis_finding(d->open[i], d->pool, at, &f)) > 0;)
            ek_fleet_findings_propose(d->findings, &f, POOL);
    ek_fleet_findings_finish(d->findings, settled, d->time_ms, act_on, d);
}

/* Return NULL without space, or if the feature cannot have a diagnosis. */
static struct ek_fleet_diagnosis *open_diagnosis(struct ek_leader *d, int feature)
{
    const struct ek_leader_setup *s = &d->setup;
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++)
        if (!d->open[i]) {
            ek_fleet_diagnosis_new(&d->open[i], s->manifest, s->profile, s->rules, feature,
                                   ++d->requests, NULL);
            return d->open[i];
        }
    return NULL;
}

/* Process the pooled evidence; evidence of known findings is reset first. */
static void pool(struct ek_leader *d)
{
    struct ek_fleet_alarm alarm[EK_FLEET_ALARMS_MAX];
    ek_fleet_findings_restart(d->findings);
    int alarms = ek_fleet_pool_advance(d->pool, alarm, EK_FLEET_ALARMS_MAX);
    for (int i = 0; i < alarms && d->is_leader; i++) {
        struct ek_fleet_diagnosis *c = find_diagnosis(d, alarm[i].feature);
        if (!c && (c = open_diagnosis(d, alarm[i].feature)))
            ek_fleet_findings_suspect(d->findings, &alarm[i], d->time_ms);
        if (c)
            ek_fleet_diagnosis_suspect(c, &alarm[i], d->time_ms);
    }
}

/* A diagnosis without memory for its rows ends; the pooled evidence raises the alarm again. */
static void check_diagnoses(struct ek_leader *d, bool periodic, int instances)
{
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++) {
        struct ek_fleet_diagnosis *c = d->open[i];
        bool goes_on = !c || (periodic ? ek_fleet_diagnosis_advance(c, d->pool, instances) > 0
                                       : !ek_fleet_diagnosis_check(c, d->pool, instances));
        if (goes_on)
            continue;
        ek_fleet_diagnosis_free(c);
        d->open[i] = NULL;
    }
}

static void write_requests(const struct ek_leader *d, struct ek_serialize *w)
{
    uint64_t count = 0;
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++)
        count += d->open[i] != NULL;
    ek_record_write(w, count);
    for (int i = 0; i < EK_ROW_REQUESTS_MAX; i++) {
        if (!d->open[i])
            continue;
        const char *name = d->setup.manifest->item[ek_fleet_diagnosis_feature(d->open[i])]->name;
        struct ek_row_request request = {ek_text_from(name), ek_fleet_diagnosis_number(d->open[i]),
                                         d->rows};
        ek_row_request_walk(w, &request);
    }
}

/* Write the decisions of the last minute of event time, and at least the last decision, whose
 * number the next leader continues. If a record cannot hold all, continue with the oldest. Return
 * the first unwritten number. */
static uint64_t write_decisions(const struct ek_leader *d, struct ek_serialize *w)
{
    uint64_t last = ek_decisions_last(d->decisions), end = last + 1, first = end;
    uint64_t shown = d->shown;
    const struct ek_decision_record *m;
    while (first > 1 && last + 1 - first < EK_FLEET_DECISIONS_MAX &&
           (m = ek_decisions_at(d->decisions, first - 1)) &&
           (first > last || m->time_ms > d->time_ms - EK_FLEET_SAME_MS))
        first--;
    for (; shown < first && !ek_decisions_at(d->decisions, shown); shown++)
        ; /* already evicted */
    first = shown < first ? shown : first;
    if (end - first > EK_FLEET_DECISIONS_MAX)
        end = first + EK_FLEET_DECISIONS_MAX;
    ek_record_write(w, end - first);
    for (; first < end; first++)
        ek_fleet_decision_write(w, ek_decisions_at(d->decisions, first));
    return end;
}

static struct ek_fleet_cell names_of(const void *pool, int place)
{
    return ek_fleet_pool_cell(pool, place);
}

static uint64_t write_plan(struct ek_leader *d, struct ek_serialize *w,
                           const struct ek_fleet_dimensions *dimensions)
{
    const struct ek_controller_memory memory = ek_controller_memory(d->control);
    ek_controller_record_write(w, dimensions, d->setup.manifest, &memory, &d->normal, names_of,
                               d->pool);
    uint64_t shown = write_decisions(d, w);
    ek_fleet_findings_write(d->findings, w, dimensions);
    write_requests(d, w);
    return shown;
}

static int write_record(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out)
{
    struct ek_serialize w;
    struct ek_fleet_plan_head head = {.decider = ek_text_from(d->name),
                                      .term = d->term,
                                      .version = d->version,
                                      .episodes = ek_fleet_findings_episodes(d->findings),
                                      .from_ms = d->from_ms,
                                      .clock_ms = clock_ms};
    head.dimensions.count = d->setup.rules->segment_count;
    for (int i = 0; i < head.dimensions.count; i++)
        head.dimensions.name[i] = ek_text_from(d->setup.rules->segment[i]);
    ek_fleet_plan_start(&w, out, &head);
    uint64_t shown = write_plan(d, &w, &head.dimensions);
    int rc = ek_record_writer_finish(&w);
    d->shown = rc ? d->shown : shown;
    return rc;
}

/* Assign the next version to a changed plan. It starts EK_FLEET_LEAD_MS after the latest list, so
 * that it arrives before the first list it applies to. Return whether the plan changed. */
static bool number(struct ek_leader *d)
{
    int64_t from = d->time_ms + EK_FLEET_LEAD_MS;
    uint64_t version = ek_controller_plan(d->control)->version;
    uint64_t normal = d->normal.levels.version;
    bool changed = version != d->published || normal != d->normal_published;
    if (!changed && !d->renewed)
        return false;
    if (!d->renewed)
        d->version = (d->version > d->order.version ? d->version : d->order.version) + 1;
    d->from_ms = from > d->from_ms ? from : d->from_ms;
    d->published = version;
    d->normal_published = normal;
    d->renewed = false;
    return true;
}

/* Set the plan versions of the decisions since the last plan. */
static void number_decisions(struct ek_leader *d, uint64_t before)
{
    uint64_t last = ek_decisions_last(d->decisions);
    for (; d->first_unnumbered <= last; d->first_unnumbered++)
        ek_decisions_set_plan(d->decisions, d->first_unnumbered, before, d->version);
}

/* Return the number of rows per instance, so that a diagnosis can retain all of them. */
static uint32_t rows_each(int instances)
{
    return EK_FLEET_ROWS_MAX / (uint32_t)(instances > 0 ? instances : 1);
}

/* Return whether event time is known. Without it a plan would start too early, at lists that other
 * instances have already scored. */
static bool knows_time(struct ek_leader *d, int64_t clock_ms)
{
    int64_t time_ms = ek_fleet_pool_time_ms(d->pool, clock_ms);
    bool settled = clock_ms - d->began_ms >= SETTLE_MS;
    if (settled && d->time_ms < d->from_ms - EK_FLEET_LEAD_MS)
        d->time_ms = d->from_ms - EK_FLEET_LEAD_MS;
    if (time_ms > d->time_ms)
        d->time_ms = time_ms;
    return d->time_ms && (settled || d->taken_ms + FRESH_MS >= d->began_ms);
}

/* Update the plan if it is leader. *news: others need the record before the next report interval.
 * Return whether to write a record. */
static bool decide(struct ek_leader *d, int64_t clock_ms, bool periodic, bool *news)
{
    bool changed, timed = knows_time(d, clock_ms);
    d->clock_ms = clock_ms;
    d->rc = EK_OK;
    uint64_t reported = ek_fleet_findings_count(d->findings);
    pool(d);
    if (!d->is_leader || !timed) /* no event time to start the plan at */
        return false;
    int instances = ek_fleet_pool_instances(d->pool, clock_ms);
    d->rows = rows_each(instances);
    check_diagnoses(d, periodic, instances);
    merge(d, clock_ms);
    d->rc = ek_controller_update(d->control, d->time_ms, 0, &changed);
    bool decisions = ek_decisions_last(d->decisions) >= d->first_unnumbered;
    uint64_t before = d->renewed ? d->order.version : d->version;
    changed = number(d);
    number_decisions(d, before);
    *news = changed || decisions || d->rc || ek_leader_commands_has_replies(d->commands) ||
            d->shown <= ek_decisions_last(d->decisions) ||
            ek_fleet_findings_count(d->findings) != reported;
    return true;
}

static int publish(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e)
{
    if (d->rc) /* the next report interval writes the plan */
        return ek_fail(e, d->rc, "out of memory");
    if (write_record(d, clock_ms, out))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    d->answerable = true;
    return EK_OK;
}

int ek_leader_advance(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e)
{
    bool news;
    return decide(d, clock_ms, true, &news) ? publish(d, clock_ms, out, e) : EK_OK;
}

int ek_leader_check(struct ek_leader *d, int64_t clock_ms, struct ek_buf *out, struct ek_error *e)
{
    bool news;
    return decide(d, clock_ms, false, &news) && news ? publish(d, clock_ms, out, e) : EK_OK;
}
