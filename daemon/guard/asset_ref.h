/* Assets, with a count of who has them: the last one to let go frees them.
 *
 * Threads: any.
 */
#ifndef EK_DAEMON_GUARD_ASSET_REF_H
#define EK_DAEMON_GUARD_ASSET_REF_H

#include "evenkeel.h"

struct ek_asset_ref;

/* Takes the assets over; NULL without memory, and they are still the caller's. */
struct ek_asset_ref *ek_asset_ref_new(struct ek_assets *owned);
/* Of assets that are somebody else's, who keeps them for longer. */
struct ek_asset_ref *ek_asset_ref_borrow(const struct ek_assets *assets);
/* One more has them: the same, to be dropped once more. */
struct ek_asset_ref *ek_asset_ref_retain(struct ek_asset_ref *l);
/* NULL is allowed. */
void ek_asset_ref_release(struct ek_asset_ref *l);
const struct ek_assets *ek_asset_ref_get(const struct ek_asset_ref *l);

#endif
