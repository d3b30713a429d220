/* Which text features are wanted, and with what parameters: a YAML file (docs/extract.md).
 *
 *   features: [bm25_atire.*, "stream_tf_*.title", url_slashes, query]
 *   except: ["*.anchor"]
 *   parameters: {bm25_atire: {k1: 1.2, b: 0.75}, sdm: {mu: 1500}}
 *
 * An entry is a name, a name with * (any bytes) and ? (one), a family's name, `core` or `all`. One
 * that fits nothing is an error. The features come in the order of the catalogue, whatever that of
 * the file, each once. Owner: the caller, ek_feature_choice_free. Read-only.
 */
#ifndef EK_TEXT_FEATURES_FEATURE_CHOICE_H
#define EK_TEXT_FEATURES_FEATURE_CHOICE_H

#include "text/features/feature_list.h"
#include "text/features/proximity.h"
#include "text/features/unigram.h"

struct ek_feature_choice {
    struct ek_unigram_parameters unigram;
    struct ek_sdm_parameters sdm;
    const struct ek_text_feature **feature; /* [count], in the catalogue */
    size_t count;
    bool needs[EK_FAMILIES]; /* whether there is one of that family */
    struct ek_feature_list *list;
};

/* The core. EK_ENOMEM. */
int ek_feature_choice_default(struct ek_feature_choice **out, struct ek_error *e);
/* EK_ECONFIG with the place. */
int ek_feature_choice_load(struct ek_feature_choice **out, const char *path, struct ek_error *e);
/* `name` stands for the file in errors. */
int ek_feature_choice_parse(struct ek_feature_choice **out, const char *name, const char *text,
                            size_t length, struct ek_error *e);
void ek_feature_choice_free(struct ek_feature_choice *c);
/* Parameters that a feature of the choice goes by and that are not those of its formula, as
 * "k1 = 1.2, b = 0.6"; "" for none. */
enum { EK_CHANGED_BYTES = 128 };
void ek_feature_choice_changed(const struct ek_feature_choice *c, const struct ek_text_feature *f,
                               char text[EK_CHANGED_BYTES]);
/* Whether a feature of that family and kind (-1: any) is wanted. */
bool ek_feature_choice_has(const struct ek_feature_choice *c, enum ek_text_family f, int kind);

#endif
