/* What a guard has to show over time (decide/track.h). Threads: those of the guard. */
#ifndef EK_GUARD_PUBLIC_H
#define EK_GUARD_PUBLIC_H

#include "detect/detector.h"
#include "evenkeel.h"

/* Whose features and cells those are; as long as the guard. */
const struct ek_detector *ek_guard_detector(const struct ek_guard *g);

#endif
