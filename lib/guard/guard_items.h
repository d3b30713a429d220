/* Item messages of a guard (serve/assembly.h).
 *
 * An item updates the live sketches at once and gets the plan of its list. The detector gets
 * complete lists. Internal except ek_guard_end_items and ek_guard_item_counts.
 */
#ifndef EK_GUARD_GUARD_ITEMS_H
#define EK_GUARD_GUARD_ITEMS_H

#include "serve/assembly.h"
#include "serve/context.h"

struct ek_guard;

/* Create the assembly of a guard. Return 0 or EK_ENOMEM; ek_guard_items_free frees a partial one.
 */
int ek_guard_items_new(struct ek_guard *g, struct ek_error *e);
/* Free the assembly of a guard and the history of its plans. */
void ek_guard_items_free(struct ek_guard *g);
/* Process the item message in a context: update sketches and assembly, and set its treatment by the
 * plan of its list. `time_ms`: of its list; now_ms: clock of the caller. Return 0, EK_ESTATE for a
 * list of another manifest, or EK_ENOMEM. */
int ek_guard_process_item(struct ek_guard *g, struct ek_context *c, int64_t time_ms, int64_t now_ms,
                          struct ek_error *e);
/* Pass the lists due at this event time to the detector. Return 0, EK_ESTATE for a list of another
 * manifest, or EK_ENOMEM. */
int ek_guard_emit_lists(struct ek_guard *g, int64_t time_ms, struct ek_error *e);
/* Return the plan of an item's list, valid until the next list is added, or NULL if unknown. */
const struct ek_plan *ek_guard_item_plan(const struct ek_guard *g, const struct ek_list *item);

/* Emit all pending lists at the end of the stream. No effect with message layout `list`. Return 0,
 * EK_ESTATE for a list of another manifest, or EK_ENOMEM. */
int ek_guard_end_items(struct ek_guard *g, struct ek_error *e);
/* Return the counters of the assembly since the start; all 0 with message layout `list`. */
struct ek_assembly_counts ek_guard_item_counts(const struct ek_guard *g);

#endif
