/* Reference-counted assets. Threads: any. */
#ifndef EK_DAEMON_GUARD_ASSET_REF_H
#define EK_DAEMON_GUARD_ASSET_REF_H

#include "evenkeel.h"

struct ek_asset_ref;

/* Create a reference that owns the assets. Return NULL if memory runs out; the caller then still
 * owns them. */
struct ek_asset_ref *ek_asset_ref_new(struct ek_assets *owned);
/* Create a reference to assets that outlive it and are not freed. Return NULL if memory runs out.
 */
struct ek_asset_ref *ek_asset_ref_borrow(const struct ek_assets *assets);
/* Increment the count of users and return `l`. Each retain needs an ek_asset_ref_release. */
struct ek_asset_ref *ek_asset_ref_retain(struct ek_asset_ref *l);
/* Decrement the count of users; the last release frees the assets. NULL is allowed. */
void ek_asset_ref_release(struct ek_asset_ref *l);
/* Return the assets; valid as long as the reference. */
const struct ek_assets *ek_asset_ref_get(const struct ek_asset_ref *l);

#endif
