#include "text/features/proximity.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define TAO "Tao and Zhai 2007"

enum { PAIR_TOKENS_MAX = 100 };

static const struct ek_feature_kind KINDS[EK_PROXIMITIES] = {
    [EK_TP_SCORE] =
        {"tp_score",
         "bm25_atire + sum min(1, w) a (k1 + 1) / (a + K); a: sum over neighboring "
         "occurrences of other terms of their w / distance^2, w = ln(N / df), K = k1 (1 "
         "- b + b len / avg)",
         "Buettcher, Clarke and Lushman 2006", true},
    [EK_BM25_UW8] = {"bm25_uw8",
                     "bm25_atire with pairs of neighbors in the query for terms; tf is uw8", "",
                     true},
    [EK_BM25_PAIRS_W100] =
        {"bm25_pairs_w100",
         "sum over pairs of terms of min(w, w') a (k1 + 1) / (a + K); a: sum of 1 "
         "/ distance^2 over their occurrences up to 100 tokens apart, K and w as "
         "in tp_score",
         "Rasolofo and Savoy 2003", true},
    [EK_SDM] =
        {"sdm",
         "0.85 t + 0.1 o + 0.05 u: the means of ln((tf + mu cf / C) / (len + mu)) over terms, "
         "od1 and uw8 of neighbors in the query; mu = 2500",
         "Metzler and Croft 2005", true},
    [EK_NEAR_OD1] = {"od1", "times that neighbors in the query are neighbors in the text, in order",
                     "Metzler and Croft 2005", false},
    [EK_NEAR_UW8] = {"uw8",
                     "windows of 8 tokens with both of two neighbors in the query, none over "
                     "another",
                     "Metzler and Croft 2005", false},
    [EK_TP_COVER] = {"tp_cover", "tokens of the shortest span with all query terms in the text",
                     TAO, false},
    [EK_TP_COVER_SHARE] = {"tp_cover_share", "terms in the span of tp_cover / tp_cover", TAO,
                           false},
    [EK_TP_DISTANCE_MIN] = {"tp_distance_min",
                            "smallest over pairs of the distance of their nearest occurrences", TAO,
                            false},
    [EK_TP_DISTANCE_MEAN] = {"tp_distance_mean",
                             "mean over pairs of the distance of their nearest occurrences", TAO,
                             false},
    [EK_TP_DISTANCE_MAX] = {"tp_distance_max",
                            "largest over pairs of the distance of their nearest occurrences", TAO,
                            false},
    [EK_TP_DECAY] = {"tp_decay", "ln(0.3 + exp(-tp_distance_min))", TAO, false},
};

const struct ek_feature_kind *ek_proximity_kind(enum ek_proximity p)
{
    return &KINDS[p];
}

uint32_t ek_ordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b)
{
    uint32_t count = 0;
    for (size_t i = 1; i < n; i++)
        count += at[i - 1].term == a && at[i].term == b && at[i].position == at[i - 1].position + 1;
    return count;
}

/* Greedy choice of the window that ends first maximizes the count. */
uint32_t ek_unordered_pairs(const struct ek_place_of_term *at, size_t n, uint32_t a, uint32_t b,
                            uint32_t window)
{
    const struct ek_place_of_term *last = NULL;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (at[i].term != a && at[i].term != b)
            continue;
        bool both = last && last->term != at[i].term;
        if (both && at[i].position - last->position < window) {
            count++;
            last = NULL;
        } else
            last = &at[i];
    }
    return count;
}

/* Count each term in scratch. Return the number of distinct terms. */
static size_t count_terms(const struct ek_place_of_term *at, size_t n, size_t terms,
                          uint32_t *scratch)
{
    size_t found = 0;
    memset(scratch, 0, terms * sizeof *scratch);
    for (size_t i = 0; i < n; i++)
        found += !scratch[at[i].term]++;
    return found;
}

double ek_cover_tokens(const struct ek_place_of_term *at, size_t n, size_t terms, uint32_t *scratch)
{
    size_t desired = count_terms(at, n, terms, scratch), have = 0, begin = 0;
    double best = INFINITY;
    if (desired < 2)
        return NAN;
    memset(scratch, 0, terms * sizeof *scratch);
    for (size_t end = 0; end < n; end++) {
        have += !scratch[at[end].term]++;
        for (; have == desired; begin++) {
            best = fmin(best, at[end].position - at[begin].position + 1);
            have -= !--scratch[at[begin].term];
        }
    }
    return best;
}

struct ek_distances ek_pair_distances(const struct ek_place_of_term *at, size_t n, size_t terms,
                                      uint32_t *scratch)
{
    const uint32_t never = UINT32_MAX;
    uint32_t *last = scratch, *least = scratch + terms;
    memset(scratch, 0xff, (terms * terms + terms) * sizeof *scratch);
    for (size_t i = 0; i < n; i++) {
        uint32_t *row = least + at[i].term * terms;
        for (size_t t = 0; t < terms; t++)
            if (t != at[i].term && last[t] != never && at[i].position - last[t] < row[t])
                least[t * terms + at[i].term] = row[t] = at[i].position - last[t];
        last[at[i].term] = at[i].position;
    }
    struct ek_distances d = {INFINITY, 0, 0};
    size_t pairs = 0;
    for (size_t a = 0; a < terms; a++)
        for (size_t b = a + 1; b < terms; b++)
            if (least[a * terms + b] != never) {
                double x = least[a * terms + b];
                d.min = fmin(d.min, x);
                d.max = fmax(d.max, x);
                d.mean += x;
                pairs++;
            }
    if (!pairs)
        return (struct ek_distances){NAN, NAN, NAN};
    d.mean /= (double)pairs;
    return d;
}

double ek_distance_decay(double least)
{
    return log(0.3 + exp(-least));
}

static double saturated(double a, const struct ek_proximity_norm *norm)
{
    double k = norm->k1 * (1 - norm->b + norm->b * norm->relative_length);
    return a * (norm->k1 + 1) / (a + k);
}

double ek_neighbor_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                         size_t terms, const struct ek_proximity_norm *norm, double *scratch)
{
    double sum = 0;
    memset(scratch, 0, terms * sizeof *scratch);
    for (size_t i = 1; i < n; i++) {
        uint32_t a = at[i - 1].term, b = at[i].term;
        double distance = at[i].position - at[i - 1].position;
        if (a == b)
            continue;
        scratch[a] += weight[b] / (distance * distance);
        scratch[b] += weight[a] / (distance * distance);
    }
    for (size_t t = 0; t < terms; t++)
        if (scratch[t] > 0)
            sum += fmin(1, weight[t]) * saturated(scratch[t], norm);
    return sum;
}

double ek_pairs_score(const struct ek_place_of_term *at, size_t n, const double *weight,
                      size_t terms, const struct ek_proximity_norm *norm, double *scratch)
{
    double sum = 0;
    memset(scratch, 0, terms * terms * sizeof *scratch);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j-- > 0 && at[i].position - at[j].position <= PAIR_TOKENS_MAX;) {
            double distance = at[i].position - at[j].position;
            uint32_t a = at[i].term, b = at[j].term;
            if (a != b)
                scratch[(a < b ? a : b) * terms + (a < b ? b : a)] += 1 / (distance * distance);
        }
    for (size_t a = 0; a < terms; a++)
        for (size_t b = a + 1; b < terms; b++)
            if (scratch[a * terms + b] > 0)
                sum += fmin(weight[a], weight[b]) * saturated(scratch[a * terms + b], norm);
    return sum;
}

struct ek_sdm_parameters ek_sdm_defaults(void)
{
    return (struct ek_sdm_parameters){0.85, 0.1, 0.05, 2500};
}

/* Return the mean over the terms in the collection, or 0 without any. *known: their number. */
static double mean_ln(const struct ek_sdm_count *c, size_t n, double mu, double length,
                      double collection, size_t *known)
{
    double sum = 0;
    *known = 0;
    for (size_t i = 0; i < n; i++)
        if (c[i].cf) {
            sum += log((c[i].tf + mu * ((double)c[i].cf / collection)) / (length + mu));
            ++*known;
        }
    return *known ? sum / (double)*known : 0;
}

double ek_sdm_score(const struct ek_sdm_parameters *p, double length, double collection,
                    const struct ek_sdm_count *term, size_t terms,
                    const struct ek_sdm_count *ordered, const struct ek_sdm_count *unordered,
                    size_t pairs)
{
    size_t known, ignored;
    double score = p->terms * mean_ln(term, terms, p->mu, length, collection, &known);
    score += p->ordered * mean_ln(ordered, pairs, p->mu, length, collection, &ignored);
    score += p->unordered * mean_ln(unordered, pairs, p->mu, length, collection, &ignored);
    return known && length > 0 ? score : NAN;
}
