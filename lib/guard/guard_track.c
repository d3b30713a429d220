#include "guard/guard_track.h"

#include "guard/guard_internal.h"

const struct ek_detector *ek_guard_looks(const struct ek_guard *g)
{
    return g->detector;
}
