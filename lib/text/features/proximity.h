/* How near a query's terms are to each other in one text.
 *
 * Shapes: a text is given by the places where it has terms of the query, by rising position; a term
 * is its number among the query's distinct terms, 0 .. T-1. Positions count the text's tokens;
 * those of a whole document run on from field to field, so a pair may lie over a border. A pair is
 * of two different terms. NaN: what needs two of the terms where the text has not both. Pure but
 * for `scratch`; any thread.
 */
#ifndef EK_TEXT_FEATURES_PROXIMITY_H
#define EK_TEXT_FEATURES_PROXIMITY_H

#include "text/features/feature_kind.h"

#include <stddef.h>
#include <stdint.h>

enum ek_proximity {
    EK_TP_SCORE,
    EK_BM25_UW8,
    EK_BM25_PAIRS_W100,
    EK_SDM,
    EK_NEAR_OD1,
    EK_NEAR_UW8,
    EK_TP_COVER,
    EK_TP_COVER_SHARE,
    EK_TP_DISTANCE_MIN,
    EK_TP_DISTANCE_MEAN,
    EK_TP_DISTANCE_MAX,
    EK_TP_DECAY,
    EK_PROXIMITIES
};

const struct ek_feature_kind *ek_proximity_kind(enum ek_proximity p);

struct ek_place_of_term {
    uint32_t position, term;
};

/* Times b stands right behind a. */
uint32_t ek_ordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b);
/* Windows of at most `window` tokens with both a and b, none over another: as many as there can be.
 */
uint32_t ek_unordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b,
                            uint32_t window);

/* Tokens of the shortest stretch that has all terms of the query which the text has; NaN when it
 * has less than two. scratch [terms]. */
double ek_cover_tokens(const struct ek_place_of_term *at, size_t n, size_t terms,
                       uint32_t *scratch);

/* Tokens from one to the other, for the nearest occurrences of each two of the terms that the text
 * has. */
struct ek_distances {
    double min, mean, max;
};
/* scratch [terms * terms + terms]. */
struct ek_distances ek_pair_distances(const struct ek_place_of_term *at, size_t n, size_t terms,
                                      uint32_t *scratch);
/* ln(0.3 + exp(-d)) of the least distance (Tao and Zhai 2007); NaN without one. */
double ek_distance_decay(double least);

/* k1, b of BM25, and the text's length over the mean one. */
struct ek_proximity_norm {
    double k1, b, relative_length;
};
/* What is added to BM25 by neighbours (Buettcher, Clarke and Lushman 2006). weight [terms]: ln(N /
 * df), 0 for unknown terms. scratch [terms]. */
double ek_neighbor_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                         size_t terms, const struct ek_proximity_norm *norm, double *scratch);
/* The same idea, every pair within 100 tokens (Rasolofo and Savoy 2003). scratch [terms * terms].
 */
double ek_pairs_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                      size_t terms, const struct ek_proximity_norm *norm, double *scratch);

struct ek_sdm_parameters {
    double terms, ordered, unordered, mu;
};
struct ek_sdm_parameters ek_sdm_defaults(void);
/* Counts of a term, or of a pair of neighbours in the query; cf 0: the collection has none. */
struct ek_sdm_count {
    uint32_t tf;
    uint64_t cf;
};
/* The sequential dependence model. NaN for a text without tokens, or no term in the collection. */
double ek_sdm_score(const struct ek_sdm_parameters *p, double length, double collection,
                    const struct ek_sdm_count *term, size_t terms,
                    const struct ek_sdm_count *ordered, const struct ek_sdm_count *unordered,
                    size_t pairs);

#endif
