/* The feature manifest: what the numbers of a list mean (docs/format/manifest.md).
 *
 * Orders: `features` as in the file. Item features are numbered 0 .. F-1 and query features
 * 0 .. M-1 by rising `index`; this is the order in messages, batches, models and profiles. Derived
 * query features follow those of the data, so M counts them too; in `features` they stand last and
 * feature_count counts them. Routable features are item features, 0 .. K-1 in item order. The hash
 * leaves the derived ones out: it says what the numbers of a message are.
 * Columns among `unused` may stand in LETOR files and are passed over; nothing else knows of them.
 * Names have no spaces, commas, equals or control signs and are unique over both roles.
 * Owner: the caller, ek_manifest_free. Read-only after loading, may be shared by threads.
 */
#ifndef EK_SCHEMA_MANIFEST_H
#define EK_SCHEMA_MANIFEST_H

#include "base/error.h"
#include "base/error_list.h"
#include "base/text.h"
#include "schema/transform_names.h"

#include <stdbool.h>
#include <stdint.h>

/* Largest segment value that is kept by itself; longer ones share one segment. */
enum { EK_SEGMENT_BYTES_MAX = 200 };
enum { EK_FEATURES_MAX = 4096, EK_INDEX_MAX = 1 << 20, EK_NAME_BYTES_MAX = 200 };

enum ek_role { EK_ROLE_ITEM, EK_ROLE_QUERY };
enum ek_type { EK_TYPE_NUMBER, EK_TYPE_CATEGORY };

struct ek_feature {
    char *name, *unit, *note; /* unit and note may be NULL */
    int index;                /* 1-based LETOR column; 0 for a derived query feature */
    enum ek_role role;
    enum ek_type type;
    bool routable, positive, missing_expected;
    bool is_money; /* among `currency_features` */
    /* Of `normalization:`, item features only; none where it does not name the feature. */
    enum ek_transform_kind scale;
    char *scale_why; /* may be NULL */
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
    int width;                       /* highest index of a feature */
    int *unused, unused_count;       /* LETOR columns that are no features, rising */
    const struct ek_feature **item;  /* [F] */
    const struct ek_feature **query; /* [M] */
    int *routable;                   /* [K] item numbers */
    int *routable_of_item;           /* [F] routable number or -1 */
    const struct ek_feature **by_name;   /* [feature_count] in the order of their names */
    char *main_feature, *nights_feature; /* NULL when not named */
    char *scale_method; /* of `normalization:`, NULL where there is none or it does not say */
    struct ek_training_hints training;
    uint64_t hash; /* xxh64 of "name index role\n" per feature, ordered by index */
};

/* Whether a feature may be called so: 1 to EK_NAME_BYTES_MAX bytes, none of them a space, a comma,
 * an equals or a control sign. */
bool ek_manifest_name_fits(const char *name);
int ek_manifest_load(struct ek_manifest **out, const char *path, struct ek_error *e);
int ek_manifest_parse(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e);
/* The same, going on after a fault where it can: all of them are in `faults` then (initialised, may
 * be NULL), by place, and the first is the error. A file that is no YAML has one. */
int ek_manifest_parse_all(struct ek_manifest **out, const char *name, const char *text,
                          size_t length, struct ek_error_list *faults, struct ek_error *e);
/* The same of a text that was read already. What its reading put into `faults` counts. */
struct ek_yaml;
int ek_manifest_from_tree(struct ek_manifest **out, const struct ek_yaml *y,
                          struct ek_error_list *faults, struct ek_error *e);
void ek_manifest_free(struct ek_manifest *m);
/* Number of an item or query feature, -1 when there is none. */
int ek_manifest_item(const struct ek_manifest *m, const char *name);
int ek_manifest_query(const struct ek_manifest *m, const char *name);
int ek_manifest_find_item(const struct ek_manifest *m, struct ek_text name);
int ek_manifest_find_query(const struct ek_manifest *m, struct ek_text name);
/* Number in `features` of a feature of either role, -1 when there is none. */
int ek_manifest_feature(const struct ek_manifest *m, const char *name);
/* The name of that role nearest to a mistyped word; NULL when none is near. Owned by the manifest.
 */
const char *ek_manifest_suggest(const struct ek_manifest *m, enum ek_role role, const char *word);

#endif
