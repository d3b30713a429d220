/* Classifier of changes: an ordered list of rules over the lists since the change
 * (docs/detection.md). */
#ifndef EK_DETECT_CLASSIFY_H
#define EK_DETECT_CLASSIFY_H

#include "assets/item_levels.h"
#include "detect/align.h"
#include "num/list_stats.h"
#include "schema/enum_names.h"

#include <stdbool.h>

/* Lists of one feature in one cell since a change, oldest first. */
struct ek_window {
    const struct ek_list_stats *record; /* [count] residual r relative to the stratum's level */
    const float *level;                 /* [count] ln, the usual level of the list's stratum */
    int count;
    float mu;       /* level before the change, subtracted from r */
    float *scratch; /* [count] */
    struct ek_align_known known;
    struct ek_own_spread own; /* usual spread around the levels of the items; sd 0: unknown */
    bool single;              /* one value per list, of a query feature */
};

/* Spread and shares of the lists of a segment before a change, which may differ from those of all
 * training lists. */
struct ek_usual {
    int known;
    double spread_ln; /* mean ln spread, relative to training */
    double share[EK_SHARES];
};

/* Set *out to those of the lists in `w` where they clearly differ from training, else to those of
 * training; unknown for fewer than 128 lists with a known spread. */
void ek_usual_measure(const struct ek_baseline *b, const struct ek_window *w, struct ek_usual *out);
/* Set *out to the baseline of lists that are usually so. `u` must be known. */
void ek_usual_apply(const struct ek_usual *u, const struct ek_baseline *b, struct ek_baseline *out);

struct ek_diagnosis {
    enum ek_class class;
    struct ek_alignment level;
    double mean_ln, mean_error_ln; /* of the residual */
    double spread_ratio;           /* spread within lists relative to training, between lists if
                                    * they have one value each; 1 if unknown */
    double spread_test;            /* change of the spread in standard errors */
    double incoherent; /* fraction of lists with a spread above training's 99.5% quantile */
    double share[EK_SHARES], share_error[EK_SHARES]; /* missing, zero, negative, tied */
    double exponent;                                 /* for EK_POWER */
    int lists;                                       /* lists with a known spread */
};

/* Return whether training had enough lists of this size to know their spread. */
static inline bool ek_spread_known(const struct ek_baseline *b, int usable)
{
    return usable >= 3 && b->spread_hi[ek_size_class(usable)] < EK_SPREAD_UNKNOWN;
}

/* Return whether the class is EK_OFFSET and the level of the lists that moved may have moved by
 * less than twice `least_ln`. Other items with other levels and spreads resemble such an offset,
 * and no unit confirms it. */
bool ek_is_small_offset(const struct ek_baseline *b, const struct ek_diagnosis *d, double least_ln);

/* Return by how much the lists spread more around the levels of their items than `usual` (ln), 0 if
 * none shows it. Set *values to the degrees of freedom. */
double ek_window_get_wider(const struct ek_window *w, double usual, double *values);
/* Return whether the lists suffice to distinguish a shift of all items from one of most of them, or
 * never will because the feature has no levels by item. */
bool ek_window_shows_items(const struct ek_window *w, double shift_ln);
/* Set *out to level, spread and shares of the lists in `w`, and to the class of a change of shares.
 * Transformations are not fitted, which would be expensive. */
void ek_describe(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *out);
/* Set *out as ek_describe does, and set the class of other changes by a fit of transformations. */
void ek_classify(const struct ek_baseline *b, const float *density, const struct ek_window *w,
                 struct ek_diagnosis *out);

/* Return whether missing values became negative, such as -1: negative values appeared in place of
 * missing ones. */
int ek_diagnosis_is_sentinel(const struct ek_baseline *b, const struct ek_diagnosis *d);

/* Return whether level and spread moved by less than `effect_ln`, and hardly any list has a spread
 * beyond that of training, as after new prices of some items. */
bool ek_diagnosis_is_small(const struct ek_diagnosis *d, double effect_ln);

/* Return whether the lists look like training in every respect. The level may differ by less than
 * the factor report_threshold. */
int ek_window_is_normal(const struct ek_baseline *b, const float *density,
                        const struct ek_window *w, double report_threshold);

/* Return whether the lists that moved have different factors, as with a currency per list: many
 * of them are far from the fitted shift, measured by the scatter between lists in training, and at
 * least x2: prices that rise at another rate in each market differ by less. */
bool ek_window_varies(const struct ek_baseline *b, const struct ek_window *w, double shift_ln);

/* Return whether two diagnoses agree within noise, so that the class of `then` also explains `now`.
 * `now` is a result of ek_describe. Levels are compared for EK_SCALE; both must cover about
 * `measured` lists. */
int ek_diagnosis_is_same(const struct ek_diagnosis *then, const struct ek_diagnosis *now,
                         int measured);

#endif
