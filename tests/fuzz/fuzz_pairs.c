/* Runs and judgments: each pair is found once by its query, with its number. */
#include "daemon/tools/extract/extract_candidates.h"
#include "tests/fuzz/fuzz.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { QUERY_BYTES = 256 };

static void check_query(const struct ek_trec_pairs *p, const char *query, enum ek_trec_kind kind)
{
    size_t n;
    const struct ek_trec_pair *at = ek_trec_pairs_get(p, query, &n);
    for (size_t i = 0; i < n; i++) {
        ek_fuzz_require(!strcmp(at[i].query, query) && *at[i].document && at[i].line,
                        "a pair of another query");
        ek_fuzz_require(!i ||
                            (kind == EK_TREC_RUN ? at[i - 1].line < at[i].line
                                                 : strcmp(at[i - 1].document, at[i].document) < 0),
                        "pairs out of order");
        if (kind == EK_TREC_RUN)
            ek_fuzz_require(isnan(at[i].number) || fabs(at[i].number) <= FLT_MAX, "no score");
        else
            ek_fuzz_require(at[i].number >= 0 && at[i].number <= FLT_MAX &&
                                ek_trec_label(p, query, at[i].document) == at[i].number,
                            "a label that is not found");
    }
}

/* Look up each line's first word as a query. */
static void check_all(const struct ek_trec_pairs *p, const uint8_t *data, size_t size,
                      enum ek_trec_kind kind)
{
    const char *at = (const char *)data, *end = at + size;
    while (at < end) {
        char query[QUERY_BYTES];
        size_t n = 0;
        while (at < end && (*at == ' ' || *at == '\t'))
            at++;
        while (at < end && !memchr(" \t\r\n", *at, 4) && n < sizeof query - 1)
            query[n++] = *at++;
        query[n] = 0;
        check_query(p, query, kind);
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        at = line_end ? line_end + 1 : end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[EK_FUZZ_PATH_BYTES];
    int fd = ek_fuzz_file(data, size, path);
    for (int kind = EK_TREC_RUN; kind <= EK_TREC_QRELS; kind++) {
        struct ek_trec_pairs *p;
        struct ek_error e = {0};
        if (ek_trec_pairs_read(&p, path, (enum ek_trec_kind)kind, &e)) {
            ek_fuzz_require(e.message[0] != 0, "refused without a word");
            continue;
        }
        check_all(p, data, size, (enum ek_trec_kind)kind);
        ek_trec_pairs_free(p);
    }
    close(fd);
    return 0;
}
