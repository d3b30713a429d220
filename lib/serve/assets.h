/* Assets of a guard (manifest, profile, rules, model, codec): loaded from files and checked for
 * consistency. Read-only afterwards and thread-safe. */
#ifndef EK_SERVE_ASSETS_H
#define EK_SERVE_ASSETS_H

#include "lists/codec.h"
#include "schema/manifest.h"
#include "assets/model.h"
#include "assets/profile.h"
#include "rules/rules.h"
#include "evenkeel.h"
#include "plan/policy.h"
#include "serve/assembly.h"

struct ek_wide_columns;

struct ek_assets {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_model *model; /* NULL: observe only */
    struct ek_codec *codec;
    void *schemas; /* of the codec, released after it by close_schemas; NULL: none */
    void (*close_schemas)(void *schemas);
    struct ek_assembly_limits assembly; /* for message layout `item` */
    bool writes_features;         /* repaired feature values are written; the model is unused */
    struct ek_wide_columns *wide; /* columns that are then appended to each list; NULL: none */
    int cells; /* maximum cells of a guard without pooled cells; 0: EK_CELLS_DEFAULT_MAX */
};

enum ek_asset { EK_ASSET_MANIFEST, EK_ASSET_PROFILE, EK_ASSET_RULES, EK_ASSET_MODEL };

/* Callback for each invalid asset. `fault` returns 0 to continue with the other assets, or the code
 * to return; it may change the error. */
struct ek_assets_report {
    int (*fault)(void *context, enum ek_asset which, struct ek_error *e);
    void *context;
};

/* Load assets as ek_assets_load, with a field mapping and limits (NULL: defaults), and a report
 * (NULL: stop at the first invalid asset), none of which is kept. Return 0, a code of the report,
 * or an error of ek_assets_load; *out is then unchanged. Free *out with ek_assets_free. */
int ek_assets_load_mapped(struct ek_assets **out, const char *manifest, const char *profile,
                          const char *rules, const char *model, const struct ek_mapping *mapping,
                          const struct ek_codec_limits *limits,
                          const struct ek_assets_report *report, struct ek_error *e);
/* Return the means of mitigation that the assets allow. The profile in it is that of `a`. */
struct ek_means ek_assets_means(const struct ek_assets *a);
/* Return whether the assets have a model that scores lists. */
static inline bool ek_assets_score(const struct ek_assets *a)
{
    return a->model && !a->writes_features;
}
/* Return whether mitigations repair feature values, and do not treat inputs of the network. */
static inline bool ek_assets_repair(const struct ek_assets *a)
{
    return a->writes_features || (a->model && ek_model_library(a->model));
}
/* Free the members of assets that were assembled by hand. Use ek_assets_free for loaded assets. */
void ek_assets_release(struct ek_assets *a);

/* Check that model and profile are from the same training: their means of ln|x| agree for each
 * routable feature. Return 0, or EK_ESTATE with the first feature that differs. 0 without a
 * model. */
int ek_assets_belong(const struct ek_assets *a, struct ek_error *e);

#endif
