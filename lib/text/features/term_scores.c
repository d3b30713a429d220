#include "text/features/term_scores.h"

#include "text/features/summary_stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

enum stat { MAX, MEAN, HMEAN, MEDIAN, Q1, Q3, VARIANCE, IQR };
enum over { OVER_MEAN, OVER_MIN, OVER_MAX };
enum { BEFORE_MODELS = 7 };

static const enum ek_unigram MODELS[EK_SPREAD_MODELS] = {
    EK_BM25_ATIRE, EK_TFIDF, EK_LMDS_2500, EK_PROB, EK_BE, EK_DPH, EK_DFR};

static const struct {
    const char *name, *words;
} STATS[EK_SPREAD_STATS] = {{"max", "largest"},         {"mean", "mean"},
                            {"hmean", "harmonic mean"}, {"median", "median"},
                            {"q1", "first quartile"},   {"q3", "third quartile"},
                            {"variance", "variance"},   {"iqr", "distance of quartiles"}};

static const char *const OVER[] = {"mean", "min", "max"};
static const char *const OVER_WORDS[] = {"mean", "smallest", "largest"};

static const struct {
    enum stat stat;
    enum over over;
} FIGURES[EK_SPREAD_FIGURES] = {
    {MAX, OVER_MEAN},  {MEAN, OVER_MEAN},     {HMEAN, OVER_MEAN},   {MEDIAN, OVER_MEAN},
    {IQR, OVER_MEAN},  {VARIANCE, OVER_MEAN}, {MAX, OVER_MIN},      {MAX, OVER_MAX},
    {MEAN, OVER_MIN},  {MEAN, OVER_MAX},      {MEDIAN, OVER_MIN},   {MEDIAN, OVER_MAX},
    {HMEAN, OVER_MIN}, {HMEAN, OVER_MAX},     {VARIANCE, OVER_MIN}, {VARIANCE, OVER_MAX},
    {Q1, OVER_MIN},    {Q1, OVER_MAX},        {Q3, OVER_MIN},       {Q3, OVER_MAX}};

static void spread(double *x, size_t n, double stat[EK_SPREAD_STATS])
{
    struct ek_summary_stats s = ek_summary_stats_compute(x, n);
    stat[HMEAN] = ek_harmonic_mean(x, n);
    struct ek_quartiles q = ek_quartiles_compute(x, n);
    stat[MAX] = s.max;
    stat[MEAN] = s.mean;
    stat[VARIANCE] = s.variance;
    stat[MEDIAN] = q.median;
    stat[Q1] = q.q1;
    stat[Q3] = q.q3;
    stat[IQR] = q.q3 - q.q1;
}

void ek_term_scores_compute(const struct ek_unigram_parameters *p, const struct ek_text_field *f,
                            const struct ek_term_documents *d, double *scratch,
                            struct ek_term_scores *out)
{
    struct ek_text_term t = {.count = 1, .df = (uint32_t)d->n, .cf = d->cf};
    struct ek_text_field text = *f;
    out->documents = (double)d->n;
    for (size_t i = 0; i < d->n; i++)
        scratch[i] = d->tf[i];
    out->tf_gmean = ek_geometric_mean(scratch, d->n);
    for (int m = 0; m < EK_SPREAD_MODELS; m++) {
        for (size_t i = 0; i < d->n; i++) {
            t.tf = d->tf[i];
            text.length = d->length[i];
            scratch[i] = ek_unigram_term(MODELS[m], p, &text, &t);
        }
        spread(scratch, d->n, out->stat[m]);
    }
}

static double over(const double *x, size_t n, enum over how)
{
    struct ek_summary_stats s = ek_summary_stats_compute(x, n);
    return how == OVER_MEAN ? s.mean : how == OVER_MIN ? s.min : s.max;
}

/* Return the statistic of one value over the terms that have it. */
static double over_terms(const struct ek_term_scores *const *s, size_t n, size_t offset,
                         enum over how, double *scratch)
{
    size_t have = 0;
    for (size_t i = 0; i < n; i++) {
        double x;
        memcpy(&x, (const char *)s[i] + offset, sizeof x);
        if (s[i]->documents > 0 && !isnan(x))
            scratch[have++] = x;
    }
    return over(scratch, have, how);
}

static size_t place_of(int figure)
{
    if (figure < 4)
        return offsetof(struct ek_term_scores, documents);
    if (figure < BEFORE_MODELS)
        return offsetof(struct ek_term_scores, tf_gmean);
    int k = figure - BEFORE_MODELS;
    size_t at = (size_t)(k / EK_SPREAD_FIGURES) * EK_SPREAD_STATS +
                (size_t)FIGURES[k % EK_SPREAD_FIGURES].stat;
    return offsetof(struct ek_term_scores, stat) + at * sizeof(double);
}

static enum over over_of(int figure)
{
    if (figure < BEFORE_MODELS)
        return (enum over)((figure - 1) % 3);
    return FIGURES[(figure - BEFORE_MODELS) % EK_SPREAD_FIGURES].over;
}

void ek_term_statistics_list(const struct ek_term_scores *const *s, size_t n, double *scratch,
                             double out[EK_TERM_STATISTICS])
{
    out[0] = 0;
    for (size_t i = 0; i < n; i++)
        out[0] += s[i]->documents > 0;
    for (int k = 1; k < EK_TERM_STATISTICS; k++)
        out[k] = over_terms(s, n, place_of(k), over_of(k), scratch);
}

static const char *model_of(int figure)
{
    return ek_unigram_kind(MODELS[(figure - BEFORE_MODELS) / EK_SPREAD_FIGURES])->name;
}

static enum stat stat_of(int figure)
{
    return FIGURES[(figure - BEFORE_MODELS) % EK_SPREAD_FIGURES].stat;
}

void ek_term_statistic_name(int figure, const char *what, char *name, size_t size)
{
    if (!figure)
        snprintf(name, size, "%s_known", what);
    else if (figure < BEFORE_MODELS)
        snprintf(name, size, "%s_%s_%s", what, figure < 4 ? "df" : "tf_gmean",
                 OVER[over_of(figure)]);
    else
        snprintf(name, size, "%s_%s_%s_%s", what, model_of(figure), STATS[stat_of(figure)].name,
                 OVER[over_of(figure)]);
}

void ek_term_statistic_formula(int figure, const char *what, char *text, size_t size)
{
    if (!figure)
        snprintf(text, size, "the query's distinct %s in the collection", what);
    else if (figure < BEFORE_MODELS)
        snprintf(text, size, "%s over the query's %s of %s", OVER_WORDS[over_of(figure)], what,
                 figure < 4 ? "df" : "the geometric mean of their tf in documents with them");
    else
        snprintf(text, size, "%s over the query's %s of the %s of %s over their documents",
                 OVER_WORDS[over_of(figure)], what, STATS[stat_of(figure)].words, model_of(figure));
}
