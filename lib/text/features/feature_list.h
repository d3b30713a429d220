/* The catalogue: every text feature there is, with its name, formula and source, in the order in
 * which they are written.
 *
 * A name is KIND.FIELD, or KIND where there are no fields. Names are unique. A feature of the query
 * is the same for all documents of a list. Owner: the caller, ek_feature_list_free. Read-only.
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
    int kind; /* within the family, as its module has them */
    enum ek_field field;
    bool has_field;
    bool of_query;
    bool core;    /* among the EK_CORE_FEATURES that stand for those of Gallagher et al. 2020 */
    bool missing; /* there may be no value */
};

struct ek_feature_list {
    struct ek_text_feature *features;
    size_t count;
};

/* EK_ENOMEM. */
int ek_feature_list_new(struct ek_feature_list **out, struct ek_error *e);
void ek_feature_list_free(struct ek_feature_list *l);
/* NULL when there is none. */
const struct ek_text_feature *ek_feature_list_find(const struct ek_feature_list *l,
                                                   const char *name);
/* "unigram", ... and what it is in a line. */
const char *ek_text_family_name(enum ek_text_family f);
const char *ek_text_family_title(enum ek_text_family f);

#endif
