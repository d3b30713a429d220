/* Context of one list in the guard: decoded, treated, scored.
 *
 * Definition of struct ek_context of evenkeel.h; ek_guard_update sets the treatment. Memory grows
 * with the lists until ek_context_shrink. The assets are shared.
 */
#ifndef EK_SERVE_CONTEXT_H
#define EK_SERVE_CONTEXT_H

#include "base/buf.h"
#include "lists/list.h"
#include "detect/cells.h"
#include "detect/list_stats_builder.h"
#include "plan/plan.h"
#include "evenkeel.h"
#include "score/rank_comparison.h"
#include "score/scorer.h"
#include "serve/feature_writer.h"

#include <stdbool.h>

struct ek_context {
    const struct ek_assets *assets;
    struct ek_list query;
    struct ek_list_stats_builder *reader; /* statistics of the list */
    const void *message;                  /* decoded message; NULL: read from arrays */
    size_t length;
    bool prepared, taken;     /* decoded and unused; used by a guard */
    bool counted, scored;     /* used by ek_guard_update, not ek_guard_peek; scored by the model */
    bool failed;              /* the model or the plan could not score it */
    uint32_t observed;        /* cells that observe it, as of ek_detector_update */
    struct ek_scorer *scorer; /* NULL without a model */
    struct ek_list_stats_builder *own_reader; /* owned objects; NULL if shared */
    struct ek_scorer *own_scorer;
    /* Treatment of this list; the arrays are owned, with an entry per routable feature, or per
     * watched feature if feature values are written. */
    struct ek_plan_routing routing;
    struct ek_plan_repair *repair; /* for routing.would */
    int *slot_of_item;             /* [watched features] index in these arrays, -1: none */
    int slots;
    uint32_t acting; /* entries of routing.entry that act, as bits */
    uint64_t plan_version;
    double *scores;
    size_t score_capacity;
    struct ek_buf output;
    enum ek_list_outcome outcome;               /* of the last score; EK_LIST_PASSED before */
    struct ek_rank_comparison *rank_comparison; /* for comparisons; NULL before the first */
    struct ek_treatment *repaired;              /* [slots] repair for comparisons */
    struct ek_feature_writer *writer;           /* NULL: the network scores */
    size_t changed, would_change; /* values changed, and not changed because of the mode */
    double *values;               /* [n, item features] repaired, for trees */
    size_t value_capacity;
    double *planned; /* [n] scores of trees under routing.would */
};

/* As ek_context_decode, without the statistics that ek_guard_update needs for a list that a cell
 * observes: call ek_context_add_statistics before it, unless guard/list_sample.h chose no cell. */
int ek_context_read_message(struct ek_context *c, const void *message, size_t length,
                            struct ek_error *e);
/* As ek_context_decode; a message without a time has this one, -1: none. */
int ek_context_decode_at(struct ek_context *c, const void *message, size_t length, int64_t time_ms,
                         struct ek_error *e);
/* Compute the statistics of the list that was read, at its time of day. Return 0, EK_ENOMEM, or
 * EK_ESTATE for a list of another manifest; on error the context has no message. */
int ek_context_add_statistics(struct ek_context *c, struct ek_error *e);
/* Create a context with a shared reader of the same assets. Reader and assets must outlive it.
 * Return 0 or EK_ENOMEM. */
int ek_context_new_with(struct ek_context **out, const struct ek_assets *assets,
                        struct ek_list_stats_builder *reader, struct ek_error *e);
/* Create a second context for the thread of `with`, which must outlive it. Both can hold a message;
 * scratch objects are shared. Return 0 or EK_ENOMEM. */
int ek_context_new_paired(struct ek_context **out, const struct ek_context *with,
                          struct ek_error *e);
/* Set c->acting and c->repair from the routing in the context and its plan, which is not kept. */
void ek_context_note_entries(struct ek_context *c, const struct ek_plan *plan);
/* Return the header ek-repair of the last score, as "price=/100, rating=*2"; NULL if no value
 * changed. Valid until the next score. */
const char *ek_context_repair_note(const struct ek_context *c);
/* Return the message without repairs, with the wide columns of the assets if they have some, as
 * ek_context_score. */
const void *ek_context_write_columns(struct ek_context *c, size_t *length, struct ek_error *e);
/* Compute c->planned: the scores of trees under the desired treatments. Reads no message. Return 0,
 * EK_ENOMEM, EK_ESTATE if the trees cannot score the list, or an error of
 * ek_feature_writer_values. */
int ek_context_plan_scores(struct ek_context *c, struct ek_error *e);
/* Reserve a score per item of the decoded list. Return 0, or EK_ENOMEM. */
int ek_context_reserve_scores(struct ek_context *c, struct ek_error *e);

/* Return the bytes for lists, without JSON strings. */
size_t ek_context_bytes(const struct ek_context *c);
/* Free the memory for lists if it exceeds `most` bytes. Call between two lists: a decoded list is
 * lost. */
void ek_context_shrink(struct ek_context *c, size_t most);

#endif
