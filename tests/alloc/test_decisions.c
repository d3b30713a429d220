/* Allocation failures while decisions and incidents are stored, reported, merged and read from a
 * state. */
#include "guard/event_json.h"
#include "guard/incident_log.h"
#include "plan/decisions.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <string.h>

static int keep_and_tell(struct ek_decisions *d, struct ek_buf *text)
{
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_PIN);
    bool is_new;
    m.feature = "price";
    m.dimension = "arm";
    m.value = "B";
    m.reason = "since the source was changed";
    int rc = ek_decisions_add(d, &m, &is_new);
    if (rc && ek_decisions_last(d))
        return EK_ESTATE; /* a rejected decision left data behind */
    return rc ? rc : ek_decision_record_json(text, ek_decisions_at(d, 1));
}

static int scenario(struct ek_error *e)
{
    struct ek_decisions *d = NULL, *loaded = NULL;
    struct ek_buf text, part;
    ek_buf_init(&text, 0);
    ek_buf_init(&part, 0);
    struct ek_serialize out = {.out = &part};
    int rc = ek_decisions_new(&d);
    if (!rc)
        rc = ek_decisions_new(&loaded);
    if (!rc)
        rc = keep_and_tell(d, &text);
    if (!rc) {
        ek_decisions_serialize(d, &out, 0);
        rc = out.rc;
    }
    if (!rc) {
        struct ek_serialize in = {.at = part.data, .end = part.data + part.length};
        ek_decisions_serialize(loaded, &in, 0);
        rc = in.rc;
    }
    ek_decisions_free(d);
    ek_decisions_free(loaded);
    ek_buf_release(&text);
    ek_buf_release(&part);
    return rc ? ek_fail(e, (enum ek_code)rc, "no memory for a decision") : EK_OK;
}

START_TEST(decisions_without_memory_leave_nothing)
{
    ek_sweep(scenario);
}
END_TEST

static int add_incident(struct ek_incident_log *l, enum ek_finding_state state)
{
    struct ek_event v = {.kind = EK_EVENT_FINDING, .query = 30, .time_ms = 3000};
    v.finding.at = (struct ek_event_place){"price", "arm", "B"};
    v.finding.state = state;
    v.finding.number = v.finding.incident = 1;
    v.finding.units = 1;
    v.finding.unit[0] = "cents";
    v.finding.match[0] = "listed";
    v.finding.reason = state == EK_DISMISSED ? "accepted as normal" : NULL;
    v.finding.text = "price changed";
    int rc = ek_incident_log_add(l, &v);
    return rc && state == EK_CONFIRMED && ek_incident_log_last(l) ? EK_ESTATE : rc;
}

static int read_incidents(struct ek_incident_log *from, struct ek_incident_log *to)
{
    struct ek_buf part;
    ek_buf_init(&part, 0);
    struct ek_serialize out = {.out = &part};
    ek_incident_log_serialize(from, &out, 0);
    struct ek_serialize in = {.at = part.data, .end = part.data + part.length, .rc = out.rc};
    if (!in.rc)
        ek_incident_log_serialize(to, &in, 0);
    ek_buf_release(&part);
    return in.rc;
}

static int incidents(struct ek_error *e)
{
    struct ek_incident_log *l = NULL, *loaded = NULL, *merged = NULL;
    int rc = ek_incident_log_new(&l);
    if (!rc)
        rc = ek_incident_log_new(&loaded);
    if (!rc)
        rc = ek_incident_log_new(&merged);
    if (!rc)
        rc = add_incident(l, EK_CONFIRMED);
    if (!rc)
        rc = add_incident(l, EK_DISMISSED);
    if (!rc)
        rc = read_incidents(l, loaded);
    if (!rc)
        rc = ek_incident_log_merge(merged, loaded);
    ek_incident_log_free(l);
    ek_incident_log_free(loaded);
    ek_incident_log_free(merged);
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

START_TEST(incidents_without_memory_leave_nothing)
{
    ek_sweep(incidents);
}
END_TEST

Suite *suite_decisions(void)
{
    return ek_suite("decisions without memory", decisions_without_memory_leave_nothing,
                    incidents_without_memory_leave_nothing);
}
