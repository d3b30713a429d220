#include "text/features/query_terms.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct ek_query_terms *q;
    const struct ek_index *x;
    struct ek_error *e;
    uint32_t tokens, last;
    bool has_message; /* the error message is set */
};

void ek_query_terms_init(struct ek_query_terms *q)
{
    q->terms = q->pairs = q->known = 0;
    ek_buf_init(&q->letters, 0);
}

void ek_query_terms_release(struct ek_query_terms *q)
{
    ek_buf_release(&q->letters);
}

static size_t begin_of(const struct ek_query_terms *q, uint32_t t)
{
    return t ? q->letters_end[t - 1] : 0;
}

const char *ek_query_terms_text(const struct ek_query_terms *q, uint32_t t, size_t *length)
{
    size_t begin = begin_of(q, t);
    *length = q->letters_end[t] - begin;
    return (const char *)q->letters.data + begin;
}

static uint32_t same_term(const struct ek_query_terms *q, const char *term, size_t length)
{
    uint32_t t = 0;
    for (size_t n; t < q->terms; t++) {
        const char *text = ek_query_terms_text(q, t, &n);
        if (n == length && !memcmp(text, term, n))
            break;
    }
    return t;
}

static void add_pair(struct ek_query_terms *q, uint32_t a, uint32_t b)
{
    if (a == b)
        return;
    for (uint32_t p = 0; p < q->pairs; p++)
        if (q->first[p] == a && q->second[p] == b)
            return;
    q->first[q->pairs] = a;
    q->second[q->pairs++] = b;
}

static int add_term(void *context, const char *term, size_t length)
{
    struct reading *r = context;
    struct ek_query_terms *q = r->q;
    if (r->tokens == EK_QUERY_TOKENS_MAX) {
        r->has_message = true;
        return ek_fail(r->e, EK_ELIMIT, "a query has at most %d terms", EK_QUERY_TOKENS_MAX);
    }
    uint32_t t = same_term(q, term, length);
    if (t == q->terms) {
        int rc = ek_buf_add(&q->letters, term, length);
        if (rc)
            return rc;
        q->letters_end[t] = q->letters.length;
        q->number[t] = ek_index_find(r->x, term, length);
        q->count[t] = 0;
        q->terms++;
    }
    q->count[t]++;
    if (r->tokens)
        add_pair(q, r->last, t);
    r->last = t;
    r->tokens++;
    return EK_OK;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct ek_known_term *)a)->number;
    uint32_t y = ((const struct ek_known_term *)b)->number;
    return (x > y) - (x < y);
}

static void sort_known(struct ek_query_terms *q)
{
    for (uint32_t t = 0; t < q->terms; t++)
        if (q->number[t] != EK_NO_TERM)
            q->sorted[q->known++] = (struct ek_known_term){q->number[t], t};
    qsort(q->sorted, q->known, sizeof *q->sorted, by_number);
}

int ek_query_terms_read(struct ek_query_terms *q, struct ek_words *w, const struct ek_index *x,
                        const char *text, size_t length, struct ek_error *e)
{
    struct reading r = {.q = q, .x = x, .e = e};
    q->terms = q->pairs = q->known = 0;
    ek_buf_clear(&q->letters);
    int rc = ek_words_each(w, text, length, add_term, &r);
    if (rc)
        q->terms = q->pairs = 0;
    sort_known(q);
    return rc && !r.has_message ? ek_fail(e, (enum ek_code)rc, "out of memory") : rc;
}

int ek_query_terms_find(const struct ek_query_terms *q, uint32_t number)
{
    uint32_t low = 0, high = q->known;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (q->sorted[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < q->known && q->sorted[low].number == number ? (int)q->sorted[low].term : -1;
}
