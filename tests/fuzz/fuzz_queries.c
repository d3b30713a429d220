/* Query files: ids are unique words; a text yields terms, candidates and features that are numbers
 * or missing. */
#include "daemon/tools/extract/extract_features.h"
#include "base/hash.h"
#include "daemon/tools/extract/extract_candidates.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/indexed.h"

#include <math.h>
#include <string.h>

enum { TOP = 3, QUERIES_MAX = 64, ASKED_ONE_OF = 4 };

static struct ek_feature_choice *choice;
static struct ek_text_features *features;
static struct ek_extract_candidates *candidates;
static float *row;

static void set_up(void)
{
    static const char desired[] = "features: [all]";
    struct ek_error e = {0};
    struct ek_index *x;
    char path[EK_FUZZ_PATH_BYTES];
    const struct ek_buf *own = ek_fuzz_index();
    int fd = ek_fuzz_file(own->data, own->length, path);
    ek_fuzz_require(!ek_index_open(&x, path, &e), e.message);
    close(fd);
    ek_fuzz_require(!ek_feature_choice_parse(&choice, "all", desired, sizeof desired - 1, &e) &&
                        !ek_text_features_new(&features, x, choice, &e) &&
                        !ek_extract_candidates_new(&candidates, x, NULL, TOP, &e),
                    e.message);
    row = calloc(choice->count, sizeof *row);
    ek_fuzz_require(row != NULL, "no memory");
}

static void ask(const struct ek_extract_query *q)
{
    const struct ek_candidate *at;
    size_t n, unknown;
    struct ek_error e = {0};
    int rc = ek_text_features_query(features, q->text, q->text_length, &e);
    ek_fuzz_require(!rc || (rc == EK_ELIMIT && e.message[0]), "refused without a word");
    if (rc)
        return;
    ek_fuzz_require(
        !ek_extract_candidates_get(candidates, q->id, features, &at, &n, &unknown, &e) && n <= TOP,
        e.message);
    for (size_t i = 0; i < n; i++) {
        ek_fuzz_require(!i || at[i - 1].score >= at[i].score, "candidates out of order");
        ek_fuzz_require(!ek_text_features_document(features, at[i].document, at[i].score, row, &e),
                        e.message);
        for (size_t f = 0; f < choice->count; f++)
            ek_fuzz_require(!isinf(row[f]) && (!isnan(row[f]) || choice->feature[f]->missing),
                            choice->feature[f]->name);
    }
}

/* Read a file to its end or its first error. */
static void read_all(struct ek_extract_queries *queries, bool asked)
{
    struct ek_extract_query q;
    struct ek_error e = {0};
    uint64_t seen[QUERIES_MAX];
    bool more = false;
    int rc = 0, n = 0;
    while (n < QUERIES_MAX && !(rc = ek_extract_queries_next(queries, &q, &more, &e)) && more) {
        ek_fuzz_require(*q.id && !q.id[strcspn(q.id, " \t\r\n#")], "an id that is no word");
        ek_fuzz_require(!q.text[q.text_length], "a text that does not end");
        seen[n++] = ek_hash(q.id, strlen(q.id), 0);
        for (int i = 0; i < n - 1; i++)
            ek_fuzz_require(seen[i] != seen[n - 1], "a query twice");
        if (asked)
            ask(&q);
    }
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_extract_queries *queries;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    if (!choice)
        set_up();
    int fd = ek_fuzz_file(data, size, path);
    if (ek_extract_queries_open(&queries, path, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    } else {
        read_all(queries, ek_crc32(data, size) % ASKED_ONE_OF == 0);
        ek_extract_queries_close(queries);
    }
    close(fd);
    return 0;
}
