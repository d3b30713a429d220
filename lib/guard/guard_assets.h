/* Current assets of a guard, which ek_guard_set_assets of evenkeel.h replaces. */
#ifndef EK_GUARD_GUARD_ASSETS_H
#define EK_GUARD_GUARD_ASSETS_H

#include "evenkeel.h"

/* Return the current assets, which the guard does not own. It rejects contexts with other assets.
 */
const struct ek_assets *ek_guard_assets(const struct ek_guard *g);

#endif
