/* LETOR text: every accepted list has the shape and values that the header promises. */
#include "lists/letor.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: nights, index: 2, role: query}\n"
                               "  - {name: rating, index: 3, role: item}\n"
                               "derived_query_features: [log_list_size]\n";

static void check_list(const struct ek_list *q)
{
    ek_fuzz_require(q->items > 0 && q->item_features == 2 && q->query_features == 2,
                    "a list of another shape");
    ek_fuzz_require(q->has_label && fabsf(q->query[1] - logf((float)q->items)) < 1e-4f,
                    "a list without its label or size");
    for (int i = 0; i < q->items; i++)
        ek_fuzz_require(q->label[i] >= 0 && isnan(q->score[i]), "a label below 0, or a score");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *manifest;
    struct ek_letor *letor;
    struct ek_list q;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    bool more = true;
    int rc = 0;
    if (!manifest)
        ek_fuzz_require(!ek_manifest_parse(&manifest, "m", FEATURES, strlen(FEATURES), NULL),
                        "the manifest cannot be read");
    int fd = ek_fuzz_file(data, size, path);
    ek_list_init(&q);
    if (!ek_letor_open(&letor, manifest, path, NULL)) {
        while (!(rc = ek_letor_next(letor, &q, &more, &e)) && more)
            check_list(&q);
        ek_fuzz_require(!rc || e.message[0], "refused without a word");
        ek_letor_close(letor);
    }
    ek_list_release(&q);
    close(fd);
    return 0;
}
