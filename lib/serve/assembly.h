/* Assembly of lists from item messages (message layout `item`), and the history of plans for
 * incomplete lists. */
#ifndef EK_SERVE_ASSEMBLY_H
#define EK_SERVE_ASSEMBLY_H

#include "base/serialize.h"
#include "lists/list.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* History of plans for lists that may still get items (message layout `item`).
 *
 * It retains copies of the last EK_PLAN_HISTORY plans that differ in treatments or their values,
 * with increasing numbers. Versions are not sufficient, because a value may change within a
 * version. Cells are those of the detector; reset a cell that gets another segment value. Memory:
 * 88 KiB per plan.
 */
enum { EK_PLAN_HISTORY = 16 };

struct ek_plan_history {
    struct ek_plan *plan[EK_PLAN_HISTORY]; /* number n is at n mod EK_PLAN_HISTORY */
    uint64_t count;                        /* total */
};

/* Free all plans. The history is then empty and can be used again. */
void ek_plan_history_release(struct ek_plan_history *p);
/* Append a copy of the plan of a new list, and set *number to its number. The oldest plan beyond
 * EK_PLAN_HISTORY is evicted. Return 0, or EK_ENOMEM; on error the history is unchanged. */
int ek_plan_history_add(struct ek_plan_history *p, const struct ek_plan *plan, uint64_t *number);
/* Return the plan of this number, or NULL if evicted. Valid until the next ek_plan_history_add. */
const struct ek_plan *ek_plan_history_find(const struct ek_plan_history *p, uint64_t number);
/* Remove the entries of a cell that gets another segment value from all plans. */
void ek_plan_history_reset_cell(struct ek_plan_history *p, int cell);
/* Read or write the history; read into an empty one. `features`, `cells`: as ek_plan_serialize.
 * Errors are in s->rc. */
void ek_plan_history_serialize(struct ek_plan_history *p, struct ek_serialize *s, int features,
                               int cells);

/* Assembly of lists from item messages (message layout `item`).
 *
 * A list is known from its first item, for within_ms of event time. All its items get the plan of
 * the first item and form one list in order of arrival. A list is emitted once: when it has all
 * announced items, when its time is over, or incomplete when space is needed. Duplicate items, and
 * items of an emitted list, are dropped. Segments, query features and time are those of the first
 * item.
 *
 * Lists and items are identified by 64-bit hashes of their ids; an item without an id counts as
 * new. Limits: known lists (the oldest is evicted), items per list, and bytes of pending and
 * reusable lists. The duplicate check compares an item with all items of its list.
 */
enum {
    EK_ASSEMBLY_LISTS = 65536,
    EK_ASSEMBLY_TIMEOUT_MS = 10000,
    EK_ASSEMBLY_BYTES = 64 << 20,
};

/* Limits; 0: default, that is, the constants above and EK_ITEMS_DEFAULT_MAX. */
struct ek_assembly_limits {
    int queries; /* known lists, at least 2 */
    int items;   /* per list */
    size_t bytes;
    int64_t within_ms;
    uint64_t salt; /* of the hash table; must be secret, or ids can be made to collide */
};

/* Counters of emitted lists and dropped items. */
struct ek_assembly_counts {
    uint64_t complete;       /* lists with all announced items */
    uint64_t incomplete;     /* lists with fewer */
    uint64_t unknown;        /* lists without an announced number of items */
    uint64_t repeated, late; /* dropped items */
    uint64_t evicted;        /* lists evicted before their time was over */
};

#define EK_NO_PLAN UINT64_MAX

struct ek_assembly;

/* Create an empty assembly of lists with these numbers of features. The limits are copied. Return 0
 * or EK_ENOMEM. */
int ek_assembly_new(struct ek_assembly **out, int features, int query_features,
                    const struct ek_assembly_limits *limits, struct ek_error *e);
void ek_assembly_free(struct ek_assembly *a);

/* Add a copy of the item of a message, and its list with plan number `plan` if new. `time_ms`: of
 * the list; `now_ms`: event time. Call ek_assembly_next before and after until *some is false.
 * Return 0, or EK_ENOMEM; on error nothing changes. */
int ek_assembly_add(struct ek_assembly *a, const struct ek_list *item, int64_t time_ms,
                    int64_t now_ms, uint64_t plan, struct ek_error *e);
/* Emit the next due list: set *some to true and copy it to *list, which must be initialized and
 * whose strings are valid until the next call. *some is false, with *list unchanged, if none is
 * due. `now_ms`: event time, INT64_MAX at the end of the stream. Return 0, or EK_ENOMEM; the list
 * then stays due. */
int ek_assembly_next(struct ek_assembly *a, int64_t now_ms, struct ek_list *list, bool *some,
                     struct ek_error *e);
/* Set *plan to the plan number of an item's list. Return false, with *plan unchanged, if the list
 * is unknown. */
bool ek_assembly_plan(const struct ek_assembly *a, const struct ek_list *item, uint64_t *plan);

/* Set the plan number of an item's list, which must be known. */
void ek_assembly_set_plan(struct ek_assembly *a, const struct ek_list *item, uint64_t plan);

/* Return the counters since the start. */
struct ek_assembly_counts ek_assembly_get_counts(const struct ek_assembly *a);
/* Return the number of known lists that were not emitted. */
uint64_t ek_assembly_pending(const struct ek_assembly *a);
/* Return the bytes of pending and reusable lists. */
size_t ek_assembly_bytes(const struct ek_assembly *a);

/* Read or write the known lists without their items; a restored list continues with later items
 * (docs/dev/formats/state.md). Read into a new assembly. Errors are in s->rc. */
void ek_assembly_serialize(struct ek_assembly *a, struct ek_serialize *s);
/* Add the known lists of `from`, which stays unchanged, as far as space permits. They have no plan
 * (EK_NO_PLAN) and continue with later items. */
void ek_assembly_merge(struct ek_assembly *into, const struct ek_assembly *from);

#endif
