/* What a kind of text feature is: its name, how it is worked out and who says so. Tables of them
 * are all there is to say about features; names, help and documentation come from them.
 */
#ifndef EK_TEXT_FEATURES_FEATURE_KIND_H
#define EK_TEXT_FEATURES_FEATURE_KIND_H

#include <stdbool.h>

struct ek_feature_kind {
    const char *name;    /* without the field */
    const char *formula; /* in words and signs that docs/text-features.md explains */
    const char *source;  /* the paper; "" where it says itself */
    bool core;           /* among those that stand for the 435 of the paper */
};

#endif
