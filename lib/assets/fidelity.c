#include "assets/fidelity.h"

const char *ek_figure_name(enum ek_figure f)
{
    static const char *const names[EK_FIGURES] = {"tau", "ndcg@10", "top1"};
    return names[f];
}

double ek_figure_low(enum ek_figure f)
{
    return f == EK_FIGURE_TAU ? -1 : 0;
}
