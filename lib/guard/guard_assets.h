/* A guard that goes on with other assets (ek_guard_set_assets of evenkeel.h). */
#ifndef EK_GUARD_GUARD_ASSETS_H
#define EK_GUARD_GUARD_ASSETS_H

#include "evenkeel.h"

/* Those it has now: a context of others cannot give it a message. */
const struct ek_assets *ek_guard_assets(const struct ek_guard *g);

#endif
