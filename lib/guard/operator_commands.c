/* What people order a guard to do (evenkeel.h): pins and the pause. */
#include "guard/operator_commands.h"

#include "base/date.h"
#include "base/parse.h"
#include "detect/evidence_export.h"
#include "fleet/command_record.h"
#include "fleet/evidence_report.h"
#include "guard/event.h"
#include "guard/guard_control.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "guard/operator_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Tells a name that is none from other wrong calls. */
static int mark(struct ek_error *e)
{
    if (e)
        e->flags |= EK_ERR_NAME;
    return EK_EUSAGE;
}

int ek_guard_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e)
{
    for (*feature = 0; *feature < m->item_count; ++*feature)
        if (!strcmp(m->item[*feature]->name, name))
            return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    if (near)
        ek_fail(e, EK_EUSAGE, "no item feature '%s', did you mean '%s'?", name, near);
    else
        ek_fail(e, EK_EUSAGE, "no item feature '%s' in the manifest", name);
    return mark(e);
}

static int no_segment(const struct ek_rules *rules, const char *segment, struct ek_error *e)
{
    const char *near =
        ek_nearest_word(segment, (const char *const *)rules->segment, (size_t)rules->segment_count);
    if (near)
        ek_fail(e, EK_EUSAGE, "no segment '%s', did you mean '%s'?", segment, near);
    else
        ek_fail(e, EK_EUSAGE, "no segment '%s': 'segments' of the rules must name it", segment);
    return mark(e);
}

/* Whether lists may have that segment and value; segment NULL: all do. */
static int ek_guard_check_segment(const struct ek_guard *g, const char *segment, const char *value,
                                  struct ek_error *e)
{
    const struct ek_rules *rules = g->assets->rules;
    int d = 0;
    if (!segment)
        return EK_OK;
    while (d < rules->segment_count && strcmp(rules->segment[d], segment) != 0)
        d++;
    if (d == rules->segment_count)
        return no_segment(rules, segment, e);
    return value ? EK_OK : ek_fail(e, EK_EUSAGE, "segment '%s' needs a value", segment);
}

/* Whether a cell is the one of these names. */
static bool is_cell(const struct ek_cells *cells, int cell, const char *segment, const char *value)
{
    const char *own = ek_cells_value(cells, cell);
    return !strcmp(ek_cells_dimension_name(cells, cell), segment) &&
           !strcmp(own ? own : EK_SEGMENT_OTHER, value);
}

int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value, int *cell,
                       struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    int rc = ek_guard_check_segment(g, segment, value, e);
    *cell = 0;
    if (rc || !segment)
        return rc;
    for (*cell = 1; *cell < ek_cells_count(cells); ++*cell)
        if (is_cell(cells, *cell, segment, value))
            return EK_OK;
    return ek_fail(e, EK_ESTATE,
                   "no lists of %s=%s are watched on their own: wait for the first, or set "
                   "'limits.cells' higher where many values share a cell",
                   segment, value);
}

static int check_text(const char *what, const char *text, size_t most, struct ek_error *e)
{
    size_t length = text ? strlen(text) : 0;
    return length > most
               ? ek_fail(e, EK_EUSAGE, "the %s has %zu bytes, at most %zu", what, length, most)
               : EK_OK;
}

/* Who says it and why, NULL where it is not said: at most so many bytes (rules/rules.h). */
static int ek_guard_check_person(const char *author, const char *reason, struct ek_error *e)
{
    int rc = check_text("author", author, EK_AUTHOR_BYTES, e);
    return rc ? rc : check_text("reason", reason, EK_REASON_BYTES, e);
}

/* A factor that differs by list cannot be joined with another: then it is not known. */
static void note_repair(struct ek_repair *repair, enum ek_action would, double shift_ln)
{
    if (would == EK_ACT_NONE)
        *repair = (struct ek_repair){exp(shift_ln), -1};
    else if (repair->query_feature >= 0)
        *repair = (struct ek_repair){(double)NAN, -1};
    else
        repair->factor *= exp(shift_ln);
}

/* In a fleet lists of one time are scored alike everywhere, by what the plan of that time has. */
static const struct ek_rebases *levels_of(const struct ek_guard *g, const struct ek_plan *plan)
{
    const struct ek_fleet_plans *plans = ek_guard_plans(g);
    return plans && ek_fleet_plans_counted(plans) ? ek_fleet_plans_levels(plans, plan)
                                                  : ek_detector_rebases(g->detector);
}

void ek_guard_treat_accepted(const struct ek_guard *g, struct ek_context *c,
                             const struct ek_plan *plan, const int16_t *cells, int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = levels_of(g, plan);
    if (!r->count || !c->routing.wanted)
        return;
    for (int f = 0; f < m->item_count; f++) {
        int k = m->routable_of_item[f];
        double shift_ln = k < 0 ? 0 : ek_rebase_of_list(r, f, cells, count);
        if (shift_ln != 0)
            note_repair(&c->repair[k], c->routing.would[k].action, shift_ln);
    }
    ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.would);
    if (c->routing.acted)
        ek_rebase_treat(r, cells, count, m->routable_of_item, c->routing.acts);
}

const struct ek_treatment *ek_guard_untreated(const struct ek_guard *g, struct ek_context *c,
                                              const struct ek_plan *plan, const int16_t *cells,
                                              int count)
{
    const struct ek_manifest *m = g->assets->manifest;
    const struct ek_rebases *r = levels_of(g, plan);
    struct ek_treatment *t = c->routing.acts; /* which has nothing for such a list */
    if (!r->count)
        return NULL;
    memset(t, 0, (size_t)m->routable_count * sizeof *t);
    ek_rebase_treat(r, cells, count, m->routable_of_item, t);
    return t;
}

/* An instance of a fleet has no normal of its own: an order is for the decider. */
static int check(const struct ek_guard *g, const char *author, const char *reason,
                 struct ek_error *e)
{
    int rc = ek_guard_check_person(author, reason, e);
    if (!rc && g->member)
        rc = ek_fail(e, EK_ESTATE,
                     "an instance of a fleet has no normal of its own: whoever decides accepts and "
                     "reverts for all");
    return rc;
}

/* What came of it, and then the decision. `normal`: version of what is normal now. */
static int tell(struct ek_guard *g, struct ek_decided *m, const struct ek_rebase *accept,
                uint64_t normal, struct ek_error *e)
{
    const struct ek_cells *cells = ek_detector_registry(g->detector);
    m->before = ek_guard_plan_version(g);
    m->query = ek_detector_queries(g->detector);
    m->accept = accept->version;
    m->normal = normal;
    m->factor = exp(accept->shift_ln);
    m->feature = g->assets->manifest->item[accept->feature]->name;
    m->dimension = ek_cells_dimension_name(cells, accept->cell);
    m->value = ek_cells_value(cells, accept->cell);
    int rc = ek_guard_take_findings(g, m->query);
    m->after = ek_guard_plan_version(g);
    rc = rc ? rc : ek_guard_decided(g, m);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

int ek_guard_accept(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                    const char *author, const char *reason, uint64_t *version, struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_ACCEPT);
    struct ek_rebase accept;
    int number, cell;
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = ek_guard_find_feature(g->assets->manifest, feature, &number, e);
    if (!rc)
        rc = ek_guard_find_cell(g, segment, value, &cell, e);
    if (!rc)
        rc = ek_detector_accept(g->detector, number, cell, &accept, e);
    if (rc)
        return rc;
    m.who = author;
    m.why = reason;
    *version = accept.version;
    return tell(g, &m, &accept, accept.version, e);
}

int ek_guard_revert(struct ek_guard *g, uint64_t version, const char *author, const char *reason,
                    struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_REVERT);
    struct ek_rebase accept;
    int rc = check(g, author, reason, e);
    if (!rc)
        rc = ek_detector_revert(g->detector, version, &accept, e);
    if (rc)
        return rc;
    m.who = author;
    m.why = reason;
    return tell(g, &m, &accept, ek_detector_rebases(g->detector)->version, e);
}

/* The plan that follows, told, and then what was decided. */
static int conclude(struct ek_guard *g, struct ek_decided *m, struct ek_error *e)
{
    m->query = ek_detector_queries(g->detector);
    m->before = ek_guard_plan_version(g);
    int rc = ek_guard_settle(g, m->query);
    m->after = ek_guard_plan_version(g);
    rc = rc ? rc : ek_guard_decided(g, m);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

/* A place that people name, and who names it. */
static int find_place(const struct ek_guard *g, struct ek_decided *m, const char *feature,
                      const char *segment, const char *value, int *item, struct ek_error *e)
{
    int rc = ek_guard_check_person(m->who, m->why, e);
    if (!rc)
        rc = ek_guard_find_feature(g->assets->manifest, feature, item, e);
    if (!rc)
        rc = ek_guard_check_segment(g, segment, value, e);
    m->feature = feature;
    m->dimension = segment;
    m->value = value && !strcmp(value, EK_SEGMENT_OTHER) ? NULL : value;
    return rc;
}

/* ----------------------------------------------------------------------- pins */

static int not_alone(const struct ek_guard *g, struct ek_error *e)
{
    return g->member ? ek_fail(e, EK_ESTATE,
                               "an instance of a fleet is not pinned alone: whoever decides pins "
                               "for all")
                     : EK_OK;
}

static int find_action(const char *name, enum ek_action *action, struct ek_error *e)
{
    const char *words[EK_ACTION_COUNT];
    int found = ek_action_parse(name);
    for (int i = 0; i < EK_ACTION_COUNT; i++)
        words[i] = ek_action_name((enum ek_action)i);
    const char *near = found < 0 ? ek_nearest_word(name, words, EK_ACTION_COUNT) : NULL;
    *action = (enum ek_action)found;
    if (found == EK_ACT_RESCALE)
        return ek_fail(e, EK_EUSAGE, "a pin cannot rescale, it has no factor: take 'route'");
    if (found >= 0)
        return EK_OK;
    return near ? ek_fail(e, EK_EUSAGE, "no action '%s', did you mean '%s'?", name, near)
                : ek_fail(e, EK_EUSAGE,
                          "no action '%s', there are none, alert, route, route_spread, silence, "
                          "route_source",
                          name);
}

static int check_action(const struct ek_guard *g, int item, enum ek_action action,
                        struct ek_error *e)
{
    const struct ek_manifest *m = g->assets->manifest;
    if (action == EK_ACT_NONE || action == EK_ACT_ALERT)
        return EK_OK;
    if (m->routable_of_item[item] < 0)
        return ek_fail(e, EK_EUSAGE,
                       "action '%s' needs a routable feature, and '%s' is not one: take 'none' or "
                       "'alert'",
                       ek_action_name(action), m->item[item]->name);
    return g->assets->model
               ? EK_OK
               : ek_fail(e, EK_ESTATE, "there is no model for action '%s'", ek_action_name(action));
}

static int check_value(const char *value, struct ek_error *e)
{
    size_t length = value ? strlen(value) : 0;
    return length > EK_SEGMENT_BYTES_MAX
               ? ek_fail(e, EK_EUSAGE,
                         "a value that is pinned has at most %d bytes, not %zu: lists with longer "
                         "ones are watched together",
                         EK_SEGMENT_BYTES_MAX, length)
               : EK_OK;
}

static int check_until(const struct ek_guard *g, int64_t until_ms, struct ek_error *e)
{
    char end[EK_DATE_TEXT], now[EK_DATE_TEXT];
    if (until_ms < 0)
        return ek_fail(e, EK_EUSAGE, "the end of a pin must not be negative");
    if (until_ms && g->stream_clock.started && until_ms <= g->time_ms)
        return ek_fail(e, EK_EUSAGE,
                       "the pin would be over: it ends at %s, and the stream is at %s",
                       ek_date_text(until_ms, end), ek_date_text(g->time_ms, now));
    return EK_OK;
}

static int no_cell(const struct ek_decided *m, struct ek_error *e)
{
    return ek_fail(e, EK_ELIMIT,
                   "no cell is left for %s=%s, all are in use: set 'limits.cells' higher, or pin "
                   "all traffic",
                   m->dimension, m->value ? m->value : EK_SEGMENT_OTHER);
}

/* The cell is held until the pin holds it. */
static int pin(struct ek_guard *g, struct ek_decided *m, struct ek_control_pin *p,
               struct ek_error *e)
{
    p->cell = 0;
    if (m->dimension &&
        ek_detector_hold(g->detector, ek_text_of(m->dimension), ek_text_of(m->value), &p->cell))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_guard_forget_taken(g);
    if (p->cell < 0)
        return no_cell(m, e);
    int rc = ek_control_pin(g->control, p, e);
    if (!rc)
        rc = conclude(g, m, e);
    if (m->dimension)
        ek_detector_release(g->detector, p->cell);
    return rc;
}

int ek_guard_pin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                 const char *action, int64_t until_ms, const char *author, const char *reason,
                 struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_PIN);
    struct ek_control_pin p = {
        .until_ms = until_ms, .author = (char *)author, .reason = (char *)reason};
    m.who = author;
    m.why = reason;
    int rc = not_alone(g, e);
    if (!rc)
        rc = find_place(g, &m, feature, segment, value, &p.feature, e);
    if (!rc)
        rc = check_value(m.value, e);
    if (!rc)
        rc = find_action(action, &p.action, e);
    if (!rc)
        rc = check_action(g, p.feature, p.action, e);
    if (!rc)
        rc = check_until(g, until_ms, e);
    m.action = p.action;
    return rc ? rc : pin(g, &m, &p, e);
}

int ek_guard_unpin(struct ek_guard *g, const char *feature, const char *segment, const char *value,
                   const char *author, const char *reason, struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_UNPIN);
    int item, cell;
    m.who = author;
    m.why = reason;
    int rc = not_alone(g, e);
    if (!rc)
        rc = find_place(g, &m, feature, segment, value, &item, e);
    if (!rc)
        rc = ek_guard_find_cell(g, segment, value, &cell, e);
    if (!rc)
        rc = ek_control_unpin(g->control, item, cell, e);
    return rc ? rc : conclude(g, &m, e);
}

/* ---------------------------------------------------------------------- pause */

/* What is said of it hangs on the pause. */
static bool would_act(void *context, const struct ek_finding *f)
{
    const struct ek_guard *g = context;
    const struct ek_assets *a = g->assets;
    struct ek_decision d = ek_decide(a->rules, a->manifest, a->model != NULL, f);
    return d.wanted && d.mode >= EK_MODE_CANARY;
}

static int set_paused(struct ek_guard *g, bool paused, const char *author, const char *reason,
                      struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(paused ? EK_DID_PAUSE : EK_DID_RESUME);
    int rc = ek_guard_check_person(author, reason, e);
    m.who = author;
    m.why = reason;
    if (rc || ek_control_paused(g->control) == paused)
        return rc;
    ek_control_pause(g->control, paused, g->time_ms);
    rc = conclude(g, &m, e);
    if (!rc && ek_guard_tell_open(g, would_act, g))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
}

int ek_guard_pause(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e)
{
    return set_paused(g, true, author, reason, e);
}

int ek_guard_resume(struct ek_guard *g, const char *author, const char *reason, struct ek_error *e)
{
    return set_paused(g, false, author, reason, e);
}

/* The last word about it; NULL: none is known. */
static const struct ek_decided *last_word(const struct ek_guard *g)
{
    const struct ek_decided *m;
    for (uint64_t n = ek_decisions_last(g->decisions); (m = ek_decisions_at(g->decisions, n)); n--)
        if (m->what == EK_DID_PAUSE || (m->what == EK_DID_RESUME && !m->feature))
            return m;
    return NULL;
}

void ek_guard_pause_as_told(struct ek_guard *g)
{
    const struct ek_decided *m = last_word(g);
    if (m && m->what == EK_DID_PAUSE)
        ek_control_pause(g->control, true, m->time_ms);
}

bool ek_guard_paused(const struct ek_guard *g, struct ek_decided *since)
{
    if (!ek_control_paused(g->control))
        return false;
    const struct ek_decided *m = last_word(g);
    *since = m && m->what == EK_DID_PAUSE ? *m : ek_decided_of(EK_DID_PAUSE);
    return true;
}

void ek_guard_pause_is_over(struct ek_guard *g)
{
    ek_control_pause(g->control, false, g->time_ms);
}

int ek_guard_stay_paused(struct ek_guard *g, const struct ek_guard *before, struct ek_error *e)
{
    struct ek_decided since;
    bool is_new;
    if (!ek_guard_paused(before, &since) || ek_control_paused(g->control))
        return EK_OK;
    ek_control_pause(g->control, true, g->time_ms);
    since.number = 0;
    since.query = ek_detector_queries(g->detector);
    return ek_decisions_add(g->decisions, &since, &is_new) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                                           : EK_OK;
}

/* A route that a guardrail took back begins anew; one whose fault is gone ends. */
int ek_guard_resume_route(struct ek_guard *g, const char *feature, const char *segment,
                          const char *value, const char *author, const char *reason,
                          struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(EK_DID_RESUME);
    int item, cell;
    m.who = author;
    m.why = reason;
    int rc = not_alone(g, e);
    if (!rc)
        rc = find_place(g, &m, feature, segment, value, &item, e);
    if (!rc)
        rc = ek_guard_find_cell(g, segment, value, &cell, e);
    if (!rc)
        rc = ek_control_resume(g->control, item, cell, g->time_ms, e);
    return rc ? rc : conclude(g, &m, e);
}

/* ---------------------------------------------------------------------- fleet */

static int wish_pin(const struct ek_guard *g, const struct ek_guard_order *o, int item,
                    struct ek_fleet_wish *out, struct ek_error *e)
{
    int rc = check_value(o->value, e);
    if (!rc)
        rc = find_action(o->action, &out->action, e);
    if (!rc)
        rc = check_action(g, item, out->action, e);
    if (!rc)
        rc = check_until(g, o->until_ms, e);
    out->until_ms = o->until_ms;
    return rc;
}

static int wish_place(const struct ek_guard *g, const struct ek_guard_order *o,
                      struct ek_fleet_wish *out, struct ek_error *e)
{
    struct ek_decided m = ek_decided_of(o->what);
    int item, rc = find_place(g, &m, o->feature, o->segment, o->value, &item, e);
    if (!rc && m.dimension && !m.value)
        rc = ek_fail(e, EK_ESTATE, "a fleet has no place for the values of '%s' that share a cell",
                     m.dimension);
    if (!rc && o->what == EK_DID_PIN)
        rc = wish_pin(g, o, item, out, e);
    out->feature = ek_text_of(m.feature);
    out->cell = (struct ek_fleet_cell){ek_text_of(m.dimension), ek_text_of(m.value)};
    return rc;
}

int ek_guard_wish(const struct ek_guard *g, const struct ek_guard_order *o,
                  struct ek_fleet_wish *out, struct ek_error *e)
{
    *out = (struct ek_fleet_wish){.manifest = g->assets->manifest->hash,
                                  .what = o->what,
                                  .accept = o->version,
                                  .author = ek_text_of(o->author),
                                  .reason = ek_text_of(o->reason)};
    ek_fleet_dimensions_of(&out->dimensions, ek_detector_registry(g->detector));
    int rc = ek_guard_check_person(o->author, o->reason, e);
    return rc || !o->feature ? rc : wish_place(g, o, out, e);
}
