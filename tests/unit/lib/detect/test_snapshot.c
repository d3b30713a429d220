/* Snapshots that must be refused, and what a caller may change (tests/prop/test_snapshot.c has what
 * a restored detector does). */
#include "detect/detector_internal.h"
#include "detect/snapshot.h"

#include "base/file.h"
#include "base/hash.h"
#include "tests/check.h"
#include "tests/shop.h"
#include "tests/stream.h"

#include <limits.h>
#include <stdlib.h>

enum {
    TRAINING = 400,
    LISTS = 60,
    CELLS = 16,
    VERSION_AT = 8,
    BYTES_AT = 12,
    CRC = 4,
    TAG = 4,
    SECTIONS_MAX = 10
};

static const char RULES[] = "version: 1\nsegments: [arm]\n";

struct desk {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector, *restored;
    struct ek_buf bytes;
    struct ek_error error;
};

static struct ek_rules *rules_of(const struct ek_manifest *m, const char *text)
{
    struct ek_rules *rules = NULL;
    ck_assert_int_eq(ek_rules_parse(&rules, m, "rules", text, strlen(text), NULL), EK_OK);
    return rules;
}

/* A detector in the middle of a change, and its bytes. */
static void setup(struct desk *k)
{
    struct stream s;
    memset(k, 0, sizeof *k);
    k->manifest = stream_manifest();
    k->profile = stream_profile(k->manifest, TRAINING);
    k->rules = rules_of(k->manifest, RULES);
    ck_assert_int_eq(
        ek_detector_new_with(&k->detector, k->manifest, k->profile, k->rules, CELLS, NULL), EK_OK);
    stream_start(&s, 7);
    for (int i = 0; i < LISTS; i++) {
        struct ek_query *q = stream_next(&s);
        stream_scale(q, 0, i < LISTS / 2 ? 1 : 100);
        ck_assert_int_eq(ek_detector_observe(k->detector, q, q->time_ms, NULL), EK_OK);
    }
    stream_end(&s);
    ek_buf_init(&k->bytes, 0);
    ck_assert_int_eq(ek_detector_save(k->detector, &k->bytes, NULL), EK_OK);
}

static void teardown(struct desk *k)
{
    ck_assert_ptr_null(k->restored);
    ek_buf_release(&k->bytes);
    ek_detector_free(k->detector);
    ek_rules_free(k->rules);
    ek_profile_free(k->profile);
    ek_manifest_free(k->manifest);
}

static int restore(struct desk *k, const struct ek_profile *p, const struct ek_rules *rules,
                   int cells, size_t length)
{
    memset(&k->error, 0, sizeof k->error);
    return ek_detector_restore(&k->restored, k->manifest, p, rules, cells, k->bytes.data, length,
                               &k->error);
}

static int restore_own(struct desk *k)
{
    return restore(k, k->profile, k->rules, CELLS, k->bytes.length);
}

static void assert_says(const struct desk *k, const char *words)
{
    ck_assert_msg(strstr(k->error.message, words) != NULL, "'%s'", k->error.message);
}

/* Makes the checksum fit again, so that the bytes before it are looked at. */
static void seal(struct ek_buf *b)
{
    uint32_t crc = ek_crc32(b->data, b->length - CRC);
    memcpy(b->data + b->length - CRC, &crc, CRC);
}

START_TEST(one_of_another_profile_is_refused)
{
    struct desk k;
    setup(&k);
    struct ek_profile *other = stream_profile(k.manifest, TRAINING + 1);
    ck_assert_int_eq(restore(&k, other, k.rules, CELLS, k.bytes.length), EK_ESTATE);
    assert_says(&k, "another profile");
    ek_profile_free(other);
    teardown(&k);
}
END_TEST

START_TEST(one_of_another_manifest_is_refused)
{
    static const char text[] = "features:\n  - {name: price, index: 1, role: item}\n";
    struct desk k;
    struct ek_manifest *m = NULL;
    struct ek_profile *p = NULL;
    setup(&k);
    ck_assert_int_eq(ek_manifest_parse(&m, "m", text, sizeof text - 1, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_new(&p, m, 1, NULL, NULL), EK_OK);
    struct ek_rules *rules = rules_of(m, RULES);
    int rc = ek_detector_restore(&k.restored, m, p, rules, CELLS, k.bytes.data, k.bytes.length,
                                 &k.error);
    ck_assert_int_eq(rc, EK_ESTATE);
    assert_says(&k, "another manifest");
    ek_rules_free(rules);
    ek_profile_free(p);
    ek_manifest_free(m);
    teardown(&k);
}
END_TEST

START_TEST(one_of_other_segment_dimensions_is_refused)
{
    static const char *const other[] = {"version: 1\n", "version: 1\nsegments: [market]\n",
                                        "version: 1\nsegments: [arm, market]\n"};
    struct desk k;
    setup(&k);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct ek_rules *rules = rules_of(k.manifest, other[i]);
        ck_assert_int_eq(restore(&k, k.profile, rules, CELLS, k.bytes.length), EK_ESTATE);
        assert_says(&k, "segment dimensions");
        ek_rules_free(rules);
    }
    ck_assert_int_eq(restore(&k, k.profile, k.rules, CELLS + 1, k.bytes.length), EK_ESTATE);
    assert_says(&k, "up to 16 cells");
    teardown(&k);
}
END_TEST

START_TEST(other_rules_with_the_same_dimensions_are_welcome)
{
    struct desk k;
    setup(&k);
    struct ek_rules *rules = rules_of(
        k.manifest, "version: 1\nsegments: [arm]\ndefaults: {false_alarms: 1 per 5000 queries}\n");
    ck_assert_int_eq(restore(&k, k.profile, rules, CELLS, k.bytes.length), EK_OK);
    ck_assert_uint_eq(ek_detector_queries(k.restored), LISTS);
    ek_detector_free(k.restored);
    k.restored = NULL;
    ek_rules_free(rules);
    teardown(&k);
}
END_TEST

START_TEST(one_of_another_version_is_refused)
{
    struct desk k;
    setup(&k);
    k.bytes.data[VERSION_AT]++;
    seal(&k.bytes);
    ck_assert_int_eq(restore_own(&k), EK_ESTATE);
    assert_says(&k, "version 2, this program reads 1");
    teardown(&k);
}
END_TEST

START_TEST(one_that_is_cut_is_refused_wherever_it_ends)
{
    struct desk k;
    setup(&k);
    for (size_t length = 0; length < k.bytes.length; length += length < 200 ? 1 : 997)
        ck_assert_int_eq(restore(&k, k.profile, k.rules, CELLS, length), EK_EFORMAT);
    ck_assert_int_eq(restore(&k, k.profile, k.rules, CELLS, k.bytes.length - 1), EK_EFORMAT);
    teardown(&k);
}
END_TEST

START_TEST(one_with_any_bit_changed_is_refused)
{
    struct desk k;
    setup(&k);
    for (size_t i = 0; i < k.bytes.length; i += i < 200 ? 1 : 499) {
        uint8_t bit = (uint8_t)(1 << i % 8);
        k.bytes.data[i] ^= bit;
        ck_assert_int_ne(restore_own(&k), EK_OK);
        ck_assert_int_ne(k.error.message[0], 0);
        k.bytes.data[i] ^= bit;
    }
    teardown(&k);
}
END_TEST

START_TEST(bytes_behind_the_last_section_are_refused)
{
    struct desk k;
    setup(&k);
    ck_assert_int_eq(ek_buf_text(&k.bytes, "more"), EK_OK);
    uint64_t bytes = k.bytes.length;
    memcpy(k.bytes.data + BYTES_AT, &bytes, sizeof bytes);
    seal(&k.bytes);
    ck_assert_int_eq(restore_own(&k), EK_EFORMAT);
    assert_says(&k, "behind the last");
    teardown(&k);
}
END_TEST

START_TEST(a_buffer_that_is_too_small_keeps_what_it_had)
{
    struct desk k;
    struct ek_buf small;
    setup(&k);
    ek_buf_init(&small, 1000);
    ck_assert_int_eq(ek_buf_text(&small, "before"), EK_OK);
    ck_assert_int_eq(ek_detector_save(k.detector, &small, &k.error), EK_ELIMIT);
    ck_assert_uint_eq(small.length, 6);
    ek_buf_release(&small);
    teardown(&k);
}
END_TEST

/* An episode with no member 0, as far as each is checked. */
static struct ek_episode full_episode(void)
{
    struct ek_episode e;
    memset(&e, 1, sizeof e);
    e.phase = EK_PHASE_CONFIRMED;
    e.diagnosis.class = e.rival = EK_NEW_CATEGORY;
    e.claimed = e.quiet = e.relieved = 1;
    e.bet = EK_BET_VALUE_GONE;
    e.feature = e.cell = e.query_feature = 0x01010101;
    e.diagnosis.lists = EK_HISTORY;
    e.category.count = EK_CATEGORY_CHANGES;
    return e;
}

/* What is read is laid over zeros: bytes that stay 0 are padding, or were forgotten. */
START_TEST(every_member_of_an_episode_is_kept)
{
    enum { GAPS = 4, PADDING = 4 * (EK_CATEGORY_CHANGES + GAPS) };
    const struct ek_snap_bounds bounds = {INT_MAX, INT_MAX, INT_MAX};
    struct ek_episode e = full_episode(), read;
    struct ek_buf b;
    int lost = 0;
    ek_buf_init(&b, 0);
    struct ek_snap out = {.out = &b};
    ek_episode_snap(&e, &out, &bounds);
    struct ek_snap in = {.at = b.data, .end = b.data + b.length};
    memset(&read, 0, sizeof read);
    ek_episode_snap(&read, &in, &bounds);
    ck_assert(!out.rc && !in.rc && in.at == in.end);
    for (size_t i = 0; i < sizeof e; i++)
        lost += ((const uint8_t *)&e)[i] != ((const uint8_t *)&read)[i];
    ck_assert_int_eq(lost, PADDING);
    ek_buf_release(&b);
}
END_TEST

/* The golden file's detector: a price in other units and a new code, in the middle of it all, with
 * findings that wait. */
static void golden_bytes(struct ek_buf *out)
{
    enum { FAULTY = 8, FETCHED = 16, END = 30, MARKETS = 4, FEW_CELLS = 5 };
    struct ek_manifest *m = shop_manifest();
    struct ek_profile *p = shop_profile(m, TRAINING, MARKETS, "market");
    struct ek_rules *rules =
        rules_of(m, "version: 1\nsegments: [arm, market]\ndefaults: {confirm_queries: 8}\n");
    struct ek_detector *d;
    struct ek_finding f;
    struct shop s;
    ck_assert_int_eq(ek_detector_new_with(&d, m, p, rules, FEW_CELLS, NULL), EK_OK);
    shop_open(&s, 5, MARKETS);
    for (int n = 0; n < END; n++) {
        struct ek_query *q = shop_next(&s);
        for (int i = 0; n >= FAULTY && i < q->items; i++) {
            q->x[2 * i] *= 60;
            q->x[2 * i + 1] = 99;
        }
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
        while (n < FETCHED && ek_detector_next(d, &f))
            continue;
    }
    ck_assert_int_eq(ek_detector_save(d, out, NULL), EK_OK);
    shop_close(&s);
    ek_detector_free(d);
    ek_rules_free(rules);
    ek_profile_free(p);
    ek_manifest_free(m);
}

/* Tags and lengths of the sections, as far as they go. */
static int sections_of(const struct ek_buf *b, size_t at, char tag[][TAG + 1], uint64_t *length)
{
    int count = 0;
    while (count < SECTIONS_MAX && at + TAG + sizeof *length + CRC <= b->length) {
        memcpy(tag[count], b->data + at, TAG);
        memcpy(&length[count], b->data + at + TAG, sizeof *length);
        at += TAG + sizeof *length + length[count++];
    }
    ck_assert_uint_eq(at + CRC, b->length);
    return count;
}

static void write_bytes(const char *path, const struct ek_buf *b)
{
    FILE *to = fopen(path, "wb");
    ck_assert_ptr_nonnull(to);
    ck_assert_uint_eq(fwrite(b->data, 1, b->length, to), b->length);
    ck_assert_int_eq(fclose(to), 0);
}

/* The numbers in it come from a training that other machines may round otherwise. EK_WRITE_GOLDEN
 * in the environment writes it anew, for a format that has changed. */
START_TEST(the_golden_file_is_what_this_version_writes)
{
    enum { FIRST_SECTION = 36 + 8 * 4 + 4 + 5 + 4 + 4 + 4 + 3 + 4 + 6 };
    static const char path[] = "tests/format/golden/snapshot-1.bin";
    char tags[2][SECTIONS_MAX][TAG + 1] = {{{0}}};
    uint64_t length[2][SECTIONS_MAX];
    struct ek_buf golden, own;
    ek_buf_init(&golden, 0);
    ek_buf_init(&own, 0);
    golden_bytes(&own);
    if (getenv("EK_WRITE_GOLDEN"))
        write_bytes(path, &own);
    ck_assert_int_eq(ek_file_read(path, &golden, NULL), EK_OK);
    int count = sections_of(&golden, FIRST_SECTION, tags[0], length[0]);
    ck_assert_int_eq(sections_of(&own, FIRST_SECTION, tags[1], length[1]), count);
    for (int i = 0; i < count; i++) {
        ck_assert_str_eq(tags[0][i], tags[1][i]);
        ck_assert_msg(length[0][i] == length[1][i], "section '%s' has another length", tags[0][i]);
    }
    ck_assert(!memcmp(golden.data, own.data, BYTES_AT));
    ek_buf_release(&golden);
    ek_buf_release(&own);
}
END_TEST

Suite *suite_snapshot(void)
{
    return ek_suite(
        "snapshot", one_of_another_profile_is_refused, one_of_another_manifest_is_refused,
        one_of_other_segment_dimensions_is_refused,
        other_rules_with_the_same_dimensions_are_welcome, one_of_another_version_is_refused,
        one_that_is_cut_is_refused_wherever_it_ends, one_with_any_bit_changed_is_refused,
        bytes_behind_the_last_section_are_refused, a_buffer_that_is_too_small_keeps_what_it_had,
        every_member_of_an_episode_is_kept, the_golden_file_is_what_this_version_writes);
}
