/* A stage that goes on with other assets. */
#include "daemon/stage/stage_internal.h"

#include "daemon/base/log.h"
#include "plan/decisions.h"

static void turn_crew(void *context)
{
    struct ek_stage *s = context;
    ek_crew_turn(s->crew);
}

/* What is made beforehand cannot fail for want of memory when the guard has turned. */
static int lay(struct ek_stage *s, struct ek_loaded *assets, struct ek_error *e)
{
    int rc = ek_crew_lay(s->crew, assets, e);
    return !rc && s->fleet ? ek_fleet_lay(s->fleet, assets, e) : rc;
}

static void take_back(struct ek_stage *s)
{
    ek_crew_take_back(s->crew);
    if (s->fleet)
        ek_fleet_take_back(s->fleet);
}

/* It stands in the history beside what comes of it. */
static void decide(struct ek_stage *s, const char *who, enum ek_restore_result fit)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_RELOAD);
    m.who = who;
    m.why =
        fit == EK_RESTORE_COUNTERS_ONLY
            ? "rules, profile and model were read again: evidence, findings and routes begin anew"
            : "rules, profile and model were read again: evidence, findings and routes go on";
    if (ek_shared_guard_decided(s->guard, &m))
        ek_log_text(s->log, EK_LOG_ERROR, "event_lost", "no memory for an event");
}

int ek_stage_reload(struct ek_stage *s, struct ek_loaded *assets, const char *who,
                    enum ek_restore_result *fit, struct ek_error *e)
{
    const struct ek_shared_turn turn = {.assets = ek_loaded_assets(assets),
                                        .board = s->board,
                                        .agreement = s->agreement,
                                        .tracks = s->tracks,
                                        .turned = turn_crew,
                                        .context = s};
    int rc = lay(s, assets, e);
    if (!rc)
        rc = ek_shared_guard_turn(s->guard, &turn, fit, e);
    if (rc) {
        take_back(s);
        return rc;
    }
    decide(s, who, *fit);
    if (s->fleet)
        ek_fleet_turn(s->fleet);
    struct ek_loaded *before = s->assets;
    s->assets = ek_loaded_hold(assets);
    ek_loaded_drop(before);
    atomic_store(&s->turned, true);
    return EK_OK;
}

const struct ek_assets *ek_stage_assets(const struct ek_stage *s)
{
    return ek_loaded_assets(s->assets);
}

void ek_stage_tell(struct ek_stage *s, const struct ek_event *v)
{
    ek_shared_guard_tell(s->guard, v);
}
