/* The same traffic under two sets of rules: what each would tell and do, and how far ranks move.
 *
 * Two guards, A and B, take every message; their assets are the same but for the rules. Findings
 * are those that were confirmed, each as it was told last. One of A and one of B are the same
 * change when feature and segment agree and their times overlap. Numbers of queries count messages
 * that could be read, from 0. Of a side EK_COMPARED_MAX findings and as many plans are kept, the
 * rest is left out and counted. Ranks: mean figures over lists whose scores differ from what they
 * are held against (score/rank_change.h). Messages of one item have
 * none. Owner: the caller, ek_comparison_run_free. One thread. Deterministic.
 */
#ifndef EK_OFFLINE_WORLD_COMPARE_H
#define EK_OFFLINE_WORLD_COMPARE_H

#include "guard/event.h"
#include "serve/assets.h"
#include "score/rank_change.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_COMPARED_MAX = 10000 };

enum ek_compared_side { EK_SIDE_A, EK_SIDE_B, EK_SIDES };

/* What a finding of both may be told otherwise in, as bits. */
enum ek_compared_in {
    EK_OTHER_CLASS = 1,
    EK_OTHER_FACTOR = 2, /* in its first four digits */
    EK_OTHER_UNIT = 4,   /* the likeliest */
    EK_OTHER_ACTION = 8,
    EK_OTHER_MODE = 16,
    EK_OTHER_BEGIN = 32, /* the query at which it was confirmed */
    EK_OTHER_END = 64    /* the query at which it ended, or how */
};
enum { EK_OTHERS = 7 };
/* "class", "factor", ... by the number of the bit. */
const char *ek_compared_in_name(int bit);

struct ek_compared_finding {
    struct ek_event_place at;                        /* of a limit, or the model, by name */
    const char *class, *unit, *action, *mode, *text; /* "": none */
    const char *end;                                 /* "recovered", "dismissed"; NULL: none */
    double factor;                                   /* NaN: none */
    uint64_t since, confirmed, ended;                /* queries; ended UINT64_MAX: never */
};

/* One of A, one of B, or a change that both have. */
struct ek_compared_pair {
    const struct ek_compared_finding *of[EK_SIDES]; /* NULL: this side has none */
    unsigned other;                                 /* of enum ek_compared_in */
};

#define EK_COMPARED_PERCENT 0.01 /* what a percentage is told to */

struct ek_compared_plan {
    uint64_t query; /* the first that is scored under it */
    struct ek_event *event;
    const struct ek_event_entry *entry;
    size_t count;
};

/* The plans of both from a query on; a side without one so far has the empty plan. */
struct ek_compared_row {
    uint64_t query;
    const struct ek_compared_plan *of[EK_SIDES];
    bool differ;
};

enum ek_compared_move { EK_MOVED_TO_A, EK_MOVED_TO_B, EK_A_TO_B, EK_COMPARED_MOVES };

struct ek_compared {
    uint64_t messages;
    const struct ek_compared_pair *pair; /* by the query of the confirmation */
    size_t pairs;
    const struct ek_compared_row *row; /* by query */
    size_t rows;
    uint64_t withdrawn[EK_SIDES]; /* routes that a guardrail took back */
    uint64_t left[EK_SIDES];      /* findings and plans beyond EK_COMPARED_MAX */
    uint64_t touched[EK_SIDES];   /* lists that come out with other scores than they came with */
    uint64_t both;                /* touched by A and B */
    uint64_t apart;               /* lists that A and B give out with different bytes */
    uint64_t unscored[EK_SIDES];  /* a plan was for them, and they could not be scored */
    struct ek_rank_sums moved[EK_COMPARED_MOVES];
    bool differ; /* anything of the above is not the same for A and B */
};

struct ek_comparison_run;

/* The assets must outlive it. */
int ek_comparison_run_new(struct ek_comparison_run **out, const struct ek_assets *a,
                          const struct ek_assets *b, struct ek_error *e);
void ek_comparison_run_free(struct ek_comparison_run *c);
/* As ek_guard_observe, with its errors: nothing was counted then. */
int ek_comparison_run_add(struct ek_comparison_run *c, const void *message, size_t length,
                          int64_t now_ms, struct ek_error *e);
/* The stream has ended. What is given is good as long as the comparison. */
int ek_comparison_run_finish(struct ek_comparison_run *c, const struct ek_compared **out,
                             struct ek_error *e);

#endif
