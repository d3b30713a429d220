/* The plans that queries were met with and may still have items to come for (message layout
 * `item`).
 *
 * Of the last EK_PLAN_HISTORY that differ in what they treat, or how, a copy each, under numbers
 * that rise: versions do not tell them apart, for the value of a treatment may become a better one
 * within a version. Cells are those of the detector at that time; one that changes hands is taken
 * out. Memory: 88 KiB each. Owner: the caller. Plain values otherwise.
 */
#ifndef EK_SERVE_ASSEMBLY_H
#define EK_SERVE_ASSEMBLY_H

#include "base/serialize.h"
#include "lists/list.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_PLAN_HISTORY = 16 };

struct ek_plan_history {
    struct ek_plan *plan[EK_PLAN_HISTORY]; /* number n is in place n mod EK_PLAN_HISTORY */
    uint64_t count;                        /* ever */
};

void ek_plan_history_release(struct ek_plan_history *p);
/* A query is met with this plan, which has *number. EK_ENOMEM: it is not kept. */
int ek_plan_history_add(struct ek_plan_history *p, const struct ek_plan *plan, uint64_t *number);
/* NULL when it is not there any more. Valid until the next one is kept. */
const struct ek_plan *ek_plan_history_find(const struct ek_plan_history *p, uint64_t number);
/* The cell is another value's from now on. */
void ek_plan_history_reset_cell(struct ek_plan_history *p, int cell);
/* Reading takes those of new ones; features, cells: as for ek_plan_serialize. */
void ek_plan_history_serialize(struct ek_plan_history *p, struct ek_serialize *s, int features,
                               int cells);

/* Lists whose items come one by one (message layout `item`): which plan a query has, and lists that
 * are being put together.
 *
 * A query is known from its first item on, for within_ms of the stream's time: all of its items get
 * the plan that the first one met, and make one list, in the order they came. A list is given out
 * once: when it has all the items that its messages speak of, when its time is over, or, short,
 * when there is no room. An item whose id the list has already, and one that comes when its list
 * has been given out, are left out. What the messages say of the list (segments, query features,
 * time) is what the first one says.
 *
 * Queries are known by a hash of 64 bits of their ids, items likewise; an item without an id is
 * taken for a new one. Bounds: queries known (then the oldest is forgotten), items of a list, bytes
 * of the lists on their way with the memory that waits for the next ones. An item is looked for
 * among those of its list, so it costs no more than a walk over `items` numbers.
 * Owner: the caller. One thread at a time. No clock: times are given, in milliseconds.
 */
enum {
    EK_ASSEMBLY_LISTS = 65536,
    EK_ASSEMBLY_TIMEOUT_MS = 10000,
    EK_ASSEMBLY_BYTES = 64 << 20,
};

/* 0 means the default: those above, and EK_ITEMS_DEFAULT_MAX. */
struct ek_assembly_limits {
    int queries; /* at least 2 */
    int items;   /* of a list */
    size_t bytes;
    int64_t within_ms;
    uint64_t salt; /* of where a query is looked for; who knows it can make ids share a place */
};

/* Lists that were given out, by what is known of them, and what was left out. */
struct ek_assembly_counts {
    uint64_t complete;       /* all items that its messages speak of */
    uint64_t cut;            /* fewer than that */
    uint64_t unsaid;         /* no message said how many there are */
    uint64_t repeated, late; /* items */
    uint64_t forgotten;      /* queries, before their time was over */
};

#define EK_NO_PLAN UINT64_MAX

struct ek_assembly;

/* features, query_features: of the lists. EK_ENOMEM. */
int ek_assembly_new(struct ek_assembly **out, int features, int query_features,
                    const struct ek_assembly_limits *limits, struct ek_error *e);
void ek_assembly_free(struct ek_assembly *a);

/* Takes the item that is a message, and its query, with the number of a plan, when that is new.
 * time_ms: of the list; now_ms: of the stream. Call ek_assembly_next before and after, until there
 * is none. EK_ENOMEM: nothing happened. */
int ek_assembly_add(struct ek_assembly *a, const struct ek_list *item, int64_t time_ms,
                    int64_t now_ms, uint64_t plan, struct ek_error *e);
/* The next list that is to be given out at this time of the stream: *some, and the list in *list,
 * whose texts are good until the next call. INT64_MAX: the stream has ended. EK_ENOMEM: it stays
 * the next one. */
int ek_assembly_next(struct ek_assembly *a, int64_t now_ms, struct ek_list *list, bool *some,
                     struct ek_error *e);
/* Number of the plan that the query of an item has; false when it is not known. */
bool ek_assembly_plan(const struct ek_assembly *a, const struct ek_list *item, uint64_t *plan);

/* The query of an item, which is known, has that plan from now on. */
void ek_assembly_set_plan(struct ek_assembly *a, const struct ek_list *item, uint64_t plan);

struct ek_assembly_counts ek_assembly_get_counts(const struct ek_assembly *a);
/* Queries that were met, less the lists that were given out. */
uint64_t ek_assembly_pending(const struct ek_assembly *a);
/* Of lists on their way, and of memory that waits for more. */
size_t ek_assembly_bytes(const struct ek_assembly *a);

/* The queries that are known, without the items of their lists: a list goes on with those that come
 * (docs/format/state.md). Reading takes one that is new. */
void ek_assembly_serialize(struct ek_assembly *a, struct ek_serialize *s);
/* Gets to know the queries of another one, as far as there is room: they have no plan yet
 * (EK_NO_PLAN), and their lists go on with the items that come here. */
void ek_assembly_merge(struct ek_assembly *into, const struct ek_assembly *from);

#endif
