/* A guard whose messages hold one item each (serve/assembly.h).
 *
 * An item is counted by the sketches at once, in the cells that values have at that time, and gets
 * the plan that its query was met with. The detector takes lists, when they are given out.
 * Internal to the guard but for ek_guard_end_items and the counts.
 */
#ifndef EK_GUARD_GUARD_ITEMS_H
#define EK_GUARD_GUARD_ITEMS_H

#include "serve/assembly.h"
#include "serve/context.h"

struct ek_guard;

int ek_guard_items_new(struct ek_guard *g, struct ek_error *e);
void ek_guard_items_free(struct ek_guard *g);
/* As ek_guard_update, for an item of a list of that time. */
int ek_guard_process_item(struct ek_guard *g, struct ek_context *c, int64_t time_ms, int64_t now_ms,
                          struct ek_error *e);
/* Lists that are to be given out at this time of the stream go to the detector. */
int ek_guard_emit_lists(struct ek_guard *g, int64_t time_ms, struct ek_error *e);
/* The plan of the item's query; NULL when it is not known. */
const struct ek_plan *ek_guard_item_plan(const struct ek_guard *g, const struct ek_list *item);

/* The stream has ended: all lists are given out as they are. Nothing where messages are lists. */
int ek_guard_end_items(struct ek_guard *g, struct ek_error *e);
/* All 0 where messages are lists. */
struct ek_assembly_counts ek_guard_item_counts(const struct ek_guard *g);

#endif
