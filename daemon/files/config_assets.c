/* Assets and tokens of a configuration. */
#include "daemon/files/file_kind.h"
#include "daemon/config/config.h"
#include "daemon/config/instance.h"
#include "daemon/config/auth.h"
#include "serve/assets.h"

struct printing {
    const struct ek_config *c;
    struct ek_error_list *faults;
};

/* An error in a file that the configuration names is an error of the configuration. */
static int on_fault(void *context, enum ek_asset which, struct ek_error *e)
{
    static const char *const keys[] = {
        [EK_ASSET_MANIFEST] = "assets.manifest",
        [EK_ASSET_PROFILE] = "assets.profile",
        [EK_ASSET_RULES] = "assets.rules",
        [EK_ASSET_MODEL] = "assets.model",
    };
    const struct printing *t = context;
    const char *const paths[] = {[EK_ASSET_MANIFEST] = t->c->manifest,
                                 [EK_ASSET_PROFILE] = t->c->profile,
                                 [EK_ASSET_RULES] = t->c->rules,
                                 [EK_ASSET_MODEL] = t->c->model};
    static const enum ek_kind kinds[] = {[EK_ASSET_MANIFEST] = EK_KIND_MANIFEST,
                                         [EK_ASSET_PROFILE] = EK_KIND_PROFILE,
                                         [EK_ASSET_RULES] = EK_KIND_RULES,
                                         [EK_ASSET_MODEL] = EK_KIND_MODEL};
    char text[700];
    if (e->code == EK_ENOMEM || !paths[which])
        return (int)e->code;
    ek_kind_explain(paths[which], kinds[which], e);
    ek_error_text(e, text, sizeof text);
    ek_fail(e, EK_ECONFIG, "'%s': %s", keys[which], text);
    ek_config_place(t->c, keys[which], e);
    return ek_error_list_collect(t->faults, EK_ECONFIG, e);
}

void ek_config_mapping(const struct ek_config *c, struct ek_mapping *mapping,
                       struct ek_codec_limits *limits)
{
    *mapping = (struct ek_mapping){.encoding = c->encoding ? EK_MESSAGES_JSON : EK_MESSAGES_MSGPACK,
                                   .layout = (enum ek_message_layout)c->layout,
                                   .query = c->query,
                                   .time_ms = c->time_ms,
                                   .segments = c->segments,
                                   .query_features = c->query_features,
                                   .manifest = c->manifest_hash,
                                   .items = c->items,
                                   .item = c->item,
                                   .list_items = c->list_items,
                                   .log_means = c->log_means,
                                   .item_id = c->item_id,
                                   .score = c->score,
                                   .features = c->features,
                                   .label = c->label,
                                   .source = c->source};
    *limits = (struct ek_codec_limits){.message_bytes = (uint32_t)c->message_bytes,
                                       .items = (int)c->items_max};
}

int ek_config_assets(struct ek_assets **out, const struct ek_config *c,
                     struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_mapping mapping;
    struct ek_codec_limits limits;
    struct ek_error own;
    struct printing telling = {c, faults};
    const struct ek_assets_report report = {on_fault, &telling};
    e = e ? e : &own;
    ek_config_mapping(c, &mapping, &limits);
    int rc = ek_assets_load_mapped(out, c->manifest, c->profile, c->rules, c->model, &mapping,
                                   &limits, &report, e);
    if (!rc) {
        (*out)->cells = (int)c->max_segments;
        (*out)->writes_features = c->output_writes == EK_WRITES_FEATURES;
        (*out)->assembly = (struct ek_assembly_limits){.queries = (int)c->assembly_max_lists,
                                                       .items = (int)c->items_max,
                                                       .bytes = (size_t)c->assembly_max_bytes,
                                                       .within_ms = c->assembly_timeout_ms,
                                                       .salt = ek_instance_salt()};
    }
    return ek_error_list_first(faults, rc && faults && faults->count ? EK_ECONFIG : rc, e);
}

int ek_config_tokens(struct ek_tokens **out, const struct ek_config *c, struct ek_error *e)
{
    static const char key[] = "http.token_file";
    struct ek_tokens *tokens = NULL;
    struct ek_error why;
    char text[700];
    int rc = c->token_file ? ek_tokens_load(&tokens, c->token_file, &why) : EK_OK;
    if (rc == EK_ENOMEM) {
        *e = why;
    } else if (rc) {
        rc = ek_fail(e, EK_ECONFIG, "'%s': %s", key, ek_error_text(&why, text, sizeof text));
        ek_config_place(c, key, e);
    }
    if (out)
        *out = tokens;
    else
        ek_tokens_free(tokens);
    return rc;
}
