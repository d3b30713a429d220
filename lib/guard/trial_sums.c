#include "guard/trial_sums.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

struct ek_trials {
    uint64_t version, late, turns; /* version: of the plan that `one` is laid out as */
    int count;
    struct ek_trial_sums *one;
    struct ek_trials_all all;
    struct ek_latency latency;
};

int ek_trials_new(struct ek_trials **out, struct ek_error *e)
{
    *out = ek_calloc(1, sizeof **out);
    return *out ? EK_OK : ek_fail(e, EK_ENOMEM, "no memory for figures of trials");
}

void ek_trials_free(struct ek_trials *t)
{
    if (!t)
        return;
    ek_free(t->one);
    ek_free(t);
}

static struct ek_trial_sums *find(const struct ek_trials *t, int feature, int cell)
{
    for (int i = 0; i < t->count; i++)
        if (t->one[i].feature == feature && t->one[i].cell == cell)
            return &t->one[i];
    return NULL;
}

static bool is_of(const struct ek_trial_sums *s, const struct ek_plan_entry *e)
{
    return s->feature == e->feature && s->cell == e->cell && s->action == e->treatment.action &&
           s->since_ms == e->since_ms && s->turns == e->turns;
}

const struct ek_trial_sums *ek_trials_of(const struct ek_trials *t,
                                         const struct ek_plan_entry *entry)
{
    const struct ek_trial_sums *s = find(t, entry->feature, entry->cell);
    return s && is_of(s, entry) ? s : NULL;
}

static struct ek_trial_sums nothing_yet(const struct ek_trials *t, const struct ek_plan_entry *e)
{
    struct ek_trial_sums s = {.feature = e->feature,
                              .cell = e->cell,
                              .action = e->treatment.action,
                              .since_ms = e->since_ms,
                              .turns = e->turns,
                              .from = t->all.load};
    ek_mean_bets_start(&s.worse, EK_HARM_BOUND);
    return s;
}

/* A place for each entry of the plan; what is of the same entry stays. */
static int lay_out(struct ek_trials *t, const struct ek_plan *plan, struct ek_error *e)
{
    struct ek_trial_sums *one = ek_calloc((size_t)plan->count, sizeof *one);
    if (!one)
        return ek_fail(e, EK_ENOMEM, "no memory for figures of trials");
    for (int i = 0; i < plan->count; i++) {
        const struct ek_trial_sums *was = ek_trials_of(t, &plan->entry[i]);
        one[i] = was ? *was : nothing_yet(t, &plan->entry[i]);
    }
    ek_free(t->one);
    t->one = one;
    t->count = plan->count;
    t->version = plan->version;
    return EK_OK;
}

/* The place of an entry; NULL: the plan has none such. Of the same version its entries may stand in
 * another order, and one that went and came again is another one. */
static struct ek_trial_sums *place(struct ek_trials *t, const struct ek_plan *plan, int entry,
                                   struct ek_error *e, int *rc)
{
    if (entry >= plan->count)
        return NULL;
    bool there = t->version == plan->version && entry < t->count &&
                 is_of(&t->one[entry], &plan->entry[entry]);
    *rc = there ? EK_OK : lay_out(t, plan, e);
    return *rc ? NULL : &t->one[entry];
}

static void count(struct ek_trial_sums *s, const struct ek_trial *t, bool acts)
{
    s->tried++;
    s->alone += t->entries == 1;
    s->unscored += t->failed;
    if (t->failed)
        return;
    ek_rank_sums_add(&s->moved, &t->ways.moved);
    if (acts)
        ek_rank_sums_add(&s->acted, &t->ways.out);
    if (t->ways.has_plain)
        ek_rank_sums_add(&s->plain, &t->ways.plain);
    if (t->ways.has_harm) {
        double x = (1 + t->ways.harm) / 2;
        ek_mean_bets_sum(s->worse_sum, EK_HARM_BOUND, x);
        ek_mean_bets_take(&s->worse, x, s->measured++);
    }
}

int ek_trials_take(struct ek_trials *t, const struct ek_plan *plan, const struct ek_trial *trial,
                   struct ek_error *e)
{
    if (trial->plan != plan->version) {
        t->late++;
        return EK_OK;
    }
    int rc = EK_OK;
    for (int i = 0; !rc && i < trial->entries; i++) {
        struct ek_trial_sums *s = place(t, plan, trial->entry[i], e, &rc);
        if (s)
            count(s, trial, trial->acting >> i & 1);
    }
    return rc;
}

int ek_trials_take_acts(struct ek_trials *t, const struct ek_plan *plan, const struct ek_acts *acts,
                        struct ek_error *e)
{
    if (!acts->lists || acts->plan != plan->version)
        return EK_OK;
    int rc = EK_OK;
    for (int i = 0; !rc && i < acts->entries; i++) {
        struct ek_trial_sums *s = acts->acted[i] ? place(t, plan, i, e, &rc) : NULL;
        if (s) {
            s->acts += acts->acted[i];
            s->failed += acts->failed[i];
        }
    }
    if (rc)
        return rc;
    ek_latency_add(&t->latency, acts->latency);
    for (int i = 0; i < EK_LATENCY_BINS; i++)
        t->all.latency[i] += acts->latency[i];
    return EK_OK;
}

void ek_trials_take_load(struct ek_trials *t, const struct ek_guard_load *load)
{
    for (int i = 0; i < 2; i++) {
        t->all.load.lists[i] += load->lists[i];
        t->all.load.dead[i] += load->dead[i];
    }
}

uint64_t ek_trials_turn(struct ek_trials *t)
{
    return t->turns++;
}

uint64_t ek_trials_late(const struct ek_trials *t)
{
    return t->late;
}

void ek_trials_begin(struct ek_trials *t, int feature, int cell)
{
    struct ek_trial_sums *s = find(t, feature, cell);
    memset(&t->latency, 0, sizeof t->latency);
    if (!s)
        return;
    struct ek_plan_entry entry = {.feature = feature,
                                  .cell = cell,
                                  .treatment = {s->action, 0},
                                  .since_ms = s->since_ms,
                                  .turns = s->turns};
    *s = nothing_yet(t, &entry);
}

/* Of the outputs since then, the share that became dead letters; NaN without any. */
static double dead_share(const struct ek_guard_load *now, const struct ek_guard_load *from,
                         int kind)
{
    uint64_t dead = now->dead[kind] - from->dead[kind];
    uint64_t all = now->lists[kind] - from->lists[kind] + dead;
    return all ? (double)dead / (double)all : NAN;
}

/* As many of the entry's lists as of all; outputs that are not acknowledged are no reason to take
 * more for dead than there were. */
static uint64_t dead_of(const struct ek_trial_sums *s, const struct ek_guard_load *load)
{
    double share = dead_share(load, &s->from, 1);
    double most = (double)(load->dead[1] - s->from.dead[1]);
    return isnan(share) ? 0 : (uint64_t)fmin(share * (double)s->acts, most);
}

const struct ek_trial_sums *ek_trials_next(const struct ek_trials *t, int *at)
{
    for (; *at < t->count; ++*at)
        if (t->one[*at].tried || t->one[*at].acts)
            return &t->one[(*at)++];
    return NULL;
}

const struct ek_trials_all *ek_trials_all(const struct ek_trials *t)
{
    return &t->all;
}

void ek_trial_sums_add(struct ek_trial_sums *into, const struct ek_trial_sums *s)
{
    into->tried += s->tried;
    into->alone += s->alone;
    into->unscored += s->unscored;
    ek_rank_sums_merge(&into->moved, &s->moved);
    ek_rank_sums_merge(&into->plain, &s->plain);
    ek_rank_sums_merge(&into->acted, &s->acted);
    into->acts += s->acts;
    into->failed += s->failed;
    into->measured += s->measured;
    for (int i = 0; i < EK_MEAN_BETS; i++)
        into->worse_sum[i] += s->worse_sum[i];
}

static const struct ek_rollout_figures NOTHING_KNOWN = {.dead_rate_elsewhere = (double)NAN,
                                                        .rank_change_p95 = (double)NAN,
                                                        .latency_p99_ms = (double)NAN,
                                                        .latency_before_ms = (double)NAN};

struct ek_rollout_figures ek_trial_sums_figures(const struct ek_trial_sums *s,
                                                const struct ek_guard_load *load,
                                                const struct ek_latency *latency)
{
    return (struct ek_rollout_figures){.tried = s->acted.lists,
                                       .acted = s->acts,
                                       .failed = s->failed,
                                       .dead = dead_of(s, load),
                                       .dead_rate_elsewhere = dead_share(load, &s->from, 0),
                                       .rank_change_p95 = ek_rank_sums_quantile(&s->acted, .95),
                                       .latency_p99_ms = ek_latency_p99_ms(latency),
                                       .latency_before_ms = ek_latency_before_ms(latency),
                                       .worse = ek_mean_bets_evidence(&s->worse)};
}

struct ek_rollout_figures ek_trials_figures(const struct ek_trials *t,
                                            const struct ek_plan_entry *entry)
{
    const struct ek_trial_sums *s = ek_trials_of(t, entry);
    return s ? ek_trial_sums_figures(s, &t->all.load, &t->latency) : NOTHING_KNOWN;
}

struct ek_rollout_figures ek_trials_would_be(const struct ek_trials *t,
                                             const struct ek_plan_entry *entry)
{
    const struct ek_trial_sums *s = ek_trials_of(t, entry);
    struct ek_rollout_figures f = NOTHING_KNOWN;
    if (!s)
        return f;
    f.tried = s->moved.lists;
    f.acted = s->tried;
    f.failed = s->unscored;
    f.rank_change_p95 = ek_rank_sums_quantile(&s->moved, .95);
    f.worse = ek_mean_bets_evidence(&s->worse);
    return f;
}
