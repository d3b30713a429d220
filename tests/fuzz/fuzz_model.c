/* Models: one that loads can score a list, reports the routing of its training, and is equal after
 * writing and reading. */
#include "base/buf.h"
#include "assets/model.h"
#include "assets/tensors.h"
#include "score/scorer.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

enum { ITEMS = 3, FEATURES_TRIED = 256 };

static void score_list(const struct ek_model *m)
{
    struct ek_scorer *scorer;
    struct ek_list q;
    struct ek_error e = {0};
    double scores[ITEMS];
    ek_list_init(&q);
    if (ek_scorer_new(&scorer, m, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return;
    }
    ek_fuzz_require(!ek_list_resize(&q, ITEMS, m->item_features, m->query_features),
                    "no room for a list");
    for (int i = 0; i < ITEMS * m->item_features; i++)
        q.x[i] = (float)(i - 1);
    for (int i = 0; i < m->query_features; i++)
        q.query[i] = (float)i;
    ek_fuzz_require(!ek_scorer_score(scorer, &q, NULL, scores, &e), e.message);
    ek_scorer_free(scorer);
    ek_list_release(&q);
}

/* A model trained under any routing has no warning; others have one with a remedy. */
static void ask_routing(const struct ek_model *m)
{
    struct ek_treatment *t = calloc((size_t)m->routable_count + 1, sizeof *t);
    char text[512] = "";
    ek_fuzz_require(t != NULL, "no memory");
    for (int k = 0; m->trained.routed && k < m->routable_count; k++)
        t[k].action = m->trained.routed[k] ? EK_ACT_ROUTE : EK_ACT_NONE;
    bool any = ek_model_routing_warning(m, NULL, text, sizeof text);
    ek_fuzz_require(any == (m->trained.known && m->trained.routing != EK_ROUTING_RANDOM),
                    "advice for a model that needs none, or none for one that does");
    ek_fuzz_require(!any || text[0], "advice without a word");
    if (m->trained.routed)
        ek_fuzz_require(!ek_model_routing_warning(m, t, text, sizeof text),
                        "advice against the routing it was trained under");
    free(t);
}

/* Write a model file with the current description format. */
static void format(const struct ek_model *m, struct ek_buf *out)
{
    struct ek_error e = {0};
    ek_buf_init(out, 0);
    ek_fuzz_require(!ek_model_describe(m, &e) && !ek_tensors_format(m->storage, out, &e),
                    e.message);
}

static void write_again(const struct ek_model *m)
{
    struct ek_tensors *t;
    struct ek_model *again;
    struct ek_buf once, twice;
    struct ek_error e = {0};
    format(m, &once);
    ek_fuzz_require(!ek_tensors_parse(&t, "output", once.data, once.length, &e) &&
                        !ek_model_from_tensors(&again, t, "output", &e),
                    e.message);
    format(again, &twice);
    ek_fuzz_require(once.length == twice.length && !memcmp(once.data, twice.data, once.length),
                    "another one after writing and reading");
    ek_model_free(again);
    ek_buf_release(&once);
    ek_buf_release(&twice);
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
    } else if (m->trees) { /* target `trees` */
        ek_model_free(m);
    } else {
        ek_fuzz_take();
        if (m->item_features <= FEATURES_TRIED && m->query_features <= FEATURES_TRIED)
            score_list(m);
        ask_routing(m);
        write_again(m);
        ek_model_free(m);
    }
    close(fd);
    return 0;
}
