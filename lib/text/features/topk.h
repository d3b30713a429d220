/* The k best hits so far, as a heap with the worst of them on top. Internal to text/. */
#ifndef EK_TEXT_FEATURES_TOPK_H
#define EK_TEXT_FEATURES_TOPK_H

#include "text/features/retrieve.h"

struct ek_topk {
    struct ek_hit *hits; /* [k], of the caller */
    uint32_t count, k;
};

/* Takes it in when it is better than the worst, or there is room. */
void ek_topk_add(struct ek_topk *t, struct ek_hit hit);
/* What a hit must reach, at least; below any score while there is room. */
double ek_topk_min(const struct ek_topk *t);
/* The best one first; it is no heap any more. */
void ek_topk_sort(struct ek_topk *t);

#endif
