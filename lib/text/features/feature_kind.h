/* Name, formula and source of a kind of text feature. Names, help and documentation are generated
 * from tables of these. */
#ifndef EK_TEXT_FEATURES_FEATURE_KIND_H
#define EK_TEXT_FEATURES_FEATURE_KIND_H

#include <stdbool.h>

struct ek_feature_kind {
    const char *name;    /* without the field */
    const char *formula; /* notation of docs/text-features.md */
    const char *source;  /* paper; "" if the formula is self-explanatory */
    bool core;           /* one of the core features that represent the 435 of the paper */
};

#endif
