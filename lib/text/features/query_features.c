#include "text/features/query_features.h"

#include "text/features/summary_stats.h"

#include <math.h>

#define HE   "He and Ounis 2004"
#define ZHAO "Zhao, Scholer and Tsegay 2008"
#define QIN  "Macdonald, Santos and Ounis 2012"

static const struct ek_feature_kind KINDS[EK_QUERY_KINDS] = {
    [EK_QUERY_LENGTH] = {"query_length", "terms of the query, with repetitions", HE, true},
    [EK_QUERY_LENGTH_CONTENT] = {"query_length_content",
                                 "terms of the query without stop words, with repetitions", HE,
                                 true},
    [EK_QUERY_SCS] = {"query_scs",
                      "simplified clarity: sum over known terms of p log2(p / (cf / C)); p = qtf / "
                      "query_length",
                      HE, true},
    [EK_QUERY_SCOPE] = {"query_scope", "- ln(documents with any of the terms / N)", HE, true},
    [EK_QUERY_IDF_MEAN] = {"query_idf_mean",
                           "mean over known terms of idf = log2((N + 0.5) / df) / log2(N + 1)", HE,
                           true},
    [EK_QUERY_IDF_MEAN_CONTENT] = {"query_idf_mean_content", "query_idf_mean without stop words",
                                   HE, true},
    [EK_QUERY_IDF_VARIANCE] = {"query_idf_variance", "variance of idf", HE, true},
    [EK_QUERY_IDF_DEVIATION] = {"query_idf_deviation", "standard deviation of idf (gamma 1)", HE,
                                true},
    [EK_QUERY_IDF_CONFIDENCE] = {"query_idf_confidence",
                                 "1.96 query_idf_deviation / sqrt(known terms)",
                                 "Gallagher et al. 2020", true},
    [EK_QUERY_GAMMA2] = {"query_gamma2", "largest idf / smallest idf", HE, true},
    [EK_QUERY_ICTF_MEAN] = {"query_ictf_mean", "mean over known terms of ictf = log2(C / cf)", HE,
                            true},
    [EK_QUERY_ICTF_MEAN_CONTENT] = {"query_ictf_mean_content", "query_ictf_mean without stop words",
                                    HE, true},
    [EK_QUERY_UNKNOWN] = {"query_unknown", "distinct terms of the query in no document", "", false},
    [EK_QUERY_IDF_SUM] = {"query_idf_sum", "sum of idf", QIN, false},
    [EK_QUERY_IDF_MIN] = {"query_idf_min", "smallest idf", QIN, false},
    [EK_QUERY_IDF_MAX] = {"query_idf_max", "largest idf", QIN, false},
    [EK_QUERY_IDF_HARMONIC] = {"query_idf_harmonic", "harmonic mean of idf", QIN, false},
    [EK_QUERY_IDF_GEOMETRIC] = {"query_idf_geometric", "geometric mean of idf", QIN, false},
    [EK_QUERY_ICTF_SUM] = {"query_ictf_sum", "sum of ictf", QIN, false},
    [EK_QUERY_ICTF_MIN] = {"query_ictf_min", "smallest ictf", QIN, false},
    [EK_QUERY_ICTF_MAX] = {"query_ictf_max", "largest ictf", QIN, false},
    [EK_QUERY_ICTF_HARMONIC] = {"query_ictf_harmonic", "harmonic mean of ictf", QIN, false},
    [EK_QUERY_ICTF_GEOMETRIC] = {"query_ictf_geometric", "geometric mean of ictf", QIN, false},
    [EK_QUERY_CF_SUM] = {"query_cf_sum", "sum of cf", QIN, false},
    [EK_QUERY_CF_MEAN] = {"query_cf_mean", "mean of cf", QIN, false},
    [EK_QUERY_CF_MAX] = {"query_cf_max", "largest cf", QIN, false},
    [EK_QUERY_CF_HARMONIC] = {"query_cf_harmonic", "harmonic mean of cf", QIN, false},
    [EK_QUERY_CF_GEOMETRIC] = {"query_cf_geometric", "geometric mean of cf", QIN, false},
    [EK_QUERY_SCQ_SUM] = {"query_scq_sum", "sum over known terms of (1 + ln cf) ln(1 + N / df)",
                          ZHAO, false},
    [EK_QUERY_SCQ_MEAN] = {"query_scq_mean", "mean of those", ZHAO, false},
    [EK_QUERY_SCQ_MAX] = {"query_scq_max", "largest of those", ZHAO, false},
};

const struct ek_feature_kind *ek_query_kind(enum ek_query_kind k)
{
    return &KINDS[k];
}

typedef double weigh(const struct ek_query_numbers *q, const struct ek_text_term *t);

static double idf(const struct ek_query_numbers *q, const struct ek_text_term *t)
{
    return log2((q->documents + 0.5) / t->df) / log2(q->documents + 1);
}

static double ictf(const struct ek_query_numbers *q, const struct ek_text_term *t)
{
    return log2(q->tokens / (double)t->cf);
}

static double cf(const struct ek_query_numbers *q, const struct ek_text_term *t)
{
    (void)q;
    return (double)t->cf;
}

static double scq(const struct ek_query_numbers *q, const struct ek_text_term *t)
{
    return (1 + log((double)t->cf)) * log(1 + q->documents / t->df);
}

/* Fill x with the weights of the known (or known content) terms. Return their number. */
static size_t weights(const struct ek_query_numbers *q, weigh *of, bool content, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < q->terms; i++)
        if (q->term[i].df && !(content && q->stop[i]))
            x[n++] = of(q, &q->term[i]);
    return n;
}

static void lengths(const struct ek_query_numbers *q, double out[EK_QUERY_KINDS])
{
    double all = 0, content = 0, unknown = 0;
    for (size_t i = 0; i < q->terms; i++) {
        all += q->term[i].count;
        content += q->stop[i] ? 0 : q->term[i].count;
        unknown += !q->term[i].df;
    }
    out[EK_QUERY_LENGTH] = all;
    out[EK_QUERY_LENGTH_CONTENT] = content;
    out[EK_QUERY_UNKNOWN] = unknown;
}

static double clarity(const struct ek_query_numbers *q, double length)
{
    double sum = 0;
    bool known = false;
    for (size_t i = 0; i < q->terms; i++)
        if (q->term[i].df) {
            double p = q->term[i].count / length;
            sum += p * log2(p / ((double)q->term[i].cf / q->tokens));
            known = true;
        }
    return known ? sum : NAN;
}

static void of_idf(const struct ek_query_numbers *q, double *x, double out[EK_QUERY_KINDS])
{
    size_t n = weights(q, idf, true, x);
    out[EK_QUERY_IDF_MEAN_CONTENT] = ek_summary_stats_compute(x, n).mean;
    n = weights(q, idf, false, x);
    struct ek_summary_stats s = ek_summary_stats_compute(x, n);
    out[EK_QUERY_IDF_MEAN] = s.mean;
    out[EK_QUERY_IDF_VARIANCE] = s.variance;
    out[EK_QUERY_IDF_DEVIATION] = sqrt(s.variance);
    out[EK_QUERY_IDF_CONFIDENCE] = 1.96 * sqrt(s.variance) / sqrt((double)n);
    out[EK_QUERY_GAMMA2] = s.max / s.min;
    out[EK_QUERY_IDF_SUM] = s.sum;
    out[EK_QUERY_IDF_MIN] = s.min;
    out[EK_QUERY_IDF_MAX] = s.max;
    out[EK_QUERY_IDF_HARMONIC] = ek_harmonic_mean(x, n);
    out[EK_QUERY_IDF_GEOMETRIC] = ek_geometric_mean(x, n);
}

static void of_collection(const struct ek_query_numbers *q, double *x, double out[EK_QUERY_KINDS])
{
    size_t n = weights(q, ictf, true, x);
    out[EK_QUERY_ICTF_MEAN_CONTENT] = ek_summary_stats_compute(x, n).mean;
    n = weights(q, ictf, false, x);
    struct ek_summary_stats s = ek_summary_stats_compute(x, n);
    out[EK_QUERY_ICTF_MEAN] = s.mean;
    out[EK_QUERY_ICTF_SUM] = s.sum;
    out[EK_QUERY_ICTF_MIN] = s.min;
    out[EK_QUERY_ICTF_MAX] = s.max;
    out[EK_QUERY_ICTF_HARMONIC] = ek_harmonic_mean(x, n);
    out[EK_QUERY_ICTF_GEOMETRIC] = ek_geometric_mean(x, n);
    n = weights(q, cf, false, x);
    s = ek_summary_stats_compute(x, n);
    out[EK_QUERY_CF_SUM] = s.sum;
    out[EK_QUERY_CF_MEAN] = s.mean;
    out[EK_QUERY_CF_MAX] = s.max;
    out[EK_QUERY_CF_HARMONIC] = ek_harmonic_mean(x, n);
    out[EK_QUERY_CF_GEOMETRIC] = ek_geometric_mean(x, n);
    n = weights(q, scq, false, x);
    s = ek_summary_stats_compute(x, n);
    out[EK_QUERY_SCQ_SUM] = s.sum;
    out[EK_QUERY_SCQ_MEAN] = s.mean;
    out[EK_QUERY_SCQ_MAX] = s.max;
}

void ek_query_features(const struct ek_query_numbers *q, double *scratch,
                       double out[EK_QUERY_KINDS])
{
    lengths(q, out);
    out[EK_QUERY_SCS] = clarity(q, out[EK_QUERY_LENGTH]);
    out[EK_QUERY_SCOPE] = q->reached > 0 ? -log(q->reached / q->documents) : NAN;
    of_idf(q, scratch, out);
    of_collection(q, scratch, out);
}
