/* Access to the detector of a guard, for feature traces. Use in the thread of the guard. */
#ifndef EK_GUARD_PUBLIC_H
#define EK_GUARD_PUBLIC_H

#include "detect/detector.h"
#include "evenkeel.h"

/* Return the detector; valid as long as the guard. */
const struct ek_detector *ek_guard_detector(const struct ek_guard *g);

#endif
