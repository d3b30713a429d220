#include "guard/trial_sums.h"

#include "base/alloc.h"

#include <string.h>

struct ek_trials {
    uint64_t version, late; /* version: of the plan that `one` is laid out as */
    int count;
    struct ek_trial_sums *one;
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

static struct ek_trial_sums nothing_yet(const struct ek_plan_entry *e)
{
    struct ek_trial_sums s = {.feature = e->feature,
                              .cell = e->cell,
                              .action = e->treatment.action,
                              .since_ms = e->since_ms};
    ek_mean_bets_start(&s.worse, .5);
    return s;
}

/* A place for each entry of the plan; what is of the same entry stays. */
static int lay_out(struct ek_trials *t, const struct ek_plan *plan, struct ek_error *e)
{
    struct ek_trial_sums *one = ek_calloc((size_t)plan->count, sizeof *one);
    if (!one)
        return ek_fail(e, EK_ENOMEM, "no memory for figures of trials");
    for (int i = 0; i < plan->count; i++) {
        const struct ek_plan_entry *entry = &plan->entry[i];
        const struct ek_trial_sums *was = find(t, entry->feature, entry->cell);
        bool same =
            was && was->action == entry->treatment.action && was->since_ms == entry->since_ms;
        one[i] = same ? *was : nothing_yet(entry);
    }
    ek_free(t->one);
    t->one = one;
    t->count = plan->count;
    t->version = plan->version;
    return EK_OK;
}

static void count(struct ek_trial_sums *s, const struct ek_trial *t)
{
    s->tried++;
    s->alone += t->entries == 1;
    ek_rank_sums_add(&s->moved, &t->ways.moved);
    if (t->acts)
        ek_rank_sums_add(&s->acted, &t->ways.moved);
    if (t->ways.has_plain)
        ek_rank_sums_add(&s->plain, &t->ways.plain);
    if (t->ways.has_harm)
        ek_mean_bets_take(&s->worse, (1 + t->ways.harm) / 2, s->measured++);
}

int ek_trials_take(struct ek_trials *t, const struct ek_plan *plan, const struct ek_trial *trial,
                   struct ek_error *e)
{
    if (trial->plan != plan->version) {
        t->late++;
        return EK_OK;
    }
    int rc = t->version == plan->version ? EK_OK : lay_out(t, plan, e);
    for (int i = 0; !rc && i < trial->entries; i++)
        if (trial->entry[i] < t->count)
            count(&t->one[trial->entry[i]], trial);
    return rc;
}

uint64_t ek_trials_late(const struct ek_trials *t)
{
    return t->late;
}

const struct ek_trial_sums *ek_trials_of(const struct ek_trials *t, int feature, int cell)
{
    return find(t, feature, cell);
}

void ek_trials_begin(struct ek_trials *t, int feature, int cell)
{
    struct ek_trial_sums *s = find(t, feature, cell);
    if (!s)
        return;
    struct ek_plan_entry entry = {
        .feature = feature, .cell = cell, .treatment = {s->action, 0}, .since_ms = s->since_ms};
    *s = nothing_yet(&entry);
}
