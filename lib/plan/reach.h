/* How much of the traffic something acts on that grows place by place: of lists that are known by
 * the cells they are in, the mean of the largest percentage that acts on any cell of theirs. What
 * bucket a query is in has nothing to do with its cells, and all that acts on a bucket acts on
 * those below it (data/rules.h: canaries).
 *
 * A cell that is added costs the lists in it, whatever was added before. Exact: sums of integers,
 * one division. Percentages are hundredths of a percent, 0..EK_PERCENT_WHOLE.
 * Owner: the caller. One thread at a time. Some 400 KiB.
 */
#ifndef EK_DECIDE_REACH_H
#define EK_DECIDE_REACH_H

#include <stddef.h>
#include <stdint.h>

struct ek_reach;

enum { EK_REACH_LISTS = 4096, EK_REACH_CELLS = 9 /* of a list */ };

int ek_reach_new(struct ek_reach **out); /* EK_ENOMEM */
void ek_reach_free(struct ek_reach *r);
/* No lists, and nothing acts. */
void ek_reach_clear(struct ek_reach *r);
/* One more list; those below 0 are none. What is beyond the enum is left out. Before the first
 * ek_reach_add. */
void ek_reach_list(struct ek_reach *r, const int16_t *cells, int count);
/* Nothing acts any more. */
void ek_reach_restart(struct ek_reach *r);
void ek_reach_add(struct ek_reach *r, int cell, int percent);
/* 0..1. Without a list it is taken for the largest percentage. */
double ek_reach_share(const struct ek_reach *r);
/* What was added since the last mark, or restart, is taken back. */
void ek_reach_mark(struct ek_reach *r);
void ek_reach_back(struct ek_reach *r);

#endif
