/* Snapshots: what is restored can be used and saved again; all else is refused. */
#include "base/hash.h"
#include "detect/snapshot.h"
#include "detect/snapshot_view.h"
#include "tests/fuzz/fuzz.h"
#include "tests/shop.h"

enum {
    CELLS = 4,
    LISTS = 40,
    FAULTY = 10,
    KIND = 1,
    USED = 16,
    BYTES_AT = 12,
    OWN = 36, /* bytes of magic, version, length, hashes */
    CRC = 4,
    AGAIN = 8,
    EDIT = 8,
    TAG = 4,
    SECTIONS_MAX = 16,
    LENGTH_EDIT = 0x80
};

static struct ek_manifest *manifest;
static struct ek_profile *profile;
static struct ek_rules *rules;
static struct ek_buf own; /* a snapshot of ours: its head is that of all that fit */
static size_t length_at[SECTIONS_MAX];
static size_t sections;

/* Sections are a tag, a length and so many bytes, one behind the other up to the checksum. */
static bool are_sections(size_t at)
{
    uint64_t length;
    for (sections = 0; sections < SECTIONS_MAX && own.length - at > CRC + TAG + sizeof length;) {
        length_at[sections++] = at + TAG;
        memcpy(&length, own.data + at + TAG, sizeof length);
        if (length > own.length - at - TAG - sizeof length)
            return false;
        at += TAG + sizeof length + (size_t)length;
    }
    return sections > 1 && at == own.length - CRC;
}

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
    size_t head = OWN;
    while (head < own.length - EDIT && !are_sections(head))
        head++;
    ek_fuzz_require(sections > 0 && length_at[0] == head + TAG, "no sections");
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

/* What inspect does. */
static void view(const uint8_t *data, size_t size)
{
    struct ek_snapshot_view *v;
    struct ek_error e = {0};
    if (ek_snapshot_view_new(&v, data, size, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
        return;
    }
    for (int i = 0; i < v->changes; i++)
        ek_fuzz_require(v->feature[v->change[i].feature] &&
                            v->change[i].cell < ek_cells_count(v->cells),
                        "a change of nothing");
    ek_snapshot_view_free(v);
}

static void try(const uint8_t *data, size_t size)
{
    struct ek_detector *d = NULL;
    struct ek_error e = {0};
    view(data, size);
    if (ek_detector_restore(&d, manifest, profile, rules, CELLS, data, size, &e)) {
        ek_fuzz_require(!d && e.message[0], "refused without a word");
        return;
    }
    use(d);
    ek_detector_free(d);
}

/* With our head and with the length and checksum that it needs, so that what is between them is
 * looked at. */
static void try_sealed(const uint8_t *data, size_t size)
{
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
}

/* A section says that it is a bit longer or shorter. */
static void edit_length(uint8_t *copy, const uint8_t *data)
{
    size_t at = length_at[data[0] % sections];
    uint64_t length;
    memcpy(&length, copy + at, sizeof length);
    length += (uint64_t)(int64_t)(int8_t)data[4];
    memcpy(copy + at, &length, sizeof length);
}

/* The input says what is changed in a snapshot of ours: edits of 8 bytes, place (3), width (1) and
 * value (4); with the highest bit of the width that of a length, number of the section (1) and how
 * much (the first of the value). So it is deep in the format whatever that has become. */
static void try_edited(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(own.length);
    ek_fuzz_require(copy != NULL, "out of memory");
    memcpy(copy, own.data, own.length);
    for (; size >= EDIT; data += EDIT, size -= EDIT) {
        if (data[3] & LENGTH_EDIT) {
            edit_length(copy, data);
            continue;
        }
        size_t at = (size_t)data[0] | (size_t)data[1] << 8 | (size_t)data[2] << 16;
        size_t width = data[3] % (EDIT / 2) + 1;
        memcpy(copy + at % (own.length - EDIT), data + EDIT / 2, width);
    }
    try_sealed(copy, own.length);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!manifest)
        set_up();
    if (size < OWN + CRC || memcmp(data, own.data, sizeof "EKSNAP" - 1) != 0) {
        try_edited(data, size);
        return 0;
    }
    try(data, size);
    try_sealed(data, size);
    return 0;
}
