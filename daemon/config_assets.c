/* The assets of a configuration. */
#include "daemon/config.h"
#include "guard/assets.h"

int ek_config_assets(struct ek_assets **out, const struct ek_config *c, struct ek_error *e)
{
    const struct ek_mapping mapping = {.query = c->query,
                                       .time_ms = c->time_ms,
                                       .segments = c->segments,
                                       .query_features = c->query_features,
                                       .manifest = c->manifest_hash,
                                       .items = c->items,
                                       .item_id = c->item_id,
                                       .score = c->score,
                                       .features = c->features,
                                       .label = c->label};
    const struct ek_codec_limits limits = {.message_bytes = (uint32_t)c->message_bytes,
                                           .items = (int)c->items_max};
    return ek_assets_load_mapped(out, c->manifest, c->profile, c->rules, c->model, &mapping,
                                 &limits, e);
}
