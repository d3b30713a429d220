/* One list on its way through the guard: decoded, treated as the plan says, scored.
 *
 * The inside of struct ek_context of evenkeel.h, which the guard fills in ek_guard_update. Grows
 * with the lists and never shrinks. Owner: who made it. One thread at a time; the assets are
 * shared.
 */
#ifndef EK_SERVE_CONTEXT_H
#define EK_SERVE_CONTEXT_H

#include "base/buf.h"
#include "lists/list.h"
#include "detect/list_stats_builder.h"
#include "plan/plan.h"
#include "evenkeel.h"
#include "score/rank_comparison.h"
#include "score/scorer.h"

#include <stdbool.h>

struct ek_context {
    const struct ek_assets *assets;
    struct ek_list query;
    struct ek_list_stats_builder *reader; /* what the list says on its own */
    const void *message;                  /* that was prepared */
    size_t length;
    bool prepared, taken;     /* what was done with it */
    bool counted, scored;     /* taken, not only looked at; by the model */
    bool failed;              /* to be scored, and the model or the plan could not */
    struct ek_scorer *scorer; /* NULL without a model */
    struct ek_list_stats_builder *own_reader; /* what of these is not another's, else NULL */
    struct ek_scorer *own_scorer;
    struct ek_plan_routing routing; /* what the plan has for this list; the arrays are its own */
    struct ek_plan_repair *repair;  /* [K] of what is in routing.would */
    uint32_t acting;                /* of routing.entry those that act, as bits */
    uint64_t plan_version;
    double *scores;
    size_t score_capacity;
    struct ek_buf output;
    enum ek_list_outcome outcome;    /* of the last score; EK_LIST_PASSED until then */
    struct ek_rank_comparison *ways; /* for trials; NULL before the first */
    struct ek_treatment *repaired;   /* [K] what a trial undoes the faults with */
};

/* As ek_context_new, with a reader of these assets that outlives it. */
int ek_context_new_with(struct ek_context **out, const struct ek_assets *assets,
                        struct ek_list_stats_builder *reader, struct ek_error *e);
/* Another context of the thread that has `with`, which must outlive it: both can hold a message at
 * a time, and share what is only used meanwhile. */
int ek_context_new_paired(struct ek_context **out, const struct ek_context *with,
                          struct ek_error *e);
/* Notes of its routing, by this plan, which entries act, and what would undo the faults that they
 * are there for. */
void ek_context_note_entries(struct ek_context *c, const struct ek_plan *plan);
/* Room for a score of each item of the list. EK_ENOMEM. */
int ek_context_reserve_scores(struct ek_context *c, struct ek_error *e);

/* Bytes that it holds for lists, texts of JSON not among them; gives them back where they are more
 * than `most`. Between two lists. */
size_t ek_context_bytes(const struct ek_context *c);
void ek_context_shrink(struct ek_context *c, size_t most);

#endif
