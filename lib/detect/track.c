#include "detect/track.h"

#include "detect/detector_internal.h"
#include "num/bet_steps.h"

#include <math.h>

const char *ek_track_state_name(enum ek_track_state s)
{
    static const char *const names[] = {"watched", "suspected", "confirmed"};
    return names[s];
}

double ek_detector_alarm_ln(const struct ek_detector *d)
{
    return log((double)d->level.alarm);
}

static void describe(const struct ek_episode *e, struct ek_track_point *out)
{
    bool confirmed = e->phase == EK_PHASE_CONFIRMED;
    out->state = confirmed ? EK_TRACK_CONFIRMED : e->quiet ? EK_TRACK_WATCHED : EK_TRACK_SUSPECTED;
    if (!confirmed || !ek_episode_has_level(e))
        return;
    out->factor_ln = (float)e->diagnosis.level.shift_ln;
    out->low_ln = (float)e->diagnosis.level.low_ln;
    out->high_ln = (float)e->diagnosis.level.high_ln;
}

bool ek_detector_look(const struct ek_detector *d, int feature, int cell,
                      struct ek_track_point *out)
{
    uint64_t lists = ek_history_count(d->history);
    if (!lists || cell >= d->cell_capacity)
        return false;
    const float *r = ek_evidence_r(d->evidence, cell, feature);
    const struct ek_episode *e = ek_episode_at(d, cell, feature);
    *out = (struct ek_track_point){
        .query = ek_history_row(d->history, lists - 1)->query,
        .time_ms = ek_history_row(d->history, lists - 1)->time_ms,
        .evidence_ln = logf(ek_bet_total(r, d->reader->tables->weight).all),
        .factor_ln = (float)NAN,
        .low_ln = (float)NAN,
        .high_ln = (float)NAN,
    };
    if (e)
        describe(e, out);
    return true;
}
