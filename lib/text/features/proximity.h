/* Proximity of query terms in one text.
 *
 * A text is given by the ascending positions of query terms; a term is its index among the query's
 * distinct terms, 0 .. T-1. Positions count tokens. In a whole document they continue across
 * fields, so a pair may span a border. A pair has two different terms. Values that need two terms
 * are NaN if the text lacks them. Thread-safe with separate `scratch`.
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

/* Return the name, formula and source of a feature kind; a static row. */
const struct ek_feature_kind *ek_proximity_kind(enum ek_proximity p);

struct ek_place_of_term {
    uint32_t position, term;
};

/* Return how often term b directly follows term a in at [n]. */
uint32_t ek_ordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b);
/* Return the maximum number of disjoint windows of at most `window` tokens in at [n] that contain a
 * and b. */
uint32_t ek_unordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b,
                            uint32_t window);

/* Return the tokens of the shortest span with all query terms of the text, or NAN for fewer than
 * two. scratch [terms]. */
double ek_cover_tokens(const struct ek_place_of_term *at, size_t n, size_t terms,
                       uint32_t *scratch);

/* Statistics over pairs of terms in the text of the distance between their nearest occurrences, in
 * tokens. */
struct ek_distances {
    double min, mean, max;
};
/* Return the statistics of the distances between different query terms in at [n]; NaN for fewer
 * than two terms. scratch [terms * terms + terms]. */
struct ek_distances ek_pair_distances(const struct ek_place_of_term *at, size_t n, size_t terms,
                                      uint32_t *scratch);
/* Return ln(0.3 + exp(-d)) of the minimum distance (Tao and Zhai 2007), or NAN for NAN. */
double ek_distance_decay(double least);

/* BM25's k1 and b, and the text's length relative to the mean. */
struct ek_proximity_norm {
    double k1, b, relative_length;
};
/* Return the proximity part of BM25 with proximity (Buettcher, Clarke and Lushman 2006), 0 without
 * neighbors. at [n]: ascending positions. weight [terms]: ln(N / df), 0 for unknown terms. scratch
 * [terms]. */
double ek_neighbor_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                         size_t terms, const struct ek_proximity_norm *norm, double *scratch);
/* Return the sum of a weighted BM25 term over the pairs of different terms within 100 tokens
 * (Rasolofo and Savoy 2003), 0 without a pair. weight [terms]: as in ek_neighbor_score. scratch
 * [terms * terms]. */
double ek_pairs_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                      size_t terms, const struct ek_proximity_norm *norm, double *scratch);

struct ek_sdm_parameters {
    double terms, ordered, unordered, mu;
};
/* Return the parameters of the sequential dependence model: its usual weights. */
struct ek_sdm_parameters ek_sdm_defaults(void);
/* Counts of a term, or of a pair of adjacent query terms; cf 0: absent from the collection. */
struct ek_sdm_count {
    uint32_t tf;
    uint64_t cf;
};
/* Return the score of the sequential dependence model. Return NAN for a text without tokens or a
 * collection without the terms. */
double ek_sdm_score(const struct ek_sdm_parameters *p, double length, double collection,
                    const struct ek_sdm_count *term, size_t terms,
                    const struct ek_sdm_count *ordered, const struct ek_sdm_count *unordered,
                    size_t pairs);

#endif
