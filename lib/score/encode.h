/* The transforms of routable SIR: raw features of one list to what the network reads.
 *
 * Shapes as in assets/model.h. An item is a row of F + 2 K floats: deep, z, zero.
 *
 *   deep  [n, F]  what the model's transform makes of x (transform.h)
 *   z     [n, K]  sgn(x) (ln|x| - mean over the list's usable values) / log_sd; in the list-free
 *                 form with log_mean in place of the list's mean
 *   zero  [n, K]  1 where x = 0, else 0
 *   query [M]     (sgn(q) ln(1+|q|) - query_mean) / query_sd
 *
 * A missing value (NaN) or an infinity gives 0 everywhere and is left out of the mean, as is zero.
 * The arithmetic is double, the results are rounded once. z is bit for bit the same for x and
 * 2^j x, in whatever order the items come (num/ln.h; not so in the list-free form).
 * Treatments: `route_per_source` takes the mean over the items of the same source; `repair` divides
 * x first, to a float for deep, in logarithms for z; `route_normalized` divides z; `blank` sets z
 * and zero to 0. What is routed is not blanked in `deep` here: that is the network's mask. Owner:
 * the caller; memory is reused from list to list and grows only. Threads: one encoder each.
 */
#ifndef EK_SCORE_ENCODE_H
#define EK_SCORE_ENCODE_H

#include "assets/model.h"
#include "schema/enum_names.h"
#include "num/ln.h"
#include "score/transform.h"

struct ek_encoder {
    const struct ek_model *model;
    size_t stride;         /* F + 2 K */
    float *item, *query;   /* of the last list: [n, stride], [M]; may be changed until the next */
    size_t capacity;       /* items there is room for */
    float *x;              /* [n, F or 3], scratch: values rescaled, or those that are centred */
    double *octave;        /* [n, EK_LN_LANES_MAX], scratch */
    double *settled;       /* [3, K]: what the following three point into */
    double *mean, *factor; /* the octave where z is 0, what the distance from it is worth */
    double *log_scale;     /* an octave in standard deviations of the log */
    double *query_mean, *query_scale; /* the model's, scale = 1 / sd */
    struct ek_transformer transformer;
};

/* The model must outlive the encoder. */
int ek_encoder_init(struct ek_encoder *c, const struct ek_model *m);
void ek_encoder_release(struct ek_encoder *c);
/* What is encoded: x [n, F], query [M]; treatment [K] or NULL, its values positive and finite;
 * log_mean [K] the mean ln|x| of the list that x is a part of, NaN where it has no usable value;
 * NULL where x is the whole; source [n] in 0 .. sources - 1, where items say what they come from:
 * `route_per_source` needs it. */
struct ek_encode_list {
    const float *x, *query;
    int n;
    const struct ek_treatment *treatment;
    const double *log_mean;
    const uint8_t *source;
    int sources; /* at most EK_SOURCES_MAX */
};
/* Fills `item` and `query`. EK_ENOMEM. */
int ek_encode_list(struct ek_encoder *c, const struct ek_encode_list *list);
/* The same for a whole list. */
int ek_encode(struct ek_encoder *c, const float *x, int n, const float *query,
              const struct ek_treatment *treatment);

#endif
