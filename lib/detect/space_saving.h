/* How busy keys are, in bounded memory: who is worth a cell of its own.
 *
 * A key has a counter, either as the owner of a cell or as a candidate for one. Owners are counted
 * exactly for as long as they own. Candidates are counted by Space-Saving (Metwally, Agrawal, El
 * Abbadi 2005): when there is no room the least candidate gives its counter to the new key, which
 * starts with the count it found as its possible error. So a key with more than 1/candidates of
 * what all candidates did is among them, and count - error is never more than the key did.
 *
 * Counts fade with a half-life of EK_SPACE_SAVING_HALF_LIFE lists. They do so by giving later lists
 * more weight (forward decay; Cormode et al. 2009), which leaves the order of the counters alone.
 *
 * A look-up is one probe of a hash table; a candidate's count also moves it in a heap. Keys are
 * hashes of 64 bits: two values with the same one are taken for one. No allocation after
 * ek_space_saving_new. Deterministic. Owner: the caller. One thread at a time.
 */
#ifndef EK_DETECT_SPACE_SAVING_H
#define EK_DETECT_SPACE_SAVING_H

#include "base/serialize.h"

#include <stdint.h>

enum { EK_SPACE_SAVING_HALF_LIFE = 10000 };

struct ek_space_saving;

/* cells: numbers 0 .. cells - 1 can be owned. */
int ek_space_saving_new(struct ek_space_saving **out, int cells, int candidates);
void ek_space_saving_free(struct ek_space_saving *b);
/* One list has passed: what is counted from here on weighs a little more. */
void ek_space_saving_list(struct ek_space_saving *b);
/* Counts a key. Returns its cell, or -1: it is a candidate now, and `lists` is how many of the
 * last lists were surely its own (faded). */
int ek_space_saving_count(struct ek_space_saving *b, uint64_t key, double *lists);
/* The same as of so many lists at once (faded). */
int ek_space_saving_add(struct ek_space_saving *b, uint64_t key, double lists);
/* The cell that a key owns, -1: none. Counts nothing. */
int ek_space_saving_cell(const struct ek_space_saving *b, uint64_t key);
/* Lists of the owner of a cell, faded. */
double ek_space_saving_lists(const struct ek_space_saving *b, int cell);
/* Makes a candidate the owner of a cell; who owned it becomes a candidate. Nothing happens when
 * `key` is no candidate. */
void ek_space_saving_assign(struct ek_space_saving *b, uint64_t key, int cell);
/* Whether a cell has an owner. */
int ek_space_saving_is_assigned(const struct ek_space_saving *b, int cell);
void ek_space_saving_serialize(struct ek_space_saving *b, struct ek_serialize *s);

#endif
