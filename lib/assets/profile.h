/* Training profile: statistics of features and of categories, the reference of drift detection
 * (docs/dev/formats/profile.md). */
#ifndef EK_ASSETS_PROFILE_H
#define EK_ASSETS_PROFILE_H

#include "assets/item_levels.h"
#include "assets/profile_lists.h"
#include "assets/query_ranges.h"
#include "assets/query_slopes.h"
#include "assets/segment_calibration.h"
#include "assets/segment_levels.h"
#include "base/error.h"
#include "num/bet_bins.h"
#include "num/sketch.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of a category feature in training.
 *
 * Shares are fractions of a list's present items, averaged over lists by stratum. A list is one
 * observation regardless of its number of items, because its items are correlated. A value is a
 * code and has no order. -0 is 0, infinities are values, NaN is missing. The EK_CATEGORIES_MAX
 * heaviest values are retained, or fewer if values times strata would exceed EK_CATEGORY_CELLS_MAX.
 * All others are unknown.
 */
enum { EK_CATEGORIES_MAX = 1024, EK_CATEGORY_CELLS_MAX = 1 << 20 };
enum { EK_KNOWN_VALUES_MAX = 64 }; /* per feature */

struct ek_category_table {
    int count, strata; /* V, S; strata 0: not a category */
    float *value;      /* [V] ascending */
    float *share;      /* [V, S] */
    float *unknown;    /* [S] share of values outside the table: dropped ones, and an estimate of
                        * values    that training did not contain (Good 1953) */
};

/* Allocate a table of zeros for `count` values. Return 0 or EK_ENOMEM. */
int ek_category_table_init(struct ek_category_table *t, int count, int strata);
/* Free the memory of a table; it is then empty. */
void ek_category_table_release(struct ek_category_table *t);
/* Return the index of a value, or -1 if it is unknown. */
int ek_category_find(const struct ek_category_table *t, float value);

/* Profile of all features.
 *
 * Contents per item feature: levels by stratum, variance of a list's level by its number of values,
 * ranks that convert residuals to p-values, density of the residual, usual spread and shares, and a
 * sketch of all values. Category features also have a table of values. Stored as safetensors with a
 * JSON description under `evenkeel_profile`. Levels, residuals and spreads are in ln, shares in
 * 0..1. Read-only after loading, shareable between threads.
 */
enum {
    EK_SD_SIZES = 64,       /* sd of a level for 0 .. 63 values; more count as 63 */
    EK_SIZE_CLASSES = 3,    /* lists of 3-5, 6-12, 13 and more values */
    EK_SHARES = 4,          /* missing, zero, negative, tied */
    EK_Z_BINS = 257,        /* z in [-17, 17]: steps of 1/16 inside +-5, 1/4 outside */
    EK_SPREAD_BINS = 129,   /* ln spread in [-6, 3.2], steps of 1/14 */
    EK_DENSITY_BINS = 1600, /* residual in [-16, 16], steps of 0.02 */
    EK_STRATA_MAX = 4096,
    EK_SEASON = 6, /* cosine and sine of 24, 12 and 8 hours */
};
/* What the dependence between lists is measured on. */
enum {
    EK_RESPECT_LEVEL,
    EK_RESPECT_SPREAD,
    EK_RESPECT_SHARES, /* one per share */
    EK_RESPECTS = EK_RESPECT_SHARES + EK_SHARES
};

/* spread_hi of a size class with too few training lists; spread_mean and spread_sd are then
 * undefined. */
#define EK_SPREAD_UNKNOWN 1e9f

/* Statistics of one item feature. */
struct ek_baseline {
    uint64_t queries;                 /* training lists with a usable value */
    float level;                      /* over all strata, for unknown strata */
    float sd;                         /* of the residual over all lists */
    float inv_sd[EK_SD_SIZES];        /* 1 / sd of the residual of a list with k values */
    float log_mean, log_sd;           /* of ln|x| over all items */
    float spread_hi[EK_SIZE_CLASSES]; /* 99.5% quantile of the ln spread */
    float spread_mean[EK_SIZE_CLASSES], spread_sd[EK_SIZE_CLASSES];
    float share[EK_SHARES];
    float season[EK_SEASON];       /* of the level, by the time of day (UTC) */
    float deff[EK_RESPECTS];       /* design effect: lists worth one independent list; below 1: 1 */
    float band;                    /* how far the level wanders from the tracked one (ln) */
    float range;                   /* how far the level wanders from its mean (ln) */
    float share_wander[EK_SHARES]; /* how far a share wanders from its mean */
    uint8_t z_rank[2][EK_Z_BINS];  /* direction (up, down), bin -> row of the bets' tables */
    uint8_t spread_rank[EK_SIZE_CLASSES][2][EK_SPREAD_BINS];
};

/* Return 1 / sd of the residual of a list with this number of usable values. */
static inline float ek_baseline_inv_sd(const struct ek_baseline *b, int usable)
{
    return b->inv_sd[usable < EK_SD_SIZES ? usable : EK_SD_SIZES - 1];
}

/* Return the dead-band of the level of a baseline (ln), at least 2%. */
static inline float ek_baseline_band(const struct ek_baseline *b)
{
    return b->band > EK_DEAD_BAND_LEVEL_LN ? b->band : EK_DEAD_BAND_LEVEL_LN;
}

/* Event time that training must span to know the season of the day: two days but for an hour. */
#define EK_DAYS_MS (2 * INT64_C(86400000) - 3600000)

/* Return the level of a season at a time of day in 0..1 (ln). */
float ek_season_at(const float season[EK_SEASON], double day);

/* Return the size class: 0 for fewer than 6 values, 1 for fewer than 13, else 2. */
static inline int ek_size_class(int usable)
{
    return (usable >= 6) + (usable >= 13);
}

/* Distributions of the residuals of all features, as in struct ek_profile. */
struct ek_residual_laws {
    struct ek_baseline *baseline;
    float *level, *band, *calibration, *density;
    struct ek_segment_calibration *segment_calibration;
};

struct ek_profile {
    uint64_t manifest_hash;
    int features; /* F */
    int strata;   /* S >= 1; stratum 0: any other value */
    uint64_t queries, items;
    uint64_t unnamed;             /* lists without the field of the strata */
    int64_t span_ms;              /* event time from the first to the last list, 0: unknown */
    char *field;                  /* field of the strata; NULL: one stratum */
    char **stratum;               /* [S]; stratum[0] is "" */
    char **name;                  /* [F] */
    struct ek_baseline *baseline; /* [F] */
    float *level;                 /* [F, S] */
    float *band;                  /* [F, S] how far the level of a stratum wanders (ln) */
    float *calibration; /* [F, S, EK_CALIBRATED] expectation of each bet in a stratum, at least 1 */
    float *density;     /* [F, EK_DENSITY_BINS] of the residual, sums to 1 / bin width */
    struct ek_segment_calibration *segment_calibration; /* NULL: all divisors are 1 */
    struct ek_sketch **sketch;                          /* [F] */
    struct ek_category_table *category;                 /* [F]; strata 0: not a category */
    float *known; /* [F, EK_KNOWN_VALUES_MAX] all values of a feature of few values, rising */
    uint8_t *known_count;                 /* [F] 0: too many, a category, or not in the file */
    struct ek_item_levels *item_levels;   /* NULL: no feature has levels by item */
    struct ek_query_slopes *query_slopes; /* NULL: no level depends on the query features */
    struct ek_query_ranges query_ranges;
    /* NULL: the values of no segment differ, or ek_profile_choose_segments did not choose them. */
    struct ek_segment_levels *segment_levels;
    struct ek_residual_laws by_segment; /* of lists relative to their segments; NULL once chosen */
    struct ek_profile_lists *lists;     /* NULL: not in the file, or not loaded */
};

/* Return whether training spans enough time to know the season of the day. */
static inline bool ek_profile_has_days(const struct ek_profile *p)
{
    return p->span_ms >= EK_DAYS_MS;
}

/* Create an empty profile. Names are copied from the manifest; `field` is the field of the strata
 * or NULL, copied. Return 0 or EK_ENOMEM. */
int ek_profile_new(struct ek_profile **out, const struct ek_manifest *m, int strata,
                   const char *field, struct ek_error *e);
void ek_profile_free(struct ek_profile *p);
/* Load a profile without its lists; the caller frees *out. Return 0, EK_EIO, EK_ENOMEM, or
 * EK_EFORMAT, also for values that are not finite, out of range or out of order. */
int ek_profile_load(struct ek_profile **out, const char *path, struct ek_error *e);
/* Load a profile with its training lists; the caller frees *out. Return 0, EK_ESTATE if the file
 * has no lists, or an error of ek_profile_load. */
int ek_profile_load_lists(struct ek_profile **out, const char *path, struct ek_error *e);
/* Write the profile, with its lists if present. Return 0, EK_EIO or EK_ENOMEM; on error an existing
 * file stays unchanged. */
int ek_profile_save(const struct ek_profile *p, const char *path, struct ek_error *e);
/* Return the levels of segments that lists are compared with, owned by the profile, or NULL for
 * none. */
static inline const struct ek_segment_levels *ek_profile_segment_levels(const struct ek_profile *p)
{
    return p->by_segment.baseline ? NULL : p->segment_levels;
}
/* Allocate by_segment. Return 0 or EK_ENOMEM. */
int ek_profile_reserve_laws(struct ek_profile *p);
/* Exchange the distributions of p and by_segment. */
void ek_profile_exchange_laws(struct ek_profile *p);
/* Compare lists relative to their segments if training found differences in one of the dimensions
 * `names`, else as without segments. A second call changes nothing. The profile cannot be saved
 * afterwards. */
void ek_profile_choose_segments(struct ek_profile *p, char *const *names, int count);
/* Return 0, or EK_ESTATE if the profile belongs to a manifest with other features or types. */
int ek_profile_check(const struct ek_profile *p, const struct ek_manifest *m, struct ek_error *e);
/* Return the density [EK_DENSITY_BINS] of the residual of one feature; the profile owns it. */
const float *ek_profile_density(const struct ek_profile *p, int feature);
/* Return the index of a stratum, 0 if training did not contain it. */
int ek_profile_stratum(const struct ek_profile *p, const char *name, size_t length);
/* Return a hash of all inputs of the detector: profiles with equal hashes give equal results. */
uint64_t ek_profile_hash(const struct ek_profile *p);

#endif
