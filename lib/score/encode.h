/* Encoder of a list: raw features to network inputs of the routable SIR model.
 *
 * Shapes as in assets/model.h. An item is a row of F + 2 K floats: deep, z, zero.
 *
 *   deep  [n, F]  the model's transform of x (transform.h)
 *   z     [n, K]  sgn(x) (ln|x| - mean over the list's usable values) / log_sd; the list-free form
 *                 uses log_mean instead of the list's mean
 *   zero  [n, K]  1 where x = 0, else 0
 *   query [M]     (sgn(q) ln(1+|q|) - query_mean) / query_sd
 *
 * A missing value (NaN) or an infinity becomes 0 everywhere. The mean ignores it, as it ignores
 * zeros. Arithmetic is in float (num/ln.h). z has identical bits for x and 2^j x in any item order,
 * except in the list-free form.
 *
 * Treatments: `route_per_source` takes the mean per source; `repair` divides x first, as a float
 * for deep and in logarithms for z; `route_normalized` divides z; `blank` sets z and zero to 0.
 * `deep` of routed features is not masked here but by the scorer. Memory only grows. Not
 * thread-safe.
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
    float *item, *query;   /* the last list: [n, stride], [M]; modifiable until the next */
    bool has_zeros;        /* of the last list: a routable value is 0 */
    size_t capacity;       /* allocated items */
    float *x;              /* [n, F or 3] scratch: rescaled or centered values */
    float *octave;         /* [n, 2 * EK_LN_LANES_MAX] scratch */
    double *settled;       /* [3, K] memory of the next three */
    double *mean, *factor; /* octave at which z is 0, and scale of the distance from it */
    double *log_scale;     /* one octave in standard deviations of the log */
    double *query_mean, *query_scale; /* of the model, scale = 1 / sd */
    struct ek_transformer transformer;
};

/* Initialize an encoder. The model must outlive it. Return 0 or EK_ENOMEM. */
int ek_encoder_init(struct ek_encoder *c, const struct ek_model *m);
/* Free the memory of the encoder. Its last results are no longer valid. */
void ek_encoder_release(struct ek_encoder *c);
/* Input of the encoder. x [n, F], query [M]. treatment [K] or NULL, with positive finite values.
 * log_mean [K]: mean ln|x| of the complete list if x is a part of it, NaN without usable values;
 * NULL for a complete list. source [n] in 0 .. sources - 1, required by `route_per_source`. */
struct ek_encode_list {
    const float *x, *query;
    int n;
    const struct ek_treatment *treatment;
    const double *log_mean;
    const uint8_t *source;
    int sources; /* at most EK_SOURCES_MAX */
};
/* Set c->item and c->query to the inputs of a list, valid until the next call. Return 0 or
 * EK_ENOMEM. */
int ek_encode_list(struct ek_encoder *c, const struct ek_encode_list *list);
/* Set c->item and c->query to the inputs of a complete list without sources, valid until the next
 * call. treatment [K]; NULL: none. Return 0 or EK_ENOMEM. */
int ek_encode(struct ek_encoder *c, const float *x, int n, const float *query,
              const struct ek_treatment *treatment);

#endif
