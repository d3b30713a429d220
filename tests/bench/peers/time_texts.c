/* time_texts: timing of this index and its candidates, like a peer in another language.
 *
 *     time_texts index COLLECTION INDEX       prints documents per second of CPU time
 *     time_texts search INDEX QUERIES K PASSES
 *     time_texts features INDEX QUERIES K PASSES CHOICE
 *
 * QUERIES: one per line, words separated by spaces. Search prints the best pass in us of CPU time
 * per query, the documents found, and the sum of the best documents' numbers for comparison with
 * another engine. Features prints, for the best K documents, us per query and document, the number
 * of documents, and the values of each.
 */
#include "base/file.h"
#include "base/parse.h"
#include "tests/bench/bench.h"
#include "tests/must.h"
#include "text/index/build.h"
#include "text/features/features.h"
#include "text/index/index.h"
#include "text/features/retrieve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TERMS_MAX = 64 };

/* Single thread: equals wall-clock time on an idle machine. */
static double processor_seconds(void)
{
    struct timespec t;
    must(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t));
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int index_texts(const char *from, const char *to)
{
    struct ek_collection *c;
    struct ek_record_text r;
    struct ek_build *b;
    bool more;
    double documents = 0, start = processor_seconds();
    must(ek_collection_open(&c, from, EK_COLLECTION_AUTO, NULL));
    must(ek_build_new(&b, to, "none", EK_BUILD_MEMORY, NULL));
    for (;;) {
        must(ek_collection_next(c, &r, &more, NULL));
        if (!more)
            break;
        must(ek_build_add(b, &r, from, NULL));
        documents++;
    }
    must(ek_build_finish(b, NULL, NULL, NULL));
    printf("%.6g\n", documents / (processor_seconds() - start));
    ek_build_free(b);
    ek_collection_close(c);
    return EXIT_SUCCESS;
}

struct queries {
    uint32_t (*term)[TERMS_MAX];
    uint32_t *length;
    size_t count;
};

/* Words are looked up in the index unchanged. */
static void read_queries(struct queries *q, const struct ek_index *x, const char *path)
{
    struct ek_reader *r;
    char *line, *rest;
    must(ek_reader_open(&r, path, NULL));
    for (*q = (struct queries){0};;) {
        must(ek_reader_line(r, &line, NULL, NULL));
        if (!line)
            break;
        q->term = realloc(q->term, (q->count + 1) * sizeof *q->term);
        q->length = realloc(q->length, (q->count + 1) * sizeof *q->length);
        must(!q->term || !q->length);
        uint32_t n = 0;
        for (char *w = strtok_r(line, " ", &rest); w && n < TERMS_MAX;
             w = strtok_r(NULL, " ", &rest))
            q->term[q->count][n++] = ek_index_find(x, w, strlen(w));
        q->length[q->count++] = n;
    }
    ek_reader_close(r);
}

static int search(const char *path, const char *queries, uint32_t k, uint64_t passes)
{
    struct ek_index *x;
    struct ek_retrieve *r;
    struct queries q;
    double best = 1e300;
    uint64_t found = 0, sum = 0;
    must(ek_index_open(&x, path, NULL));
    must(ek_retrieve_new(&r, x, EK_BM25_DEFAULT, NULL));
    read_queries(&q, x, queries);
    struct ek_hit *hits = ek_bench_memory(k, sizeof *hits);
    for (uint64_t pass = 0; pass < passes; pass++) {
        double start = processor_seconds();
        found = sum = 0;
        for (size_t i = 0; i < q.count; i++) {
            uint32_t n;
            must(ek_retrieve(r, q.term[i], q.length[i], k, hits, &n, NULL));
            found += n;
            sum += n ? hits[0].document : 0;
        }
        double seconds = processor_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    printf("%.6g %" PRIu64 " %" PRIu64 "\n", 1e6 * best / (double)q.count, found, sum);
    free(hits);
    free(q.term);
    free(q.length);
    ek_retrieve_free(r);
    ek_index_close(x);
    return EXIT_SUCCESS;
}

/* Compute the features of the candidates. Return the number of rows. */
static uint64_t extract(struct ek_retrieve *r, struct ek_text_features *f,
                        struct ek_reader *queries, uint32_t k, struct ek_hit *hits, float *x)
{
    uint32_t terms[TERMS_MAX], n;
    uint64_t rows = 0;
    size_t length;
    char *line;
    for (;;) {
        must(ek_reader_line(queries, &line, &length, NULL));
        if (!line)
            return rows;
        must(ek_text_features_query(f, line, length, NULL));
        uint32_t count = ek_text_features_terms(f, terms, TERMS_MAX);
        must(ek_retrieve(r, terms, count, k, hits, &n, NULL));
        for (uint32_t i = 0; i < n; i++)
            must(ek_text_features_document(f, hits[i].document, hits[i].score, x, NULL));
        rows += n;
    }
}

static int features(const char *path, const char *queries, uint32_t k, uint64_t passes,
                    const char *desired)
{
    struct ek_index *x;
    struct ek_retrieve *r;
    struct ek_feature_choice *choice;
    struct ek_text_features *f;
    double best = 1e300;
    uint64_t rows = 0;
    must(ek_index_open(&x, path, NULL));
    must(ek_retrieve_new(&r, x, EK_BM25_DEFAULT, NULL));
    must(ek_feature_choice_load(&choice, desired, NULL));
    must(ek_text_features_new(&f, x, choice, NULL));
    struct ek_hit *hits = ek_bench_memory(k, sizeof *hits);
    float *values = ek_bench_memory(choice->count, sizeof *values);
    for (uint64_t pass = 0; pass < passes; pass++) {
        struct ek_reader *lines;
        must(ek_reader_open(&lines, queries, NULL));
        double start = processor_seconds();
        rows = extract(r, f, lines, k, hits, values);
        double seconds = processor_seconds() - start;
        best = seconds < best ? seconds : best;
        ek_reader_close(lines);
    }
    printf("%.6g %" PRIu64 " %zu\n", 1e6 * best / (double)rows, rows, choice->count);
    free(values);
    free(hits);
    ek_text_features_free(f);
    ek_feature_choice_free(choice);
    ek_retrieve_free(r);
    ek_index_close(x);
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    uint64_t k, passes;
    if (argc == 4 && !strcmp(argv[1], "index"))
        return index_texts(argv[2], argv[3]);
    if (argc == 6 && !strcmp(argv[1], "search") && !ek_parse_u64(argv[4], EK_WHOLE, &k) &&
        !ek_parse_u64(argv[5], EK_WHOLE, &passes) && k && k < UINT32_MAX)
        return search(argv[2], argv[3], (uint32_t)k, passes);
    if (argc == 7 && !strcmp(argv[1], "features") && !ek_parse_u64(argv[4], EK_WHOLE, &k) &&
        !ek_parse_u64(argv[5], EK_WHOLE, &passes) && k && k < UINT32_MAX)
        return features(argv[2], argv[3], (uint32_t)k, passes, argv[6]);
    fprintf(stderr, "usage: time_texts index COLLECTION INDEX | search INDEX QUERIES K PASSES | "
                    "features INDEX QUERIES K PASSES CHOICE\n");
    return 2;
}
