/* `canary`: how an action grows, and what takes it back. */
#include "rules/rules_read.h"

#define HERE  "defaults.canary."
#define ABORT "defaults.canary.abort_if."

static int read_guardrails(const struct ek_rules_source *s, const struct ek_node *map,
                           struct ek_guardrails *g)
{
    if (!map)
        return EK_OK;
    int rc = ek_rules_keys(s, map, "defaults.canary.abort_if");
    if (!rc)
        rc = ek_rules_double(s, map, ABORT "rank_change_p95", &g->rank_change_p95);
    if (!rc)
        rc = ek_rules_double(s, map, ABORT "error_rate", &g->error_rate);
    if (!rc)
        rc = ek_rules_double(s, map, ABORT "dead_letter_rate", &g->dead_letter_rate);
    if (!rc)
        rc = ek_rules_duration(s, map, ABORT "latency_p99", &g->latency_p99_ms);
    if (!rc)
        rc = ek_rules_bool(s, map, ABORT "worse_than_fault", &g->worse_than_fault);
    return rc ? rc : ek_rules_bool(s, map, ABORT "model_drift", &g->model_drift);
}

/* Percentages count in hundredths: a smaller step would be none. */
#define STEP_LEAST 0.01

/* A canary that says one thing here and another there. */
static int check_growth(const struct ek_rules_source *s, const struct ek_node *map,
                        const struct ek_canary *c)
{
    if (c->percent > c->max)
        return ek_node_fail(s->y, map, s->e,
                            "'percent' (%g) is above 'max' (%g): it must be at most that",
                            c->percent, c->max);
    if (c->step >= STEP_LEAST || c->percent >= c->max)
        return EK_OK;
    const struct ek_node *step = ek_node_get(map, "step");
    return ek_node_fail(s->y, step ? step : map, s->e,
                        "with 'step: %g' a canary of %g%% cannot come to 'max' (%g): write a "
                        "'step' of at least %g, or 'max: %g'",
                        c->step, c->percent, c->max, STEP_LEAST, c->percent);
}

int ek_rules_read_canary(const struct ek_rules_source *s, const struct ek_node *map,
                         struct ek_canary *c)
{
    if (!map)
        return EK_OK;
    int rc = ek_rules_keys(s, map, "defaults.canary");
    if (!rc)
        rc = ek_rules_double(s, map, HERE "percent", &c->percent);
    if (!rc)
        rc = ek_rules_double(s, map, HERE "step", &c->step);
    if (!rc)
        rc = ek_rules_double(s, map, HERE "max", &c->max);
    if (!rc)
        rc = ek_rules_duration(s, map, HERE "every", &c->every_ms);
    if (!rc)
        rc = ek_rules_int(s, map, HERE "min_lists", &c->min_lists);
    if (!rc)
        rc = ek_rules_go_on(s, read_guardrails(s, ek_node_get(map, "abort_if"), &c->abort_if));
    return rc ? rc : check_growth(s, map, c);
}
