/* What a guard needs, loaded and held against each other. */
#ifndef EK_SERVE_ASSETS_H
#define EK_SERVE_ASSETS_H

#include "lists/codec.h"
#include "schema/manifest.h"
#include "assets/model.h"
#include "assets/profile.h"
#include "rules/rules.h"
#include "evenkeel.h"
#include "serve/assembly.h"

struct ek_assets {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_model *model; /* NULL: observe only */
    struct ek_codec *codec;
    struct ek_assembly_limits assembly; /* where messages are items */
    int cells; /* most of a guard, those of pooled values not counted; 0: EK_CELLS_DEFAULT_MAX */
};

enum ek_asset { EK_ASSET_MANIFEST, EK_ASSET_PROFILE, EK_ASSET_RULES, EK_ASSET_MODEL };

/* Who wants to hear of every asset that cannot be used. `fault` returns 0 when the others shall be
 * loaded too, and else the code to end with; it may change the error. */
struct ek_assets_report {
    int (*fault)(void *context, enum ek_asset which, struct ek_error *e);
    void *context;
};

/* As ek_assets_load, with the field mapping and limits of the messages (NULL: defaults) and a
 * report (NULL: the first fault is the end). It fails in any case when there was a fault. */
int ek_assets_load_mapped(struct ek_assets **out, const char *manifest, const char *profile,
                          const char *rules, const char *model, const struct ek_mapping *mapping,
                          const struct ek_codec_limits *limits,
                          const struct ek_assets_report *report, struct ek_error *e);
/* Frees what they are made of: of assets that were put together by hand. ek_assets_free frees those
 * that were loaded. */
void ek_assets_release(struct ek_assets *a);

/* Whether model and profile are of one training: the means of ln|x| of each routable feature are as
 * good as the same, where both have one. EK_ESTATE, naming the first that is not. EK_OK without a
 * model. */
int ek_assets_belong(const struct ek_assets *a, struct ek_error *e);

#endif
