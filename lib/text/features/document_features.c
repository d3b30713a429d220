#include "text/features/document_features.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BENDERSKY "Bendersky, Croft and Diao 2011"
#define FXT       "Gallagher et al. 2020"

static const struct ek_feature_kind KINDS[EK_DOCUMENT_FEATURES] = {
    [EK_URL_LENGTH] = {"url_length", "bytes of the URL after '://'", FXT, true},
    [EK_URL_SLASHES] = {"url_slashes", "slashes in the URL", FXT, true},
    [EK_URL_DEPTH] = {"url_depth",
                      "non-empty parts of the URL's path, without parameters and fragment",
                      BENDERSKY, true},
    [EK_URL_DIGITS] = {"url_digits", "digits in the URL", "", true},
    [EK_URL_PARAMETERS] = {"url_parameters", "parameters of the URL, after '?'", "", true},
    [EK_UNIQUE_TERMS] = {"unique_terms", "distinct terms of the document", "", true},
    [EK_UNIQUE_SHARE] = {"unique_share", "unique_terms / tokens", "", true},
    [EK_TERM_LETTERS] = {"term_letters",
                         "mean number of letters of the document's terms, as indexed", BENDERSKY,
                         true},
    [EK_ENTROPY] = {"entropy", "- sum p ln p over the document's distinct terms; p = tf / len",
                    BENDERSKY, true},
    [EK_STOP_COVER] = {"stop_cover",
                       "fraction of all [stop words](#stop-words) that the document contains",
                       BENDERSKY, true},
    [EK_STOP_RATIO] = {"stop_ratio", "stop words of the document / its other tokens", BENDERSKY,
                       true},
    {"share_title", "fraction of the document's tokens in the title", BENDERSKY, true},
    {"share_body", "fraction of the document's tokens in the body", BENDERSKY, true},
    {"share_heading", "fraction of the document's tokens in headings", BENDERSKY, true},
    {"share_inlink", "fraction of the document's tokens in texts around links to it", BENDERSKY,
     true},
    {"share_anchor", "fraction of the document's tokens in the texts of its links", BENDERSKY,
     true},
};

static const char *const STOP[] = {
    "a",    "about", "after",  "all",   "also", "an",   "and",   "any",   "are",   "as",
    "at",   "be",    "been",   "but",   "by",   "can",  "could", "do",    "does",  "for",
    "from", "had",   "has",    "have",  "he",   "her",  "his",   "how",   "i",     "if",
    "in",   "into",  "is",     "it",    "its",  "may",  "me",    "more",  "most",  "my",
    "no",   "not",   "of",     "on",    "one",  "only", "or",    "other", "our",   "out",
    "over", "she",   "should", "so",    "some", "such", "than",  "that",  "the",   "their",
    "them", "then",  "there",  "these", "they", "this", "those", "to",    "under", "up",
    "us",   "was",   "we",     "were",  "what", "when", "where", "which", "who",   "will",
    "with", "would", "you",    "your",
};

const struct ek_feature_kind *ek_document_feature_kind(int kind)
{
    return &KINDS[kind];
}

const char *ek_stop_word(size_t i)
{
    return i < sizeof STOP / sizeof *STOP ? STOP[i] : NULL;
}

static size_t count_byte(const char *text, size_t length, char desired)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += text[i] == desired;
    return count;
}

static size_t find_bytes(const char *text, size_t length, const char *desired)
{
    const char *at = length ? memmem(text, length, desired, strlen(desired)) : NULL;
    return at ? (size_t)(at - text) : length;
}

/* Return the number of non-empty path segments: 2 for host/a/b/. */
static double path_depth(const char *rest, size_t length)
{
    double depth = 0;
    for (size_t i = 0; i < length && rest[i] != '?' && rest[i] != '#'; i++)
        depth += rest[i] == '/' && i + 1 < length && !strchr("/?#", rest[i + 1]);
    return depth;
}

static double parameters(const char *rest, size_t length)
{
    size_t begin = find_bytes(rest, length, "?") + 1;
    if (begin >= length)
        return 0;
    size_t n = find_bytes(rest + begin, length - begin, "#");
    return n ? 1 + (double)count_byte(rest + begin, n, '&') : 0;
}

void ek_document_features_url(const char *url, size_t length, double out[EK_URLS])
{
    for (int k = 0; k < EK_URLS; k++)
        out[k] = NAN;
    if (!length)
        return;
    size_t scheme = find_bytes(url, length, "://");
    size_t begin = scheme < length ? scheme + 3 : 0;
    size_t digits = 0;
    for (size_t i = 0; i < length; i++)
        digits += url[i] >= '0' && url[i] <= '9';
    out[EK_URL_LENGTH] = (double)(length - begin);
    out[EK_URL_SLASHES] = (double)count_byte(url, length, '/');
    out[EK_URL_DEPTH] = path_depth(url + begin, length - begin);
    out[EK_URL_DIGITS] = (double)digits;
    out[EK_URL_PARAMETERS] = parameters(url + begin, length - begin);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int is_stop(const struct ek_document_terms *w, uint32_t term)
{
    return w->known && bsearch(&term, w->stop, w->known, sizeof term, by_number);
}

/* Sums over runs of equal terms. */
struct counted {
    double unique, letters, entropy, stops, stop_tokens;
};

static struct counted count(const struct ek_document_terms *w, const uint32_t *sorted, size_t n)
{
    struct counted c = {0};
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end] == sorted[i];)
            end++;
        double tf = (double)(end - i), p = tf / (double)n;
        c.unique++;
        c.letters += tf * w->letters(w->context, sorted[i]);
        c.entropy -= p * log(p);
        if (is_stop(w, sorted[i])) {
            c.stops++;
            c.stop_tokens += tf;
        }
    }
    return c;
}

void ek_document_features_terms(const struct ek_document_terms *w, const uint32_t *terms, size_t n,
                                const uint32_t length[EK_FIELDS], uint32_t *scratch,
                                double out[EK_DOCUMENT_FEATURES])
{
    for (int k = EK_UNIQUE_TERMS; k < EK_DOCUMENT_FEATURES; k++)
        out[k] = NAN;
    if (!n)
        return;
    memcpy(scratch, terms, n * sizeof *terms);
    qsort(scratch, n, sizeof *scratch, by_number);
    struct counted c = count(w, scratch, n);
    double others = (double)n - c.stop_tokens;
    out[EK_UNIQUE_TERMS] = c.unique;
    out[EK_UNIQUE_SHARE] = c.unique / (double)n;
    out[EK_TERM_LETTERS] = c.letters / (double)n;
    out[EK_ENTROPY] = c.entropy;
    out[EK_STOP_COVER] = w->stops ? c.stops / (double)w->stops : 0;
    out[EK_STOP_RATIO] = others > 0 ? c.stop_tokens / others : NAN;
    for (int f = 0; f < EK_FIELDS; f++)
        out[EK_SHARE_OF_FIELD + f] = length[f] / (double)n;
}
