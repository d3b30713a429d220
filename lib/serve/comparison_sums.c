#include "serve/comparison_sums.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* Sums of an entry since its start, and its recent window. */
struct retained {
    struct ek_comparison_sums is;
    struct ek_recent_values recent;
};

struct ek_comparisons {
    uint64_t version, late, turns; /* `version`: plan version of the order of `one` */
    int count;
    struct retained *one;
    struct ek_comparisons_total all;
    struct ek_latency_window latency;
};

int ek_comparisons_new(struct ek_comparisons **out, struct ek_error *e)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

void ek_comparisons_free(struct ek_comparisons *t)
{
    if (!t)
        return;
    ek_free(t->one);
    ek_free(t);
}

static struct retained *find(const struct ek_comparisons *t, int feature, int cell)
{
    for (int i = 0; i < t->count; i++)
        if (t->one[i].is.feature == feature && t->one[i].is.cell == cell)
            return &t->one[i];
    return NULL;
}

static bool is_of(const struct ek_comparison_sums *s, const struct ek_plan_entry *e)
{
    return s->feature == e->feature && s->cell == e->cell && s->action == e->treatment.action &&
           s->since_ms == e->since_ms && s->restarts == e->restarts;
}

static struct retained *find_kept(const struct ek_comparisons *t, const struct ek_plan_entry *entry)
{
    struct retained *k = find(t, entry->feature, entry->cell);
    return k && is_of(&k->is, entry) ? k : NULL;
}

const struct ek_comparison_sums *ek_comparisons_get(const struct ek_comparisons *t,
                                                    const struct ek_plan_entry *entry)
{
    const struct retained *k = find_kept(t, entry);
    return k ? &k->is : NULL;
}

static void begin(const struct ek_comparisons *t, const struct ek_plan_entry *e, struct retained *k)
{
    k->is = (struct ek_comparison_sums){.feature = e->feature,
                                        .cell = e->cell,
                                        .action = e->treatment.action,
                                        .since_ms = e->since_ms,
                                        .restarts = e->restarts};
    ek_mean_evalues_start(&k->is.worse, EK_HARM_BOUND);
    ek_recent_values_start(&k->recent, &t->all.load);
}

/* Arrange the sums in the order of the plan; sums of unchanged entries stay. */
static int init_sums(struct ek_comparisons *t, const struct ek_plan *plan, struct ek_error *e)
{
    struct retained *one = ek_calloc((size_t)plan->count, sizeof *one);
    if (!one)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < plan->count; i++) {
        const struct retained *was = find_kept(t, &plan->entry[i]);
        if (was)
            one[i] = *was;
        else
            begin(t, &plan->entry[i], &one[i]);
    }
    ek_free(t->one);
    t->one = one;
    t->count = plan->count;
    t->version = plan->version;
    return EK_OK;
}

/* Return the sums of an entry, or NULL if the plan lacks it. Entries of one version may change
 * order, and an entry that was removed and added again is new. */
static struct retained *place(struct ek_comparisons *t, const struct ek_plan *plan, int entry,
                              struct ek_error *e, int *rc)
{
    if (entry >= plan->count)
        return NULL;
    bool there = t->version == plan->version && entry < t->count &&
                 is_of(&t->one[entry].is, &plan->entry[entry]);
    *rc = there ? EK_OK : init_sums(t, plan, e);
    return *rc ? NULL : &t->one[entry];
}

static void count(struct ek_comparison_sums *s, const struct ek_comparison *t, bool acts)
{
    s->compared++;
    s->alone += t->entries == 1;
    s->unscored += t->failed;
    if (t->failed)
        return;
    ek_rank_sums_add(&s->moved, &t->result.moved);
    if (acts)
        ek_rank_sums_add(&s->acted, &t->result.out);
    if (t->result.has_plain)
        ek_rank_sums_add(&s->plain, &t->result.plain);
    if (t->result.has_harm) {
        double x = (1 + t->result.harm) / 2;
        ek_mean_evalues_sum(s->worse_sum, EK_HARM_BOUND, x);
        ek_mean_evalues_add(&s->worse, x, s->measured++);
    }
}

int ek_comparisons_add(struct ek_comparisons *t, const struct ek_plan *plan,
                       const struct ek_comparison *trial, struct ek_error *e)
{
    if (trial->plan != plan->version) {
        t->late++;
        return EK_OK;
    }
    int rc = EK_OK;
    for (int i = 0; !rc && i < trial->entries; i++) {
        struct retained *k = place(t, plan, trial->entry[i], e, &rc);
        if (!k)
            continue;
        count(&k->is, trial, trial->acting >> i & 1);
        ek_recent_values_roll(&k->recent, &k->is, &t->all.load);
    }
    return rc;
}

int ek_comparisons_add_routes(struct ek_comparisons *t, const struct ek_plan *plan,
                              const struct ek_route_stats *acts, struct ek_error *e)
{
    if (!acts->lists || acts->plan != plan->version)
        return EK_OK;
    int rc = EK_OK;
    for (int i = 0; !rc && i < acts->entries; i++) {
        struct retained *k = acts->acted[i] ? place(t, plan, i, e, &rc) : NULL;
        if (!k)
            continue;
        k->is.acts += acts->acted[i];
        k->is.failed += acts->failed[i];
        ek_recent_values_roll(&k->recent, &k->is, &t->all.load);
    }
    if (rc)
        return rc;
    ek_latency_window_add(&t->latency, acts->latency);
    for (int i = 0; i < EK_LATENCY_WINDOW_BINS; i++)
        t->all.latency[i] += acts->latency[i];
    return EK_OK;
}

void ek_comparisons_add_output_counts(struct ek_comparisons *t, const struct ek_output_counts *load)
{
    for (int i = 0; i < 2; i++) {
        t->all.load.lists[i] += load->lists[i];
        t->all.load.dead[i] += load->dead[i];
    }
}

uint64_t ek_comparisons_next_number(struct ek_comparisons *t)
{
    return t->turns++;
}

uint64_t ek_comparisons_stale_count(const struct ek_comparisons *t)
{
    return t->late;
}

void ek_comparisons_reset(struct ek_comparisons *t, int feature, int cell)
{
    struct retained *k = find(t, feature, cell);
    memset(&t->latency, 0, sizeof t->latency);
    if (!k)
        return;
    const struct ek_plan_entry entry = {.feature = feature,
                                        .cell = cell,
                                        .treatment = {k->is.action, 0},
                                        .since_ms = k->is.since_ms,
                                        .restarts = k->is.restarts};
    begin(t, &entry, k);
}

const struct ek_comparison_sums *ek_comparisons_next(const struct ek_comparisons *t, int *at)
{
    for (; *at < t->count; ++*at)
        if (t->one[*at].is.compared || t->one[*at].is.acts)
            return &t->one[(*at)++].is;
    return NULL;
}

const struct ek_comparisons_total *ek_comparisons_total(const struct ek_comparisons *t)
{
    return &t->all;
}

void ek_comparison_sums_add(struct ek_comparison_sums *into, const struct ek_comparison_sums *s)
{
    into->compared += s->compared;
    into->alone += s->alone;
    into->unscored += s->unscored;
    ek_rank_sums_merge(&into->moved, &s->moved);
    ek_rank_sums_merge(&into->plain, &s->plain);
    ek_rank_sums_merge(&into->acted, &s->acted);
    into->acts += s->acts;
    into->failed += s->failed;
    into->measured += s->measured;
    for (int i = 0; i < EK_MEAN_EVALUES; i++)
        into->worse_sum[i] += s->worse_sum[i];
}

static const struct ek_rollout_stats NOTHING_KNOWN = {.dead_rate_elsewhere = (double)NAN,
                                                      .rank_change_p95 = (double)NAN,
                                                      .latency_p99_ms = (double)NAN,
                                                      .latency_before_ms = (double)NAN};

struct ek_rollout_stats ek_comparisons_stats(const struct ek_comparisons *t,
                                             const struct ek_plan_entry *entry)
{
    const struct retained *k = find_kept(t, entry);
    return k ? ek_recent_values_stats(&k->recent, &k->is, &t->all.load, &t->latency)
             : NOTHING_KNOWN;
}

struct ek_rollout_stats ek_comparisons_would_roll_back(const struct ek_comparisons *t,
                                                       const struct ek_plan_entry *entry)
{
    const struct ek_comparison_sums *s = ek_comparisons_get(t, entry);
    struct ek_rollout_stats f = NOTHING_KNOWN;
    if (!s)
        return f;
    f.compared = s->moved.lists;
    f.acted = s->compared;
    f.failed = s->unscored;
    f.rank_change_p95 = ek_rank_sums_quantile(&s->moved, .95);
    f.worse = ek_mean_evalues_evidence(&s->worse);
    return f;
}

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
    return (struct ek_rollout_stats){.compared = s->acted.lists,
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
