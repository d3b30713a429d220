/* Fault specifications (`price=x100@0.5,arm=B`): an accepted one applies to lists, affects at most
 * its fraction of them, and changes only its features. */
#include "base/error.h"
#include "offline/world/faults.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 2, role: query}\n"
                               "  - {name: rating, index: 3, role: item}\n"
                               "  - {name: kind, index: 4, role: item, type: category}\n";

enum { SPEC_MAX = 500, ITEMS = 3, F = 3 };

static void make_list(struct ek_list *q, uint64_t number)
{
    static const float odd[] = {0, -1, 100, 1e30f, -1e-30f};
    ek_fuzz_require(!ek_list_resize(q, ITEMS, F, 1), "no memory");
    for (int i = 0; i < ITEMS * F; i++)
        q->x[i] = i % 7 == 6 ? NAN : odd[((uint64_t)i + number) % 5];
    q->query[0] = (float)number;
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){ek_text_from("arm"), ek_text_from(number % 2 ? "B" : "A")};
    q->sources = (int)(number % 3);
    for (int i = 0; i < ITEMS && q->source; i++)
        q->source[i] = (uint8_t)(q->sources ? i % q->sources : 0);
}

static bool names(const struct ek_fault *f, int item)
{
    for (int i = 0; i < f->item_count; i++)
        if (f->item[i] == item)
            return true;
    return false;
}

static void put_in(const struct ek_fault *f)
{
    struct ek_list q, was;
    ek_list_init(&q);
    ek_list_init(&was);
    for (uint64_t n = 0; n < 6; n++) {
        make_list(&q, n);
        make_list(&was, n);
        bool hit = ek_fault_apply(f, &q, n, 1);
        ek_fuzz_require(!hit || (n >= f->from && n < f->to), "hit outside of from and to");
        ek_fuzz_require(hit == ek_fault_hits(f, &was, n, 1), "hits, and does not change");
        for (int i = 0; i < ITEMS * F; i++)
            ek_fuzz_require((hit && names(f, i % F)) || !memcmp(&q.x[i], &was.x[i], sizeof *q.x),
                            "another value has changed");
        ek_fault_arm(f, &q, n, 1);
    }
    ek_list_release(&q);
    ek_list_release(&was);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *m;
    struct ek_fault f;
    struct ek_error e = {0};
    char spec[SPEC_MAX + 1];
    if (!m)
        ek_fuzz_require(!ek_manifest_parse(&m, "m", FEATURES, strlen(FEATURES), NULL),
                        "the manifest cannot be read");
    size = size < SPEC_MAX ? size : SPEC_MAX;
    memcpy(spec, size ? (const void *)data : "", size);
    spec[size] = 0;
    if (ek_fault_parse(&f, m, spec, &e)) {
        ek_fuzz_require(e.message[0], "refused without a word");
        return 0;
    }
    ek_fuzz_require(f.item_count > 0 && f.share > 0 && f.share <= 1 && f.items > 0 &&
                        f.items <= 1 && f.from < f.to && isfinite(f.value),
                    "a fault out of its range");
    if (!ek_fault_needs_fit(&f))
        put_in(&f);
    ek_fault_release(&f);
    return 0;
}
