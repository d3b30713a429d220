#include "detect/evidence_sum.h"

#include "base/alloc.h"
#include "detect/detector_internal.h"

int ek_detector_join(struct ek_detector *d, double share, struct ek_error *e)
{
    struct ek_tick *t = NULL;
    int rc = d->tick ? EK_OK : ek_tick_new(&t, d->features);
    if (!rc && t)
        rc = ek_tick_room(t, d->cell_capacity);
    if (rc) {
        ek_tick_free(t);
        return ek_fail(e, rc, "out of memory");
    }
    if (t)
        d->tick = t;
    d->level = ek_alarm_level_of((double)d->rules->false_alarms / share, ek_detector_watching(d),
                                 d->rules->segment_count);
    return EK_OK;
}

struct ek_tick *ek_detector_tick(const struct ek_detector *d)
{
    return d->tick;
}

const struct ek_manifest *ek_detector_manifest(const struct ek_detector *d)
{
    return d->manifest;
}

int ek_detector_confirmed(const struct ek_detector *d, int place, struct ek_finding *out)
{
    for (int i = place; i < d->episodes; i++)
        if (d->episode[i].phase == EK_PHASE_CONFIRMED) {
            ek_episode_finding(d, &d->episode[i], EK_CONFIRMED, NULL, out);
            return i + 1;
        }
    return 0;
}

int ek_detector_hold(struct ek_detector *d, struct ek_text dimension, struct ek_text value,
                     int *cell)
{
    int rc = ek_cells_give(d->cells, dimension, value, d->fetched == d->findings, cell);
    ek_detector_forget_taken(d);
    if (!rc)
        rc = ek_detector_grow(d, ek_cells_count(d->cells));
    if (!rc && *cell >= 0)
        ek_cells_hold(d->cells, *cell);
    return rc;
}

void ek_detector_release(struct ek_detector *d, int cell)
{
    ek_cells_release(d->cells, cell);
}

uint64_t ek_detector_rows(const struct ek_detector *d, uint64_t *first)
{
    *first = ek_history_first(d->history);
    return ek_history_count(d->history);
}

void ek_detector_row(const struct ek_detector *d, uint64_t number, int feature,
                     struct ek_pooled_row *out)
{
    const struct ek_history_row *row = ek_history_row(d->history, number);
    *out = (struct ek_pooled_row){row->time_ms, row->stratum,
                                  ek_history_records(d->history, number)[feature], row->cell,
                                  ek_history_query(d->history, number)};
}

float ek_detector_tracked(const struct ek_detector *d, int feature)
{
    return ek_detector_level(d, 0, feature);
}

void ek_detector_trust(struct ek_detector *d, int feature, uint32_t lists)
{
    *ek_evidence_queries(d->evidence, 0, feature) = lists;
}

void ek_detector_suspect(struct ek_detector *d, int feature, int cell, int bet)
{
    int explained = d->open[feature] && ek_detector_explained(d, d->cell_of, feature, cell);
    if (!ek_episode_at(d, cell, feature) && !explained && ek_history_count(d->history))
        ek_episode_open(d, feature, cell, bet);
}

int ek_detector_changes(const struct ek_detector *d)
{
    return EK_EPISODES_MAX - ek_episodes_room(d);
}

static int has_claim(const struct ek_claim *claim, int count, const struct ek_claim *one)
{
    for (int i = 0; i < count; i++)
        if (claim[i].feature == one->feature && claim[i].cell == one->cell)
            return 1;
    return 0;
}

/* What nobody claims any more begins from nothing, as after a change of one's own. */
static void give_up(struct ek_detector *d, const struct ek_claim *claim, int count)
{
    for (int i = 0; i < d->foreign_claims; i++) {
        const struct ek_claim *old = &d->foreign_claim[i];
        d->open[old->feature]--;
        d->foreign[ek_detector_slot(d, old->cell, old->feature)] = 0;
        if (!has_claim(claim, count, old))
            ek_evidence_restart(d->evidence, old->cell, old->feature);
    }
    d->foreign_claims = 0;
}

static int room(struct ek_detector *d, int count)
{
    if (!d->foreign)
        d->foreign = ek_calloc((size_t)d->cell_capacity * (size_t)d->features, sizeof *d->foreign);
    struct ek_claim *more =
        ek_realloc(d->foreign_claim, (size_t)d->foreign_claims + (size_t)count, sizeof *more);
    if (more)
        d->foreign_claim = more;
    return d->foreign && more ? EK_OK : EK_ENOMEM;
}

static void let_go(struct ek_detector *d)
{
    ek_free(d->foreign);
    ek_free(d->foreign_claim);
    d->foreign = NULL;
    d->foreign_claim = NULL;
}

int ek_detector_claim(struct ek_detector *d, const struct ek_claim *claim, int count)
{
    int rc = count ? room(d, count) : EK_OK;
    give_up(d, rc ? NULL : claim, rc ? 0 : count);
    for (int i = 0; !rc && i < count; i++) {
        size_t at = ek_detector_slot(d, claim[i].cell, claim[i].feature);
        if (d->foreign[at])
            continue;
        d->foreign[at] = 1;
        d->open[claim[i].feature]++;
        d->foreign_claim[d->foreign_claims++] = claim[i];
    }
    d->claims++;
    if (!d->foreign_claims)
        let_go(d);
    return rc;
}
