/* docs/text-features.md out of the catalogue. */
#include "deploy/text_features_page.h"

#include "text/features/feature_list.h"
#include "text/features/document_features.h"

#include <stdlib.h>
#include <string.h>

enum { STOPS_A_LINE = 28 };

static const char HEAD[] =
    "# Text features\n\n"
    "This page is made from the catalogue by `make reference`; do not edit it. How "
    "to get them out of a collection: [extract](extract.md).\n\n"
    "A feature is called `KIND.FIELD`, or `KIND` where it has no field. Fields are `title`, "
    "`body`, `heading`, `inlink` (texts around links to the document), `anchor` (texts of its "
    "own\n"
    "links), and `document`: all of them, one behind the other.\n\n"
    "In the formulas, of a field: N documents have it, C tokens are in it, avg = C / N. Of a "
    "text: len tokens. Of a term: tf times in the text, qtf times in the query, in df\n"
    "documents' field, cf times in the field of all. Sums run over the distinct terms of the "
    "query. ln is to base e, log2 to base 2.\n\n"
    "A feature of the query is the same for all documents of a list: `role: query` in the "
    "manifest.\n\n"
    "## What is missing, and what is 0\n\n"
    "Nothing is filled in. A value that there is not stays missing: `nan` in LETOR, an empty cell "
    "in CSV, NaN in NPZ.\n\n"
    "| case | what comes |\n|---|---|\n"
    "| the document does not have the field | missing, but `stream_length`, which is 0 |\n"
    "| the query has no terms | missing, but its lengths, what is counted, and what is of the "
    "document alone |\n"
    "| no document has a term of the query | it adds nothing; it counts in `query_length`, "
    "`query_unknown` and, with tf 0, in `stream_*` and `matched_share` |\n"
    "| no document has any term | language models, `sdm` and what is over known terms are "
    "missing, other models are 0 |\n"
    "| the query's term is not in the text | language models smooth it, other models have 0 for "
    "it |\n"
    "| the text has less than two of the terms | `tp_cover`, `tp_distance_*`, `tp_decay` are "
    "missing; the query has no two neighbours that differ: `od1`, `uw8`, `bm25_uw8` too |\n"
    "| a term is there more than once in the query | scores count it as often; streams, nearness "
    "and what is over terms take it once |\n"
    "| scores are not all of one sign | they have no harmonic mean: missing |\n\n";

static const char STOPS[] =
    "\n## Stop words\n\n"
    "`stop_cover`, `stop_ratio`, `query_length_content`, `query_idf_mean_content` and "
    "`query_ictf_mean_content` go by this list. It is English, whatever `--stem` says: for texts "
    "of "
    "another language leave them out (`except`).\n"
    "The words are folded and stemmed as the index is; those that become one count once. All of "
    "them are indexed and searched as other words are.\n\n";

static const char SOURCES[] =
    "\n## The paper's 435\n\n"
    "Gallagher et al. name 448 features, of which 435 are distinct. Their list takes parts of "
    "HTML pages for granted (tags, tables, applets) that a plain collection does not have. The\n"
    "core here follows their families and has as many: the 66 scores of 11 models in 6 fields, "
    "the 36 stream features, 294 of the spread of scores over terms and pairs, 12 of the query,\n"
    "and 27 more. Where it differs from their program:\n\n"
    "- Streams are spread over the query's terms, not over the parts of a field: an index of "
    "plain texts does not keep the parts. In place of counts of tags and of shares of tables "
    "there\n"
    "  are shares of fields, distinct terms, parts of the URL, and `matched` in each field.\n"
    "- A language model divides as real numbers do (there, cf / C is a division of whole numbers "
    "and so 0), the geometric mean is exp(mean(ln tf)) (there, the n-th root of the sum), and what "
    "has\n"
    "  no value is missing (there, 0).\n"
    "- Statistics are those of the field, not of the whole documents. Logarithms of Bose-Einstein "
    "are to base 2, as in its paper. BM25 of TREC-3 weighs a term that is in most documents "
    "with 0.\n"
    "- `query_scope` counts documents with any of the terms, as its paper has it, not the sum of "
    "their df. Pairs are neighbours in the query, each way once.\n"
    "- Quartiles are rising (q1 is the lower) and lie between numbers.\n\n"
    "What is `more` came with other papers, or asks for what people look at first.\n\n"
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
    "- Macdonald, Santos and Ounis 2012: On the usefulness of query features for learning to "
    "rank, CIKM\n"
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
    ek_buf_text(out, "## How many\n\n| family | core | more | what it is |\n"
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

/* One row for a kind, whatever its fields. */
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
