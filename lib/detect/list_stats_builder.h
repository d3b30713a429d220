/* List statistics builder: stratum, level, spread, fractions and bets of one list before the
 * detector receives it. */
#ifndef EK_DETECT_LIST_STATS_BUILDER_H
#define EK_DETECT_LIST_STATS_BUILDER_H

#include "assets/learned_levels.h"
#include "detect/evalue_tests.h"
#include "lists/list.h"
#include "rules/rules.h"
#include "schema/manifest.h"

#include <stdbool.h>

/* Stratum of a list: the value of a segment dimension or of a query feature. */
enum { EK_STRATUM_TEXT = 64 };
enum { EK_DAY_BINS = 96 }; /* of the season */
/* Return the bin of a time, or -1 if the time is unknown (negative). */
int ek_day_bin(int64_t time_ms);

struct ek_stratum_field {
    const char *name;  /* NULL: one stratum */
    int query_feature; /* index, or -1 for a segment dimension */
};

/* Return the query feature `name`, or a segment dimension of that name if there is none. `name`
 * must outlive the result; NULL: one stratum. */
struct ek_stratum_field ek_stratum_field_find(const struct ek_manifest *m, const char *name);
/* Return the name of the list's stratum; text NULL if it has none. `scratch` holds a formatted
 * number. */
struct ek_text ek_stratum_name(const struct ek_stratum_field *field, const struct ek_list *q,
                               char scratch[EK_STRATUM_TEXT]);

/* Return the noise that is added to the level of a query feature (ln): uniform, up to a quarter of
 * the `scatter` of its values in training, and determined by `key` and the number of the feature.
 * Whole numbers have few levels; without noise an error of the tracked level smaller than the
 * scatter could change the ranks of all lists with one value. */
float ek_query_level_noise(float scatter, uint64_t key, int feature);

/* Allocation of the list of num/bet_steps.h for the features of a profile. Memory: about 1.9 KiB
 * per feature. */
/* Create a list. bets and baseline [features]; tables and bets must outlive it. Return 0 or
 * EK_ENOMEM. */
int ek_list_bets_new(struct ek_bet_list **out, const struct ek_bet_tables *tables,
                     const struct ek_feature_bets *bets, const struct ek_baseline *baseline,
                     int features);
/* Free a list. NULL is allowed. */
void ek_list_bets_free(struct ek_bet_list *l);

/* Statistics of one list that depend on no other list.
 *
 * Threads can read lists in parallel, each with its own builder, and pass them to the detector one
 * after the other (ek_detector_update). The result depends only on the profile and the rules. A
 * thread that holds several lists uses one builder per list, sharing tables through _new_paired.
 * Memory: about 2 KiB per item feature, 150 bytes for a paired builder. Not thread-safe. Manifest,
 * profile and rules must outlive it. A watched query feature is read as a list of one item.
 */
struct ek_list_stats_builder {
    int features, item_features, query_features; /* W, F, M of the manifest */
    const int *watched_query;                    /* [W - F] query numbers */
    const struct ek_profile *profile;
    unsigned same; /* enum ek_same bits that define a repeat; 0: no repeats */
    struct ek_stratum_field field;
    const struct ek_list_stats_builder *with; /* owner of the shared tables below; NULL: owned */
    struct ek_bet_tables *tables;
    struct ek_feature_bets *bets; /* [W] */
    float *pivot;                 /* [padded] */
    float *level;                 /* [S, W] */
    float *season;                /* [EK_DAY_BINS, W] of the level; NULL: none */
    int *category, categories;    /* item numbers of the category features */
    struct ek_list_moments *sums;
    struct ek_item_levels_scratch *items;    /* for levels by item */
    const struct ek_learned_levels *learned; /* also used; NULL: levels of training alone */
    /* The list last read. For an empty list only the keys are set. */
    uint64_t repeat_key;          /* dedup.h; 0 without repeats */
    int stratum;                  /* index in the profile */
    bool unknown_stratum;         /* training contained it, or a segment with levels, in no list:
                                   * levels are missing */
    bool lacks_levels;            /* some of its items have no level, or not all levels */
    bool unknown_items;           /* too few of its items have levels: levels by item are missing */
    struct ek_list_stats *record; /* [W] residuals relative to the stratum */
    struct ek_bet_list *list_bets;
};

/* Create a builder; manifest, profile and rules must outlive it. Return 0, EK_ENOMEM, or EK_ESTATE
 * for a profile of another manifest. */
int ek_list_stats_builder_new(struct ek_list_stats_builder **out, const struct ek_manifest *m,
                              const struct ek_profile *p, const struct ek_rules *rules,
                              struct ek_error *e);
/* Create a builder that shares the tables of `with`, which must outlive it. Return 0 or
 * EK_ENOMEM. */
int ek_list_stats_builder_new_paired(struct ek_list_stats_builder **out,
                                     const struct ek_list_stats_builder *with, struct ek_error *e);
void ek_list_stats_builder_free(struct ek_list_stats_builder *r);
/* Return what training expects the items of a list to have in common in a feature with levels by
 * item (ln), by stratum, time and query features; NAN if unknown. The list is the one last read. */
double ek_list_stats_builder_expected(const struct ek_list_stats_builder *r,
                                      const struct ek_list *q, int feature);
/* Set the members of *r to the statistics of a list, valid until the next call. Return 0,
 * EK_ENOMEM, or EK_ESTATE for a list of another manifest, which changes nothing. */
int ek_list_stats_builder_read(struct ek_list_stats_builder *r, const struct ek_list *q,
                               struct ek_error *e);

#endif
