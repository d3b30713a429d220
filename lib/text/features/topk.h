/* Top-k hits as a min-heap. */
#ifndef EK_TEXT_FEATURES_TOPK_H
#define EK_TEXT_FEATURES_TOPK_H

#include "text/features/retrieve.h"

struct ek_topk {
    struct ek_hit *hits; /* [k], memory of the caller */
    uint32_t count, k;
};

/* Add a hit if the heap has space or its minimum is worse. */
void ek_topk_add(struct ek_topk *t, struct ek_hit hit);
/* Return the score of the k-th hit, or -1 while fewer are present. */
double ek_topk_min(const struct ek_topk *t);
/* Sort the hits, best first. The heap order is lost. */
void ek_topk_sort(struct ek_topk *t);

#endif
