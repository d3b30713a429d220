#include "daemon/tools/extract/extract_candidates.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/parse.h"
#include "text/features/features.h"
#include "text/features/retrieve.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 6 };
static const size_t TEXT_BYTES_MAX = (size_t)4 << 30;

struct ek_trec_pairs {
    struct ek_trec_pair *pair; /* [count] by query, then in the order of the kind */
    size_t count, room;
    struct ek_buf text;
};

/* Split a line at blanks. Return the number of parts, at most PARTS_MAX + 1. */
static int split(char *line, char **part)
{
    int n = 0;
    for (char *p = line + strspn(line, " \t"); *p; p += strspn(p, " \t")) {
        if (n == PARTS_MAX)
            return n + 1;
        part[n++] = p;
        p += strcspn(p, " \t");
        if (*p)
            *p++ = 0;
    }
    return n;
}

/* Set the positions of document and number in a line; -1: no number. */
static bool shape(enum ek_trec_kind kind, int parts, int *document, int *number)
{
    bool run = kind == EK_TREC_RUN;
    if (parts == (run ? 6 : 4)) {
        *document = 2;
        *number = run ? 4 : 3;
        return true;
    }
    *document = 1;
    *number = parts == 3 ? 2 : -1;
    return parts == 3 || (run && parts == 2);
}

static int add_text(struct ek_trec_pairs *p, const char *text)
{
    return ek_buf_add(&p->text, text, strlen(text) + 1);
}

/* Strings move while the buffer grows, so pairs store offsets until all lines are read. */
static int add(struct ek_trec_pairs *p, const char *query, const char *document, double number,
               long line, struct ek_error *e)
{
    if (p->count == EK_TREC_PAIRS_MAX)
        return ek_fail(e, EK_ELIMIT, "more than %d pairs", EK_TREC_PAIRS_MAX);
    struct ek_trec_pair *grown = ek_grow(p->pair, p->count, &p->room, sizeof *grown);
    if (!grown)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    p->pair = grown;
    uintptr_t q = p->text.length;
    int rc = add_text(p, query);
    uintptr_t d = p->text.length;
    if (!rc)
        rc = add_text(p, document);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "out of memory");
    p->pair[p->count] =
        (struct ek_trec_pair){(const char *)q, (const char *)d, number, (uint32_t)line};
    p->count++;
    return EK_OK;
}

static int read_line(struct ek_trec_pairs *p, enum ek_trec_kind kind, char *line, long number_of,
                     struct ek_error *e)
{
    const char *what = kind == EK_TREC_RUN ? "score" : "label";
    char *part[PARTS_MAX];
    int document, number, parts = split(line, part);
    double value = NAN;
    if (!parts)
        return EK_OK;
    if (!shape(kind, parts, &document, &number))
        return ek_fail(e, EK_EFORMAT, "the line has %d parts, expected %s", parts,
                       kind == EK_TREC_RUN ? "'QUERY Q0 DOCUMENT RANK SCORE TAG' or "
                                             "'QUERY DOCUMENT [SCORE]'"
                                           : "'QUERY 0 DOCUMENT LABEL'");
    if (number >= 0 && ek_parse_finite(part[number], EK_WHOLE, &value))
        return ek_fail(e, EK_EFORMAT, "invalid %s '%s'", what, part[number]);
    if (fabs(value) > FLT_MAX)
        return ek_fail(e, EK_EFORMAT, "%s '%s' is out of range for float32", what, part[number]);
    if (kind == EK_TREC_QRELS)
        value = fmax(value, 0);
    return add(p, part[0], part[document], value, number_of, e);
}

static int read_lines(struct ek_trec_pairs *p, enum ek_trec_kind kind, struct ek_reader *r,
                      struct ek_error *e)
{
    char *line;
    size_t length;
    int rc;
    while (!(rc = ek_reader_line(r, &line, &length, e)) && line)
        if ((rc = memchr(line, 0, length)
                      ? ek_fail(e, EK_EFORMAT, "the line has a NUL byte")
                      : read_line(p, kind, line, ek_reader_line_number(r), e))) {
            ek_error_place(e, ek_reader_name(r), ek_reader_line_number(r), 0);
            break;
        }
    return rc;
}

static int by_document(const void *a, const void *b)
{
    const struct ek_trec_pair *x = a, *y = b;
    int order = strcmp(x->query, y->query);
    return order ? order : strcmp(x->document, y->document);
}

static int by_line(const void *a, const void *b)
{
    const struct ek_trec_pair *x = a, *y = b;
    int order = strcmp(x->query, y->query);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int arrange(struct ek_trec_pairs *p, enum ek_trec_kind kind, const char *path,
                   struct ek_error *e)
{
    const char *text = (const char *)p->text.data;
    if (!p->count) /* a file without pairs has no memory to sort */
        return EK_OK;
    for (size_t i = 0; i < p->count; i++) {
        p->pair[i].query = text + (uintptr_t)p->pair[i].query;
        p->pair[i].document = text + (uintptr_t)p->pair[i].document;
    }
    qsort(p->pair, p->count, sizeof *p->pair, by_document);
    for (size_t i = 1; i < p->count; i++) {
        const struct ek_trec_pair *a = &p->pair[i - 1], *b = &p->pair[i];
        if (!by_document(a, b))
            return ek_fail_at(e, EK_EFORMAT, path, a->line > b->line ? a->line : b->line, 0,
                              "duplicate document '%s' of query '%s'", b->document, b->query);
    }
    if (kind == EK_TREC_RUN)
        qsort(p->pair, p->count, sizeof *p->pair, by_line);
    return EK_OK;
}

int ek_trec_pairs_read(struct ek_trec_pairs **out, const char *path, enum ek_trec_kind kind,
                       struct ek_error *e)
{
    struct ek_reader *r;
    struct ek_trec_pairs *p = ek_calloc(1, sizeof *p);
    if (!p)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_init(&p->text, TEXT_BYTES_MAX);
    int rc = ek_reader_open(&r, path, e);
    if (!rc) {
        rc = read_lines(p, kind, r, e);
        ek_reader_close(r);
    }
    if (!rc)
        rc = arrange(p, kind, path, e);
    if (rc)
        ek_trec_pairs_free(p);
    else
        *out = p;
    return rc;
}

void ek_trec_pairs_free(struct ek_trec_pairs *p)
{
    if (!p)
        return;
    ek_buf_release(&p->text);
    ek_free(p->pair);
    ek_free(p);
}

const struct ek_trec_pair *ek_trec_pairs_get(const struct ek_trec_pairs *p, const char *query,
                                             size_t *n)
{
    size_t low = 0, high = p->count, end;
    *n = 0;
    if (!p->count)
        return NULL;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(p->pair[middle].query, query) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < p->count && !strcmp(p->pair[end].query, query);)
        end++;
    *n = end - low;
    return p->pair + low;
}

double ek_trec_label(const struct ek_trec_pairs *p, const char *query, const char *document)
{
    struct ek_trec_pair key = {query, document, 0, 0};
    if (!p || !p->count)
        return 0;
    const struct ek_trec_pair *at = bsearch(&key, p->pair, p->count, sizeof key, by_document);
    return at ? at->number : 0;
}

struct ek_extract_candidates {
    const struct ek_index *x;
    struct ek_trec_pairs *run; /* alternative to run */
    struct ek_retrieve *best;
    struct ek_hit *hits; /* [top] */
    uint32_t top;
    struct ek_candidate *at; /* [room] */
    size_t room;
};

static int grow(struct ek_extract_candidates *c, size_t n, struct ek_error *e)
{
    if (n <= c->room)
        return EK_OK;
    struct ek_candidate *at = ek_realloc(c->at, n, sizeof *at);
    if (!at)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->at = at;
    c->room = n;
    return EK_OK;
}

static int open_best(struct ek_extract_candidates *c, struct ek_error *e)
{
    int rc = ek_retrieve_new(&c->best, c->x, EK_BM25_DEFAULT, e);
    if (rc)
        return rc;
    c->hits = ek_calloc(c->top, sizeof *c->hits);
    return c->hits ? grow(c, c->top, e) : ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_extract_candidates_new(struct ek_extract_candidates **out, const struct ek_index *x,
                              const char *path, uint32_t top, struct ek_error *e)
{
    struct ek_extract_candidates *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->x = x;
    c->top = top < ek_index_documents(x) ? top : ek_index_documents(x);
    int rc = path ? ek_trec_pairs_read(&c->run, path, EK_TREC_RUN, e) : open_best(c, e);
    if (rc)
        ek_extract_candidates_free(c);
    else
        *out = c;
    return rc;
}

void ek_extract_candidates_free(struct ek_extract_candidates *c)
{
    if (!c)
        return;
    ek_trec_pairs_free(c->run);
    ek_retrieve_free(c->best);
    ek_free(c->hits);
    ek_free(c->at);
    ek_free(c);
}

static int from_run(struct ek_extract_candidates *c, const char *query, size_t *n, size_t *unknown,
                    struct ek_error *e)
{
    size_t named;
    const struct ek_trec_pair *pair = ek_trec_pairs_get(c->run, query, &named);
    int rc = grow(c, named, e);
    *n = *unknown = 0;
    for (size_t i = 0; !rc && i < named; i++) {
        int64_t number = ek_index_document(c->x, pair[i].document, strlen(pair[i].document));
        if (number < 0)
            ++*unknown;
        else
            c->at[(*n)++] = (struct ek_candidate){(uint32_t)number, pair[i].number};
    }
    return rc;
}

static int from_index(struct ek_extract_candidates *c, const struct ek_text_features *f, size_t *n,
                      struct ek_error *e)
{
    uint32_t terms[EK_QUERY_TOKENS_MAX], found = 0;
    uint32_t count = ek_text_features_terms(f, terms, EK_QUERY_TOKENS_MAX);
    int rc = c->top ? ek_retrieve(c->best, terms, count, c->top, c->hits, &found, e) : EK_OK;
    for (uint32_t i = 0; !rc && i < found; i++)
        c->at[i] = (struct ek_candidate){c->hits[i].document, c->hits[i].score};
    *n = found;
    return rc;
}

int ek_extract_candidates_get(struct ek_extract_candidates *c, const char *query,
                              const struct ek_text_features *f, const struct ek_candidate **at,
                              size_t *n, size_t *unknown, struct ek_error *e)
{
    *unknown = 0;
    int rc = c->run ? from_run(c, query, n, unknown, e) : from_index(c, f, n, e);
    *at = c->at;
    return rc;
}
