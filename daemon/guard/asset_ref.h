/* Assets, with a count of who has them: the last one to let go frees them.
 *
 * Threads: any.
 */
#ifndef EK_DAEMON_GUARD_ASSET_REF_H
#define EK_DAEMON_GUARD_ASSET_REF_H

#include "evenkeel.h"

struct ek_loaded;

/* Takes the assets over; NULL without memory, and they are still the caller's. */
struct ek_loaded *ek_loaded_new(struct ek_assets *owned);
/* Of assets that are somebody else's, who keeps them for longer. */
struct ek_loaded *ek_loaded_lent(const struct ek_assets *assets);
/* One more has them: the same, to be dropped once more. */
struct ek_loaded *ek_loaded_hold(struct ek_loaded *l);
/* NULL is allowed. */
void ek_loaded_drop(struct ek_loaded *l);
const struct ek_assets *ek_loaded_assets(const struct ek_loaded *l);

#endif
