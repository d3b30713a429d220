/* Writer of docs/text-features.md from the catalog of text features. */
#include "deploy/text_features_page.h"

#include "text/features/feature_list.h"
#include "text/features/document_features.h"

#include <stdlib.h>
#include <string.h>

enum { STOPS_A_LINE = 28 };

static const char HEAD[] =

    "# Text features\n\n"
    "This reference is generated from the catalog with `make reference`; do not edit it.\n"
    "[Extract features](extract.md) explains how to compute them for a collection.\n\n"
    "A feature is named `KIND.FIELD`, or `KIND` if it has no field.\n"
    "Fields are `title`, `body`, `heading`, `inlink` (texts around links to the document), "
    "`anchor` (texts of its own links), and `document`, all of them joined.\n\n"
    "| symbol | meaning in the formulas |\n"
    "|---|---|\n"
    "| N | documents with the field |\n"
    "| C | tokens in the field of all documents |\n"
    "| avg | C / N |\n"
    "| len | tokens of the text |\n"
    "| tf | occurrences of a term in the text |\n"
    "| qtf | occurrences of a term in the query |\n"
    "| df | documents with the term in the field |\n"
    "| cf | occurrences of a term in the field of all documents |\n\n"
    "Sums are over the distinct terms of the query.\n"
    "ln has base e, log2 base 2.\n\n"
    "A feature of the query is equal for all documents of a list: `role: query` in the "
    "manifest.\n\n"
    "## Missing values and zeros\n\n"
    "Missing values are not filled in: they are `nan` in LETOR, an empty cell in CSV, and NaN in "
    "NPZ.\n\n"
    "| case | value |\n"
    "|---|---|\n"
    "| the document has no such field | missing, except for `stream_length`, which is 0 |\n"
    "| the query has no terms | missing, except for its lengths, counts, and features of the "
    "document alone |\n"
    "| a term of the query is in no document | it adds nothing; it counts in `query_length`, "
    "`query_unknown` and, with tf 0, in `stream_*` and `matched_share` |\n"
    "| no term of the query is in any document | language models, `sdm` and statistics over known "
    "terms are missing, other models are 0 |\n"
    "| a term of the query is not in the text | smoothed by language models, 0 in other models |\n"
    "| fewer than two terms of the query are in the text | `tp_cover`, `tp_distance_*`, `tp_decay` "
    "are missing; if the query has no two different neighbors, so are `od1`, `uw8`, `bm25_uw8` |\n"
    "| a term is repeated in the query | scores count repetitions; streams, proximity and "
    "statistics over terms count the term once |\n"
    "| the scores have different signs | their harmonic mean is missing |\n\n";

static const char STOPS[] =

    "\n"
    "## Stop words\n\n"
    "`stop_cover`, `stop_ratio`, `query_length_content`, `query_idf_mean_content` and "
    "`query_ictf_mean_content` use this list.\n"
    "It is English, independent of `--stem`: exclude these features (`except`) for texts of "
    "another language.\n"
    "The words are folded and stemmed like the index; words that become equal count once.\n"
    "Stop words are indexed and searched like other words.\n\n";

static const char SOURCES[] =

    "\n"
    "## The paper's 435 features\n\n"
    "Gallagher et al. name 448 features, of which 435 are distinct.\n"
    "Their list assumes parts of HTML pages (tags, tables, applets) that a plain collection does "
    "not have.\n"
    "The core set has the same families and the same size: 66 scores of 11 models in 6 fields, 36 "
    "stream features, 294 statistics of scores over terms and pairs, 12 features of the query, and "
    "27 others.\n"
    "It differs from their program as follows:\n\n"
    "- Streams are statistics over the query's terms, not over the parts of a field, because an "
    "index of plain texts does not store parts.\n"
    "  In place of counts of tags and fractions of tables there are fractions of fields, distinct "
    "terms, parts of the URL, and `matched` in each field.\n"
    "- A language model divides real numbers; their cf / C is an integer division and thus 0.\n"
    "  The geometric mean is exp(mean(ln tf)); theirs is the n-th root of the sum.\n"
    "  A value that does not exist is missing; theirs is 0.\n"
    "- Statistics are those of the field, not of the whole documents.\n"
    "  Logarithms of Bose-Einstein have base 2, as in its paper.\n"
    "  BM25 of TREC-3 weighs a term in most documents with 0.\n"
    "- `query_scope` counts documents with any of the terms, as in its paper, not the sum of their "
    "df.\n"
    "  Pairs are neighbors in the query, once in each direction.\n"
    "- Quartiles are increasing (q1 is the lower one) and interpolated.\n\n"
    "Features listed as `more` are from other papers, or are frequently requested.\n\n"
    "## Sources\n\n"
    "- Amati and van Rijsbergen 2002: Probabilistic models of information retrieval based on "
    "measuring the divergence from randomness, TOIS 20(4)\n"
    "- Amati et al. 2007: FUB, IASI-CNR and University of Tor Vergata at TREC 2007 blog track\n"
    "- Bendersky, Croft and Diao 2011: Quality-biased ranking of web documents, WSDM\n"
    "- Buettcher, Clarke and Lushman 2006: Term proximity scoring for ad-hoc retrieval on very "
    "large text collections, SIGIR\n"
    "- Gallagher et al. 2020: Gallagher, Mallia, Culpepper, Suel, Cambazoglu: Feature extraction "
    "for large-scale text collections, CIKM\n"
    "- He and Ounis 2004: Inferring query performance using pre-retrieval predictors, SPIRE\n"
    "- Macdonald, Santos and Ounis 2012: On the usefulness of query features for learning to rank, "
    "CIKM\n"
    "- Metzler and Croft 2005: A Markov random field model for term dependencies, SIGIR\n"
    "- Ponte and Croft 1998: A language modeling approach to information retrieval, SIGIR\n"
    "- Qin and Liu 2013: Introducing LETOR 4.0 datasets, arXiv:1306.2597\n"
    "- Rasolofo and Savoy 2003: Term proximity scoring for keyword-based retrieval systems, ECIR\n"
    "- Robertson et al. 1994: Okapi at TREC-3\n"
    "- Tao and Zhai 2007: An exploration of proximity measures in information retrieval, SIGIR\n"
    "- Trotman, Jia and Crane 2012: Towards an efficient and effective search engine, OSIR\n"
    "- Zhai and Lafferty 2004: A study of smoothing methods for language models applied to "
    "information retrieval, TOIS 22(2)\n"
    "- Zhao, Scholer and Tsegay 2008: Effective pre-retrieval query performance prediction using "
    "similarity and variability evidence, ECIR\n"
    "- Zobel and Moffat 2006: Inverted files for text search engines, Computing Surveys 38(2)\n";

static void count(const struct ek_feature_list *l, int f, int *all, int *core)
{
    *all = *core = 0;
    for (size_t i = 0; i < l->count; i++)
        if ((int)l->features[i].family == f) {
            ++*all;
            *core += l->features[i].core;
        }
}

static int write_counts(const struct ek_feature_list *l, struct ek_buf *out)
{
    ek_buf_text(out, "## Number of features\n\n| family | core | more | description |\n"
                     "|---|---|---|---|\n");
    int all, core;
    for (int f = 0; f < EK_FAMILIES; f++) {
        enum ek_text_family family = (enum ek_text_family)f;
        count(l, f, &all, &core);
        ek_buf_printf(out, "| `%s` | %d | %d | %s |\n", ek_text_family_name(family), core,
                      all - core, ek_text_family_title(family));
    }
    return ek_buf_printf(out, "| all | %d | %zu | |\n", EK_CORE_FEATURES,
                         l->count - EK_CORE_FEATURES);
}

static bool same_kind(const struct ek_text_feature *a, const struct ek_text_feature *b)
{
    return a->family == b->family && a->kind == b->kind;
}

/* Write one row for all fields of a kind. */
static int write_kind(const struct ek_feature_list *l, size_t i, struct ek_buf *out)
{
    const struct ek_text_feature *f = &l->features[i];
    ek_buf_printf(out, "| `%.*s` | ", (int)strcspn(f->name, "."), f->name);
    size_t n = 0;
    while (i + n < l->count && same_kind(f, &l->features[i + n]))
        n++;
    for (size_t k = 0; f->has_field && n < EK_FIELDS_AND_DOCUMENT && k < n; k++)
        ek_buf_printf(out, "%s%s", k ? ", " : "", ek_field_name(l->features[i + k].field));
    if (n == EK_FIELDS_AND_DOCUMENT)
        ek_buf_text(out, "all");
    return ek_buf_printf(out, " | %s | %s | %s |\n", f->core ? "core" : "more", f->formula,
                         f->source);
}

static int write_kinds(const struct ek_feature_list *l, struct ek_buf *out)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        if (i && same_kind(f, f - 1))
            continue;
        if (!i || f->family != f[-1].family)
            ek_buf_printf(out,
                          "\n## %s\n\nOf %s: %s.\n\n| kind | fields | group | formula | "
                          "source |\n|---|---|---|---|---|\n",
                          ek_text_family_name(f->family), f->of_query ? "queries" : "documents",
                          ek_text_family_title(f->family));
        write_kind(l, i, out);
    }
    return out->rc;
}

static int write_stops(struct ek_buf *out)
{
    const char *word;
    ek_buf_text(out, STOPS);
    for (size_t i = 0; (word = ek_stop_word(i)); i++)
        ek_buf_printf(out, "%s%s", i % STOPS_A_LINE ? " " : i ? "\n" : "", word);
    return ek_buf_text(out, "\n");
}

int ek_feature_docs_write(struct ek_buf *out)
{
    struct ek_feature_list *l;
    int rc = ek_feature_list_new(&l, NULL);
    if (rc)
        return rc;
    ek_buf_text(out, HEAD);
    write_counts(l, out);
    write_kinds(l, out);
    write_stops(out);
    ek_feature_list_free(l);
    return ek_buf_text(out, SOURCES);
}

void ek_page_text_features(FILE *out)
{
    struct ek_buf page;
    ek_buf_init(&page, 0);
    if (ek_feature_docs_write(&page))
        abort();
    fwrite(page.data, 1, page.length, out);
    ek_buf_release(&page);
}
