#include "daemon/guard/asset_ref.h"

#include "base/alloc.h"

#include <stdatomic.h>

struct ek_loaded {
    const struct ek_assets *assets;
    struct ek_assets *owned; /* NULL: lent */
    atomic_int holders;
};

static struct ek_loaded *make(const struct ek_assets *assets, struct ek_assets *owned)
{
    struct ek_loaded *l = ek_calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->assets = assets;
    l->owned = owned;
    atomic_init(&l->holders, 1);
    return l;
}

struct ek_loaded *ek_loaded_new(struct ek_assets *owned)
{
    return make(owned, owned);
}

struct ek_loaded *ek_loaded_lent(const struct ek_assets *assets)
{
    return make(assets, NULL);
}

struct ek_loaded *ek_loaded_hold(struct ek_loaded *l)
{
    atomic_fetch_add(&l->holders, 1);
    return l;
}

void ek_loaded_drop(struct ek_loaded *l)
{
    if (!l || atomic_fetch_sub(&l->holders, 1) > 1)
        return;
    ek_assets_free(l->owned);
    ek_free(l);
}

const struct ek_assets *ek_loaded_assets(const struct ek_loaded *l)
{
    return l->assets;
}
