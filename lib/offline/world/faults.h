/* Injected faults (--fault) for evaluation, generated traffic and converted lists.
 *
 * Grammar   FEATURE[,FEATURE...]=OPERATION[@SHARE][,from=N][,to=N][,share=S][,items=S][,source=N]
 *           [,DIM=VALUE]
 *   x100       factor            *NAME    times the query feature NAME
 *   ^2         sgn(x)|x|^2       +50 -50  plus, minus 50
 *   +1median   plus 1 x the median of the feature over the data (-1median: minus)
 *   neg        sign changed      zero     set to 0
 *   nan        missing           =7       set to 7
 *   currency   one of 7 rates per list: 1, .8, 1.3, 7.2, 18, 110, 1400
 *   recode     renumbered dictionary: each value becomes the next larger one of the data, the
 *              largest becomes the smallest
 *
 * Example   price=x100,from=5000,to=9000,share=0.5,arm=B
 *
 * FEATURE may be a query feature, but not for median, currency, recode, items and source.
 *
 * `@0.5` is short for share=0.5, the fraction of affected lists. A hash of seed and list number
 * selects them, so faults of one share and seed affect the same lists. DIM=VALUE restricts the
 * fault, and its share, to that segment. items=0.5 affects that fraction of the items of an
 * affected list, also by a hash. source=1 affects the items of that source (numbered as in
 * synthetic_lists.h) and no list without sources. Missing values stay missing. Zeros stay zero
 * under x, ^, *, neg.
 */
#ifndef EK_OFFLINE_WORLD_FAULTS_H
#define EK_OFFLINE_WORLD_FAULTS_H

#include "lists/dataset.h"
#include "schema/manifest.h"
#include "lists/list.h"

enum ek_fault_op {
    EK_FAULT_SCALE,
    EK_FAULT_POWER,
    EK_FAULT_ADD,
    EK_FAULT_ADD_MEDIANS,
    EK_FAULT_NEGATE,
    EK_FAULT_QUERY_FEATURE,
    EK_FAULT_ZERO,
    EK_FAULT_NAN,
    EK_FAULT_SET,
    EK_FAULT_CURRENCY,
    EK_FAULT_RECODE
};

enum { EK_FAULT_RATES = 7, EK_FAULT_CODES_MAX = 4096 };

/* Distinct values of a category feature, in ascending order. */
struct ek_codes {
    float *value;
    size_t count;
};

struct ek_fault {
    int *item; /* indices of item features */
    int item_count;
    int *query; /* indices of query features */
    int query_count;
    enum ek_fault_op op;
    double value;
    int query_feature;               /* for EK_FAULT_QUERY_FEATURE */
    uint64_t from, to;               /* list numbers [from, to); UINT64_MAX: no end */
    double share, items;             /* fractions of lists, and of items per list */
    int source;                      /* only items of this source; -1: any */
    char *dimension, *segment_value; /* NULL: any */
    double *median;         /* [item_count] for EK_FAULT_ADD_MEDIANS, set by ek_fault_fit */
    struct ek_codes *codes; /* [item_count] for EK_FAULT_RECODE, set by ek_fault_fit */
};

/* Parse a fault into *out; release it with ek_fault_release. Return 0, EK_ENOMEM, or EK_EUSAGE with
 * a message that begins with the spec; on error nothing needs a release. */
int ek_fault_parse(struct ek_fault *out, const struct ek_manifest *m, const char *spec,
                   struct ek_error *e);
void ek_fault_release(struct ek_fault *f);
/* Return true if the fault depends on the data, so that ek_fault_fit is required. */
bool ek_fault_needs_fit(const struct ek_fault *f);
/* Set the medians or codes of the fault from a dataset if it needs them. A feature without finite
 * values has median 0. Return 0, EK_ENOMEM, or EK_EUSAGE for more than EK_FAULT_CODES_MAX codes. */
int ek_fault_fit(struct ek_fault *f, const struct ek_dataset *d, struct ek_error *e);
/* Return true if the fault affects list `number`, by its range, segment, sources and a hash of
 * `seed` and number. */
bool ek_fault_hits(const struct ek_fault *f, const struct ek_list *q, uint64_t number,
                   uint64_t seed);
/* Return the arm of a list: 0 not affected, 1 affected; with EK_FAULT_CURRENCY 1 + the index of the
 * rate. */
int ek_fault_arm(const struct ek_fault *f, const struct ek_list *q, uint64_t number, uint64_t seed);
/* Change q->x and q->query in place if the fault affects the list of this number. Return true if
 * so. */
bool ek_fault_apply(const struct ek_fault *f, struct ek_list *q, uint64_t number, uint64_t seed);

#endif
