#include "daemon/guard/shadow_scorer.h"

#include "guard/guard_assets.h"
#include "guard/guard_trials.h"
#include "serve/agreement_watch.h"

#include <math.h>
#include <string.h>

/* Of the first so much is put aside at most; what is more than the second counts as that. */
static const uint64_t NS_ASIDE = 100000000, NS_PASSED = 1000000000000;

void ek_shadow_scorer_init(struct ek_shadow_scorer *t, int percent, uint64_t now_ns,
                           struct ek_metrics *metrics)
{
    memset(t, 0, sizeof *t);
    t->percent = percent;
    t->aside = percent * (int64_t)NS_ASIDE;
    t->looked_ns = now_ns;
    t->gap = (double)NAN;
    t->metrics = metrics;
}

static void store_result(struct ek_shadow_scorer *t, uint64_t now_ns)
{
    uint64_t passed = now_ns > t->looked_ns ? now_ns - t->looked_ns : 0;
    int64_t most = t->percent * (int64_t)NS_ASIDE;
    t->looked_ns = now_ns;
    t->aside += (int64_t)(passed < NS_PASSED ? passed : NS_PASSED) * t->percent;
    t->aside = t->aside < most ? t->aside : most;
}

bool ek_shadow_scorer_is_due(struct ek_shadow_scorer *t, bool behind, uint64_t now_ns)
{
    store_result(t, now_ns);
    bool may = !behind && t->aside > 0 && t->waiting < EK_SHADOW_SCORER_MAX;
    ek_metrics_count(t->metrics, EK_COUNT_SHADOW_SKIPPED, !may);
    return may;
}

void ek_shadow_scorer_add_time(struct ek_shadow_scorer *t, uint64_t ns)
{
    t->aside -= 100 * (int64_t)ns;
}

/* One that there is no memory for is passed over. */
void ek_shadow_scorer_score(struct ek_shadow_scorer *t, struct ek_context *c)
{
    bool says, more = t->number % EK_SHADOW_SCORER_MORE == 0;
    int rc = ek_context_compare(c, more, t->gap, &t->trial[t->waiting], &says, NULL);
    ek_metrics_count(t->metrics, rc ? EK_COUNT_SHADOW_SKIPPED : EK_COUNT_SHADOW_SCORED, 1);
    if (rc || !says)
        return;
    t->number++;
    t->waiting++;
    t->assets = c->assets;
}

bool ek_shadow_scorer_has_results(const struct ek_shadow_scorer *t)
{
    return t->waiting || t->acts.lists;
}

void ek_shadow_scorer_report(struct ek_shadow_scorer *t, struct ek_guard *g)
{
    struct ek_error e;
    if (!ek_shadow_scorer_has_results(t))
        return;
    t->gap = ek_guard_gap(g);
    bool elder = t->waiting && t->assets != ek_guard_assets(g); /* of a model that is gone */
    if (elder || ek_guard_add_comparisons(g, t->trial, t->waiting, &e) ||
        ek_guard_add_route_stats(g, &t->acts, &e))
        ek_metrics_count(t->metrics, EK_COUNT_SHADOW_SKIPPED, t->waiting);
    t->waiting = 0;
    ek_route_stats_clear(&t->acts);
}
