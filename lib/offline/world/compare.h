/* Comparison of two sets of rules on the same traffic: findings, plans and rank changes.
 *
 * Two guards, A and B, process every message; their assets differ only in the rules. Findings are
 * the confirmed ones in their last report. A finding of A and one of B are the same change if
 * feature and segment agree and their times overlap. List numbers count readable messages from 0.
 * Each side keeps EK_COMPARED_MAX findings and as many plans; the rest is only counted. Rank
 * statistics are means over lists with scores that differ from the compared ones (rank_change.h),
 * without lists of one item. Single-threaded. Deterministic.
 */
#ifndef EK_OFFLINE_WORLD_COMPARE_H
#define EK_OFFLINE_WORLD_COMPARE_H

#include "guard/event.h"
#include "guard/reported_findings.h"
#include "score/rank_change.h"
#include "serve/assets.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_COMPARED_MAX = 10000 };

enum ek_compared_side { EK_SIDE_A, EK_SIDE_B, EK_SIDES };

/* Differences between two reports of one change, as bits. */
enum ek_compared_in {
    EK_OTHER_CLASS = 1,
    EK_OTHER_FACTOR = 2, /* in the first four digits */
    EK_OTHER_UNIT = 4,   /* most likely unit */
    EK_OTHER_ACTION = 8,
    EK_OTHER_MODE = 16,
    EK_OTHER_BEGIN = 32, /* list of the confirmation */
    EK_OTHER_END = 64    /* list or reason of the end */
};
enum { EK_OTHERS = 7 };
/* Return the name of a difference by its bit number, a static string: "class", "factor", ... */
const char *ek_compared_in_name(int bit);

struct ek_compared_finding {
    struct ek_event_place at;                        /* for a limit or the model: its name */
    const char *class, *unit, *action, *mode, *text; /* "": none */
    const char *end;                                 /* "recovered", "dismissed"; NULL: none */
    double factor;                                   /* NaN: none */
    uint64_t since, confirmed, ended;                /* list numbers; ended UINT64_MAX: never */
};

/* Change found by A, by B, or by both. */
struct ek_compared_pair {
    const struct ek_compared_finding *of[EK_SIDES]; /* NULL: not found by this side */
    unsigned other;                                 /* of enum ek_compared_in */
};

#define EK_COMPARED_PERCENT 0.01 /* precision of printed percentages */

struct ek_compared_plan {
    uint64_t query; /* first list scored with it */
    struct ek_event *event;
    const struct ek_event_entry *entry;
    size_t count;
};

/* Plans of both sides from a list on; a side without a plan has the empty one. */
struct ek_compared_row {
    uint64_t query;
    const struct ek_compared_plan *of[EK_SIDES];
    bool differ;
};

enum ek_compared_move { EK_MOVED_TO_A, EK_MOVED_TO_B, EK_A_TO_B, EK_COMPARED_MOVES };

struct ek_compared {
    uint64_t messages;
    const struct ek_compared_pair *pair; /* ordered by list of the confirmation */
    size_t pairs;
    const struct ek_compared_row *row; /* ordered by list */
    size_t rows;
    uint64_t rolled_back[EK_SIDES]; /* routes rolled back by a guardrail */
    uint64_t left[EK_SIDES];        /* findings and plans beyond EK_COMPARED_MAX */
    uint64_t touched[EK_SIDES];     /* lists forwarded with changed scores */
    uint64_t both;                  /* touched by A and B */
    uint64_t apart;                 /* lists that A and B forward with different bytes */
    uint64_t unscored[EK_SIDES];    /* lists with a plan that could not be scored */
    struct ek_rank_sums moved[EK_COMPARED_MOVES];
    bool differ; /* any difference between A and B above */
};

struct ek_comparison_run;

/* Create a comparison; the assets must outlive it. Return 0 or EK_ENOMEM. */
int ek_comparison_run_new(struct ek_comparison_run **out, const struct ek_assets *a,
                          const struct ek_assets *b, struct ek_error *e);
void ek_comparison_run_free(struct ek_comparison_run *c);
/* Process one message, which is not kept, on both sides. record_ms, number: as in
 * ek_guard_observe_record. Return 0 or an error of ek_guard_observe, after which nothing is
 * counted.
 */
int ek_comparison_run_add(struct ek_comparison_run *c, const void *message, size_t length,
                          int64_t record_ms, uint64_t number, struct ek_error *e);
/* End the stream and set *out to the result, which is valid as long as the comparison. Return 0,
 * EK_ENOMEM or an error of the guards; then there is no result, and the comparison can only be
 * freed. */
int ek_comparison_run_finish(struct ek_comparison_run *c, const struct ek_compared **out,
                             struct ek_error *e);

/* Summary of the events of one guard, for a comparison. {0} is empty. */

struct ek_compare_trace {
    struct ek_reported_findings reported;
    struct ek_compared_finding *finding; /* set by ek_compare_trace_end */
    size_t findings;
    struct ek_compared_plan *plan; /* ordered by list */
    size_t plans, plan_room;
    uint64_t rolled_back; /* by a guardrail */
    uint64_t left;        /* beyond EK_COMPARED_MAX */
};

/* Free the memory of the summary; it is then empty. */
void ek_compare_trace_release(struct ek_compare_trace *s);
/* Add a copy of an event of the guard. Only findings, plans, limits, decisions and model drift have
 * an effect. Return 0 or EK_ENOMEM. */
int ek_compare_trace_event(struct ek_compare_trace *s, const struct ek_event *v,
                           struct ek_error *e);

/* Set s->finding and s->findings from the reported findings, once after the last event. Return 0 or
 * EK_ENOMEM. */
int ek_compare_trace_end(struct ek_compare_trace *s);

/* Return true if both plans have equal entries. */
bool ek_compared_same_plan(const struct ek_compared_plan *a, const struct ek_compared_plan *b);

#endif
