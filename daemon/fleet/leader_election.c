#include "daemon/fleet/leader_election.h"

static enum ek_leader_election_action of_owner(struct ek_leader_election *d,
                                               const struct ek_leader_election_view *v)
{
    if (v->gain != d->gain && !v->decides)
        d->due = true;
    d->gain = v->gain;
    d->lost_ms = -1;
    if (v->decides)
        return EK_ELECTION_NONE;
    return d->due || v->age_ms > v->silent_ms ? EK_ELECTION_START : EK_ELECTION_NONE;
}

enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v)
{
    if (v->gain)
        return of_owner(d, v);
    d->due = false;
    if (!v->decides)
        return EK_ELECTION_NONE;
    if (d->lost_ms < 0)
        d->lost_ms = v->now_ms;
    return v->now_ms - d->lost_ms >= v->grace_ms ? EK_ELECTION_RESIGN : EK_ELECTION_NONE;
}

void ek_leader_election_started(struct ek_leader_election *d)
{
    d->due = false;
}
