/* Diagnosis windows with controlled contents: items of a log-normal feature in strata of different
 * levels, their training density, and injected faults. */
#ifndef EK_TESTS_WINDOWS_H
#define EK_TESTS_WINDOWS_H

#include "base/rng.h"
#include "detect/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_LISTS = 400, WINDOW_ITEMS = 20, WINDOW_TRAINING = 20000, WINDOW_STRATA = 7 };

/* Change the items of a list. */
typedef void window_fault(float *x, int items, double by, struct ek_rng *rng);

struct windows {
    struct ek_baseline baseline;
    float density[EK_DENSITY_BINS];
    struct ek_list_stats record[WINDOW_LISTS];
    float level[WINDOW_LISTS], scratch[WINDOW_LISTS];
    struct ek_rng rng;
};

static inline uint8_t window_share(float part, int whole)
{
    return whole > 0 ? (uint8_t)(EK_SHARE_WHOLE * part / (float)whole) : EK_SHARE_UNKNOWN;
}

/* Return the fraction of equal pairs of a short list, times the present values less one. */
static inline float window_ties(const float *x, int items)
{
    int pairs = 0, present = 0;
    for (int i = 0; i < items; i++) {
        present += !isnan(x[i]);
        for (int k = 0; k < i; k++)
            pairs += x[i] == x[k];
    }
    return present > 1 ? (float)pairs * (float)(present - 1) / (float)(present * (present - 1) / 2)
                       : 0;
}

static inline struct ek_list_stats window_stats(const float *x, int items, float level)
{
    double sum = 0, squares = 0;
    int missing = 0, zero = 0, negative = 0, usable = 0;
    float tied = window_ties(x, items);
    for (int i = 0; i < items; i++) {
        missing += isnan(x[i]) != 0;
        zero += x[i] == 0;
        if (isnan(x[i]) || x[i] == 0)
            continue;
        double ln = log(fabs((double)x[i]));
        negative += x[i] < 0;
        usable++;
        sum += ln;
        squares += ln * ln;
    }
    double variance = usable > 2 ? (squares - sum * sum / usable) / (usable - 1) : 0;
    return (struct ek_list_stats){
        .r = usable ? (float)(sum / usable) - level : NAN,
        .spread = usable < 3          ? NAN
                  : variance > 6.2e-6 ? (float)(.5 * log(variance))
                                      : -6,
        .share = {window_share(missing, items), window_share(zero, items - missing),
                  window_share(negative, usable), window_share(tied, items - missing - 1)},
        .usable = (uint16_t)usable};
}

/* Return a list of 1 .. most items, around 100. */
static inline struct ek_list_stats window_list(struct windows *w, int most, window_fault *fault,
                                               double by, float *level)
{
    float x[WINDOW_ITEMS];
    int items = 1 + (int)ek_rng_uniform_int(&w->rng, (uint64_t)most);
    *level = (float)(4 + .2 * (double)ek_rng_uniform_int(&w->rng, WINDOW_STRATA));
    double here = *level + .3 * ek_rng_normal(&w->rng);
    for (int i = 0; i < items; i++)
        x[i] = (float)exp(here + .4 * ek_rng_normal(&w->rng));
    if (fault)
        fault(x, items, by, &w->rng);
    return window_stats(x, items, *level);
}

static inline int window_rising(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static inline void windows_spread(struct windows *w, const struct ek_list_stats *record, int class)
{
    float *spread = calloc(WINDOW_TRAINING, sizeof *spread);
    double sum = 0, squares = 0;
    size_t n = 0;
    for (int i = 0; spread && i < WINDOW_TRAINING; i++)
        if (record[i].usable >= 3 && ek_size_class(record[i].usable) == class) {
            spread[n++] = record[i].spread;
            sum += record[i].spread;
            squares += (double)record[i].spread * record[i].spread;
        }
    qsort(spread, n, sizeof *spread, window_rising);
    w->baseline.spread_mean[class] = (float)(sum / (double)n);
    w->baseline.spread_sd[class] = (float)sqrt(squares / (double)n - pow(sum / (double)n, 2));
    w->baseline.spread_hi[class] = spread[(size_t)(.995 * (double)n)];
    free(spread);
}

/* Set the training density as a profile stores it. */
static inline void windows_density(struct windows *w, const struct ek_list_stats *record)
{
    double counts[EK_DENSITY_BINS] = {0}, squares = 0;
    for (int i = 0; i < WINDOW_TRAINING; i++) {
        counts[ek_residual_bin(record[i].r)]++;
        squares += (double)record[i].r * record[i].r;
    }
    for (int i = 0; i < EK_DENSITY_BINS; i++) {
        double sum = 0, weight = 0;
        for (int j = -15; j <= 15; j++) {
            double kernel = exp(-.5 * j * j / 25.);
            weight += kernel;
            sum += i + j >= 0 && i + j < EK_DENSITY_BINS ? counts[i + j] * kernel : 0;
        }
        w->density[i] =
            (float)((1 - EK_DENSITY_FLOOR) * sum / weight / WINDOW_TRAINING / EK_RESIDUAL_BIN +
                    EK_DENSITY_FLOOR / EK_RESIDUAL_RANGE);
    }
    w->baseline.sd = (float)sqrt(squares / WINDOW_TRAINING);
}

static inline void windows_train(struct windows *w, uint64_t seed)
{
    struct ek_list_stats *record = calloc(WINDOW_TRAINING, sizeof *record);
    float level;
    memset(w, 0, sizeof *w);
    ek_rng_seed(&w->rng, seed);
    for (int i = 0; i < WINDOW_TRAINING; i++)
        record[i] = window_list(w, WINDOW_ITEMS, NULL, 0, &level);
    w->baseline.level = 4.6f;
    windows_density(w, record);
    for (int class = 0; class < EK_SIZE_CLASSES; class ++)
        windows_spread(w, record, class);
    free(record);
}

/* Return a window of `lists` lists of 1 .. most items, each faulty with the given probability. */
static inline struct ek_window windows_next(struct windows *w, int lists, int most,
                                            window_fault *fault, double by, double share)
{
    for (int i = 0; i < lists; i++) {
        window_fault *here = ek_rng_uniform(&w->rng) < share ? fault : NULL;
        w->record[i] = window_list(w, most, here, by, &w->level[i]);
    }
    return (struct ek_window){.record = w->record,
                              .level = w->level,
                              .count = lists,
                              .scratch = w->scratch,
                              .known = {0, 1, 0}};
}

#endif
