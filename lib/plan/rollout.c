#include "plan/rollout.h"

#include "plan/plan.h"

#include <math.h>

const char *ek_guardrail_name(enum ek_guardrail r)
{
    static const char *const names[EK_GUARDRAIL_COUNT] = {
        "none",        "rank_change_p95",       "error_rate", "dead_letter_rate", "latency_p99",
        "model_drift", "worse_than_unmitigated"};
    return names[r];
}

struct ek_rollout *ek_rollout_find(struct ek_rollouts *s, int feature, int cell)
{
    for (int i = 0; i < s->count; i++)
        if (s->one[i].feature == feature && s->one[i].cell == cell)
            return &s->one[i];
    return NULL;
}

static bool is_running(const struct ek_rollout *r)
{
    return r->ended_ms < 0;
}

bool ek_rollout_may_act(const struct ek_rollout *r)
{
    return r && is_running(r) && r->rolled_back == EK_GUARDRAIL_NONE;
}

static int hundredths(double percent)
{
    double rounded = floor(percent * 100 + .5);
    return rounded < EK_PERCENT_WHOLE ? (int)rounded : EK_PERCENT_WHOLE;
}

/* Return the rollout that ended first, or NULL if none has ended. */
static struct ek_rollout *oldest(struct ek_rollouts *s)
{
    struct ek_rollout *found = NULL;
    for (int i = 0; i < s->count; i++)
        if (!is_running(&s->one[i]) && (!found || s->one[i].ended_ms < found->ended_ms))
            found = &s->one[i];
    return found;
}

static struct ek_rollout *place_for(struct ek_rollouts *s, int feature, int cell)
{
    struct ek_rollout *r = s->count < EK_ROLLOUTS_MAX ? &s->one[s->count++] : oldest(s);
    if (r)
        *r = (struct ek_rollout){.feature = feature,
                                 .cell = cell,
                                 .relapses = -1,
                                 .context = {.factor = (double)NAN,
                                             .factor_low = (double)NAN,
                                             .factor_high = (double)NAN,
                                             .share = (double)NAN}};
    return r;
}

/* Return whether a time is at most EK_FLAP_DURATIONS minimum durations in the past. A future time
 * was wrong and counts as now. */
static bool lately(int64_t then_ms, int64_t now_ms, int64_t min_duration_ms)
{
    return then_ms >= now_ms || (now_ms - then_ms - 1) / EK_FLAP_DURATIONS < min_duration_ms;
}

static void start(struct ek_rollout *r, const struct ek_canary *c, int64_t now_ms)
{
    r->percent = hundredths(c->initial_percent);
    r->step_ms = now_ms;
    r->restarts++;
    r->rolled_back = EK_GUARDRAIL_NONE;
    r->observed = r->limit = 0;
}

struct ek_rollout *ek_rollout_begin(struct ek_rollouts *s, int feature, int cell,
                                    const struct ek_rules *rules, const struct ek_canary *c,
                                    int64_t now_ms)
{
    struct ek_rollout *r = ek_rollout_find(s, feature, cell);
    if (r && is_running(r))
        return r;
    if (r && !lately(r->ended_ms, now_ms, rules->min_duration_ms))
        r->relapses = -1;
    if (!r)
        r = place_for(s, feature, cell);
    if (!r)
        return NULL;
    r->relapses += r->relapses < INT32_MAX; /* -1: the first fault is no relapse */
    r->ended_ms = -1;
    start(r, c, now_ms);
    return r;
}

void ek_rollout_set_initial(struct ek_rollout *r, const struct ek_canary *c)
{
    r->percent = hundredths(c->initial_percent);
}

void ek_rollout_restart(struct ek_rollout *r, int64_t now_ms)
{
    if (is_running(r))
        return;
    r->ended_ms = -1;
    r->step_ms = now_ms;
    r->restarts++;
}

void ek_rollout_inherit(struct ek_rollout *r, const struct ek_rollout *from)
{
    r->percent = from->percent;
    r->step_ms = from->step_ms;
    r->rolled_back = from->rolled_back;
    r->observed = from->observed;
    r->limit = from->limit;
    r->compared = from->compared;
}

bool ek_rollout_is_stricter(const struct ek_rollout *r, const struct ek_rollout *other)
{
    bool off = r->rolled_back != EK_GUARDRAIL_NONE;
    bool other_off = other->rolled_back != EK_GUARDRAIL_NONE;
    return off == other_off ? r->percent < other->percent : off;
}

void ek_rollout_end(struct ek_rollouts *s, int feature, int cell, int64_t now_ms)
{
    struct ek_rollout *r = ek_rollout_find(s, feature, cell);
    if (r && is_running(r))
        r->ended_ms = now_ms;
}

void ek_rollouts_reset_cell(struct ek_rollouts *s, int cell)
{
    int kept = 0;
    for (int i = 0; i < s->count; i++)
        if (s->one[i].cell != cell)
            s->one[kept++] = s->one[i];
    s->count = kept;
}

int64_t ek_rollout_min_duration_ms(const struct ek_rollout *r, const struct ek_rules *rules)
{
    int64_t hold = rules->min_duration_ms, times = 1 + (int64_t)r->relapses;
    int64_t most = rules->max_duration_ms > hold ? rules->max_duration_ms : hold;
    return hold > most / times ? most : hold * times;
}

/* Lower bound of the 99% Wilson score interval of a fraction (1927). */
static double surely(uint64_t hits, uint64_t of)
{
    static const double Z = 2.5758293035489004;
    double n = (double)of, p = hits < of ? (double)hits / n : 1;
    double center = p + Z * Z / (2 * n);
    double width = Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
    return fmax(0, (center - width) / (1 + Z * Z / n));
}

static bool above(double value, double most, double *observed, double *limit)
{
    if (!(most > 0 && value > most))
        return false;
    *observed = value;
    *limit = most;
    return true;
}

/* Check the shadow-scored lists. */
static enum ek_guardrail check_rank_change(const struct ek_guardrails *g,
                                           const struct ek_rollout_stats *f, double *observed,
                                           double *limit)
{
    return above(f->rank_change_p95, g->rank_change_p95, observed, limit) ? EK_GUARDRAIL_RANKS
                                                                          : EK_GUARDRAIL_NONE;
}

/* Check the routed lists. */
static enum ek_guardrail check_route_stats(const struct ek_guardrails *g,
                                           const struct ek_rollout_stats *f, double *observed,
                                           double *limit)
{
    double elsewhere = isnan(f->dead_rate_elsewhere) ? 0 : f->dead_rate_elsewhere;
    double slow = fmin(f->latency_p99_ms, f->latency_before_ms);
    bool twice = !isnan(f->latency_p99_ms) && !isnan(f->latency_before_ms);
    if (above(surely(f->failed, f->acted), g->error_rate, observed, limit))
        return EK_GUARDRAIL_ERRORS;
    if (above(surely(f->dead, f->acted) - elsewhere, g->dead_letter_rate, observed, limit))
        return EK_GUARDRAIL_DEAD;
    if (twice && above(slow, (double)g->latency_p99_ms, observed, limit))
        return EK_GUARDRAIL_LATENCY;
    return EK_GUARDRAIL_NONE;
}

enum ek_guardrail ek_rollout_check_guardrails(const struct ek_canary *c,
                                              const struct ek_rollout_stats *f, double *observed,
                                              double *limit)
{
    const struct ek_guardrails *g = &c->abort_if;
    uint64_t least = (uint64_t)c->min_lists;
    enum ek_guardrail hit = EK_GUARDRAIL_NONE;
    *observed = *limit = 0;
    if (f->compared >= least)
        hit = check_rank_change(g, f, observed, limit);
    if (!hit && f->acted && f->acted + f->earlier >= least)
        hit = check_route_stats(g, f, observed, limit);
    if (!hit && g->model_drift && f->drifted) {
        *observed = 1;
        hit = EK_GUARDRAIL_DRIFT;
    }
    if (!hit && g->worse_than_unmitigated && f->worse >= EK_HARM_EVIDENCE) {
        *observed = f->worse;
        *limit = EK_HARM_EVIDENCE;
        hit = EK_GUARDRAIL_WORSE;
    }
    return hit;
}

static enum ek_rollout_change step(struct ek_rollout *r, const struct ek_canary *c,
                                   uint64_t compared, int64_t now_ms)
{
    int most = hundredths(c->max_percent), next = r->percent + hundredths(c->step_percent);
    bool due = now_ms - r->step_ms >= c->step_interval_ms && compared >= (uint64_t)c->min_lists;
    next = next < most ? next : most;
    if (next == r->percent || (next > r->percent && !due))
        return EK_ROLLOUT_UNCHANGED;
    r->percent = next;
    r->step_ms = now_ms;
    r->restarts++;
    return EK_ROLLOUT_STEPPED;
}

enum ek_rollout_change ek_rollout_step(struct ek_rollout *r, enum ek_mode mode,
                                       const struct ek_canary *c, const struct ek_rollout_stats *f,
                                       int64_t now_ms)
{
    if (!ek_rollout_may_act(r))
        return EK_ROLLOUT_UNCHANGED;
    if (r->step_ms > now_ms || mode < EK_MODE_CANARY)
        r->step_ms = now_ms;
    if (mode < EK_MODE_CANARY)
        return EK_ROLLOUT_UNCHANGED;
    r->rolled_back = ek_rollout_check_guardrails(c, f, &r->observed, &r->limit);
    if (r->rolled_back != EK_GUARDRAIL_NONE) {
        r->restarts++;
        return EK_ROLLOUT_ROLLED_BACK;
    }
    return mode == EK_MODE_CANARY ? step(r, c, f->compared, now_ms) : EK_ROLLOUT_UNCHANGED;
}

void ek_rollout_resume(struct ek_rollout *r, const struct ek_canary *c, int64_t now_ms)
{
    start(r, c, now_ms);
}

void ek_rollouts_add_pause(struct ek_rollouts *s, int64_t for_ms)
{
    for (int i = 0; i < s->count; i++)
        if (is_running(&s->one[i]))
            s->one[i].step_ms += for_ms < INT64_MAX - s->one[i].step_ms ? for_ms : 0;
}

/* Merge two rollouts of the same feature and cell. */
static void join(struct ek_rollout *r, const struct ek_rollout *other)
{
    if (is_running(r) && is_running(other) && other->percent < r->percent) {
        r->percent = other->percent;
        r->step_ms = other->step_ms;
    }
    if (is_running(other) && other->rolled_back != EK_GUARDRAIL_NONE &&
        r->rolled_back == EK_GUARDRAIL_NONE) {
        r->rolled_back = other->rolled_back;
        r->observed = other->observed;
        r->limit = other->limit;
    }
    r->credit += other->credit;
    if (other->relapses > r->relapses)
        r->relapses = other->relapses;
    if (!is_running(r) && other->ended_ms > r->ended_ms)
        r->ended_ms = other->ended_ms;
}

void ek_rollouts_merge(struct ek_rollouts *into, const struct ek_rollouts *from, const int16_t *to)
{
    for (int i = 0; i < from->count; i++) {
        const struct ek_rollout *other = &from->one[i];
        int cell = to[other->cell];
        struct ek_rollout *r = cell < 0 ? NULL : ek_rollout_find(into, other->feature, cell);
        if (r && (is_running(r) || !is_running(other))) {
            join(r, other);
            continue;
        }
        int relapses = r ? r->relapses : -1;
        double credit = r ? r->credit : 0;
        if (cell >= 0 && !r)
            r = place_for(into, other->feature, cell);
        if (!r)
            continue;
        *r = *other;
        r->cell = cell;
        r->context.cause = 0; /* numbers of another detector */
        r->relapses = relapses > r->relapses ? relapses : r->relapses;
        r->credit += credit;
    }
}

static void context_serialize(struct ek_rollout_context *a, struct ek_serialize *s)
{
    int class = (int)a->class;
    ek_serialize_u32(s, &a->episode);
    ek_serialize_int(s, &class, EK_CLASS_NONE, EK_CLASS_COUNT - 1);
    a->class = (enum ek_class) class;
    ek_serialize_f64(s, &a->factor);
    ek_serialize_f64(s, &a->factor_low);
    ek_serialize_f64(s, &a->factor_high);
    ek_serialize_f64(s, &a->share);
}

static void one_serialize(struct ek_rollout *r, struct ek_serialize *s, int features, int cells)
{
    int rail = (int)r->rolled_back;
    ek_serialize_int(s, &r->feature, 0, features - 1);
    ek_serialize_int(s, &r->cell, 0, cells - 1);
    ek_serialize_int(s, &r->percent, 0, EK_PERCENT_WHOLE);
    ek_serialize_i64(s, &r->step_ms);
    ek_serialize_int(s, &rail, EK_GUARDRAIL_NONE, EK_GUARDRAIL_COUNT - 1);
    r->rolled_back = (enum ek_guardrail)rail;
    ek_serialize_f64(s, &r->observed);
    ek_serialize_f64(s, &r->limit);
    ek_serialize_int(s, &r->relapses, 0, INT32_MAX);
    ek_serialize_i64(s, &r->ended_ms);
    ek_serialize_u64(s, &r->compared);
    context_serialize(&r->context, s);
    ek_serialize_require(s, r->step_ms >= 0 && r->ended_ms >= -1);
    if (ek_serialize_is_reading(s))
        r->credit = EK_BUDGET_UNKNOWN;
}

void ek_rollouts_serialize(struct ek_rollouts *s, struct ek_serialize *snap, int features,
                           int cells)
{
    ek_serialize_int(snap, &s->count, 0, EK_ROLLOUTS_MAX);
    for (int i = 0; i < s->count; i++)
        one_serialize(&s->one[i], snap, features, cells);
}

void ek_rollouts_budget_serialize(struct ek_rollouts *s, struct ek_serialize *snap)
{
    for (int i = 0; i < s->count; i++) {
        ek_serialize_f64(snap, &s->one[i].credit);
        ek_serialize_require(snap, isfinite(s->one[i].credit));
    }
}

void ek_rollouts_incidents_serialize(struct ek_rollouts *s, struct ek_serialize *snap)
{
    for (int i = 0; i < s->count; i++)
        ek_serialize_u32(snap, &s->one[i].context.cause);
}
