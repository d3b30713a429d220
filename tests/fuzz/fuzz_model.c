/* Models: one that can be loaded can score a list. */
#include "data/model.h"
#include "score/scorer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

enum { ITEMS = 3, FEATURES_TRIED = 256 };

static void score_list(const struct ek_model *m)
{
    struct ek_scorer *scorer;
    struct ek_query q;
    struct ek_error e = {0};
    double scores[ITEMS];
    ek_query_init(&q);
    if (ek_scorer_new(&scorer, m, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return;
    }
    ek_fuzz_require(!ek_query_resize(&q, ITEMS, m->item_features, m->query_features),
                    "no room for a list");
    for (int i = 0; i < ITEMS * m->item_features; i++)
        q.x[i] = (float)(i - 1);
    for (int i = 0; i < m->query_features; i++)
        q.query[i] = (float)i;
    ek_fuzz_require(!ek_scorer_score(scorer, &q, NULL, scores, &e), e.message);
    ek_scorer_free(scorer);
    ek_query_release(&q);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return ek_fuzz_mutate_tensors(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_model *m;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    int fd = ek_fuzz_file(data, size, path);
    if (ek_model_load(&m, path, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    } else {
        if (m->item_features <= FEATURES_TRIED && m->query_features <= FEATURES_TRIED)
            score_list(m);
        ek_model_free(m);
    }
    close(fd);
    return 0;
}
