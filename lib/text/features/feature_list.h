/* Catalog of all text features with names, formulas and sources, in output order.
 *
 * A name is KIND.FIELD, or KIND without fields, and is unique. A query feature has the same value
 * for all documents of a list. Read-only.
 */
#ifndef EK_TEXT_FEATURES_FEATURE_LIST_H
#define EK_TEXT_FEATURES_FEATURE_LIST_H

#include "base/error.h"
#include "text/index/field.h"

#include <stdbool.h>
#include <stddef.h>

enum ek_text_family {
    EK_FAMILY_UNIGRAM,
    EK_FAMILY_STREAM,
    EK_FAMILY_PROXIMITY,
    EK_FAMILY_RUN,
    EK_FAMILY_STATIC,
    EK_FAMILY_QUERY,
    EK_FAMILY_IDF,
    EK_FAMILY_TERMS,
    EK_FAMILY_PAIRS,
    EK_FAMILIES
};

enum { EK_TEXT_NAME_BYTES = 48, EK_TEXT_FORMULA_BYTES = 240, EK_CORE_FEATURES = 435 };

struct ek_text_feature {
    char name[EK_TEXT_NAME_BYTES];
    char formula[EK_TEXT_FORMULA_BYTES];
    const char *source;
    enum ek_text_family family;
    int kind; /* index within the family */
    enum ek_field field;
    bool has_field;
    bool of_query;
    bool core;    /* one of the EK_CORE_FEATURES that represent those of Gallagher et al. 2020 */
    bool missing; /* may have no value */
};

struct ek_feature_list {
    struct ek_text_feature *features;
    size_t count;
};

/* Create the catalog. Return 0 or EK_ENOMEM. */
int ek_feature_list_new(struct ek_feature_list **out, struct ek_error *e);
void ek_feature_list_free(struct ek_feature_list *l);
/* Return the feature with this name, valid as long as the catalog, or NULL. */
const struct ek_text_feature *ek_feature_list_find(const struct ek_feature_list *l,
                                                   const char *name);
/* Return the name of a family, a static string such as "unigram". */
const char *ek_text_family_name(enum ek_text_family f);
/* Return a one-line description of a family, a static string. */
const char *ek_text_family_title(enum ek_text_family f);

#endif
