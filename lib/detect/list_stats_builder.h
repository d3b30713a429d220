/* Which baseline stratum a list belongs to: the value of a segment dimension or of a query feature.
 */
#ifndef EK_DETECT_LIST_STATS_BUILDER_H
#define EK_DETECT_LIST_STATS_BUILDER_H

#include "detect/evalue_tests.h"
#include "lists/list.h"
#include "rules/rules.h"
#include "schema/manifest.h"

#include <stdbool.h>

enum { EK_STRATUM_TEXT = 64 };

struct ek_stratum_field {
    const char *name;  /* NULL: one stratum */
    int query_feature; /* number, or -1 for a segment dimension */
};

struct ek_stratum_field ek_stratum_field_find(const struct ek_manifest *m, const char *name);
/* Name of the list's stratum; text NULL when it has none. `scratch` holds a rendered number. */
struct ek_text ek_stratum_name(const struct ek_stratum_field *field, const struct ek_list *q,
                               char scratch[EK_STRATUM_TEXT]);

/* Makes the list of num/bet_steps.h for the features of a profile.
 *
 * Owner: the caller. Memory: about 1.9 KiB per feature.
 */
/* bets and baseline [features]; tables and bets must outlive it. EK_ENOMEM. */
int ek_list_bets_new(struct ek_bet_list **out, const struct ek_bet_tables *tables,
                     const struct ek_feature_bets *bets, const struct ek_baseline *baseline,
                     int features);
/* Another list of the same features, which must outlive it: what is of training is shared. */
void ek_list_bets_free(struct ek_bet_list *l);

/* What one list says on its own: all that the detector needs of it and that no other list changes.
 *
 * So threads can read lists side by side, each with a reader of its own, and the detector takes one
 * after the other (ek_detector_update). A reader is for one profile and one set of rules; what it
 * reads depends on nothing else. Several lists of one thread can be held at a time by readers
 * beside each other. Owner: the caller. Memory: about 2 KiB per item feature, 150 bytes of one that
 * is beside another. One thread at a time. Manifest, profile and rules must outlive it.
 */
struct ek_list_stats_builder {
    int features, query_features;
    const struct ek_profile *profile;
    unsigned same; /* of enum ek_same: what makes a list a repeat; 0: nothing does */
    struct ek_stratum_field field;
    const struct ek_list_stats_builder *with; /* whose are the next ones; NULL: its own */
    struct ek_bet_tables *tables;
    struct ek_feature_bets *bets; /* [F] */
    float *pivot;                 /* [padded] */
    float *level;                 /* [S, F] */
    int *category, categories;    /* item numbers of the category features */
    struct ek_list_sums *sums;
    /* of the list last read; all but the keys only where it has items */
    uint64_t repeat_key, relative_key; /* of dedup.h; 0 where nothing is a repeat */
    int stratum;                       /* of the profile */
    struct ek_list_stats *record;      /* [F] residuals are against the stratum */
    struct ek_bet_list *list_bets;
};

int ek_list_stats_builder_new(struct ek_list_stats_builder **out, const struct ek_manifest *m,
                              const struct ek_profile *p, const struct ek_rules *rules,
                              struct ek_error *e);
/* Another reader of the same thread, which holds a list of its own; `with` must outlive it. */
int ek_list_stats_builder_new_paired(struct ek_list_stats_builder **out,
                                     const struct ek_list_stats_builder *with, struct ek_error *e);
void ek_list_stats_builder_free(struct ek_list_stats_builder *r);
/* EK_ESTATE for a list of another manifest; then there is none. */
int ek_list_stats_builder_read(struct ek_list_stats_builder *r, const struct ek_list *q,
                               struct ek_error *e);

#endif
