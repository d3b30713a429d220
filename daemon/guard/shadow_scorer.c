#include "daemon/guard/shadow_scorer.h"

#include "guard/guard_assets.h"
#include "guard/guard_trials.h"
#include "serve/agreement_watch.h"

#include <math.h>
#include <string.h>

/* Budget cap: that of BUDGET_NS of elapsed time. Longer intervals count as MAX_ELAPSED_NS, so the
 * product does not overflow. */
static const uint64_t BUDGET_NS = 100000000, MAX_ELAPSED_NS = 1000000000000;

void ek_shadow_scorer_init(struct ek_shadow_scorer *t, int percent, uint64_t now_ns,
                           struct ek_metrics *metrics)
{
    memset(t, 0, sizeof *t);
    t->percent = percent;
    t->budget = percent * (int64_t)BUDGET_NS;
    t->updated_ns = now_ns;
    t->gap = (double)NAN;
    t->metrics = metrics;
}

static void update_budget(struct ek_shadow_scorer *t, uint64_t now_ns)
{
    uint64_t elapsed = now_ns > t->updated_ns ? now_ns - t->updated_ns : 0;
    int64_t max = t->percent * (int64_t)BUDGET_NS;
    t->updated_ns = now_ns;
    t->budget += (int64_t)(elapsed < MAX_ELAPSED_NS ? elapsed : MAX_ELAPSED_NS) * t->percent;
    t->budget = t->budget < max ? t->budget : max;
}

bool ek_shadow_scorer_is_due(struct ek_shadow_scorer *t, bool behind, uint64_t now_ns)
{
    update_budget(t, now_ns);
    bool is_due = !behind && t->budget > 0 && t->pending < EK_SHADOW_SCORER_MAX;
    ek_metrics_count(t->metrics, EK_COUNT_SHADOW_SKIPPED, !is_due);
    return is_due;
}

void ek_shadow_scorer_add_time(struct ek_shadow_scorer *t, uint64_t ns)
{
    t->budget -= 100 * (int64_t)ns;
}

void ek_shadow_scorer_score(struct ek_shadow_scorer *t, struct ek_context *c)
{
    bool has_result, more = t->scored % EK_SHADOW_SCORER_MORE == 0;
    int rc = ek_context_compare(c, more, t->gap, &t->result[t->pending], &has_result, NULL);
    ek_metrics_count(t->metrics, rc ? EK_COUNT_SHADOW_SKIPPED : EK_COUNT_SHADOW_SCORED, 1);
    if (rc || !has_result)
        return;
    t->scored++;
    t->pending++;
    t->assets = c->assets;
}

bool ek_shadow_scorer_has_results(const struct ek_shadow_scorer *t)
{
    return t->pending || t->acts.lists;
}

void ek_shadow_scorer_report(struct ek_shadow_scorer *t, struct ek_guard *g)
{
    struct ek_error e;
    if (!ek_shadow_scorer_has_results(t))
        return;
    t->gap = ek_guard_gap(g);
    bool stale = t->pending && t->assets != ek_guard_assets(g); /* scored with replaced assets */
    if (stale || ek_guard_add_comparisons(g, t->result, t->pending, &e) ||
        ek_guard_add_route_stats(g, &t->acts, &e))
        ek_metrics_count(t->metrics, EK_COUNT_SHADOW_SKIPPED, t->pending);
    t->pending = 0;
    ek_route_stats_clear(&t->acts);
}
