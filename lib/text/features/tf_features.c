#include "text/features/tf_features.h"

#include "text/features/summary_stats.h"

#include <math.h>

#define MSLR "Qin and Liu 2013"
#define FXT  "Gallagher et al. 2020"

static const struct ek_feature_kind KINDS[EK_STREAMS] = {
    {"stream_length", "tokens of the text; 0 without text", FXT, true},
    {"stream_tfn_sum", "sum over the query's distinct terms of tf / len", FXT, true},
    {"stream_tfn_min", "smallest tf / len", FXT, true},
    {"stream_tfn_max", "largest tf / len", FXT, true},
    {"stream_tfn_mean", "mean tf / len", FXT, true},
    {"stream_tfn_variance", "variance of tf / len", FXT, true},
    {"stream_tf_sum", "sum over the query's distinct terms of tf", MSLR, false},
    {"stream_tf_min", "smallest tf", MSLR, false},
    {"stream_tf_max", "largest tf", MSLR, false},
    {"stream_tf_mean", "mean tf", MSLR, false},
    {"stream_tf_variance", "variance of tf", MSLR, false},
    {"stream_tfidf_sum", "sum of tf ln((N + 1) / (df + 0.5)); 0 for a term in no document", MSLR,
     false},
    {"stream_tfidf_min", "smallest tf ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_tfidf_max", "largest tf ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_tfidf_mean", "mean tf ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_tfidf_variance", "variance of tf ln((N + 1) / (df + 0.5))", MSLR, false},
    {"matched", "distinct query terms in the text", MSLR, true},
    {"matched_share", "matched / distinct terms of the query", MSLR, false},
};

static const struct ek_feature_kind IDF[EK_SPREADS] = {
    {"stream_idf_sum",
     "sum over the query's distinct terms in the field of ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_idf_min", "smallest ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_idf_max", "largest ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_idf_mean", "mean ln((N + 1) / (df + 0.5))", MSLR, false},
    {"stream_idf_variance", "variance of ln((N + 1) / (df + 0.5))", MSLR, false},
};

const struct ek_feature_kind *ek_tf_feature_kind(int kind)
{
    return &KINDS[kind];
}

const struct ek_feature_kind *ek_tf_feature_idf_kind(int kind)
{
    return &IDF[kind];
}

static void write_stats(double out[EK_SPREADS], const double *x, size_t n)
{
    struct ek_summary_stats s = ek_summary_stats_compute(x, n);
    out[0] = s.sum;
    out[1] = s.min;
    out[2] = s.max;
    out[3] = s.mean;
    out[4] = s.variance;
}

/* Positive even for a term of all documents. */
static double idf(const struct ek_text_field *f, const struct ek_text_term *t)
{
    return log((f->documents + 1) / (t->df + 0.5));
}

void ek_tf_features_compute(const struct ek_text_field *f, const struct ek_text_term *t,
                            size_t terms, double *scratch, double out[EK_STREAMS])
{
    double matched = 0;
    for (int k = 0; k < EK_STREAMS; k++)
        out[k] = NAN;
    out[EK_STREAM_LENGTH] = f->length;
    if (!(f->length > 0) || !terms)
        return;
    for (size_t i = 0; i < terms; i++) {
        scratch[i] = t[i].tf / f->length;
        matched += t[i].tf > 0;
    }
    write_stats(out + EK_STREAM_TFN, scratch, terms);
    for (size_t i = 0; i < terms; i++)
        scratch[i] = t[i].tf;
    write_stats(out + EK_STREAM_TF, scratch, terms);
    for (size_t i = 0; i < terms; i++)
        scratch[i] = t[i].tf ? t[i].tf * idf(f, &t[i]) : 0;
    write_stats(out + EK_STREAM_TFIDF, scratch, terms);
    out[EK_STREAM_MATCHED] = matched;
    out[EK_STREAM_MATCHED_SHARE] = matched / (double)terms;
}

void ek_tf_feature_idf(const struct ek_text_field *f, const struct ek_text_term *t, size_t terms,
                       double *scratch, double out[EK_SPREADS])
{
    size_t known = 0;
    for (size_t i = 0; i < terms; i++)
        if (t[i].df)
            scratch[known++] = idf(f, &t[i]);
    write_stats(out, scratch, known);
}
