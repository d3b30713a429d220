/* The values of a category feature in training: how much of a list each takes, on average.
 *
 * A value is a code: what is equal is the same, nothing is near or far. -0 is 0; infinities are
 * values like others; NaN is missing and never a value. Shares are of a list's present items,
 * averaged over lists, by stratum as the levels are: a list is one observation, however many items
 * it has, as its items are alike. The EK_CATEGORIES_MAX heaviest values are kept, fewer where
 * values times strata would pass EK_CATEGORY_CELLS_MAX; all others are unknown.
 * Owner: the profile.
 */
#ifndef EK_ASSETS_PROFILE_H
#define EK_ASSETS_PROFILE_H

#include "assets/profile_lists.h"
#include "base/error.h"
#include "num/sketch.h"
#include "schema/manifest.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_CATEGORIES_MAX = 1024, EK_CATEGORY_CELLS_MAX = 1 << 20 };

struct ek_category_table {
    int count, strata; /* V, S; strata 0: not a category */
    float *value;      /* [V] rising */
    float *share;      /* [V, S] */
    float *unknown; /* [S] share of values that are not in the table: what was left out of it, and
                     * what a list brings that no other list has (Good 1953) */
};

int ek_category_table_init(struct ek_category_table *t, int count, int strata);
void ek_category_table_release(struct ek_category_table *t);
/* Number of a value, -1 when training did not have it. */
int ek_category_find(const struct ek_category_table *t, float value);

/* The profile: training statistics a stream is compared with (docs/format/profile.md).
 *
 * Per item feature: levels per stratum, the variance of a list's level by its number of values, the
 * ranks that turn a residual into a p-value, the residual's density, the usual spread and shares,
 * and a sketch of all values; of a category feature its values. Stored as safetensors with a JSON
 * description under `evenkeel_profile`. Units: levels, residuals, spreads in ln; shares in 0..1.
 * Owner: the caller, ek_profile_free. Read-only after loading, may be shared by threads.
 */
enum {
    EK_SD_SIZES = 64,       /* sd of a level for 0 .. 63 values; more count as 63 */
    EK_SIZE_CLASSES = 3,    /* lists of 3-5, 6-12, 13 and more values */
    EK_SHARES = 4,          /* missing, zero, negative, tied */
    EK_Z_BINS = 257,        /* z in [-17, 17]: steps of 1/16 inside +-5, 1/4 outside */
    EK_SPREAD_BINS = 129,   /* ln spread in [-6, 3.2], steps of 1/14 */
    EK_DENSITY_BINS = 1600, /* residual in [-16, 16], steps of 0.02 */
    EK_STRATA_MAX = 4096,
    EK_CALIBRATED = 24, /* bets of the detector */
};

/* spread_hi where training had too few lists of a size to know; mean and sd say nothing then. */
#define EK_SPREAD_UNKNOWN 1e9f

/* Of one item feature. */
struct ek_baseline {
    uint64_t queries;                 /* training lists with a usable value */
    float level;                      /* over all strata; where a stratum is unknown */
    float sd;                         /* of the residual over all lists */
    float inv_sd[EK_SD_SIZES];        /* 1 / sd of the residual of a list with k values */
    float log_mean, log_sd;           /* of ln|x| over all items */
    float spread_hi[EK_SIZE_CLASSES]; /* 99.5% quantile of the ln spread */
    float spread_mean[EK_SIZE_CLASSES], spread_sd[EK_SIZE_CLASSES];
    float share[EK_SHARES];
    float related; /* correlation of lists with the same query features, in the respect where it is
                    * largest: residual, spread, a share */
    uint8_t z_rank[2][EK_Z_BINS]; /* direction (up, down), bin -> row of the bets' tables */
    uint8_t spread_rank[EK_SIZE_CLASSES][2][EK_SPREAD_BINS];
};

/* 1 / sd of the residual of a list with so many usable values. */
static inline float ek_baseline_inv_sd(const struct ek_baseline *b, int usable)
{
    return b->inv_sd[usable < EK_SD_SIZES ? usable : EK_SD_SIZES - 1];
}

/* 0 for fewer than 6 values, 1 for fewer than 13, else 2. */
static inline int ek_size_class(int usable)
{
    return (usable >= 6) + (usable >= 13);
}

struct ek_profile {
    uint64_t manifest_hash;
    int features; /* F */
    int strata;   /* S >= 1; stratum 0 is "any other" */
    uint64_t queries, items;
    int related_lists; /* lists that share their query features, on average; at least 1 */
    char *field;       /* baseline field, NULL when there is one stratum */
    char **stratum;    /* [S]; stratum[0] is "" */
    char **name;       /* [F] */
    struct ek_baseline *baseline; /* [F] */
    float *level;                 /* [F, S] */
    float *calibration; /* [F, S, EK_CALIBRATED] what each bet expects in a stratum, at least 1 */
    float *density;     /* [F, EK_DENSITY_BINS] of the residual, sums to 1 / bin width */
    struct ek_sketch **sketch;          /* [F] */
    struct ek_category_table *category; /* [F]; strata 0 where the feature is no category */
    struct ek_profile_lists *lists;     /* NULL: not kept, or not asked for */
};

/* An empty profile of these shapes; names are copied from the manifest. */
int ek_profile_new(struct ek_profile **out, const struct ek_manifest *m, int strata,
                   const char *field, struct ek_error *e);
void ek_profile_free(struct ek_profile *p);
/* EK_EFORMAT too for values that no training gives: not finite, out of range, strata out of order.
 */
int ek_profile_load(struct ek_profile **out, const char *path, struct ek_error *e);
/* The same with the lists that it keeps; EK_ESTATE when it keeps none. */
int ek_profile_load_lists(struct ek_profile **out, const char *path, struct ek_error *e);
int ek_profile_save(const struct ek_profile *p, const char *path, struct ek_error *e);
/* EK_ESTATE unless the profile was made for these features, categories and numbers as here. */
int ek_profile_check(const struct ek_profile *p, const struct ek_manifest *m, struct ek_error *e);
/* Density [EK_DENSITY_BINS] of the residual of one feature. */
const float *ek_profile_density(const struct ek_profile *p, int feature);
/* Number of a stratum, 0 ("any other") when it was not in training. */
int ek_profile_stratum(const struct ek_profile *p, const char *name, size_t length);
/* Of all that a detector asks a profile for: profiles with the same hash give the same numbers. */
uint64_t ek_profile_hash(const struct ek_profile *p);

#endif
