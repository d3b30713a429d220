#include "serve/recent_values.h"

#include <math.h>
#include <string.h>

void ek_recent_values_start(struct ek_recent_values *r, const struct ek_output_counts *load)
{
    memset(r, 0, sizeof *r);
    r->acts[0].load = r->acts[1].load = *load;
}

static void mark_ranks(struct ek_recent_values *r, int which, const struct ek_rank_sums *s)
{
    r->ranks[which].lists = s->lists;
    memcpy(r->ranks[which].bin, s->bin, sizeof s->bin);
}

static void mark_routes(struct ek_recent_values *r, int which, const struct ek_comparison_sums *s,
                        const struct ek_output_counts *load)
{
    r->acts[which].lists = s->acts;
    r->acts[which].failed = s->failed;
    r->acts[which].load = *load;
}

static void roll_ranks(struct ek_recent_values *r, const struct ek_rank_sums *s)
{
    bool less = s->lists < r->ranks[1].lists;
    if (!less && s->lists - r->ranks[1].lists < EK_GUARDRAIL_LISTS)
        return;
    r->ranks[0] = r->ranks[1];
    mark_ranks(r, 1, s);
    if (less)
        mark_ranks(r, 0, s);
}

static void roll_routes(struct ek_recent_values *r, const struct ek_comparison_sums *s,
                        const struct ek_output_counts *load)
{
    bool less = s->acts < r->acts[1].lists;
    if (!less && s->acts - r->acts[1].lists < EK_GUARDRAIL_LISTS)
        return;
    r->acts[0] = r->acts[1];
    mark_routes(r, 1, s, load);
    if (less)
        mark_routes(r, 0, s, load);
}

void ek_recent_values_roll(struct ek_recent_values *r, const struct ek_comparison_sums *s,
                           const struct ek_output_counts *load)
{
    roll_ranks(r, &s->acted);
    roll_routes(r, s, load);
}

static uint64_t risen(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

static double p95_of(const struct ek_recent_values *r, const struct ek_comparison_sums *s)
{
    struct ek_rank_sums lately = {.lists = 0};
    for (int i = 0; i < EK_CHANGE_BINS; i++) {
        lately.bin[i] = risen(r->ranks[0].bin[i], s->acted.bin[i]);
        lately.lists += lately.bin[i];
    }
    return ek_rank_sums_quantile(&lately, .95);
}

/* Return the fraction of dead letters in the outputs since `from`; NaN without outputs. */
static double dead_share(const struct ek_output_counts *now, const struct ek_output_counts *from,
                         int kind)
{
    uint64_t dead = risen(from->dead[kind], now->dead[kind]);
    uint64_t all = risen(from->lists[kind], now->lists[kind]) + dead;
    return all ? (double)dead / (double)all : NAN;
}

/* Estimate the dead letters of an entry by its fraction of lists. The actual number is the upper
 * bound, because unacknowledged outputs are missing in the sums. */
static uint64_t dead_of(uint64_t lists, const struct ek_output_counts *now,
                        const struct ek_output_counts *from)
{
    double share = dead_share(now, from, 1);
    double most = (double)risen(from->dead[1], now->dead[1]);
    return isnan(share) ? 0 : (uint64_t)fmin(share * (double)lists, most);
}

struct ek_rollout_stats ek_recent_values_stats(const struct ek_recent_values *r,
                                               const struct ek_comparison_sums *s,
                                               const struct ek_output_counts *load,
                                               const struct ek_latency_window *latency)
{
    uint64_t lists = risen(r->acts[0].lists, s->acts);
    return (struct ek_rollout_stats){.tried = s->acted.lists,
                                     .acted = lists,
                                     .failed = risen(r->acts[0].failed, s->failed),
                                     .dead = dead_of(lists, load, &r->acts[0].load),
                                     .earlier = s->acts - lists,
                                     .dead_rate_elsewhere = dead_share(load, &r->acts[0].load, 0),
                                     .rank_change_p95 = p95_of(r, s),
                                     .latency_p99_ms = ek_latency_window_p99_ms(latency),
                                     .latency_before_ms = ek_latency_window_before_ms(latency),
                                     .worse = ek_mean_evalues_evidence(&s->worse)};
}
