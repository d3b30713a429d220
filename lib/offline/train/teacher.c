#include "offline/train/teacher.h"

#include <math.h>

int ek_teach(struct ek_query *q, struct ek_error *e)
{
    double high = -INFINITY;
    for (int i = 0; i < q->items; i++) {
        if (!isfinite(q->score[i]))
            return ek_fail(e, EK_EFORMAT, "items[%d] has no score to learn from", i);
        high = fmax(high, q->score[i]);
    }
    for (int i = 0; i < q->items; i++)
        q->label[i] = (float)(log1p(exp(q->score[i] - high)) / M_LN2);
    q->has_label = true;
    return EK_OK;
}
