/* How much memory a guard takes at most: for who says so before it runs (`evenkeel check`).
 *
 * From what its parts say of themselves; what is not there yet counts as if it were. Bytes.
 */
#ifndef EK_GUARD_GUARD_MEMORY_H
#define EK_GUARD_GUARD_MEMORY_H

#include "serve/assets.h"

#include <stddef.h>

struct ek_guard_memory {
    int cells;          /* most, those of pooled values included */
    size_t detector;    /* evidence, history, changes */
    size_t sketches;    /* live, all cells */
    size_t plans;       /* in force, wanted and past, pins, decisions, trials, accepts */
    size_t events;      /* that nobody has fetched */
    size_t items;       /* lists on their way; 0: messages are lists */
    size_t own_context; /* of its own, and for lists put together */
};

/* fleet: it is an instance of one; item_bytes of a list that is put together are at most
 * `largest`. */
struct ek_list_limits;
struct ek_guard_memory ek_guard_memory_of(const struct ek_assets *a,
                                          const struct ek_list_limits *most, bool fleet);
/* All of it. */
size_t ek_guard_memory_all(const struct ek_guard_memory *m);
/* What model, profile, manifest and rules take themselves. */
size_t ek_assets_memory(const struct ek_assets *a);

#endif
