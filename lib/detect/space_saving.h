/* Heavy hitters in bounded memory, to select the values that deserve a cell.
 *
 * A key has a counter as the owner of a cell or as a candidate. Owners are counted exactly while
 * they own. Candidates use Space-Saving (Metwally, Agrawal, El Abbadi 2005): without a free
 * counter, a new key takes the smallest one and inherits its count as the maximum error. A key with
 * more than 1/candidates of the candidates' lists is among them, and count - error is a lower
 * bound.
 *
 * Counts decay with a half-life of EK_SPACE_SAVING_HALF_LIFE lists. Instead of decaying counts,
 * later lists get more weight (forward decay; Cormode et al. 2009), which preserves the order.
 *
 * A lookup is one hash probe; a candidate also moves in a heap. Keys are 64-bit hashes; colliding
 * values share a counter. Allocates only in ek_space_saving_new. Deterministic. Not thread-safe.
 */
#ifndef EK_DETECT_SPACE_SAVING_H
#define EK_DETECT_SPACE_SAVING_H

#include "base/serialize.h"

#include <stdint.h>

enum { EK_SPACE_SAVING_HALF_LIFE = 10000 };

struct ek_space_saving;

/* Create counters for owners of cells 0 .. cells - 1 and for `candidates` other keys. Return 0 or
 * EK_ENOMEM. */
int ek_space_saving_new(struct ek_space_saving **out, int cells, int candidates);
void ek_space_saving_free(struct ek_space_saving *b);
/* Advance the decay by one list. */
void ek_space_saving_list(struct ek_space_saving *b);
/* Count a key as one list. Return its cell, or -1 for a candidate. Set *lists to a lower bound of
 * the decayed lists of the key. */
int ek_space_saving_count(struct ek_space_saving *b, uint64_t key, double *lists);
/* Count a key as `lists` decayed lists. Return its cell or -1. */
int ek_space_saving_add(struct ek_space_saving *b, uint64_t key, double lists);
/* Return the cell owned by a key, or -1, without counting. */
int ek_space_saving_cell(const struct ek_space_saving *b, uint64_t key);
/* Return the decayed lists of the owner of a cell. */
double ek_space_saving_lists(const struct ek_space_saving *b, int cell);
/* Make a candidate the owner of a cell; the previous owner becomes a candidate. No-op if `key` is
 * not a candidate. */
void ek_space_saving_assign(struct ek_space_saving *b, uint64_t key, int cell);
/* Return whether a cell has an owner. */
int ek_space_saving_is_assigned(const struct ek_space_saving *b, int cell);
/* Read or write all counters; reading values out of range sets EK_EFORMAT. Errors are in s->rc. */
void ek_space_saving_serialize(struct ek_space_saving *b, struct ek_serialize *s);

#endif
