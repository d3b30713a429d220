#include "text/features/retrieve.h"

#include "base/alloc.h"
#include "text/index/index_internal.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Top-k hits as a min-heap. */

struct ek_topk {
    struct ek_hit *hits; /* [k], memory of the caller */
    uint32_t count, k;
};

static bool is_worse(const struct ek_hit *a, const struct ek_hit *b)
{
    return a->score < b->score || (a->score == b->score && a->document > b->document);
}

static void swap(struct ek_hit *a, struct ek_hit *b)
{
    struct ek_hit kept = *a;
    *a = *b;
    *b = kept;
}

static void rise(struct ek_topk *t, uint32_t at)
{
    while (at && is_worse(t->hits + at, t->hits + (at - 1) / 2)) {
        swap(t->hits + at, t->hits + (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static void sink(struct ek_topk *t)
{
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && is_worse(t->hits + child + 1, t->hits + child))
            child++;
        if (!is_worse(t->hits + child, t->hits + at))
            return;
        swap(t->hits + child, t->hits + at);
        at = child;
    }
}

/* Add a hit if the heap has space or its minimum is worse. */
static void topk_add(struct ek_topk *t, struct ek_hit hit)
{
    if (t->count < t->k) {
        t->hits[t->count] = hit;
        rise(t, t->count++);
    } else if (t->k && is_worse(t->hits, &hit)) {
        t->hits[0] = hit;
        sink(t);
    }
}

/* Return the score of the k-th hit, or -1 while fewer are present. */
static double topk_min(const struct ek_topk *t)
{
    return t->count < t->k ? -1 : t->hits[0].score;
}

static int best_first(const void *a, const void *b)
{
    return is_worse(a, b) - is_worse(b, a);
}

/* Sort the hits, best first. The heap order is lost. */
static void topk_sort(struct ek_topk *t)
{
    if (t->count)
        qsort(t->hits, t->count, sizeof *t->hits, best_first);
}

/* Document-at-a-time retrieval in ranges. A range ends where the first current block ends, so each
 * term has at most one block in it. Block summaries bound every score. A range that cannot contain
 * a better document is skipped without decoding (block-max indexes: Ding and Suel 2011). In other
 * ranges, terms that cannot change the result alone are only looked up (MaxScore: Turtle and Flood
 * 1995). Final scores are summed in the order of term numbers, so pruning does not change them. */

enum { STRETCH = 4096 };

/* Bounds are summed in another order than scores; this exceeds the rounding difference. */
static const double slack = 1 + 1e-9;

struct term {
    struct ek_blocks blocks;
    double weight, bound;        /* bound of the scores in this block */
    uint32_t next;               /* index in the block, if decoded */
    bool unpacked, done, lookup; /* lookup: not scanned in this range */
};

struct ek_retrieve {
    const struct ek_index *index;
    double fixed, slope; /* k1 * (1 - b + b * length / average) = fixed + slope * length */
    struct term *terms;
    uint32_t count, room;
    struct ek_topk top;
    uint32_t low, high; /* the range, inclusive */
    uint32_t touched_count;
    uint16_t touched[STRETCH];
    double sum[STRETCH]; /* partial scores of the scanned terms; 0 between ranges */
};

int ek_retrieve_new(struct ek_retrieve **out, const struct ek_index *x, struct ek_bm25 settings,
                    struct ek_error *e)
{
    if (!(settings.k1 >= 0) || !(settings.b >= 0 && settings.b <= 1) || !isfinite(settings.k1))
        return ek_fail(e, EK_EUSAGE, "BM25 needs k1 from 0 and b from 0 to 1");
    struct ek_retrieve *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    struct ek_field_statistics all = ek_index_field(x, EK_FIELD_DOCUMENT);
    r->index = x;
    r->fixed = settings.k1 * (1 - settings.b);
    if (all.tokens)
        r->slope = settings.k1 * settings.b * ek_index_documents(x) / (double)all.tokens;
    *out = r;
    return EK_OK;
}

void ek_retrieve_free(struct ek_retrieve *r)
{
    if (!r)
        return;
    ek_free(r->terms);
    ek_free(r);
}

static double score_of(const struct ek_retrieve *r, const struct term *t, uint32_t tf,
                       uint32_t length)
{
    return t->weight * tf / (tf + r->fixed + r->slope * length);
}

static int unpack(struct term *t, struct ek_error *e)
{
    if (t->unpacked)
        return EK_OK;
    int rc = ek_blocks_documents(&t->blocks, e);
    if (rc)
        return rc;
    t->unpacked = true;
    t->next = 0;
    t->blocks.highest = t->blocks.document[t->blocks.count - 1];
    return EK_OK;
}

/* Read the next block and its bound, from the summary or from its documents. */
static int next_block(struct ek_retrieve *r, struct term *t, struct ek_error *e)
{
    struct ek_blocks *b = &t->blocks;
    int rc = ek_blocks_next(b, e);
    t->done = rc || !b->count;
    t->unpacked = false;
    if (t->done)
        return rc;
    if (b->summary) {
        t->bound = score_of(r, t, b->most, b->shortest);
        return EK_OK;
    }
    rc = unpack(t, e);
    t->bound = 0;
    for (uint32_t i = 0; i < b->count && !rc; i++) {
        double s = score_of(r, t, b->tf[i], r->index->lengths[b->document[i]]);
        t->bound = s > t->bound ? s : t->bound;
    }
    return rc;
}

/* Advance to the block that ends at `low` or later. */
static int seek(struct ek_retrieve *r, struct term *t, uint32_t low, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc && !t->done && t->blocks.highest < low)
        rc = next_block(r, t, e);
    if (!rc && !t->done && t->unpacked)
        while (t->blocks.document[t->next] < low)
            t->next++;
    return rc;
}

/* Return a lower bound of the term's next document. */
static uint32_t earliest(const struct term *t, uint32_t low)
{
    if (t->unpacked)
        return t->blocks.document[t->next];
    return t->blocks.last + 1 > (int64_t)low ? (uint32_t)(t->blocks.last + 1) : low;
}

/* Find the next range at or after `low`. Set *more to false if no term has documents there. */
static int find_stretch(struct ek_retrieve *r, uint32_t low, bool *more, struct ek_error *e)
{
    uint32_t first = UINT32_MAX, high = UINT32_MAX;
    for (uint32_t i = 0; i < r->count; i++) {
        struct term *t = r->terms + i;
        int rc = seek(r, t, low, e);
        if (rc)
            return rc;
        if (t->done)
            continue;
        uint32_t at = earliest(t, low);
        first = at < first ? at : first;
        high = t->blocks.highest < high ? t->blocks.highest : high;
    }
    *more = high != UINT32_MAX;
    r->low = first;
    r->high = high - first < STRETCH ? high : first + STRETCH - 1;
    return EK_OK;
}

static bool is_in(const struct ek_retrieve *r, const struct term *t)
{
    return !t->done && earliest(t, r->low) <= r->high;
}

/* Select terms that are only looked up, with a total bound below the current minimum. Return that
 * total, and the total of all terms in *all. */
static double choose_lookups(struct ek_retrieve *r, double *all)
{
    double least = topk_min(&r->top), looked = 0;
    *all = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        r->terms[i].lookup = !is_in(r, r->terms + i);
        if (!r->terms[i].lookup)
            *all += r->terms[i].bound;
    }
    for (;;) { /* lowest bound first */
        struct term *lowest = NULL;
        for (uint32_t i = 0; i < r->count; i++)
            if (!r->terms[i].lookup && (!lowest || r->terms[i].bound < lowest->bound))
                lowest = r->terms + i;
        if (!lowest || (looked + lowest->bound) * slack >= least)
            return looked;
        lowest->lookup = true;
        looked += lowest->bound;
    }
}

static int scan_terms(struct ek_retrieve *r, struct term *t, struct ek_error *e)
{
    int rc = unpack(t, e);
    if (rc)
        return rc;
    const struct ek_blocks *b = &t->blocks;
    for (uint32_t i = t->next; i < b->count && b->document[i] <= r->high; i++) {
        uint32_t document = b->document[i];
        if (document < r->low)
            continue;
        uint32_t at = document - r->low;
        if (r->sum[at] == 0)
            r->touched[r->touched_count++] = (uint16_t)at;
        r->sum[at] += score_of(r, t, b->tf[i], r->index->lengths[document]);
    }
    return EK_OK;
}

static uint32_t count_in(const struct term *t, uint32_t document)
{
    uint32_t low = t->next, high = t->blocks.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->blocks.document[middle] < document)
            low = middle + 1;
        else
            high = middle;
    }
    return low < t->blocks.count && t->blocks.document[low] == document ? t->blocks.tf[low] : 0;
}

static int score_document(struct ek_retrieve *r, uint32_t document, struct ek_error *e)
{
    double score = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct term *t = r->terms + i;
        if (!is_in(r, t))
            continue;
        int rc = unpack(t, e);
        if (rc)
            return rc;
        uint32_t tf = count_in(t, document);
        if (tf)
            score += score_of(r, t, tf, r->index->lengths[document]);
    }
    topk_add(&r->top, (struct ek_hit){document, score});
    return EK_OK;
}

static int search_stretch(struct ek_retrieve *r, struct ek_error *e)
{
    double all, looked = choose_lookups(r, &all);
    int rc = EK_OK;
    if (all * slack < topk_min(&r->top))
        return EK_OK;
    r->touched_count = 0;
    for (uint32_t i = 0; i < r->count && !rc; i++)
        if (!r->terms[i].lookup)
            rc = scan_terms(r, r->terms + i, e);
    for (uint32_t i = 0; i < r->touched_count; i++) {
        uint32_t at = r->touched[i];
        double sum = r->sum[at];
        r->sum[at] = 0;
        if (rc || (sum + looked) * slack < topk_min(&r->top))
            continue;
        if (looked > 0)
            rc = score_document(r, r->low + at, e);
        else /* every term was scanned, so the sum is the score */
            topk_add(&r->top, (struct ek_hit){r->low + at, sum});
    }
    return rc;
}

static int search(struct ek_retrieve *r, struct ek_error *e)
{
    uint64_t low = 0;
    bool more = true;
    int rc = EK_OK;
    while (!rc && more && low < r->index->footer.documents) {
        rc = find_stretch(r, (uint32_t)low, &more, e);
        if (!rc && more)
            rc = search_stretch(r, e);
        low = (uint64_t)r->high + 1;
    }
    return rc;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int begin_term(struct ek_retrieve *r, uint32_t number, uint32_t times, struct ek_error *e)
{
    struct term *t = r->terms + r->count;
    double n = ek_index_documents(r->index);
    double df = ek_index_statistics(r->index, number, EK_FIELD_DOCUMENT).documents;
    *t = (struct term){.weight = times * log(1 + (n - df + 0.5) / (df + 0.5))};
    int rc = ek_blocks_begin(&t->blocks, r->index, number, e);
    if (!rc)
        rc = next_block(r, t, e);
    r->count += !rc;
    return rc;
}

/* Open the distinct terms of a query in the order of their numbers. */
static int begin(struct ek_retrieve *r, uint32_t *terms, uint32_t count, struct ek_error *e)
{
    int rc = EK_OK;
    qsort(terms, count, sizeof *terms, by_number);
    for (uint32_t i = 0, times; i < count && !rc; i += times) {
        for (times = 1; i + times < count && terms[i + times] == terms[i];)
            times++;
        if (terms[i] >= r->index->footer.terms)
            return EK_OK;
        if (r->count == EK_RETRIEVE_TERMS_MAX)
            return ek_fail(e, EK_ELIMIT, "a query of more than %d different terms",
                           EK_RETRIEVE_TERMS_MAX);
        rc = begin_term(r, terms[i], times, e);
    }
    return rc;
}

static int reserve_terms(struct ek_retrieve *r, uint32_t count, struct ek_error *e)
{
    count = count < EK_RETRIEVE_TERMS_MAX ? count : EK_RETRIEVE_TERMS_MAX;
    if (count <= r->room)
        return EK_OK;
    struct term *larger = ek_realloc(r->terms, count, sizeof *larger);
    if (!larger)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->terms = larger;
    r->room = count;
    return EK_OK;
}

int ek_retrieve(struct ek_retrieve *r, const uint32_t *terms, uint32_t count, uint32_t k,
                struct ek_hit *hits, uint32_t *found, struct ek_error *e)
{
    r->top = (struct ek_topk){hits, 0, k};
    r->count = 0;
    *found = 0;
    uint32_t *sorted = ek_calloc(count, sizeof *sorted);
    if (!sorted)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (count)
        memcpy(sorted, terms, count * sizeof *sorted);
    int rc = reserve_terms(r, count, e);
    if (!rc)
        rc = begin(r, sorted, count, e);
    ek_free(sorted);
    if (!rc && k)
        rc = search(r, e);
    if (rc)
        return rc;
    topk_sort(&r->top);
    *found = r->top.count;
    return EK_OK;
}
