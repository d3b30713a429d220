#include "serve/shadow_scoring.h"

#include "serve/assets.h"

#include <math.h>
#include <string.h>

/* EDGE: tolerance for rounding at the start of a bin. */
static const double FIRST_NS = 64000, EDGE = 1e-9;

int ek_latency_window_bin(uint64_t ns)
{
    if ((double)ns < FIRST_NS)
        return 0;
    int bin = 1 + (int)(4 * log2((double)ns / FIRST_NS) + EDGE);
    return bin < EK_LATENCY_WINDOW_BINS ? bin : EK_LATENCY_WINDOW_BINS - 1;
}

double ek_latency_window_from_ms(int bin)
{
    return bin ? FIRST_NS / 1e6 * exp2((bin - 1) / 4.) : 0;
}

/* Return the bin start of the 99th percentile of a nonempty window. */
static double p99_ms(const struct ek_latency_window *l)
{
    uint64_t below = 0;
    int bin = -1;
    do
        below += l->bin[++bin];
    while ((double)below < .99 * (double)l->times);
    return ek_latency_window_from_ms(bin);
}

void ek_latency_window_add(struct ek_latency_window *l, const uint64_t bin[EK_LATENCY_WINDOW_BINS])
{
    for (int i = 0; i < EK_LATENCY_WINDOW_BINS; i++) {
        l->bin[i] += bin[i];
        l->times += bin[i];
    }
    if (l->times < EK_LATENCY_WINDOW_SIZE)
        return;
    l->before_ms = l->p99_ms;
    l->p99_ms = p99_ms(l);
    l->windows += l->windows < UINT32_MAX;
    memset(l->bin, 0, sizeof l->bin);
    l->times = 0;
}

double ek_latency_window_p99_ms(const struct ek_latency_window *l)
{
    return l->windows > 0 ? l->p99_ms : NAN;
}

double ek_latency_window_before_ms(const struct ek_latency_window *l)
{
    return l->windows > 1 ? l->before_ms : NAN;
}

void ek_route_stats_clear(struct ek_route_stats *a)
{
    if (!a->lists)
        return;
    memset(a->acted, 0, (size_t)a->entries * sizeof *a->acted);
    memset(a->failed, 0, (size_t)a->entries * sizeof *a->failed);
    memset(a->latency, 0, sizeof a->latency);
    a->lists = 0;
    a->entries = 0;
}

void ek_route_stats_add(struct ek_route_stats *a, const struct ek_context *c, uint64_t ns)
{
    const struct ek_plan_routing *r = &c->routing;
    if (!r->acted || !(c->scored || c->failed))
        return;
    if (a->plan != c->plan_version)
        ek_route_stats_clear(a);
    a->plan = c->plan_version;
    a->lists++;
    a->latency[ek_latency_window_bin(ns)]++;
    for (int i = 0; i < r->entries; i++) {
        int entry = r->entry[i];
        if (!(c->acting >> i & 1))
            continue;
        a->acted[entry]++;
        a->failed[entry] += c->failed;
        a->entries = entry < a->entries ? a->entries : entry + 1;
    }
}

bool ek_context_needs_comparison(const struct ek_context *c)
{
    return c->scorer && c->counted && c->routing.desired && c->query.items >= 2 &&
           !ek_list_is_partial(&c->query);
}

/* Return the factor of the fault in this list, NaN if unknown. */
static double factor_of(const struct ek_plan_repair *r, const struct ek_list *q)
{
    double factor = r->query_feature < 0 ? r->factor : (double)q->query[r->query_feature];
    return factor > 0 && isfinite(factor) ? factor : NAN;
}

/* Set c->repaired to undo all faults of the list. Return whether all factors are known. Trees score
 * the repaired list in any case. */
static bool repair(struct ek_context *c)
{
    bool known = !c->writer;
    for (int k = 0; k < c->slots; k++) {
        c->repaired[k] = (struct ek_treatment){EK_ACT_NONE, 0};
        if (c->routing.would[k].action == EK_ACT_NONE)
            continue;
        c->repaired[k] = (struct ek_treatment){EK_ACT_REPAIR, factor_of(&c->repair[k], &c->query)};
        known &= !isnan(c->repaired[k].value);
    }
    return known;
}

/* Return the output scores if they differ from the planned scores. */
static const double *other_scores(const struct ek_context *c)
{
    bool part = c->routing.acted && c->routing.acted < c->routing.desired;
    return part && c->scored ? c->scores : NULL;
}

static void note(const struct ek_context *c, struct ek_comparison *out)
{
    const struct ek_plan_routing *r = &c->routing;
    out->plan = c->plan_version;
    out->entries = r->entries;
    out->acting = r->acted == r->desired || c->scored ? c->acting : 0;
    memcpy(out->entry, r->entry, (size_t)r->entries * sizeof *out->entry);
}

int ek_context_compare(struct ek_context *c, bool more, double gap, struct ek_comparison *out,
                       bool *valid, struct ek_error *e)
{
    const struct ek_plan_routing *r = &c->routing;
    bool known = r->acted == r->desired && c->scored, harm = more && !isnan(gap) && repair(c);
    struct ek_comparison_input t = {.list = &c->query,
                                    .treatment = r->would,
                                    .scores = known ? c->scores : NULL,
                                    .out = other_scores(c),
                                    .plain = more,
                                    .repaired = harm ? c->repaired : NULL,
                                    .gap = gap};
    int rc = c->rank_comparison ? EK_OK : ek_rank_comparison_new(&c->rank_comparison, e);
    if (!rc && c->writer && !known) {
        rc = ek_context_plan_scores(c, e);
        t.scores = c->planned;
    }
    if (!rc)
        rc = ek_rank_comparison_run(c->rank_comparison, c->scorer, &t, &out->result, valid, e);
    out->failed = rc == EK_ESTATE;
    if (out->failed) {
        *valid = true;
        rc = EK_OK;
    }
    if (!rc)
        note(c, out);
    return rc;
}
