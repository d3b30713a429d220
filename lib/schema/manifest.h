/* Feature manifest: schema of a list's values (docs/format/manifest.md).
 *
 * `features` has the order of the file. Item features are numbered 0 .. F-1 and query features 0 ..
 * M-1 by rising `index`, as in messages, batches, models and profiles. Derived query features
 * follow the others, are last in `features` and are included in M and feature_count. Routable
 * features are item features, numbered 0 .. K-1 in item order. The detector watches the item
 * features and, numbered F .. W-1 by rising `index`, the query features with `watch: true`, which
 * have one value per list. The hash covers the features of messages, not derived ones. `unused`
 * columns may occur in LETOR files and are skipped. Names are unique over both roles, without
 * spaces, commas, equals signs or control characters. Read-only after loading and thread-safe.
 */
#ifndef EK_SCHEMA_MANIFEST_H
#define EK_SCHEMA_MANIFEST_H

#include "base/error.h"
#include "base/error_list.h"
#include "base/text.h"
#include "schema/enum_names.h"

#include <stdbool.h>
#include <stdint.h>

/* Longer segment values share one segment. */
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
    bool watched;  /* query features only */
    bool is_money; /* in `currency_features` */
    /* From `normalization:`, item features only; none if not listed. */
    enum ek_transform_kind scale;
    char *scale_why; /* may be NULL */
};

/* Hyperparameters under `training:`; -1 (hidden_count: 0) if not set. */
struct ek_training_hints {
    int hidden[8], hidden_count, epochs, batch_size;
    double learning_rate, weight_decay;
};

struct ek_manifest {
    char *set; /* NULL if not set */
    struct ek_feature *features;
    int feature_count;
    int item_count;                      /* F */
    int watched_count;                   /* W, at least F */
    int query_count;                     /* M, derived ones included */
    int derived_count;                   /* last query features; only log_list_size */
    int routable_count;                  /* K */
    int width;                           /* highest index of a feature */
    int *unused, unused_count;           /* LETOR columns without a feature, ascending */
    const struct ek_feature **item;      /* [W] item features, then watched query features */
    const struct ek_feature **query;     /* [M] */
    int *routable;                       /* [K] item numbers */
    int *routable_of_item;               /* [W] routable number or -1 */
    int *watched_query;                  /* [W - F] query numbers */
    int *watched_of_query;               /* [M] number of the watched feature or -1 */
    const struct ek_feature **by_name;   /* [feature_count] sorted by name */
    char *main_feature, *nights_feature; /* NULL if not set */
    char *scale_method;                  /* `normalization.method`, NULL if not set */
    struct ek_training_hints training;
    uint64_t hash; /* xxh64 of "name index role\n" per feature, ordered by index */
};

/* Return true for a valid feature name: 1 to EK_NAME_BYTES_MAX bytes without spaces, commas, equals
 * signs and control characters. */
bool ek_manifest_name_fits(const char *name);
/* Read a manifest file. Return 0, EK_EIO, EK_ECONFIG with a position, or EK_ENOMEM. The caller
 * frees *out; on error it is unchanged. */
int ek_manifest_load(struct ek_manifest **out, const char *path, struct ek_error *e);
/* Parse a manifest in memory; `name` is the file name in errors. Return 0, EK_ECONFIG with a
 * position, or EK_ENOMEM. The caller frees *out. */
int ek_manifest_parse(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e);
/* Parse a manifest as ek_manifest_parse, but continue after errors: `faults` (initialized, may be
 * NULL) lists all by position, and *e is the first. Invalid YAML has one error. Return 0,
 * EK_ECONFIG if there is any error, or EK_ENOMEM; on error *out is unchanged. */
int ek_manifest_parse_all(struct ek_manifest **out, const char *name, const char *text,
                          size_t length, struct ek_error_list *faults, struct ek_error *e);
struct ek_yaml;
/* Read a manifest from a parsed YAML document, which is not kept, and continue after errors as
 * ek_manifest_parse_all. Errors that are in `faults` before the call fail it, too. Return 0,
 * EK_ECONFIG or EK_ENOMEM; the caller frees *out. */
int ek_manifest_from_tree(struct ek_manifest **out, const struct ek_yaml *y,
                          struct ek_error_list *faults, struct ek_error *e);
/* Free a manifest. NULL is allowed. */
void ek_manifest_free(struct ek_manifest *m);
/* Return the number of the item feature with this name, or -1. */
int ek_manifest_item(const struct ek_manifest *m, const char *name);
/* Return the number of the query feature with this name, or -1. */
int ek_manifest_query(const struct ek_manifest *m, const char *name);
/* Return the number of the query feature with this name, which need not be nul-terminated, or
 * -1. */
int ek_manifest_find_query(const struct ek_manifest *m, struct ek_text name);
/* Return the number of the watched feature with this name, an item feature or a watched query
 * feature, or -1. */
int ek_manifest_watched(const struct ek_manifest *m, const char *name);
/* Return the number of the watched feature with this name, which need not be nul-terminated, or
 * -1. */
int ek_manifest_find_watched(const struct ek_manifest *m, struct ek_text name);
/* Return the number of the query feature that watched feature `feature` is, or -1 for an item
 * feature. */
static inline int ek_manifest_query_of(const struct ek_manifest *m, int feature)
{
    return feature < m->item_count ? -1 : m->watched_query[feature - m->item_count];
}
/* Return the index in `features` of the feature with this name, or -1. */
int ek_manifest_feature(const struct ek_manifest *m, const char *name);
/* Return the feature name of that role nearest to a misspelled word, or NULL if none is close. The
 * manifest owns it. */
const char *ek_manifest_suggest(const struct ek_manifest *m, enum ek_role role, const char *word);

#endif
