/* Selection and parameters of text features, from a YAML file (docs/extract.md).
 *
 *   features: [bm25_atire.*, "stream_tf_*.title", url_slashes, query]
 *   except: ["*.anchor"]
 *   parameters: {bm25_atire: {k1: 1.2, b: 0.75}, sdm: {mu: 1500}}
 *
 * An entry is a name, a glob pattern (* and ?), the name of a family, `core` or `all`. An entry
 * without a match is an error. The order is that of the catalog, without duplicates. Read-only.
 */
#ifndef EK_TEXT_FEATURES_FEATURE_CHOICE_H
#define EK_TEXT_FEATURES_FEATURE_CHOICE_H

#include "text/features/feature_list.h"
#include "text/features/proximity.h"
#include "text/features/unigram.h"

struct ek_feature_choice {
    struct ek_unigram_parameters unigram;
    struct ek_sdm_parameters sdm;
    const struct ek_text_feature **feature; /* [count], pointers into `list` */
    size_t count;
    bool needs[EK_FAMILIES]; /* whether a feature of the family is selected */
    struct ek_feature_list *list;
};

/* Create the selection of all core features. Return 0 or EK_ENOMEM. */
int ek_feature_choice_default(struct ek_feature_choice **out, struct ek_error *e);
/* Load a selection from a file; the caller frees *out. Return 0, EK_EIO, EK_ENOMEM, or EK_ECONFIG
 * with the line. */
int ek_feature_choice_load(struct ek_feature_choice **out, const char *path, struct ek_error *e);
/* Parse a selection; `name` is the file name in errors. Return 0, EK_ECONFIG or EK_ENOMEM. */
int ek_feature_choice_parse(struct ek_feature_choice **out, const char *name, const char *text,
                            size_t length, struct ek_error *e);
void ek_feature_choice_free(struct ek_feature_choice *c);
enum { EK_CHANGED_BYTES = 128 };
/* Write the parameters of a feature that differ from their defaults to `text`, such as "k1 = 1.2, b
 * = 0.6"; "" without any. */
void ek_feature_choice_changed(const struct ek_feature_choice *c, const struct ek_text_feature *f,
                               char text[EK_CHANGED_BYTES]);
/* Return whether a feature of this family and kind (-1: any) is selected. */
bool ek_feature_choice_has(const struct ek_feature_choice *c, enum ek_text_family f, int kind);

#endif
