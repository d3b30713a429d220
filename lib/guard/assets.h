/* What a guard needs, loaded and held against each other. */
#ifndef EK_GUARD_ASSETS_H
#define EK_GUARD_ASSETS_H

#include "data/codec.h"
#include "data/manifest.h"
#include "data/model.h"
#include "data/profile.h"
#include "data/rules.h"
#include "evenkeel.h"

struct ek_assets {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_model *model; /* NULL: observe only */
    struct ek_codec *codec;
};

/* As ek_assets_load, with the field mapping and limits of the messages (NULL: defaults). */
int ek_assets_load_mapped(struct ek_assets **out, const char *manifest, const char *profile,
                          const char *rules, const char *model, const struct ek_mapping *mapping,
                          const struct ek_codec_limits *limits, struct ek_error *e);
/* Rules that this version reads but cannot carry out are refused, never ignored: EK_ECONFIG with
 * the place of the first such thing. */
int ek_rules_supported(const struct ek_rules *rules, struct ek_error *e);

#endif
