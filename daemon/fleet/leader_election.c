#include "daemon/fleet/leader_election.h"

static enum ek_fleet_duty_act of_owner(struct ek_fleet_duty *d, const struct ek_fleet_duty_view *v)
{
    if (v->gain != d->gain && !v->decides)
        d->due = true;
    d->gain = v->gain;
    d->lost_ms = -1;
    if (v->decides)
        return EK_DUTY_STAY;
    return d->due || v->age_ms > v->silent_ms ? EK_DUTY_BEGIN : EK_DUTY_STAY;
}

enum ek_fleet_duty_act ek_fleet_duty_look(struct ek_fleet_duty *d,
                                          const struct ek_fleet_duty_view *v)
{
    if (v->gain)
        return of_owner(d, v);
    d->due = false;
    if (!v->decides)
        return EK_DUTY_STAY;
    if (d->lost_ms < 0)
        d->lost_ms = v->now_ms;
    return v->now_ms - d->lost_ms >= v->grace_ms ? EK_DUTY_END : EK_DUTY_STAY;
}

void ek_fleet_duty_begun(struct ek_fleet_duty *d)
{
    d->due = false;
}
