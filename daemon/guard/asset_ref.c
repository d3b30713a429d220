#include "daemon/guard/asset_ref.h"

#include "base/alloc.h"

#include <stdatomic.h>

struct ek_asset_ref {
    const struct ek_assets *assets;
    struct ek_assets *owned; /* NULL: borrowed */
    atomic_int holders;
};

static struct ek_asset_ref *create(const struct ek_assets *assets, struct ek_assets *owned)
{
    struct ek_asset_ref *l = ek_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->assets = assets;
    l->owned = owned;
    atomic_init(&l->holders, 1);
    return l;
}

struct ek_asset_ref *ek_asset_ref_new(struct ek_assets *owned)
{
    return create(owned, owned);
}

struct ek_asset_ref *ek_asset_ref_borrow(const struct ek_assets *assets)
{
    return create(assets, NULL);
}

struct ek_asset_ref *ek_asset_ref_retain(struct ek_asset_ref *l)
{
    atomic_fetch_add(&l->holders, 1);
    return l;
}

void ek_asset_ref_release(struct ek_asset_ref *l)
{
    if (!l || atomic_fetch_sub(&l->holders, 1) > 1)
        return;
    ek_assets_free(l->owned);
    ek_free(l);
}

const struct ek_assets *ek_asset_ref_get(const struct ek_asset_ref *l)
{
    return l->assets;
}
