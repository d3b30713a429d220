/* Rollouts of routes: canary percentage, rollback by a guardrail, and relapses.
 *
 * Each desired entry has a rollout. An ended one is retained, because a fault that returns soon is
 * flapping, and its route has a longer minimum duration each time. When the table is full the
 * rollout that ended first is evicted.
 *
 * Guardrails check canary and enforced routes. A rollback lasts until the fault has ended or an
 * operator resumes the route.
 *
 * Event time may jump: a future time counts as now. Rollouts are deterministic: guard, leader and
 * restarted processes reach the same decisions. Reset a cell when it gets another segment value.
 * Value type; starts as {0}.
 */
#ifndef EK_PLAN_ROLLOUT_H
#define EK_PLAN_ROLLOUT_H

#include "base/serialize.h"
#include "rules/rules.h"

enum {
    EK_ROLLOUTS_MAX = 1280, /* a full plan, and 256 ended ones */
    EK_FLAP_DURATIONS = 24, /* minimum durations: a fault that returns within them is a relapse */
    EK_GUARDRAIL_LISTS = 1000, /* guardrails use the last one to two times this number of lists */
    EK_BUDGET_UNKNOWN = 4096,  /* lists: initial budget of a route without a known budget */
    EK_HARM_EVIDENCE =
        10000 /* worse_than_unmitigated: mean number of lists until a false rollback */
};

/* Guardrails (`abort_if` of the rules). */
enum ek_guardrail {
    EK_GUARDRAIL_NONE,
    EK_GUARDRAIL_RANKS,
    EK_GUARDRAIL_ERRORS,
    EK_GUARDRAIL_DEAD,
    EK_GUARDRAIL_LATENCY,
    EK_GUARDRAIL_DRIFT,
    EK_GUARDRAIL_WORSE,
    EK_GUARDRAIL_COUNT
};

/* Return the key of `abort_if`, a static string: "none", "rank_change_p95", ... */
const char *ek_guardrail_name(enum ek_guardrail r);

/* Last statistics of the finding, for reports. NaN: none. */
struct ek_rollout_context {
    uint32_t episode;
    enum ek_class class;
    double factor, factor_low, factor_high, share;
    uint32_t cause; /* incident; 0: unknown */
};

struct ek_rollout {
    int feature, cell;
    int percent;     /* hundredths, of its canary */
    int64_t step_ms; /* last step, or start */
    enum ek_guardrail rolled_back;
    double observed, limit; /* of the guardrail that rolled it back; else 0 */
    int relapses;
    int64_t ended_ms;  /* -1: active */
    uint32_t restarts; /* number of restarts of its statistics; not in checkpoints */
    double credit;     /* budget: lists that it may still act on */
    uint64_t compared; /* compared lists before the last step or rollback, for reports */
    struct ek_rollout_context context;
};

struct ek_rollouts {
    int count;
    struct ek_rollout one[EK_ROLLOUTS_MAX];
};

/* Statistics of a route since its last step, within the window of guardrails. NaN: unknown, no
 * guardrail applies. */
struct ek_rollout_stats {
    uint64_t compared;            /* shadow-scored lists */
    uint64_t acted, failed, dead; /* routed lists; of these, scoring failed; dead-lettered */
    uint64_t earlier;             /* routed lists before that window */
    double dead_rate_elsewhere;   /* dead-letter rate of lists without a route; NaN: 0 */
    double rank_change_p95;       /* 0 to 1, of the last compared lists */
    double latency_p99_ms, latency_before_ms; /* of this window and the one before; NaN except for
                                                 the route that stepped last */
    double worse; /* evidence that the route does more harm than the fault */
    bool drifted; /* the model no longer agrees with upstream */
};

/* Return the rollout of a feature and cell, also an ended one, valid until one is added or removed;
 * NULL if there is none. */
struct ek_rollout *ek_rollout_find(struct ek_rollouts *s, int feature, int cell);
/* Return whether a route may act: active and not rolled back. NULL: no. */
bool ek_rollout_may_act(const struct ek_rollout *r);
/* Return the active rollout, or begin one at the initial canary percentage. It is a relapse if the
 * last one ended within EK_FLAP_DURATIONS minimum durations. Valid until a rollout is added or
 * removed. NULL: no space, all are active. */
struct ek_rollout *ek_rollout_begin(struct ek_rollouts *s, int feature, int cell,
                                    const struct ek_rules *rules, const struct ek_canary *c,
                                    int64_t now_ms);
/* Set the initial canary percentage of a rollout that has not acted. */
void ek_rollout_set_initial(struct ek_rollout *r, const struct ek_canary *c);
/* Continue an ended rollout of a fault that has not ended. Percentage and rollback stay, the
 * statistics restart, and it is no relapse. */
void ek_rollout_restart(struct ek_rollout *r, int64_t now_ms);
/* Continue percentage and rollback of the rollout of the same fault in another cell. The statistics
 * stay. */
void ek_rollout_inherit(struct ek_rollout *r, const struct ek_rollout *from);
/* Return whether `r` lets its route act on fewer lists than `other`. */
bool ek_rollout_is_stricter(const struct ek_rollout *r, const struct ek_rollout *other);
/* Mark the active rollout of a feature and cell as ended at now_ms; it is retained. No effect
 * without one. */
void ek_rollout_end(struct ek_rollouts *s, int feature, int cell, int64_t now_ms);
/* Remove all rollouts of a cell that gets another segment value. */
void ek_rollouts_reset_cell(struct ek_rollouts *s, int cell);
/* Return the minimum duration of the rollout's route: (1 + relapses) times min_duration of the
 * rules, at most max_duration but at least min_duration. */
int64_t ek_rollout_min_duration_ms(const struct ek_rollout *r, const struct ek_rules *rules);

enum ek_rollout_change { EK_ROLLOUT_UNCHANGED, EK_ROLLOUT_STEPPED, EK_ROLLOUT_ROLLED_BACK };

/* Return the first guardrail that is exceeded, and set *observed to its statistic and *limit to its
 * limit; both are 0 for EK_GUARDRAIL_NONE. Fractions are compared by the lower bound of their 99%
 * interval. Statistics of lists need min_lists; harm evidence and model drift do not. */
enum ek_guardrail ek_rollout_check_guardrails(const struct ek_canary *c,
                                              const struct ek_rollout_stats *f, double *observed,
                                              double *limit);
/* Apply the guardrails, then in canary mode a due step: after step_interval, with min_lists
 * compared lists. A percentage above max_percent steps down to it. `mode`: canary if any list in
 * scope has it, else the highest; below canary the step timer restarts. Return the change; unless
 * it is EK_ROLLOUT_UNCHANGED the caller must restart the statistics. Do not call while paused. */
enum ek_rollout_change ek_rollout_step(struct ek_rollout *r, enum ek_mode mode,
                                       const struct ek_canary *c, const struct ek_rollout_stats *f,
                                       int64_t now_ms);
/* Merge `from`, which stays unchanged; `to` maps its cells. For the same feature and cell: the
 * smaller percentage, any rollback, and the larger number of relapses. Rollouts without space are
 * dropped. */
void ek_rollouts_merge(struct ek_rollouts *into, const struct ek_rollouts *from, const int16_t *to);
/* Restart a rollout at the initial canary percentage on an operator command; its rollback and
 * statistics are reset. */
void ek_rollout_resume(struct ek_rollout *r, const struct ek_canary *c, int64_t now_ms);
/* Exclude `for_ms`, the duration of a pause, from the step timers of active rollouts. */
void ek_rollouts_add_pause(struct ek_rollouts *s, int64_t for_ms);

/* Read or write the route budgets of the rollouts. They are a later addition to the format: read
 * after ek_rollouts_serialize. Errors are in snap->rc. */
void ek_rollouts_budget_serialize(struct ek_rollouts *s, struct ek_serialize *snap);
/* Read or write the incidents of the rollouts; read after ek_rollouts_serialize. Errors are in
 * snap->rc. */
void ek_rollouts_incidents_serialize(struct ek_rollouts *s, struct ek_serialize *snap);
/* Read or write rollouts without budgets and incidents; `features` and `cells` are exclusive upper
 * bounds. Errors are in snap->rc. */
void ek_rollouts_serialize(struct ek_rollouts *s, struct ek_serialize *snap, int features,
                           int cells);

#endif
