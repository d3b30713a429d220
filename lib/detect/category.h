/* Category features: their values in one list, evidence on changed values, and diagnosis.
 *
 * struct ek_categories has the evidence and history rows of all category features of a detector.
 * Not thread-safe.
 */
#ifndef EK_DETECT_CATEGORY_H
#define EK_DETECT_CATEGORY_H

#include "assets/profile.h"
#include "base/serialize.h"
#include "detect/evidence.h"
#include "lists/list.h"

/* Values of a category feature in one list, with the fraction of items that each has.
 *
 * Fractions are of the present items; -0 counts as 0, NaN as missing. Memory is reused from list to
 * list and only grows.
 */
struct ek_category_share {
    float value, share;
};

struct ek_category_list {
    struct ek_category_share *of; /* [count] distinct values, ascending */
    int count;                    /* 0: all items are missing */
    float *scratch;
    int capacity;
};

/* Free the memory of a list; it is then empty. */
void ek_category_list_release(struct ek_category_list *l);
/* Replace *l by the distinct values of an item feature of q with their shares. Return 0, or
 * EK_ENOMEM with *l undefined. */
int ek_category_list_read(struct ek_category_list *l, const struct ek_list *q, int feature);

/* Evidence on category features: unknown codes, codes with a much larger share, and frequent codes
 * that vanished.
 *
 * Each bet is linear in a share s of the items of a list: e = 1 - l + l s / bound. Its expectation
 * is at most 1 while the expectation of s is at most the bound, however correlated the items are.
 * - Two bets on the share of unknown values. The bound is well above the unknown share of the
 *   stratum in training.
 * - One bet per value. The bound is three times its usual share, and at least .1 above it. The
 *   usual share is the maximum of training (in the stratum) and of recent lists in the cell,
 *   because segments differ and catalogs grow.
 * - One bet on 1 - s for each of the most frequent values. s must fall below a third of the usual
 *   share, here the minimum of both.
 *
 * A cell keeps the EK_CATEGORY_SLOTS values with the largest evidence. A dropped value restarts at
 * 0, so the sum never exceeds the full sum. Evidence accumulates as in evidence.h.
 *
 * The diagnosis reads the EK_CATEGORY_TOP heaviest values of each of the last EK_HISTORY lists.
 * Memory per category feature: 290 KB, plus 128 bytes per cell and 4 bytes per cell and trained
 * value. Features are item numbers; rows are those of the history.
 */
enum {
    EK_CATEGORY_SLOTS = 12,
    EK_CATEGORY_HEAVY = 4,
    EK_CATEGORY_TOP = 8,
    EK_CATEGORY_CHANGES = 4
};
/* Numbers of the bets, continuing those of evalue_tests.h. */
enum { EK_BET_NEW_VALUE = EK_BETS, EK_BET_VALUE_SHARE, EK_BET_VALUE_GONE };

struct ek_categories;

/* A value and its mean share of a list's items: current, and in training (0: unknown value). A
 * smaller current share means that the value vanished. */
struct ek_category_change {
    float value;
    double share, trained;
};

struct ek_category_diagnosis {
    struct ek_category_change change[EK_CATEGORY_CHANGES]; /* by descending change of share */
    int count;
    double lists; /* fraction of lists with an unknown value; 1 if known values changed too */
};

/* Create the evidence of all category features. The profile must outlive it. Return 0 or
 * EK_ENOMEM. */
int ek_categories_new(struct ek_categories **out, const struct ek_profile *p);
void ek_categories_free(struct ek_categories *c);
/* Return the number of category features. */
int ek_categories_count(const struct ek_categories *c);
/* Return the item feature of category feature `number`, 0 .. ek_categories_count - 1. */
int ek_categories_feature(const struct ek_categories *c, int number);
/* Grow to `cells` cells; new cells are empty. Return 0, or EK_ENOMEM, which changes nothing. */
int ek_categories_reserve(struct ek_categories *c, int cells);
/* Read the category features of a list. Return 0 or EK_ENOMEM. */
int ek_categories_read(struct ek_categories *c, const struct ek_list *q);
/* Store the list last read as a row of the history, with its stratum. */
void ek_categories_add_row(struct ek_categories *c, int stratum, uint64_t row);
/* Add the list last stored to the evidence of a cell. Return the bet with the largest weighted
 * evidence if the alarm level is reached, else -1. */
int ek_categories_add(struct ek_categories *c, int number, int cell,
                      const struct ek_alarm_level *level);
/* Reset a cell that was reassigned to another value. */
void ek_categories_reset_cell(struct ek_categories *c, int cell);
/* Reset the evidence of one feature; the recent shares of the cell stay. */
void ek_categories_restart(struct ek_categories *c, int feature, int cell);
/* Return the e-value of one bet for a row. For bets on values, use the value with the most
 * evidence. */
double ek_categories_bet(const struct ek_categories *c, int feature, int cell, int bet,
                         uint64_t row);

/* Diagnose the rows [count], lists of the cell, and set *out. Return whether any value changed; 0
 * with an empty *out for a feature that is not a category or without rows. */
int ek_categories_diagnose(const struct ek_categories *c, int feature, int cell,
                           const uint64_t *row, int count, struct ek_category_diagnosis *out);
/* Return how far the shares of a row moved toward the diagnosis: changes of the named values
 * against training, plus the unknown share if it was diagnosed. Return NAN for a row without
 * values. */
double ek_categories_shift_probability(const struct ek_categories *c, int feature,
                                       const struct ek_category_diagnosis *g, uint64_t row);
/* Add the evidence of cell `of` of another instance with the same profile, which stays unchanged,
 * to a cell. Values beyond the free slots are dropped. */
void ek_categories_merge(struct ek_categories *c, int cell, const struct ek_categories *others,
                         int of);
struct ek_row_order;
/* Merge the rows of another instance, which stays unchanged, in the given order. Return 0, or
 * EK_ENOMEM: c is then unusable. */
int ek_categories_merge_rows(struct ek_categories *c, const struct ek_categories *others,
                             const struct ek_row_order *order);
/* Return the name of a bet of a category feature, a static string: "new value", "value share" or
 * "value gone". */
const char *ek_category_bet_name(int bet);

#endif
