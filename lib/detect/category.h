/* What one list says about a category feature: the share of each value it has.
 *
 * Shares are of the present items; -0 is 0; NaN is missing. Owner: the caller; memory is reused
 * from list to list and grows only.
 */
#ifndef EK_DETECT_CATEGORY_H
#define EK_DETECT_CATEGORY_H

#include "assets/profile.h"
#include "base/serialize.h"
#include "detect/evidence.h"
#include "lists/list.h"

struct ek_category_share {
    float value, share;
};

struct ek_category_list {
    struct ek_category_share *of; /* [count] different values, rising */
    int count;                    /* 0: all are missing */
    float *scratch;
    int capacity;
};

void ek_category_list_release(struct ek_category_list *l);
/* Values of an item feature of q. EK_ENOMEM. */
int ek_category_list_read(struct ek_category_list *l, const struct ek_list *q, int feature);

/* Evidence on category features: codes that training did not have, codes whose share exploded, and
 * heavy ones that vanished, as all codes do that became others.
 *
 * Per list and cell, bets linear in a share s of the list's items: e = 1 - l + l s / bound, whose
 * expectation is at most 1 as long as that of s is at most the bound, however alike the items of a
 * list are. Two bets are on the share of unknown values, with a bound well above what training
 * left unknown in the list's stratum. One is on each value, with a bound of three times its usual
 * share and at least .1 more; usual is what it has in the list's stratum in training or, if that
 * is more, what it lately had in the cell: a market has values of its own, and new ones are added.
 * The heaviest values have one more, on 1 - s, with a third of the usual share as what s must fall
 * below; usual is then the lesser of the two.
 * Only EK_CATEGORY_SLOTS values with the largest evidence are kept per cell; what is dropped starts
 * again from nothing, so the sum is never above that of all. Evidence adds up as in evidence.h.
 *
 * Of the last EK_HISTORY lists the EK_CATEGORY_TOP heaviest values are remembered, for the
 * diagnosis. Memory per category feature: 290 KB, and per cell 128 bytes and 4 bytes for each value
 * of training. Owner: the caller. Features are item numbers; rows those of the history.
 */
enum {
    EK_CATEGORY_SLOTS = 12,
    EK_CATEGORY_HEAVY = 4,
    EK_CATEGORY_TOP = 8,
    EK_CATEGORY_CHANGES = 4
};
/* Numbers of the bets, behind those of evalue_tests.h. */
enum { EK_BET_NEW_VALUE = EK_BETS, EK_BET_VALUE_SHARE, EK_BET_VALUE_GONE };

struct ek_categories;

/* A value and its share of a list's items, on average: now, and in training (0: not there). When
 * now is less, the value vanished. */
struct ek_category_change {
    float value;
    double share, trained;
};

struct ek_category_diagnosis {
    struct ek_category_change change[EK_CATEGORY_CHANGES]; /* [count] the largest move first */
    int count;
    double lists; /* share of lists that hold an unknown value; 1 where known ones moved too */
};

/* The profile must outlive it. */
int ek_categories_new(struct ek_categories **out, const struct ek_profile *p);
void ek_categories_free(struct ek_categories *c);
/* How many category features there are; item number of one of them. */
int ek_categories_count(const struct ek_categories *c);
int ek_categories_feature(const struct ek_categories *c, int number);
/* Room for so many cells; new ones have seen nothing. EK_ENOMEM leaves all as it was. */
int ek_categories_reserve(struct ek_categories *c, int cells);
/* Reads the category features of a list. EK_ENOMEM. */
int ek_categories_read(struct ek_categories *c, const struct ek_list *q);
/* Keeps the list last read as a row of the history, in its stratum. */
void ek_categories_add_row(struct ek_categories *c, int stratum, uint64_t row);
/* The list last remembered is one of the cell. Returns the bet that weighs most when the alarm is
 * reached, else -1. */
int ek_categories_add(struct ek_categories *c, int number, int cell,
                      const struct ek_alarm_level *level);
/* All that a cell has seen, when it becomes that of another value. */
void ek_categories_reset_cell(struct ek_categories *c, int cell);
/* The evidence of one feature; what the cell's values lately were stays. */
void ek_categories_restart(struct ek_categories *c, int feature, int cell);
/* What one of the bets said of a row; of values, that on the one with the most evidence. */
double ek_categories_bet(const struct ek_categories *c, int feature, int cell, int bet,
                         uint64_t row);

/* What happened in the rows [count], lists of the cell. Returns whether anything did; a feature
 * that is no category never has. */
int ek_categories_diagnose(const struct ek_categories *c, int feature, int cell,
                           const uint64_t *row, int count, struct ek_category_diagnosis *out);
/* Share of a row's items with a value that the diagnosis names, or unknown. */
double ek_categories_shift_probability(const struct ek_categories *c, int feature,
                                       const struct ek_category_diagnosis *g, uint64_t row);
/* In parts: which categories there are, rows first .. end - 1 of the history, and one cell. */
void ek_categories_kind_serialize(struct ek_categories *c, struct ek_serialize *s);
void ek_categories_rows_serialize(struct ek_categories *c, struct ek_serialize *s, uint64_t first,
                                  uint64_t end);
void ek_categories_cell_serialize(struct ek_categories *c, struct ek_serialize *s, int cell);
/* Adds what a cell of others, by the same profile, has seen. Of single values the evidence is kept
 * of as many as there is room for. */
void ek_categories_merge(struct ek_categories *c, int cell, const struct ek_categories *others,
                         int of);
struct ek_row_order;
/* Takes in the rows of others, as ek_history_merge does. EK_ENOMEM: of no use any more. */
int ek_categories_merge_rows(struct ek_categories *c, const struct ek_categories *others,
                             const struct ek_row_order *order);
/* "new value", "value share", "value gone". */
const char *ek_category_bet_name(int bet);

#endif
