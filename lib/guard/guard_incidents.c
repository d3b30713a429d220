#include "guard/guard_incidents.h"

#include "detect/merge.h"
#include "fleet/finding_diff.h"
#include "guard/event_json.h"
#include "guard/guard_internal.h"
#include "guard/incident_log.h"
#include "guard/operator_commands.h"
#include "serve/comparison_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 6 };

/* Set feature and cell numbers of a place; return false for one that the assets lack. */
static bool find_numbers(const struct ek_guard *g, const struct ek_event_place *at, int *feature,
                         int *cell)
{
    *feature = ek_manifest_find_watched(g->assets->manifest, ek_text_from(at->feature));
    *cell = at->dimension ? ek_guard_find_cell(g, at->dimension, at->value) : 0;
    return *feature >= 0 && *cell >= 0;
}

/* Return the statistics of a route, also of one that has ended since the last list; NULL: none. */
static const struct ek_comparison_sums *find_sums(const struct ek_guard *g,
                                                  const struct ek_event_place *at)
{
    const struct ek_comparison_sums *s;
    int feature, cell, next = 0;
    if (!find_numbers(g, at, &feature, &cell))
        return NULL;
    while ((s = ek_comparisons_next(g->comparisons, &next)))
        if (s->feature == feature && s->cell == cell)
            return s;
    return NULL;
}

/* The statistics restart with a new action, a canary step or the process. */
static void update_effect(const struct ek_guard *g, struct ek_incident *i)
{
    const struct ek_comparison_sums *s =
        i->treated >= 0 ? find_sums(g, &i->finding[i->treated].at) : NULL;
    if (!s)
        return;
    i->changes += s->acts != i->counted || s->moved.lists != i->ranks.lists;
    i->counted = s->acts < i->counted ? 0 : i->counted;
    i->treated_lists += s->acts - i->counted;
    i->counted = s->acts;
    if (!s->moved.lists)
        return;
    struct ek_rank_change mean = ek_rank_sums_mean(&s->moved);
    i->ranks = (struct ek_incident_ranks){s->moved.lists, mean.tau,
                                          mean.top10,     mean.places,
                                          mean.change,    ek_rank_sums_quantile(&s->moved, .95)};
}

/* Return the finding of the incident that an entry of the plan treats, or -1. */
static int find_treated(const struct ek_incident *i, const struct ek_event_entry *e)
{
    bool acts = ek_action_treats(e->action) && ek_mode_acts(e->mode);
    for (int f = 0; acts && f < i->count; f++)
        if (ek_event_same_place(&i->finding[f].at, &e->at))
            return f;
    return -1;
}

/* Show the treatment of the head, else of the first treated finding. */
static void update_treatment(const struct ek_guard *g, struct ek_incident *i)
{
    const struct ek_plan *plan = ek_controller_plan(g->control);
    bool acted = i->acts;
    i->acts = false;
    for (int n = 0; n < plan->count; n++) {
        struct ek_event_entry e;
        ek_event_entry_init(&e, g->assets->manifest, ek_detector_registry(g->detector),
                            &plan->entry[n]);
        int treated = find_treated(i, &e);
        if (treated < 0 || (i->acts && treated != i->head))
            continue;
        i->counted = treated == i->treated ? i->counted : 0;
        i->changes += i->action != e.action || i->mode != e.mode || treated != i->treated;
        i->acts = true;
        i->treated = treated;
        i->action = e.action;
        i->mode = e.mode;
        if (i->mitigated_ms < 0)
            i->mitigated_ms = g->time_ms;
    }
    i->changes += acted != i->acts;
}

void ek_guard_update_incidents(struct ek_guard *g)
{
    uint64_t last = ek_incident_log_last(g->incidents);
    for (uint64_t n = last; n && last - n < EK_INCIDENTS_RETAINED; n--) {
        struct ek_incident *i = ek_incident_log_at(g->incidents, n);
        if (!i || !(i->acts || i->state == EK_CONFIRMED))
            continue;
        update_effect(g, i);
        update_treatment(g, i);
    }
}

int ek_guard_add_incident(struct ek_guard *g, const struct ek_event *v)
{
    int rc = ek_incident_log_add(g->incidents, v);
    ek_guard_update_incidents(g);
    return rc;
}

static bool is_place_open(void *context, const struct ek_event_place *at)
{
    const struct ek_guard *g = context;
    int feature, cell;
    if (g->member)
        return ek_finding_diff_has(g->finding_diff, at->feature, at->dimension, at->value);
    return find_numbers(g, at, &feature, &cell) && ek_detector_has_open(g->detector, feature, cell);
}

/* The end was not seen, so a later report of the finding is no return: after a start a fleet
 * repeats records from before the finding. */
void ek_guard_end_incidents(struct ek_guard *g)
{
    ek_incident_log_end(g->incidents, EK_DISMISSED, ek_guard_list_count(g), g->time_ms,
                        is_place_open, g);
}

/* ---- JSON */

static const char *state_of(const struct ek_incident *i)
{
    if (i->state == EK_CONFIRMED)
        return i->acts ? "mitigated" : "confirmed";
    if (i->state == EK_DISMISSED && i->reason && !strcmp(i->reason, ek_finding_accepted()))
        return "accepted";
    return ek_finding_state_name(i->state);
}

static void add_time(struct ek_json_writer *w, const char *key, int64_t time_ms)
{
    if (time_ms < 0)
        ek_json_add_null(w, key);
    else
        ek_json_add_integer(w, key, time_ms);
}

static void add_features(struct ek_json_writer *w, const struct ek_incident *i)
{
    ek_json_open(w, "features", '[');
    for (int f = 0; f < i->count; f++) {
        int first = 0;
        while (strcmp(i->finding[first].at.feature, i->finding[f].at.feature) != 0)
            first++;
        if (first == f)
            ek_json_add_text(w, NULL, i->finding[f].at.feature);
    }
    ek_json_close(w, ']');
}

static void add_diagnosis(struct ek_json_writer *w, const struct ek_incident *i)
{
    const struct ek_event_place *at = &i->finding[i->head].at;
    ek_json_add_text(w, "feature", at->feature);
    ek_json_add_segment(w, "segment", at->dimension, at->value);
    add_features(w, i);
    ek_json_add_text(w, "class", i->class == EK_CLASS_NONE ? NULL : ek_class_name(i->class));
    ek_json_add_rounded(w, "factor", i->factor, DIGITS);
    ek_json_add_rounded(w, "factor_low", i->factor_low, DIGITS);
    ek_json_add_rounded(w, "factor_high", i->factor_high, DIGITS);
    ek_json_add_rounded(w, "fraction", i->fraction, DIGITS);
    ek_json_add_text(w, "unit", i->unit);
    ek_json_add_number(w, "ratio", i->ratio);
}

static void add_extent(struct ek_json_writer *w, const struct ek_guard *g,
                       const struct ek_incident *i)
{
    bool open = i->state == EK_CONFIRMED;
    uint64_t end = open ? ek_guard_list_count(g) : i->to_list;
    add_time(w, "from_ms", i->from_ms);
    add_time(w, "to_ms", i->to_ms);
    ek_json_add_count(w, "from_list", i->from_list);
    if (open)
        ek_json_add_null(w, "to_list");
    else
        ek_json_add_count(w, "to_list", end);
    ek_json_add_count(w, "lists", end > i->from_list ? end - i->from_list : 0);
    ek_json_add_integer(w, "times", i->times);
}

static void add_effect(struct ek_json_writer *w, const struct ek_incident *i)
{
    const struct ek_incident_ranks *r = &i->ranks;
    if (!r->lists) {
        ek_json_add_null(w, "plan_vs_upstream");
        return;
    }
    ek_json_open(w, "plan_vs_upstream", '{');
    ek_json_add_count(w, "lists", r->lists);
    ek_json_add_rounded(w, "tau", r->tau, DIGITS);
    ek_json_add_rounded(w, "top10_overlap", r->top10, DIGITS);
    ek_json_add_rounded(w, "places", r->places, DIGITS);
    ek_json_add_rounded(w, "change", r->change, DIGITS);
    ek_json_add_rounded(w, "change_p95", r->change_p95, DIGITS);
    ek_json_close(w, '}');
}

static void add_treatment(struct ek_json_writer *w, const struct ek_incident *i)
{
    ek_json_add_text(w, "mitigation", ek_action_name(i->action));
    ek_json_add_text(w, "mode", ek_mode_name(i->mode));
    add_time(w, "mitigated_ms", i->mitigated_ms);
    ek_json_add_count(w, "treated_lists", i->treated_lists);
    add_effect(w, i);
    if (i->guardrail == EK_GUARDRAIL_NONE) {
        ek_json_add_null(w, "rolled_back");
        return;
    }
    ek_json_open(w, "rolled_back", '{');
    ek_json_add_text(w, "guardrail", ek_guardrail_name(i->guardrail));
    ek_json_add_rounded(w, "observed", i->observed, DIGITS);
    ek_json_add_rounded(w, "limit", i->limit, DIGITS);
    ek_json_close(w, '}');
}

static void add_incident(struct ek_json_writer *w, const struct ek_guard *g,
                         const struct ek_incident *i)
{
    char id[EK_EVENT_INCIDENT_BYTES];
    snprintf(id, sizeof id, "c-%" PRIu32, i->id);
    ek_json_open(w, NULL, '{');
    ek_json_add_count(w, "sequence", i->sequence);
    ek_json_add_text(w, "incident_id", i->id ? id : NULL);
    ek_json_add_text(w, "state", state_of(i));
    add_diagnosis(w, i);
    add_extent(w, g, i);
    add_treatment(w, i);
    if (i->state == EK_DISMISSED)
        ek_json_add_text(w, "reason", i->reason);
    ek_json_add_text(w, "text", i->text);
    ek_json_close(w, '}');
}

/* Return the incident if it has a finding of the feature (NULL: any), else NULL. */
static const struct ek_incident *is_requested(const struct ek_guard *g, uint64_t number,
                                              const char *feature)
{
    const struct ek_incident *i = ek_incident_log_at(g->incidents, number);
    for (int f = 0; i && f < i->count; f++)
        if (!feature || !strcmp(i->finding[f].at.feature, feature))
            return i;
    return NULL;
}

int ek_guard_incidents(struct ek_guard *g, uint64_t count, const char *feature, struct ek_buf *out,
                       struct ek_error *e)
{
    uint64_t last = ek_incident_log_last(g->incidents), number = last;
    uint64_t evicted = last > EK_INCIDENTS_RETAINED ? last - EK_INCIDENTS_RETAINED : 0;
    struct ek_json_writer w;
    int item;
    int rc = feature ? ek_order_find_feature(g->assets->manifest, feature, &item, e) : EK_OK;
    if (rc)
        return rc;
    ek_guard_update_incidents(g);
    for (; number > evicted && count; number--)
        count -= is_requested(g, number, feature) != NULL;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    while (number < last) {
        const struct ek_incident *i = is_requested(g, ++number, feature);
        if (i)
            add_incident(&w, g, i);
    }
    ek_json_close(&w, ']');
    return w.rc ? ek_fail(e, w.rc, "out of memory") : EK_OK;
}
