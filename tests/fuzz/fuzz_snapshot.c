/* Snapshots: what is restored can be used and saved again; all else is refused. */
#include "base/hash.h"
#include "decide/snapshot.h"
#include "tests/fuzz/fuzz.h"
#include "tests/shop.h"

enum {
    CELLS = 4,
    LISTS = 24,
    FAULTY = 10,
    KIND = 1,
    USED = 16,
    BYTES_AT = 12,
    OWN = 36,
    CRC = 4,
    AGAIN = 8
};

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;
static struct ek_buf own; /* a snapshot of ours: its head is that of all that fit */

static void observe(struct ek_detector *d, uint64_t seed, int lists, int faulty)
{
    struct shop s;
    shop_open(&s, seed, 4);
    for (int n = 0; n < lists; n++) {
        struct ek_query *q = shop_next(&s);
        for (int i = 0; n >= faulty && i < q->items; i++) {
            q->x[2 * i] *= 100;
            q->x[2 * i + KIND] = 99;
        }
        ek_fuzz_require(!ek_detector_observe(d, q, q->time_ms, NULL), "a list is refused");
    }
    shop_close(&s);
}

static void set_up(void)
{
    static const char text[] =
        "version: 1\nsegments: [arm, market]\ndefaults: {confirm_queries: 8}\n";
    struct ek_detector *d;
    manifest = shop_manifest();
    profile = shop_profile(manifest, 400, 4, NULL);
    ek_fuzz_require(!ek_rules_parse(&rules, manifest, "rules", text, sizeof text - 1, NULL) &&
                        !ek_detector_new_with(&d, manifest, profile, rules, CELLS, NULL),
                    "no detector");
    observe(d, 5, LISTS, FAULTY);
    ek_buf_init(&own, 0);
    ek_fuzz_require(!ek_detector_save(d, &own, NULL), "no snapshot");
    ek_detector_free(d);
}

/* What was saved can be restored. A new detector costs milliseconds, so not each is tried. */
static void save(const struct ek_detector *d)
{
    struct ek_detector *again = NULL;
    struct ek_buf bytes;
    struct ek_error e = {0};
    ek_buf_init(&bytes, 0);
    ek_fuzz_require(!ek_detector_save(d, &bytes, &e), e.message);
    if (ek_crc32(bytes.data, bytes.length) % AGAIN == 0)
        ek_fuzz_require(!ek_detector_restore(&again, manifest, profile, rules, CELLS, bytes.data,
                                             bytes.length, &e),
                        e.message);
    ek_detector_free(again);
    ek_buf_release(&bytes);
}

/* Lists and findings go through it. */
static void use(struct ek_detector *d)
{
    struct ek_finding f;
    while (ek_detector_next(d, &f))
        ek_fuzz_require(f.signal != NULL && ek_finding_state_name(f.state) != NULL, "no words");
    observe(d, 9, USED, USED / 2);
    save(d);
}

static void try(const uint8_t *data, size_t size)
{
    struct ek_detector *d = NULL;
    struct ek_error e = {0};
    if (ek_detector_restore(&d, manifest, profile, rules, CELLS, data, size, &e)) {
        ek_fuzz_require(!d && e.message[0], "refused without a word");
        return;
    }
    use(d);
    ek_detector_free(d);
}

/* As it is; and as one that is ours, with the length and checksum that it needs, so that what is
 * between them is looked at. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!manifest)
        set_up();
    try(data, size);
    if (size < OWN + CRC)
        return 0;
    uint8_t *fit = malloc(size);
    uint64_t bytes = size;
    ek_fuzz_require(fit != NULL, "out of memory");
    memcpy(fit, data, size);
    memcpy(fit, own.data, OWN);
    memcpy(fit + BYTES_AT, &bytes, sizeof bytes);
    uint32_t crc = ek_crc32(fit, size - CRC);
    memcpy(fit + size - CRC, &crc, CRC);
    try(fit, size);
    free(fit);
    return 0;
}
