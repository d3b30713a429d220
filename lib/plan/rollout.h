/* How far each route has been let: the percentage of its canary, whether it was withdrawn, and how
 * often its fault came back.
 *
 * One entry per feature and cell that findings want something for, from when they want it to when
 * that has ended; an ended one is remembered, for a fault that comes back soon is one that goes and
 * comes, and what is done about it is held longer each time. When there is no room the place that
 * ended first gives way.
 * Guardrails are looked at while a route acts, in canary and in enforce, and what they say is final
 * until its fault has ended or a person lets it begin anew: within one fault nothing has changed
 * that would make it better.
 * Times are those of the stream, which may jump: a time that is ahead of now was set by a clock
 * that was wrong, and counts as now. No clock, no chance: the same calls give the same answers in a
 * guard, in a decider, and after a restart. Cells are numbers of the detector; one that changes
 * hands has to be forgotten.
 * Value type, starts as {0}. Owner: the caller; the guard and a fleet's decider keep one each
 * beside the plan that findings want, and decide/compose.h reads it.
 */
#ifndef EK_PLAN_ROLLOUT_H
#define EK_PLAN_ROLLOUT_H

#include "base/serialize.h"
#include "rules/rules.h"

enum {
    EK_ROLLOUTS_MAX = 1280,    /* all of a plan, and 256 that ended */
    EK_FLAP_DURATIONS = 24,    /* of `min_duration`: a fault that comes back within is a relapse */
    EK_GUARDRAIL_LISTS = 1000, /* guardrails look back on the last one or two times so many */
    EK_BUDGET_UNKNOWN = 4096,  /* lists: of a route of whose account nothing is known */
    EK_HARM_EVIDENCE =
        10000 /* of worse_than_unmitigated: lists to a wrong withdrawal, on average */
};

/* What takes a route back by itself (`abort_if` of the rules). */
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

/* "none", "rank_change_p95", ...: the key of `abort_if`. */
const char *ek_guardrail_name(enum ek_guardrail r);

/* What a finding last said of the fault: for who tells what was done about it. NaN: none. */
struct ek_rollout_context {
    uint32_t episode;
    enum ek_class class;
    double factor, factor_low, factor_high, share;
};

struct ek_rollout {
    int feature, cell;
    int percent;     /* hundredths, of its canary */
    int64_t step_ms; /* last step, or since it acts */
    enum ek_guardrail withdrawn;
    double figure, limit; /* of the rail that withdrew it; else 0 */
    int relapses;
    int64_t ended_ms; /* -1: it goes on */
    uint32_t turns;   /* how often its figures have begun anew; no state keeps it */
    double credit;    /* lists that it may act on yet (guard/control_earned.c) */
    uint64_t tried;   /* lists, before the last step or the withdrawal: for who tells of it */
    struct ek_rollout_context about;
};

struct ek_rollouts {
    int count;
    struct ek_rollout one[EK_ROLLOUTS_MAX];
};

/* What is known of one route since its last step, and no further back than guardrails look; NaN:
 * not known, and then no rail is hit by it. */
struct ek_rollout_stats {
    uint64_t tried;               /* lists it acts on that were scored both ways: all of them */
    uint64_t acted, failed, dead; /* lists it acts on; of them not scored; as dead letters */
    uint64_t earlier;             /* lists it acted on before those: too long ago */
    double dead_rate_elsewhere;   /* dead letters of the lists that pass; NaN: as 0 */
    double rank_change_p95;       /* 0..1, of the last lists that were tried */
    double latency_p99_ms, latency_before_ms; /* of this window and the one before; the caller gives
                                               * them to the route that grew last, NaN to others */
    double worse; /* evidence that the route does more harm than the fault */
    bool drifted; /* the model no longer ranks as its upstream */
};

/* The place of a feature and cell; one that has ended, too. NULL: none. */
struct ek_rollout *ek_rollout_find(struct ek_rollouts *s, int feature, int cell);
/* Whether a route may act: it goes on and was not withdrawn. NULL may not. */
bool ek_rollout_may_act(const struct ek_rollout *r);
/* One that goes on stays as it is. A new one begins at the canary's percent; as a relapse where it
 * ended within 24 holds. NULL: no room, since all go on. */
struct ek_rollout *ek_rollout_begin(struct ek_rollouts *s, int feature, int cell,
                                    const struct ek_rules *rules, const struct ek_canary *c,
                                    int64_t now_ms);
/* One that has ended though its fault has not, and is asked for again: it goes on where it stood,
 * withdrawn where it was, and is no relapse. Its figures begin anew. */
void ek_rollout_restart(struct ek_rollout *r, int64_t now_ms);
/* What was wanted has ended, its hold included. */
void ek_rollout_end(struct ek_rollouts *s, int feature, int cell, int64_t now_ms);
/* The cell is another value's from now on. */
void ek_rollouts_reset_cell(struct ek_rollouts *s, int cell);
/* How long a route stays at least: hold (1 + relapses), at most max_duration, and never below hold.
 */
int64_t ek_rollout_min_duration_ms(const struct ek_rollout *r, const struct ek_rules *rules);

enum ek_rollout_change { EK_ROLLOUT_UNCHANGED, EK_ROLLOUT_STEPPED, EK_ROLLOUT_ROLLED_BACK };

/* The first rail that is hit, with its figure and its limit; in shadow it is what would be. Shares
 * are held against their limit by the lower end of their 99% interval; what is counted in lists
 * needs min_lists of them, the evidence of harm and a drifted model do not. */
enum ek_guardrail ek_rollout_check_guardrails(const struct ek_canary *c,
                                              const struct ek_rollout_stats *f, double *figure,
                                              double *limit);
/* What is due now, noted in *r: withdrawn by a rail; in canary, after `every` and with min_lists
 * tried, a step. A percentage above `max` comes down to it, which is a step, too. After another
 * answer than EK_ROLLOUT_UNCHANGED the figures are to begin anew. mode: canary when any list that
 * the route reaches has it, else the furthest that one has; below canary it does not act, and its
 * time begins when it does. While all is paused nobody looks. */
enum ek_rollout_change ek_rollout_step(struct ek_rollout *r, enum ek_mode mode,
                                       const struct ek_canary *c, const struct ek_rollout_stats *f,
                                       int64_t now_ms);
/* Takes over what another one has, `to` for its cells: of a place that both have the smaller
 * percentage counts, one that was withdrawn stays so, and the more relapses. What there is no room
 * for is left out. */
void ek_rollouts_merge(struct ek_rollouts *into, const struct ek_rollouts *from, const int16_t *to);
/* A person lets it begin anew, at the canary's percent. */
void ek_rollout_resume(struct ek_rollout *r, const struct ek_canary *c, int64_t now_ms);
/* All stood still so long, while it was paused: it does not count for the next step. */
void ek_rollouts_add_pause(struct ek_rollouts *s, int64_t for_ms);

/* Of features and cells below these; the account of each apart, for it is younger. */
void ek_rollouts_budget_serialize(struct ek_rollouts *s, struct ek_serialize *snap);
void ek_rollouts_serialize(struct ek_rollouts *s, struct ek_serialize *snap, int features,
                           int cells);

#endif
