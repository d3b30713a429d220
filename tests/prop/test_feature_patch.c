/* A message with patched feature values decodes to the list with these values and nothing else
 * changed; MessagePack floats and bin keep their length. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/codec.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { LISTS = 1500, ITEMS_MAX = 9 };

static const char FEATURES[] =
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true}\n"
    "  - {name: rating, index: 2, role: item}\n"
    "  - {name: a_feature_with_a_name_too_long_for_a_short_text, index: 3, role: item}\n"
    "  - {name: stars, index: 4, role: item}\n"
    "  - {name: nights, index: 5, role: query}\n"
    "  - {name: guests, index: 6, role: query, watch: true}\n"
    "  - {name: distance, index: 7, role: query, watch: true}\n"
    "derived_query_features: [log_list_size]\n";

struct fixture {
    struct ek_manifest *m;
    struct ek_codec *codec;
    struct ek_rng r;
    struct ek_list q, before, after;
    struct ek_buf message, out;
    uint8_t wanted[EK_FEATURES_MAX];
    double factor; /* of the patch; 0: missing */
    size_t calls;
};

static double patched(void *context, int item, int feature, double value, bool narrow)
{
    struct fixture *f = context;
    ck_assert(f->wanted[feature]);
    ck_assert_int_lt(item, f->before.items);
    f->calls++;
    double y = item < 0 || (item + feature) % 3 ? value * f->factor : value;
    y = f->factor != 0 ? y : (double)NAN;
    return narrow ? (double)(float)y : y;
}

static void fill(struct fixture *f)
{
    struct ek_list *q = &f->q;
    int items = (int)ek_rng_uniform_int(&f->r, ITEMS_MAX + 1);
    ck_assert_int_eq(ek_list_resize(q, items, f->m->item_count, f->m->query_count), EK_OK);
    q->id = (struct ek_text){"q", 1};
    q->time_ms = 1000;
    q->segment_count = 0;
    q->has_label = false;
    for (int j = 0; j < q->query_features; j++)
        q->query[j] = ek_rng_uniform_int(&f->r, 6) ? (float)(100 * ek_rng_normal(&f->r)) : NAN;
    for (int i = 0; i < items; i++) {
        q->item_id[i] = (struct ek_text){"i", 1};
        q->score[i] = ek_rng_normal(&f->r);
        for (int j = 0; j < q->item_features; j++)
            q->x[i * q->item_features + j] =
                ek_rng_uniform_int(&f->r, 6) ? (float)(100 * ek_rng_normal(&f->r)) : NAN;
    }
}

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* JSON numbers are doubles, so a value may differ by one rounding of its float. */
static void check_change(const struct fixture *f, bool json, bool other, float was, float is)
{
    double expected = f->factor == 0 ? (double)NAN : (double)was * f->factor;
    if (!other)
        ck_assert(same(was, is));
    else if (isnan(expected))
        ck_assert(isnan(is));
    else
        ck_assert_double_le(fabs((double)is - expected),
                            (json ? 0x1p-23 : 0x1p-24) * fabs(expected));
}

static void check_value(const struct fixture *f, bool json, int i, int j)
{
    bool other = f->wanted[j] && (f->factor == 0 || (i + j) % 3);
    check_change(f, json, other, f->before.x[i * f->before.item_features + j],
                 f->after.x[i * f->after.item_features + j]);
}

static void check_query(const struct fixture *f, bool json, int j)
{
    int number = f->m->watched_of_query[j];
    check_change(f, json, number >= 0 && f->wanted[number], f->before.query[j], f->after.query[j]);
}

static void check_list(struct fixture *f, enum ek_feature_encoding encoding)
{
    bool json = encoding >= EK_FEATURES_JSON;
    struct ek_feature_patch p = {.wanted = f->wanted, .value = patched, .context = f};
    ek_buf_clear(&f->message);
    ck_assert_int_eq(ek_codec_encode(f->m, &f->q, encoding, &f->message, NULL), EK_OK);
    ck_assert_int_eq(
        ek_codec_decode(f->codec, f->message.data, f->message.length, &f->before, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_patch_features(f->codec, &f->before, f->message.data,
                                             f->message.length, &p, &f->out, NULL),
                     EK_OK);
    ck_assert_uint_le(p.changed, f->calls);
    ck_assert(p.changed ? f->out.length : !f->out.length);
    if (!p.changed)
        return;
    if (encoding <= EK_FEATURES_MAP)
        ck_assert_uint_eq(f->out.length, f->message.length);
    ck_assert_int_eq(ek_codec_decode(f->codec, f->out.data, f->out.length, &f->after, NULL), EK_OK);
    ck_assert_int_eq(f->after.items, f->before.items);
    for (int j = 0; j < f->after.query_features; j++)
        check_query(f, json, j);
    for (int i = 0; i < f->after.items; i++) {
        ck_assert(f->after.score[i] == f->before.score[i]);
        for (int j = 0; j < f->after.item_features; j++)
            check_value(f, json, i, j);
    }
}

/* Patch back with the inverse values: the bytes are the first ones again. */
static double back(void *context, int item, int feature, double value, bool narrow)
{
    const struct fixture *f = context;
    (void)value;
    (void)narrow;
    return item < 0 ? (double)f->before.query[ek_manifest_query_of(f->m, feature)]
                    : (double)f->before.x[item * f->before.item_features + feature];
}

static void check_back(struct fixture *f, enum ek_feature_encoding encoding)
{
    struct ek_buf again;
    struct ek_feature_patch p = {.wanted = f->wanted, .value = back, .context = f};
    if (!f->out.length || encoding > EK_FEATURES_MAP || f->factor == 0)
        return;
    ek_buf_init(&again, 0);
    ck_assert_int_eq(
        ek_codec_patch_features(f->codec, &f->after, f->out.data, f->out.length, &p, &again, NULL),
        EK_OK);
    ck_assert_uint_eq(again.length, f->message.length);
    ck_assert_mem_eq(again.data, f->message.data, again.length);
    ek_buf_release(&again);
}

START_TEST(a_patch_changes_the_wanted_values_and_nothing_else)
{
    struct fixture *f = ek_calloc(1, sizeof *f);
    ck_assert_int_eq(ek_manifest_parse(&f->m, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&f->codec, f->m, NULL, NULL, NULL), EK_OK);
    ek_rng_seed(&f->r, 29);
    ek_list_init(&f->q);
    ek_list_init(&f->before);
    ek_list_init(&f->after);
    ek_buf_init(&f->message, 0);
    ek_buf_init(&f->out, 0);
    for (int i = 0; i < LISTS; i++) {
        f->calls = 0;
        f->factor = ek_rng_uniform_int(&f->r, 5) ? exp(ek_rng_normal(&f->r)) : 0;
        for (int j = 0; j < f->m->watched_count; j++)
            f->wanted[j] = (uint8_t)ek_rng_uniform_int(&f->r, 2);
        fill(f);
        check_list(f, (enum ek_feature_encoding)(i % 5));
        check_back(f, (enum ek_feature_encoding)(i % 5));
    }
    ek_buf_release(&f->message);
    ek_buf_release(&f->out);
    ek_list_release(&f->q);
    ek_list_release(&f->before);
    ek_list_release(&f->after);
    ek_codec_free(f->codec);
    ek_manifest_free(f->m);
    ek_free(f);
}
END_TEST

Suite *suite_feature_patch(void)
{
    return ek_suite("feature_patch", a_patch_changes_the_wanted_values_and_nothing_else);
}
