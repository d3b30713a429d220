/* Asset changes in a running stage. */
#include "daemon/stage/stage_internal.h"

#include "daemon/base/log.h"
#include "daemon/files/field_mapping.h"
#include "plan/decisions.h"

static void commit_assets(void *context)
{
    struct ek_stage *s = context;
    ek_worker_pool_commit_assets(s->worker_pool);
}

/* Allocate first, so that no allocation can fail after the guard has switched. */
static int stage_assets(struct ek_stage *s, struct ek_asset_ref *assets, struct ek_error *e)
{
    int rc = ek_worker_pool_stage_assets(s->worker_pool, assets, e);
    return !rc && s->fleet ? ek_fleet_stage_assets(s->fleet, assets, e) : rc;
}

static void discard_assets(struct ek_stage *s)
{
    ek_worker_pool_discard_assets(s->worker_pool);
    if (s->fleet)
        ek_fleet_discard_assets(s->fleet);
}

/* Record the reload in the event history. */
static void decide(struct ek_stage *s, const char *actor, enum ek_restore_result fit)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_RELOAD);
    m.actor = actor;
    m.reason =
        fit == EK_RESTORE_COUNTERS_ONLY
            ? "rules, profile and model were read again: evidence, findings and routes are reset"
            : "rules, profile and model were read again: evidence, findings and routes are kept";
    if (ek_guard_service_add_decision(s->guard, &m))
        ek_log_text(s->log, EK_LOG_ERROR, "event_dropped", "out of memory");
}

int ek_stage_reload(struct ek_stage *s, struct ek_asset_ref *assets, const char *actor,
                    enum ek_restore_result *fit, struct ek_error *e)
{
    const struct ek_guard_service_assets turn = {.assets = ek_asset_ref_get(assets),
                                                 .board = s->board,
                                                 .agreement = s->agreement,
                                                 .history = s->tracks,
                                                 .on_switch = commit_assets,
                                                 .context = s};
    int rc = stage_assets(s, assets, e);
    if (!rc)
        rc = ek_guard_service_set_assets(s->guard, &turn, fit, e);
    if (rc) {
        discard_assets(s);
        return rc;
    }
    decide(s, actor, *fit);
    if (s->fleet)
        ek_fleet_commit_assets(s->fleet);
    struct ek_asset_ref *before = s->assets;
    s->assets = ek_asset_ref_retain(assets);
    ek_asset_ref_release(before);
    atomic_store(&s->turned, true);
    ek_flow_monitor_expect(s->flow, ek_asset_ref_get(assets)->rules, ek_time_expected(s->config),
                           ek_score_check_expected(s->config));
    return EK_OK;
}

const struct ek_assets *ek_stage_assets(const struct ek_stage *s)
{
    return ek_asset_ref_get(s->assets);
}

void ek_stage_add_event(struct ek_stage *s, const struct ek_event *v)
{
    ek_guard_service_add_event(s->guard, v);
}
