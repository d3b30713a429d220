/* Sample of the lists that a guard observes while its traffic is dense (`pipeline.observe: auto`).
 *
 * All lists of a cell are observed while fewer than 2 * EK_LIST_SAMPLE_RATE come per second, above
 * that one of a power of two, the largest that leaves EK_LIST_SAMPLE_RATE. The rate is that of the
 * last EK_LIST_SAMPLE_MS or more of event time, which only lists advance, so it is the rate of the
 * traffic, also while a backlog is read or the program pauses, and the same in a replay. A new
 * cell, and all cells after a restart or a step back of the time, observe all lists at first.
 *
 * A list is chosen by its key, which must not depend on its contents, such as a hash of its place
 * in the topic. The cells of a list compare the same key with powers of two, and all traffic has
 * the highest rate, so all cells of a list observe what all traffic observes. Each cell chooses
 * for itself: if lists of small segments were evidence in all traffic too, it would have more of
 * them than training. Not in checkpoints. Not thread-safe.
 */
#ifndef EK_GUARD_LIST_SAMPLE_H
#define EK_GUARD_LIST_SAMPLE_H

#include "detect/cells.h"

#include <stdint.h>

enum { EK_LIST_SAMPLE_RATE = 2000 /* lists per second */, EK_LIST_SAMPLE_MS = 1000 };

struct ek_list_sample;

/* Create a sample for at most `cells` cells that observe all lists. Return 0 or EK_ENOMEM. */
int ek_list_sample_new(struct ek_list_sample **out, int cells);
void ek_list_sample_free(struct ek_list_sample *s);
/* Count a list of these cells (-1: none) at the event time time_ms. Return the cells that observe
 * it: bit i is set for cells[i]. */
uint32_t ek_list_sample_choose(struct ek_list_sample *s, const int16_t *cells, int count,
                               int64_t time_ms, uint64_t key);
/* Reset a cell that gets another segment value. */
void ek_list_sample_reset_cell(struct ek_list_sample *s, int cell);

struct ek_guard;
struct ek_context;
/* Choose the cells in which ek_guard_update observes the list that ek_context_read_message read
 * into the context, by its key. Lists of items are observed in all, and so is a list without this
 * call. */
void ek_guard_choose(struct ek_guard *g, struct ek_context *c, uint64_t key);

#endif
