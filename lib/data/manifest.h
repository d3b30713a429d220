/* The feature manifest: what the numbers of a list mean (docs/format/manifest.md).
 *
 * Orders: `features` as in the file. Item features are numbered 0 .. F-1 and query features
 * 0 .. M-1 by rising `index`; this is the order in messages, batches, models and profiles. Derived
 * query features follow those of the data, so M counts them too. Routable features are item
 * features, 0 .. K-1 in item order.
 * Owner: the caller, ek_manifest_free. Read-only after loading, may be shared by threads.
 */
#ifndef EK_DATA_MANIFEST_H
#define EK_DATA_MANIFEST_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_FEATURES_MAX = 4096 };

enum ek_role { EK_ROLE_ITEM, EK_ROLE_QUERY };
enum ek_type { EK_TYPE_NUMBER, EK_TYPE_CATEGORY };

struct ek_feature {
    char *name, *unit, *note; /* unit and note may be NULL */
    int index;                /* 1-based LETOR column; 0 for a derived query feature */
    enum ek_role role;
    enum ek_type type;
    bool routable, positive, missing_expected;
};

/* Hyper-parameters a set asks for under `training:`; -1 (hidden_count: 0) where it says nothing. */
struct ek_training_hints {
    int hidden[8], hidden_count, epochs, batch_size;
    double learning_rate, weight_decay;
};

struct ek_manifest {
    char *set; /* NULL when the file does not say */
    struct ek_feature *features;
    int feature_count;
    int item_count;                  /* F */
    int query_count;                 /* M, derived ones included */
    int derived_count;               /* the last of the query features; only log_list_size so far */
    int routable_count;              /* K */
    int width;                       /* highest index */
    const struct ek_feature **item;  /* [F] */
    const struct ek_feature **query; /* [M] */
    int *routable;                   /* [K] item numbers */
    int *routable_of_item;           /* [F] routable number or -1 */
    char *main_feature, *nights_feature; /* NULL when not named */
    struct ek_training_hints training;
    uint64_t hash; /* xxh64 of "name index role\n" per feature, ordered by index */
};

int ek_manifest_load(struct ek_manifest **out, const char *path, struct ek_error *e);
int ek_manifest_parse(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e);
void ek_manifest_free(struct ek_manifest *m);
/* Number of an item or query feature, -1 when there is none. */
int ek_manifest_item(const struct ek_manifest *m, const char *name);
int ek_manifest_query(const struct ek_manifest *m, const char *name);
/* Names of all features of a role, for near-miss hints; count in *count. Owned by the manifest. */
const char *ek_manifest_suggest(const struct ek_manifest *m, enum ek_role role, const char *word);

#endif
