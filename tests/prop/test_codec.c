/* Random messages, whole, damaged and truncated: the codec and msgpack-c agree, and patching
 * changes only scores. */
#include "base/rng.h"
#include "tests/check.h"
#include "tests/codec_oracle.h"

enum { ROUNDS = 4000, LONG_TEXT = 300 };

struct maker {
    struct ek_rng r;
    msgpack_packer p;
    struct ek_buf out;
    unsigned wrong_per_mille; /* rate of values of a wrong type */
};

static int append(void *out, const char *bytes, size_t length)
{
    return ek_buf_add(out, bytes, length);
}

static unsigned below(struct maker *k, unsigned n)
{
    return (unsigned)ek_rng_uniform_int(&k->r, n);
}

static bool one_in(struct maker *k, unsigned n)
{
    return !below(k, n);
}

static void put_text(struct maker *k, const char *text)
{
    msgpack_pack_str_with_body(&k->p, text, strlen(text));
}

static void put_bytes(struct maker *k, bool text)
{
    static const unsigned lengths[] = {0, 1, 5, 15, 16, 31, 32, 40, 255, 256, LONG_TEXT};
    char bytes[LONG_TEXT];
    unsigned length = lengths[below(k, sizeof lengths / sizeof *lengths)];
    for (unsigned i = 0; i < length; i++)
        bytes[i] = (char)(text ? 'a' + below(k, 26) : below(k, 256));
    if (text)
        msgpack_pack_str_with_body(&k->p, bytes, length);
    else
        msgpack_pack_bin_with_body(&k->p, bytes, length);
}

/* Use any encoding, not only the shortest. */
static void put_integer(struct maker *k)
{
    uint64_t value = ek_rng_u64(&k->r) >> below(k, 64);
    switch (below(k, 6)) {
    case 0:
        msgpack_pack_uint64(&k->p, value);
        break;
    case 1:
        msgpack_pack_int64(&k->p, -(int64_t)(value >> 1));
        break;
    case 2:
        msgpack_pack_fix_uint64(&k->p, value);
        break;
    case 3:
        msgpack_pack_fix_int32(&k->p, (int32_t)value);
        break;
    case 4:
        msgpack_pack_fix_int8(&k->p, (int8_t)value);
        break;
    default:
        msgpack_pack_fix_uint16(&k->p, (uint16_t)value);
    }
}

static void put_number(struct maker *k)
{
    static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e300, 1e-310, 1e-45};
    double value = one_in(k, 8) ? odd[below(k, 8)] : ek_rng_normal(&k->r) * 1000;
    switch (below(k, 8)) {
    case 0:
        put_integer(k);
        break;
    case 1:
        msgpack_pack_nil(&k->p);
        break;
    case 2:
        msgpack_pack_double(&k->p, value);
        break;
    default:
        msgpack_pack_float(&k->p, (float)value);
    }
}

static void put_anything(struct maker *k, unsigned depth)
{
    unsigned count;
    switch (below(k, depth ? 9 : 7)) {
    case 0:
        msgpack_pack_nil(&k->p);
        break;
    case 1:
        if (one_in(k, 2))
            msgpack_pack_true(&k->p);
        else
            msgpack_pack_false(&k->p);
        break;
    case 2:
        put_integer(k);
        break;
    case 3:
        put_number(k);
        break;
    case 4:
    case 5:
        put_bytes(k, one_in(k, 2));
        break;
    case 6:
        msgpack_pack_ext_with_body(&k->p, "0123456789abcdefg", 1 + below(k, 17),
                                   (char)below(k, 128));
        break;
    case 7:
        count = one_in(k, 10) ? 40 : below(k, 5);
        msgpack_pack_array(&k->p, count);
        for (unsigned i = 0; i < count; i++)
            put_anything(k, depth - 1);
        break;
    default:
        count = one_in(k, 10) ? 20 : below(k, 4);
        msgpack_pack_map(&k->p, count);
        for (unsigned i = 0; i < count; i++) {
            put_anything(k, depth - 1);
            put_anything(k, depth - 1);
        }
    }
}

/* Return true if it wrote a value of a random or wrong type instead. */
static bool put_wrong(struct maker *k)
{
    if (below(k, 1000) >= k->wrong_per_mille)
        return false;
    put_anything(k, 2);
    return true;
}

static void put_row(struct maker *k, const struct ek_feature *const *features, int count)
{
    int form = (int)below(k, 3), shift = (int)below(k, 3);
    if (put_wrong(k))
        return;
    if (form == 0) {
        msgpack_pack_array(&k->p, (size_t)count);
        for (int i = 0; i < count; i++)
            put_number(k);
    } else if (form == 1) {
        msgpack_pack_bin(&k->p, 4 * (size_t)count);
        for (int i = 0; i < count; i++) {
            float value = (float)ek_rng_normal(&k->r);
            msgpack_pack_bin_body(&k->p, &value, sizeof value);
        }
    } else {
        int left_out = one_in(k, 2) ? 1 : 0;
        msgpack_pack_map(&k->p, (size_t)(count - left_out) + 1);
        for (int i = left_out; i < count; i++) {
            put_text(k, features[(i + shift) % count]->name);
            put_number(k);
        }
        put_bytes(k, true);
        put_anything(k, 2);
    }
}

static void put_unknown(struct maker *k)
{
    if (one_in(k, 4))
        put_anything(k, 2);
    else
        put_bytes(k, true);
    put_anything(k, 4);
}

static void put_id(struct maker *k)
{
    if (put_wrong(k))
        return;
    if (one_in(k, 4))
        put_integer(k);
    else
        put_bytes(k, one_in(k, 2));
}

/* Few enough that items share sources, or more than a list may have. */
static void put_source(struct maker *k, unsigned sources)
{
    char digits[8];
    unsigned source = below(k, sources);
    snprintf(digits, sizeof digits, "%u", source);
    if (put_wrong(k))
        return;
    if (one_in(k, 3))
        msgpack_pack_int(&k->p, (int)source);
    else if (one_in(k, 2))
        put_text(k, digits);
    else
        msgpack_pack_bin_with_body(&k->p, digits, strlen(digits));
}

enum { ITEM_FIELDS = 5, MESSAGE_FIELDS = 8 };

static void put_item_field(struct maker *k, const struct ek_manifest *m, int field,
                           unsigned sources)
{
    static const char *const names[ITEM_FIELDS] = {"id", "score", "features", "label", "source"};
    put_text(k, names[field]);
    if (field == 0)
        put_id(k);
    else if (field == 2)
        put_row(k, m->item, m->item_count);
    else if (field == 4)
        put_source(k, sources);
    else if (!put_wrong(k))
        put_number(k);
}

/* Random field order, optional fields present or absent, unknown fields in between. */
static void put_item(struct maker *k, const struct ek_manifest *m, unsigned sources)
{
    int order[ITEM_FIELDS] = {0, 1, 2, 3, 4}, unknown = (int)below(k, 3), fields = 0;
    bool put[ITEM_FIELDS];
    ek_rng_shuffle(&k->r, order, ITEM_FIELDS);
    for (int i = 0; i < ITEM_FIELDS; i++)
        fields += put[i] = i == 2 ? !one_in(k, 200) : !one_in(k, 30);
    msgpack_pack_map(&k->p, (size_t)(fields + unknown));
    for (int i = 0; i < ITEM_FIELDS; i++) {
        if (unknown-- > 0)
            put_unknown(k);
        if (put[order[i]])
            put_item_field(k, m, order[i], sources);
    }
}

static void put_segments(struct maker *k)
{
    unsigned count = below(k, 5);
    if (put_wrong(k))
        return;
    msgpack_pack_map(&k->p, count);
    for (unsigned i = 0; i < count; i++) {
        put_text(k,
                 (const char *[]){"arm", "market", "app", "currency", ""}[one_in(k, 50) ? 0 : i]);
        if (one_in(k, 3))
            put_integer(k);
        else
            put_bytes(k, true);
    }
}

/* Mostly at or above the item count of any message here. */
static void put_list_items(struct maker *k)
{
    unsigned items = one_in(k, 30) ? below(k, 41) : 40 + below(k, 60);
    if (put_wrong(k))
        return;
    if (one_in(k, 3))
        msgpack_pack_double(&k->p, items + (one_in(k, 50) ? 0.5 : 0));
    else
        msgpack_pack_unsigned_int(&k->p, items);
}

static void put_log_means(struct maker *k, const struct ek_manifest *m)
{
    int count = m->routable_count + one_in(k, 100);
    if (put_wrong(k))
        return;
    msgpack_pack_array(&k->p, (size_t)count);
    for (int i = 0; i < count; i++)
        if (one_in(k, 8))
            msgpack_pack_nil(&k->p);
        else
            msgpack_pack_double(&k->p, ek_rng_normal(&k->r) * 250);
}

static void put_message_field(struct maker *k, const struct ek_manifest *m, int field)
{
    static const char *const names[MESSAGE_FIELDS] = {"query",          "time_ms",    "segments",
                                                      "manifest",       "list_items", "log_means",
                                                      "query_features", "items"};
    unsigned items = one_in(k, 20) ? 40 : below(k, 6), sources = one_in(k, 2) ? 3 : 20;
    put_text(k, names[field]);
    switch (field) {
    case 0:
        put_id(k);
        break;
    case 1:
        if (!put_wrong(k))
            msgpack_pack_int64(&k->p, (int64_t)(ek_rng_u64(&k->r) >> 15));
        break;
    case 2:
        put_segments(k);
        break;
    case 3:
        if (!put_wrong(k))
            msgpack_pack_uint64(&k->p, m->hash);
        break;
    case 4:
        put_list_items(k);
        break;
    case 5:
        put_log_means(k, m);
        break;
    case 6:
        put_row(k, m->query, m->query_count - m->derived_count);
        break;
    default:
        msgpack_pack_array(&k->p, items);
        for (unsigned i = 0; i < items; i++)
            put_item(k, m, sources);
    }
}

static void put_message(struct maker *k, const struct ek_manifest *m)
{
    int order[MESSAGE_FIELDS] = {0, 1, 2, 3, 4, 5, 6, 7}, unknown = (int)below(k, 3), fields = 0;
    bool put[MESSAGE_FIELDS];
    ek_buf_clear(&k->out);
    ek_rng_shuffle(&k->r, order, MESSAGE_FIELDS);
    for (int i = 0; i < MESSAGE_FIELDS; i++)
        fields += put[i] = i >= 6 ? !one_in(k, 100) : !one_in(k, 5);
    bool twice = one_in(k, 50);
    msgpack_pack_map(&k->p, (size_t)(fields + unknown + twice));
    for (int i = 0; i < MESSAGE_FIELDS; i++) {
        if (unknown-- > 0)
            put_unknown(k);
        if (put[order[i]])
            put_message_field(k, m, order[i]);
    }
    if (twice)
        put_message_field(k, m, (int)below(k, MESSAGE_FIELDS));
}

struct fixture {
    struct ek_manifest *manifest;
    struct ek_codec *codec;
    struct maker maker;
};

static struct fixture *setup(uint64_t seed)
{
    struct fixture *f = ek_calloc(1, sizeof *f);
    const struct ek_codec_limits limits = {.depth = EK_ORACLE_DEPTH};
    ck_assert_int_eq(
        ek_manifest_parse(&f->manifest, "m", EK_ORACLE_FEATURES, strlen(EK_ORACLE_FEATURES), NULL),
        EK_OK);
    ck_assert_int_eq(ek_codec_new(&f->codec, f->manifest, NULL, &limits, NULL), EK_OK);
    ek_buf_init(&f->maker.out, 0);
    ek_rng_seed(&f->maker.r, seed);
    msgpack_packer_init(&f->maker.p, &f->maker.out, append);
    return f;
}

static void teardown(struct fixture *f)
{
    ek_buf_release(&f->maker.out);
    ek_codec_free(f->codec);
    ek_manifest_free(f->manifest);
    ek_free(f);
}

/* Uses memory of exactly its size for the sanitizers. */
static bool check(struct fixture *f, const uint8_t *bytes, size_t length, int round)
{
    bool accepted;
    uint8_t *exact = ek_realloc(NULL, length, 1);
    ck_assert_ptr_nonnull(exact);
    memcpy(exact, bytes, length);
    const char *fault = ek_oracle_fault(f->codec, f->manifest, exact, length, &accepted);
    ck_assert_msg(!fault, "round %d, %zu bytes: %s", round, length, fault);
    ek_free(exact);
    return accepted;
}

START_TEST(random_messages_are_read_as_msgpack_c_reads_them)
{
    struct fixture *f = setup(1);
    int accepted = 0;
    for (int i = 0; i < ROUNDS; i++) {
        f->maker.wrong_per_mille = i % 2 ? 5 : 0;
        put_message(&f->maker, f->manifest);
        accepted += check(f, f->maker.out.data, f->maker.out.length, i);
    }
    ck_assert_int_gt(accepted, ROUNDS / 2);
    ck_assert_int_lt(accepted, ROUNDS * 97 / 100);
    teardown(f);
}
END_TEST

START_TEST(damaged_messages_are_judged_as_msgpack_c_judges_them)
{
    struct fixture *f = setup(2);
    int accepted = 0;
    for (int i = 0; i < ROUNDS; i++) {
        put_message(&f->maker, f->manifest);
        for (int j = 0; j < 4; j++) {
            uint8_t *byte =
                &f->maker.out.data[ek_rng_uniform_int(&f->maker.r, f->maker.out.length)];
            *byte = one_in(&f->maker, 2) ? (uint8_t)(*byte ^ 1u << below(&f->maker, 8))
                                         : (uint8_t)below(&f->maker, 256);
            accepted += check(f, f->maker.out.data, f->maker.out.length, i);
        }
    }
    ck_assert_int_gt(accepted, ROUNDS / 2);
    teardown(f);
}
END_TEST

START_TEST(no_message_can_be_read_from_a_part_of_it)
{
    struct fixture *f = setup(3);
    for (int i = 0; i < ROUNDS / 100; i++) {
        put_message(&f->maker, f->manifest);
        for (size_t length = 0; length < f->maker.out.length; length++)
            ck_assert(!check(f, f->maker.out.data, length, i));
    }
    teardown(f);
}
END_TEST

START_TEST(random_bytes_are_judged_as_msgpack_c_judges_them)
{
    struct fixture *f = setup(4);
    uint8_t bytes[40];
    for (int i = 0; i < 20 * ROUNDS; i++) {
        size_t length = below(&f->maker, sizeof bytes);
        for (size_t j = 0; j < length; j++)
            bytes[j] = (uint8_t)below(&f->maker, 256);
        check(f, bytes, length, i);
    }
    teardown(f);
}
END_TEST

Suite *suite_codec(void)
{
    return ek_suite("codec", random_messages_are_read_as_msgpack_c_reads_them,
                    damaged_messages_are_judged_as_msgpack_c_judges_them,
                    no_message_can_be_read_from_a_part_of_it,
                    random_bytes_are_judged_as_msgpack_c_judges_them);
}
