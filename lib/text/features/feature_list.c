#include "text/features/feature_list.h"

#include "base/alloc.h"
#include "text/features/proximity.h"
#include "text/features/query_features.h"
#include "text/features/document_features.h"
#include "text/features/term_scores.h"
#include "text/features/unigram.h"

#include <stdio.h>
#include <string.h>

/* The whole document is first because its features are used most. */
static const enum ek_field FIELDS[EK_FIELDS_AND_DOCUMENT] = {EK_FIELD_DOCUMENT, EK_FIELD_TITLE,
                                                             EK_FIELD_BODY,     EK_FIELD_HEADING,
                                                             EK_FIELD_INLINK,   EK_FIELD_ANCHOR};

enum { ALL_FIELDS = EK_FIELDS_AND_DOCUMENT, LONG_FIELDS = 3, ONE_FIELD = 1, NO_FIELD = 0 };

static const struct {
    const char *name, *words;
    int kinds;
    bool of_query;
} FAMILIES[EK_FAMILIES] = {
    {"unigram", "retrieval models over the query's bag of terms", EK_UNIGRAMS, false},
    {"stream", "frequencies of the query's terms in a text", EK_STREAMS, false},
    {"proximity", "distances between the query's terms", EK_PROXIMITIES, false},
    {"run", "scores in the run of candidates", 1, false},
    {"static", "properties of a document, for any query", EK_DOCUMENT_FEATURES, false},
    {"query", "properties of a query", EK_QUERY_KINDS, true},
    {"idf", "rarity of the query's terms in a field", EK_SPREADS, true},
    {"terms", "statistics of the scores of the query's terms over documents", EK_TERM_STATISTICS,
     true},
    {"pairs", "statistics of the scores of pairs of neighbors in the query", EK_TERM_STATISTICS,
     true},
};

static const struct ek_feature_kind STAGE0 = {
    "stage0",
    "the candidate's score in the run; of --top: sum qtf ln(1 + (N - "
    "df + 0.5) / (df + 0.5)) tf / (tf + k1 (1 - b + b len / "
    "avg)), N and avg of all documents; k1 = 0.9, b = 0.4",
    "Gallagher et al. 2020", true};

const char *ek_text_family_name(enum ek_text_family f)
{
    return FAMILIES[f].name;
}

const char *ek_text_family_title(enum ek_text_family f)
{
    return FAMILIES[f].words;
}

static const struct ek_feature_kind *kind_of(enum ek_text_family f, int kind)
{
    switch (f) {
    case EK_FAMILY_UNIGRAM:
        return ek_unigram_kind((enum ek_unigram)kind);
    case EK_FAMILY_STREAM:
        return ek_tf_feature_kind(kind);
    case EK_FAMILY_PROXIMITY:
        return ek_proximity_kind((enum ek_proximity)kind);
    case EK_FAMILY_STATIC:
        return ek_document_feature_kind(kind);
    case EK_FAMILY_QUERY:
        return ek_query_kind((enum ek_query_kind)kind);
    case EK_FAMILY_IDF:
        return ek_tf_feature_idf_kind(kind);
    default:
        return &STAGE0;
    }
}

static int fields_of(enum ek_text_family f, int kind)
{
    if (f == EK_FAMILY_PROXIMITY)
        return kind <= EK_SDM ? ONE_FIELD : LONG_FIELDS;
    bool each = f == EK_FAMILY_UNIGRAM || f == EK_FAMILY_STREAM || f == EK_FAMILY_IDF;
    return each ? ALL_FIELDS : NO_FIELD;
}

static bool never_missing(enum ek_text_family f, int kind)
{
    if (f == EK_FAMILY_QUERY)
        return kind == EK_QUERY_LENGTH || kind == EK_QUERY_LENGTH_CONTENT ||
               kind == EK_QUERY_UNKNOWN;
    bool counts = f == EK_FAMILY_TERMS || f == EK_FAMILY_PAIRS || f == EK_FAMILY_STREAM;
    return counts && !kind;
}

static void describe(struct ek_text_feature *x, const char *field)
{
    if (x->family == EK_FAMILY_TERMS || x->family == EK_FAMILY_PAIRS) {
        const char *what = FAMILIES[x->family].name;
        ek_term_statistic_name(x->kind, what, x->name, sizeof x->name);
        ek_term_statistic_formula(x->kind, what, x->formula, sizeof x->formula);
        x->source = "Gallagher et al. 2020";
        x->core = true;
        return;
    }
    const struct ek_feature_kind *k = kind_of(x->family, x->kind);
    snprintf(x->name, sizeof x->name, "%s%s%s", k->name, field ? "." : "", field ? field : "");
    snprintf(x->formula, sizeof x->formula, "%s", k->formula);
    x->source = k->source;
    x->core = k->core;
}

static size_t add_kind(struct ek_text_feature *to, enum ek_text_family f, int kind)
{
    int fields = fields_of(f, kind);
    size_t n = fields ? (size_t)fields : 1;
    for (size_t i = 0; to && i < n; i++) {
        struct ek_text_feature *x = to + i;
        x->family = f;
        x->kind = kind;
        x->has_field = fields > 0;
        x->field = FIELDS[i];
        x->of_query = FAMILIES[f].of_query;
        x->missing = !never_missing(f, kind);
        describe(x, fields ? ek_field_name(FIELDS[i]) : NULL);
    }
    return n;
}

/* Fill `to`, or only count if it is NULL. */
static size_t add_all(struct ek_text_feature *to)
{
    size_t n = 0;
    for (int f = 0; f < EK_FAMILIES; f++)
        for (int k = 0; k < FAMILIES[f].kinds; k++)
            n += add_kind(to ? to + n : NULL, (enum ek_text_family)f, k);
    return n;
}

int ek_feature_list_new(struct ek_feature_list **out, struct ek_error *e)
{
    struct ek_feature_list *l = ek_calloc(1, sizeof *l);
    size_t n = add_all(NULL);
    if (l)
        l->features = ek_calloc(n, sizeof *l->features);
    if (!l || !l->features) {
        ek_feature_list_free(l);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    l->count = add_all(l->features);
    *out = l;
    return EK_OK;
}

void ek_feature_list_free(struct ek_feature_list *l)
{
    if (l)
        ek_free(l->features);
    ek_free(l);
}

const struct ek_text_feature *ek_feature_list_find(const struct ek_feature_list *l,
                                                   const char *name)
{
    for (size_t i = 0; i < l->count; i++)
        if (!strcmp(l->features[i].name, name))
            return &l->features[i];
    return NULL;
}
