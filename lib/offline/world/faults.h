/* Faults put into lists on purpose: for evaluation (--perturb), generated traffic and converted
 * lists (--fault).
 *
 * Grammar   FEATURE[,FEATURE...]=OPERATION[@SHARE][,from=N][,to=N][,share=S][,items=S][,source=N]
 *           [,DIM=VALUE]
 *   x100       factor                 *NAME    times the query feature NAME
 *   ^2         sgn(x)|x|^2            +50 -50  plus, minus 50
 *   +1median   plus 1 x the median of the feature over the data at hand (-1median: minus)
 *   neg        sign turned            zero     set to 0
 *   nan        missing                =7       set to 7
 *   currency   each query times one of 7 rates: 1, .8, 1.3, 7.2, 18, 110, 1400
 *   recode     a dictionary numbered anew: each value becomes the next larger one of the data at
 *              hand, the largest the smallest
 * Example   price=x100,from=5000,to=9000,share=0.5,arm=B
 * `@0.5` is short for share=0.5: the share of queries hit, chosen by a hash of seed and query
 * number, so that faults of one share and seed hit the same queries. With DIM=VALUE only queries of
 * that segment value are hit (and share is of those). items=0.5 hits that share of the items of a
 * query that is hit, chosen by the same kind of hash; source=1 hits the items of that source, as
 * synthetic_lists.h numbers them, and no query whose items do not say theirs.
 * Missing values stay missing. Zeros stay zero under x, ^, *, neg.
 * Owner: the caller, ek_fault_release.
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

/* The values of a feature that is a code, ascending. */
struct ek_codes {
    float *value;
    size_t count;
};

struct ek_fault {
    int *item; /* item numbers */
    int item_count;
    enum ek_fault_op op;
    double value;
    int query_feature;               /* for EK_FAULT_QUERY_FEATURE */
    uint64_t from, to;               /* query numbers [from, to); to = UINT64_MAX: for good */
    double share, items;             /* of the queries; of the items of each */
    int source;                      /* only its items; -1: any */
    char *dimension, *segment_value; /* NULL: any */
    double *median;         /* [item_count], for EK_FAULT_ADD_MEDIANS; filled by ek_fault_fit */
    struct ek_codes *codes; /* [item_count], for EK_FAULT_RECODE; the same */
};

/* EK_EUSAGE with a message that starts with the spec and names what is wrong with it; EK_ENOMEM. */
int ek_fault_parse(struct ek_fault *out, const struct ek_manifest *m, const char *spec,
                   struct ek_error *e);
void ek_fault_release(struct ek_fault *f);
/* Whether the fault refers to the data at hand, so that ek_fault_fit must come before. */
bool ek_fault_needs_fit(const struct ek_fault *f);
/* Takes medians or codes from a data set; harmless where none are needed. A feature without any
 * finite value has the median 0. EK_ENOMEM; EK_EUSAGE for codes of more than EK_FAULT_CODES_MAX
 * values. */
int ek_fault_fit(struct ek_fault *f, const struct ek_dataset *d, struct ek_error *e);
/* Whether query number `number` is hit. */
bool ek_fault_hits(const struct ek_fault *f, const struct ek_list *q, uint64_t number,
                   uint64_t seed);
/* Which arm a query is in: 0 is not hit, 1 hit, and with EK_FAULT_CURRENCY 1 + the rate's number.
 */
int ek_fault_arm(const struct ek_fault *f, const struct ek_list *q, uint64_t number, uint64_t seed);
/* Changes q->x in place when hit; returns whether it was. */
bool ek_fault_apply(const struct ek_fault *f, struct ek_list *q, uint64_t number, uint64_t seed);

#endif
