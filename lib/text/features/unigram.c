#include "text/features/unigram.h"

#include <math.h>
#include <stdbool.h>

#define AMATI "Amati and van Rijsbergen 2002"
#define ZHAI  "Zhai and Lafferty 2004"

static const struct ek_feature_kind KINDS[EK_UNIGRAMS] = {
    [EK_BM25_ATIRE] =
        {"bm25_atire",
         "sum qtf ln(N / df) tf (k1 + 1) / (tf + k1 (1 - b + b len / avg)); k1 = 0.9, "
         "b = 0.4",
         "Trotman, Jia and Crane 2012", true},
    [EK_BM25_TREC3] = {"bm25_trec3",
                       "the same with max(0, ln((N - df + 0.5) / (df + 0.5))) for ln(N / df); k1 = "
                       "1.2, b = 0.75",
                       "Robertson et al. 1994", true},
    [EK_BM25_TREC3_KMAX] = {"bm25_trec3_kmax", "as bm25_trec3; k1 = 2, b = 0.75",
                            "Robertson et al. 1994", true},
    [EK_LMDS_1000] = {"lmds_1000", "sum qtf ln((tf + mu cf / C) / (len + mu)); mu = 1000", ZHAI,
                      true},
    [EK_LMDS_1500] = {"lmds_1500", "as lmds_1000; mu = 1500", ZHAI, true},
    [EK_LMDS_2500] = {"lmds_2500", "as lmds_1000; mu = 2500", ZHAI, true},
    [EK_TFIDF] = {"tfidf", "sum over terms in the text of qtf (1 + ln tf) ln(1 + N / df) / len",
                  "Zobel and Moffat 2006", true},
    [EK_PROB] = {"prob", "sum qtf tf / len", "Ponte and Croft 1998", true},
    [EK_BE] = {"be",
               "sum over terms in the text of qtf (log2(1 + l) + tfn log2(1 + 1 / l)) / (tfn + 1); "
               "l = cf / N, tfn = tf log2(1 + c avg / len), c = 1",
               AMATI, true},
    [EK_DPH] = {"dph",
                "sum over terms in the text of qtf (1 - f)^2 / (tf + 1) (tf log2(tf avg / len N / "
                "cf) + 0.5 log2(2 pi tf (1 - f))); f = tf / len",
                "Amati et al. 2007", true},
    [EK_DFR] = {"dfr",
                "sum over terms in the text of qtf (cf + 1) / (df (tfn + 1)) tfn log2((N + 1) / (n "
                "+ 0.5)); n = N (1 - (1 - 1 / N)^cf), tfn as in be",
                AMATI, true},
    [EK_PL2] = {"pl2",
                "sum over terms in the text of qtf (tfn log2(tfn / l) + (l - tfn) log2 e + 0.5 "
                "log2(2 pi tfn)) / (tfn + 1); l and tfn as in be",
                AMATI, false},
    [EK_LMJM_10] = {"lmjm_10", "sum qtf ln((1 - w) tf / len + w cf / C); w = 0.1", ZHAI, false},
    [EK_LMJM_70] = {"lmjm_70", "as lmjm_10; w = 0.7", ZHAI, false},
};

const struct ek_feature_kind *ek_unigram_kind(enum ek_unigram m)
{
    return &KINDS[m];
}

struct ek_unigram_parameters ek_unigram_defaults(void)
{
    return (struct ek_unigram_parameters){{{0.9, 0.4}, {1.2, 0.75}, {2, 0.75}}, 1};
}

static double mean_length(const struct ek_text_field *f)
{
    return f->tokens / f->documents;
}

static double bm25(enum ek_unigram m, const struct ek_unigram_parameters *p,
                   const struct ek_text_field *f, const struct ek_text_term *t)
{
    double n = f->documents, df = t->df, k1 = p->bm25[m].k1, b = p->bm25[m].b;
    double weight = m == EK_BM25_ATIRE ? log(n / df) : fmax(0, log((n - df + 0.5) / (df + 0.5)));
    double norm = k1 * (1 - b + b * f->length / mean_length(f));
    return weight * t->tf * (k1 + 1) / (t->tf + norm);
}

static double dirichlet(double mu, const struct ek_text_field *f, const struct ek_text_term *t)
{
    return log((t->tf + mu * ((double)t->cf / f->tokens)) / (f->length + mu));
}

static double jelinek(double w, const struct ek_text_field *f, const struct ek_text_term *t)
{
    return log((1 - w) * t->tf / f->length + w * ((double)t->cf / f->tokens));
}

/* Return tf normalized to mean length: the second normalization of Amati and van Rijsbergen. */
static double tf_normal(const struct ek_unigram_parameters *p, const struct ek_text_field *f,
                        const struct ek_text_term *t)
{
    return t->tf * log2(1 + p->c * mean_length(f) / f->length);
}

static double bose_einstein(const struct ek_text_field *f, const struct ek_text_term *t, double tfn)
{
    double l = (double)t->cf / f->documents;
    return (log2(1 + l) + tfn * log2(1 + 1 / l)) / (tfn + 1);
}

static double poisson(const struct ek_text_field *f, const struct ek_text_term *t, double tfn)
{
    double l = (double)t->cf / f->documents;
    return (tfn * log2(tfn / l) + (l - tfn) * M_LOG2E + 0.5 * log2(2 * M_PI * tfn)) / (tfn + 1);
}

static double expected_idf(const struct ek_text_field *f, const struct ek_text_term *t, double tfn)
{
    double n = f->documents, cf = (double)t->cf;
    double expected = n * (1 - pow(1 - 1 / n, cf));
    return (cf + 1) / (t->df * (tfn + 1)) * tfn * log2((n + 1) / (expected + 0.5));
}

/* A text of this term alone scores 0 because its first factor is 0. */
static double dph(const struct ek_text_field *f, const struct ek_text_term *t)
{
    double tf = t->tf, share = tf / f->length, rest = 1 - share;
    if (rest <= 0)
        return 0;
    double level = tf * mean_length(f) / f->length * f->documents / (double)t->cf;
    return rest * rest / (tf + 1) * (tf * log2(level) + 0.5 * log2(2 * M_PI * tf * rest));
}

static double matched(enum ek_unigram m, const struct ek_unigram_parameters *p,
                      const struct ek_text_field *f, const struct ek_text_term *t)
{
    switch (m) {
    case EK_BM25_ATIRE:
    case EK_BM25_TREC3:
    case EK_BM25_TREC3_KMAX:
        return bm25(m, p, f, t);
    case EK_TFIDF:
        return (1 + log(t->tf)) * log(1 + f->documents / t->df) / f->length;
    case EK_PROB:
        return t->tf / f->length;
    case EK_BE:
        return bose_einstein(f, t, tf_normal(p, f, t));
    case EK_DPH:
        return dph(f, t);
    case EK_DFR:
        return expected_idf(f, t, tf_normal(p, f, t));
    default:
        return poisson(f, t, tf_normal(p, f, t));
    }
}

static bool is_language_model(enum ek_unigram m)
{
    return (m >= EK_LMDS_1000 && m <= EK_LMDS_2500) || m == EK_LMJM_10 || m == EK_LMJM_70;
}

double ek_unigram_term(enum ek_unigram m, const struct ek_unigram_parameters *p,
                       const struct ek_text_field *f, const struct ek_text_term *t)
{
    switch (m) {
    case EK_LMDS_1000:
        return dirichlet(1000, f, t);
    case EK_LMDS_1500:
        return dirichlet(1500, f, t);
    case EK_LMDS_2500:
        return dirichlet(2500, f, t);
    case EK_LMJM_10:
        return jelinek(0.1, f, t);
    case EK_LMJM_70:
        return jelinek(0.7, f, t);
    default:
        return t->tf ? matched(m, p, f, t) : 0;
    }
}

double ek_unigram_score(enum ek_unigram m, const struct ek_unigram_parameters *p,
                        const struct ek_text_field *f, const struct ek_text_term *t, size_t terms)
{
    double sum = 0;
    bool known = false;
    if (!(f->length > 0) || !terms)
        return NAN;
    for (size_t i = 0; i < terms; i++)
        if (t[i].df) {
            sum += t[i].count * ek_unigram_term(m, p, f, &t[i]);
            known = true;
        }
    return known || !is_language_model(m) ? sum : NAN;
}
