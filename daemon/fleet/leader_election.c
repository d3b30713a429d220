#include "daemon/fleet/leader_election.h"

static enum ek_leader_election_action owner_step(struct ek_leader_election *d,
                                                 const struct ek_leader_election_view *v)
{
    if (v->acquisition != d->acquisition && !v->is_leader)
        d->is_start_due = true;
    d->acquisition = v->acquisition;
    d->lost_ms = -1;
    if (v->is_leader)
        return EK_ELECTION_NONE;
    return d->is_start_due || v->age_ms > v->max_age_ms ? EK_ELECTION_START : EK_ELECTION_NONE;
}

enum ek_leader_election_action ek_leader_election_step(struct ek_leader_election *d,
                                                       const struct ek_leader_election_view *v)
{
    if (v->acquisition)
        return owner_step(d, v);
    d->is_start_due = false;
    if (!v->is_leader)
        return EK_ELECTION_NONE;
    if (d->lost_ms < 0)
        d->lost_ms = v->now_ms;
    return v->now_ms - d->lost_ms >= v->grace_ms ? EK_ELECTION_RESIGN : EK_ELECTION_NONE;
}

void ek_leader_election_started(struct ek_leader_election *d)
{
    d->is_start_due = false;
}
