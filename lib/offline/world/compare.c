#include "offline/world/compare.h"

#include "base/alloc.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"
#include "serve/context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ek_compare_trace_release(struct ek_compare_trace *s)
{
    ek_reported_findings_release(&s->reported);
    for (size_t i = 0; i < s->plans; i++)
        ek_free(s->plan[i].event);
    ek_free(s->finding);
    ek_free(s->plan);
    memset(s, 0, sizeof *s);
}

static bool same_entry(const struct ek_event_entry *a, const struct ek_event_entry *b)
{
    return ek_event_same_place(&a->at, &b->at) && a->action == b->action && a->mode == b->mode &&
           fabs(a->percent - b->percent) < EK_COMPARED_PERCENT / 2;
}

static bool has_entry(const struct ek_compared_plan *p, const struct ek_event_entry *entry)
{
    for (size_t i = 0; i < p->count; i++)
        if (same_entry(&p->entry[i], entry))
            return true;
    return false;
}

bool ek_compared_same_plan(const struct ek_compared_plan *a, const struct ek_compared_plan *b)
{
    bool all = a->count == b->count;
    for (size_t i = 0; all && i < a->count; i++)
        all = has_entry(b, &a->entry[i]);
    return all;
}

static int follow(struct ek_compare_trace *s, const struct ek_event *v)
{
    if (s->reported.count < EK_COMPARED_MAX || !ek_reported_findings_grow(&s->reported, v))
        return ek_reported_findings_follow(&s->reported, v);
    s->left++;
    return EK_OK;
}

/* Return a view; its strings belong to the event. */
static struct ek_compared_finding view_of(const struct ek_reported_finding *r)
{
    const struct ek_event *v = r->event;
    struct ek_compared_finding f = {
        .class = ek_event_kind_name(v->kind),
        .unit = "",
        .action = "",
        .mode = "",
        .end = r->end ? ek_finding_state_name(ek_event_finding_state(r->end)) : NULL,
        .factor = NAN,
        .since = r->confirmed,
        .confirmed = r->confirmed,
        .ended = r->end ? r->end->query : UINT64_MAX};
    if (v->kind == EK_EVENT_LIMIT) {
        f.at.feature = ek_bound_name(v->limit.bound);
        f.text = ek_bound_text(v->limit.bound);
    } else if (v->kind == EK_EVENT_MODEL_DRIFT) {
        f.at.feature = "model and upstream";
        f.text = v->model_drift.text;
        f.since = v->model_drift.view.since_query;
    } else {
        const struct ek_event_finding *own = &v->finding;
        f.at = own->at;
        f.class = own->class == EK_CLASS_NONE ? "" : ek_class_name(own->class);
        f.unit = own->units ? own->unit[0] : "";
        f.action = ek_action_name(own->action);
        f.mode = ek_mode_name(own->mode);
        f.factor = own->factor;
        f.text = own->text;
        f.since = own->since_query;
    }
    return f;
}

int ek_compare_trace_end(struct ek_compare_trace *s)
{
    s->finding = ek_calloc(s->reported.count + 1, sizeof *s->finding);
    if (!s->finding)
        return EK_ENOMEM;
    while (s->findings < s->reported.count) {
        s->finding[s->findings] = view_of(&s->reported.item[s->findings]);
        s->findings++;
    }
    return EK_OK;
}

static int receive_plan(struct ek_compare_trace *s, const struct ek_event *v)
{
    if (s->plans == EK_COMPARED_MAX) {
        s->left++;
        return EK_OK;
    }
    if (s->plans == s->plan_room) {
        size_t room = 2 * s->plans + 8;
        struct ek_compared_plan *more = ek_realloc(s->plan, room, sizeof *more);
        if (!more)
            return EK_ENOMEM;
        s->plan = more;
        s->plan_room = room;
    }
    struct ek_event *copy = ek_event_copy(v);
    if (!copy)
        return EK_ENOMEM;
    s->plan[s->plans++] = (struct ek_compared_plan){.query = v->query,
                                                    .event = copy,
                                                    .entry = copy->plan.entry,
                                                    .count = (size_t)copy->plan.count};
    return EK_OK;
}

int ek_compare_trace_event(struct ek_compare_trace *s, const struct ek_event *v, struct ek_error *e)
{
    int rc = EK_OK;
    if (v->kind == EK_EVENT_PLAN)
        rc = receive_plan(s, v);
    else if (v->kind == EK_EVENT_FINDING || v->kind == EK_EVENT_MODEL_DRIFT ||
             v->kind == EK_EVENT_LIMIT)
        rc = follow(s, v);
    else if (v->kind == EK_EVENT_DECISION)
        s->rolled_back += v->decision.kind == EK_DECIDED_ROLLBACK;
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

struct guarded {
    struct ek_guard *guard;
    struct ek_context *context;
    struct ek_compare_trace trace;
    const void *bytes; /* current message as this side forwards it */
    size_t length;
    bool touched;
};

struct ek_comparison_run {
    struct guarded side[EK_SIDES];
    struct ek_ranker *ranker;
    struct ek_compared result;
    struct ek_compared_pair *pair;
    struct ek_compared_row *row;
};

const char *ek_compared_in_name(int bit)
{
    static const char *const names[EK_OTHERS] = {"class", "factor", "unit", "action",
                                                 "mode",  "begin",  "end"};
    return names[bit];
}

int ek_comparison_run_new(struct ek_comparison_run **out, const struct ek_assets *a,
                          const struct ek_assets *b, struct ek_error *e)
{
    const struct ek_assets *assets[EK_SIDES] = {a, b};
    struct ek_comparison_run *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_ranker_new(&c->ranker, e);
    for (int i = 0; !rc && i < EK_SIDES; i++) {
        rc = ek_guard_new(&c->side[i].guard, assets[i], e);
        if (!rc)
            rc = ek_context_new(&c->side[i].context, assets[i], e);
    }
    if (rc) {
        ek_comparison_run_free(c);
        return rc;
    }
    *out = c;
    return EK_OK;
}

void ek_comparison_run_free(struct ek_comparison_run *c)
{
    if (!c)
        return;
    for (int i = 0; i < EK_SIDES; i++) {
        ek_context_free(c->side[i].context);
        ek_guard_free(c->side[i].guard);
        ek_compare_trace_release(&c->side[i].trace);
    }
    ek_ranker_free(c->ranker);
    ek_free(c->pair);
    ek_free(c->row);
    ek_free(c);
}

static int drain_events(struct guarded *s, struct ek_error *e)
{
    const struct ek_event *v;
    int rc = EK_OK;
    while (!rc && (v = ek_guard_pop_event(s->guard)))
        rc = ek_compare_trace_event(&s->trace, v, e);
    return rc;
}

/* Set the output of a side: the original message if no plan entry applies or it cannot be scored.
 */
static int emit_row(struct guarded *s, const void *message, size_t length, uint64_t *unscored,
                    struct ek_error *e)
{
    s->bytes = ek_context_score(s->context, &s->length, e);
    if (!s->bytes && e->code == EK_ENOMEM)
        return EK_ENOMEM;
    if (!s->bytes) {
        ++*unscored;
        s->bytes = message;
        s->length = length;
    }
    s->touched = s->bytes != message;
    return EK_OK;
}

/* Return the scores of the output; repaired lists have those of the input. */
static const double *scores(const struct guarded *s)
{
    return s->touched && s->context->scorer ? s->context->scores : s->context->query.score;
}

static int move(struct ek_comparison_run *c, enum ek_compared_move which, const double *before,
                const double *after, struct ek_error *e)
{
    struct ek_rank_change change;
    bool valid;
    int n = c->side[EK_SIDE_A].context->query.items;
    int rc = ek_rank_change_compute(c->ranker, before, after, n, &change, &valid, e);
    if (!rc && valid)
        ek_rank_sums_add(&c->result.moved[which], &change);
    return rc;
}

static int compare_with(struct ek_comparison_run *c, struct ek_error *e)
{
    const struct guarded *a = &c->side[EK_SIDE_A], *b = &c->side[EK_SIDE_B];
    struct ek_compared *r = &c->result;
    const double *came = a->context->query.score;
    int rc = EK_OK;
    r->touched[EK_SIDE_A] += a->touched;
    r->touched[EK_SIDE_B] += b->touched;
    r->both += a->touched && b->touched;
    if (!a->touched && !b->touched)
        return EK_OK;
    bool apart = a->length != b->length || memcmp(a->bytes, b->bytes, a->length) != 0;
    r->apart += apart;
    if (a->context->query.one_item)
        return EK_OK;
    if (a->touched)
        rc = move(c, EK_MOVED_TO_A, came, scores(a), e);
    if (!rc && b->touched)
        rc = move(c, EK_MOVED_TO_B, came, scores(b), e);
    return rc || !apart ? rc : move(c, EK_A_TO_B, scores(a), scores(b), e);
}

/* Shadow-score the list as a processing stage does, because canaries and guardrails depend on it.
 */
static int compare_ranks(struct guarded *s, struct ek_error *e)
{
    struct ek_comparison t;
    bool valid;
    return ek_guard_compare_in(s->guard, s->context, &t, &valid, e);
}

int ek_comparison_run_add(struct ek_comparison_run *c, const void *message, size_t length,
                          int64_t record_ms, uint64_t number, struct ek_error *e)
{
    struct ek_error own;
    int rc = EK_OK;
    int64_t now_ms = record_ms >= 0 ? record_ms : (int64_t)number;
    e = e ? e : &own;
    for (int i = 0; !rc && i < EK_SIDES; i++)
        rc = ek_context_decode_at(c->side[i].context, message, length, record_ms, e);
    for (int i = 0; !rc && i < EK_SIDES; i++)
        rc = ek_guard_update(c->side[i].guard, c->side[i].context, now_ms, e);
    if (rc)
        return rc;
    c->result.messages++;
    for (int i = 0; !rc && i < EK_SIDES; i++) {
        rc = emit_row(&c->side[i], message, length, &c->result.unscored[i], e);
        if (!rc)
            rc = drain_events(&c->side[i], e);
    }
    if (!rc)
        rc = compare_with(c, e);
    for (int i = 0; !rc && i < EK_SIDES; i++)
        rc = compare_ranks(&c->side[i], e);
    return rc;
}

static bool same_factor(double a, double b)
{
    return isnan(a) ? isnan(b) : fabs(a - b) <= 5e-4 * fabs(a);
}

static bool same_end(const struct ek_compared_finding *a, const struct ek_compared_finding *b)
{
    return a->ended == b->ended && (a->end && b->end ? !strcmp(a->end, b->end) : a->end == b->end);
}

static unsigned others(const struct ek_compared_finding *a, const struct ek_compared_finding *b)
{
    unsigned other = 0;
    other |= strcmp(a->class, b->class) ? EK_OTHER_CLASS : 0;
    other |= same_factor(a->factor, b->factor) ? 0 : EK_OTHER_FACTOR;
    other |= strcmp(a->unit, b->unit) ? EK_OTHER_UNIT : 0;
    other |= strcmp(a->action, b->action) ? EK_OTHER_ACTION : 0;
    other |= strcmp(a->mode, b->mode) ? EK_OTHER_MODE : 0;
    other |= a->confirmed != b->confirmed ? EK_OTHER_BEGIN : 0;
    other |= same_end(a, b) ? 0 : EK_OTHER_END;
    return other;
}

static bool same_change(const struct ek_compared_finding *a, const struct ek_compared_finding *b)
{
    return ek_event_same_place(&a->at, &b->at) && a->since <= b->ended && b->since <= a->ended;
}

static uint64_t confirmed(const struct ek_compared_pair *p)
{
    const struct ek_compared_finding *a = p->of[EK_SIDE_A], *b = p->of[EK_SIDE_B];
    uint64_t of_a = a ? a->confirmed : UINT64_MAX, of_b = b ? b->confirmed : UINT64_MAX;
    return of_a < of_b ? of_a : of_b;
}

static int by_query(const void *x, const void *y)
{
    const struct ek_compared_pair *p = x, *q = y;
    uint64_t a = confirmed(p), b = confirmed(q);
    if (a != b)
        return a < b ? -1 : 1;
    int side = !q->of[EK_SIDE_A] - !p->of[EK_SIDE_A];
    if (side)
        return -side;
    const struct ek_compared_finding *f = p->of[0] ? p->of[0] : p->of[1],
                                     *g = q->of[0] ? q->of[0] : q->of[1];
    return (f > g) - (f < g); /* same array: in the order of the reports */
}

/* Match each finding of A with the first unmatched finding of B for the same change. */
static int match(struct ek_comparison_run *c, struct ek_error *e)
{
    const struct ek_compare_trace *a = &c->side[EK_SIDE_A].trace, *b = &c->side[EK_SIDE_B].trace;
    bool *taken = ek_calloc(b->findings, sizeof *taken);
    size_t pairs = 0;
    c->pair = ek_calloc(a->findings + b->findings, sizeof *c->pair);
    if (!taken || !c->pair) {
        ek_free(taken);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < a->findings; i++) {
        struct ek_compared_pair *p = &c->pair[pairs++];
        p->of[EK_SIDE_A] = &a->finding[i];
        for (size_t j = 0; j < b->findings && !p->of[EK_SIDE_B]; j++)
            if (!taken[j] && same_change(&a->finding[i], &b->finding[j])) {
                p->of[EK_SIDE_B] = &b->finding[j];
                p->other = others(&a->finding[i], &b->finding[j]);
                taken[j] = true;
            }
    }
    for (size_t j = 0; j < b->findings; j++)
        if (!taken[j])
            c->pair[pairs++].of[EK_SIDE_B] = &b->finding[j];
    ek_free(taken);
    qsort(c->pair, pairs, sizeof *c->pair, by_query);
    c->result.pair = c->pair;
    c->result.pairs = pairs;
    return EK_OK;
}

static uint64_t query_of(const struct ek_compare_trace *s, size_t at)
{
    return at < s->plans ? s->plan[at].query : UINT64_MAX;
}

/* Only the last plan of a list counts: its scores use that plan. */
static int line_up(struct ek_comparison_run *c, struct ek_error *e)
{
    static const struct ek_compared_plan none = {0};
    const struct ek_compare_trace *trace[EK_SIDES] = {&c->side[0].trace, &c->side[1].trace};
    const struct ek_compared_plan *now[EK_SIDES] = {&none, &none};
    size_t at[EK_SIDES] = {0}, rows = 0;
    c->row = ek_calloc(trace[0]->plans + trace[1]->plans, sizeof *c->row);
    if (!c->row)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    while (at[0] < trace[0]->plans || at[1] < trace[1]->plans) {
        uint64_t of_a = query_of(trace[0], at[0]), of_b = query_of(trace[1], at[1]);
        uint64_t query = of_a < of_b ? of_a : of_b;
        for (int i = 0; i < EK_SIDES; i++)
            while (at[i] < trace[i]->plans && query_of(trace[i], at[i]) == query)
                now[i] = &trace[i]->plan[at[i]++];
        c->row[rows++] = (struct ek_compared_row){
            query, {now[0], now[1]}, !ek_compared_same_plan(now[0], now[1])};
    }
    c->result.row = c->row;
    c->result.rows = rows;
    return EK_OK;
}

static bool any_differs(const struct ek_compared *r)
{
    bool differ = r->apart || r->touched[0] != r->touched[1] || r->touched[0] != r->both ||
                  r->unscored[0] != r->unscored[1] || r->left[0] != r->left[1] ||
                  r->rolled_back[0] != r->rolled_back[1];
    for (size_t i = 0; i < r->pairs; i++)
        differ |= !r->pair[i].of[0] || !r->pair[i].of[1] || r->pair[i].other;
    for (size_t i = 0; i < r->rows; i++)
        differ |= r->row[i].differ;
    return differ;
}

int ek_comparison_run_finish(struct ek_comparison_run *c, const struct ek_compared **out,
                             struct ek_error *e)
{
    struct ek_compared *r = &c->result;
    int rc = EK_OK;
    for (int i = 0; !rc && i < EK_SIDES; i++) {
        rc = ek_guard_end_items(c->side[i].guard, e);
        if (!rc)
            rc = drain_events(&c->side[i], e);
        if (!rc && ek_compare_trace_end(&c->side[i].trace))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
        r->rolled_back[i] = c->side[i].trace.rolled_back;
        r->left[i] = c->side[i].trace.left;
    }
    if (!rc)
        rc = match(c, e);
    if (!rc)
        rc = line_up(c, e);
    if (rc)
        return rc;
    r->differ = any_differs(r);
    *out = r;
    return EK_OK;
}
