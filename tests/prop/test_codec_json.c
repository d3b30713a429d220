/* A list decodes equally from msgpack and JSON, and takes the same patched scores. */
#include "base/alloc.h"
#include "base/rng.h"
#include "lists/codec.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"
#include "tests/check.h"
#include "tests/codec_oracle.h"

enum { LISTS = 400, ITEMS_MOST = 12, NUMBERS = 300000 };

struct fixture {
    struct ek_manifest *m;
    struct ek_codec *codec;
    struct ek_rng r;
    char ids[ITEMS_MOST][8];
};

static struct fixture *setup(uint64_t seed)
{
    struct fixture *f = ek_calloc(1, sizeof *f);
    ck_assert_int_eq(
        ek_manifest_parse(&f->m, "m", EK_ORACLE_FEATURES, strlen(EK_ORACLE_FEATURES), NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&f->codec, f->m, NULL, NULL, NULL), EK_OK);
    ek_rng_seed(&f->r, seed);
    return f;
}

static void teardown(struct fixture *f)
{
    ek_codec_free(f->codec);
    ek_manifest_free(f->m);
    ek_free(f);
}

/* Return any finite float, mostly far from 1. */
static float any_float(struct ek_rng *r)
{
    return ek_float_from_bits((uint32_t)ek_rng_u64(r));
}

static void fill_item(struct fixture *f, struct ek_list *q, int i)
{
    static const char bytes[] = "az09\"\\\n\x01/";
    size_t length = ek_rng_uniform_int(&f->r, sizeof f->ids[i]);
    for (size_t k = 0; k < length; k++)
        f->ids[i][k] = bytes[ek_rng_uniform_int(&f->r, sizeof bytes - 1)];
    q->item_id[i] = (struct ek_text){f->ids[i], length};
    q->score[i] = ek_rng_uniform_int(&f->r, 8) ? ek_rng_normal(&f->r) : NAN;
    q->label[i] = (float)ek_rng_uniform_int(&f->r, 5);
    q->source[i] = (uint8_t)ek_rng_uniform_int(&f->r, 3);
    for (int j = 0; j < q->item_features; j++)
        q->x[i * q->item_features + j] = any_float(&f->r);
}

static void fill(struct fixture *f, struct ek_list *q)
{
    int items = (int)ek_rng_uniform_int(&f->r, ITEMS_MOST + 1);
    ck_assert_int_eq(ek_list_resize(q, items, f->m->item_count, f->m->query_count), EK_OK);
    q->id = (struct ek_text){"q-\xc3\xa9", 4};
    q->time_ms = (int64_t)(ek_rng_u64(&f->r) >> 15);
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {"\"B\"", 3}};
    q->has_label = ek_rng_uniform_int(&f->r, 2) && items;
    q->sources = ek_rng_uniform_int(&f->r, 2) && items ? 3 : 0;
    q->list_items = ek_rng_uniform_int(&f->r, 2) ? items + 5 : 0;
    q->has_log_means = ek_rng_uniform_int(&f->r, 2);
    ck_assert_int_eq(ek_list_reserve_means(q, f->m->routable_count), EK_OK);
    for (int j = 0; j < f->m->routable_count; j++)
        q->log_mean[j] = ek_rng_normal(&f->r);
    for (int j = 0; j < q->query_features; j++)
        q->query[j] = any_float(&f->r);
    for (int i = 0; i < items; i++)
        fill_item(f, q, i);
}

static bool same_float(float a, float b)
{
    return ek_float_to_bits(a) == ek_float_to_bits(b) || (isnan(a) && isnan(b));
}

static bool same_double(double a, double b)
{
    return ek_double_to_bits(a) == ek_double_to_bits(b) || (isnan(a) && isnan(b));
}

static bool same_text(struct ek_text a, struct ek_text b)
{
    return a.length == b.length && !memcmp(a.text, b.text, a.length);
}

static void assert_same(const struct ek_list *a, const struct ek_list *b)
{
    ck_assert(same_text(a->id, b->id) && same_text(a->segments[0].value, b->segments[0].value));
    ck_assert_int_eq(a->time_ms, b->time_ms);
    ck_assert_int_eq(a->items, b->items);
    ck_assert(a->has_label == b->has_label && a->has_log_means == b->has_log_means);
    ck_assert(a->sources == b->sources && a->list_items == b->list_items);
    ck_assert(!a->has_log_means || same_double(a->log_mean[0], b->log_mean[0]));
    for (int j = 0; j < a->query_features; j++)
        ck_assert(same_float(a->query[j], b->query[j]));
    for (int i = 0; i < a->items; i++) {
        ck_assert(same_text(a->item_id[i], b->item_id[i]));
        ck_assert(same_double(a->score[i], b->score[i]));
        ck_assert(!a->has_label || a->label[i] == b->label[i]);
        ck_assert(!a->sources || a->source[i] == b->source[i]);
    }
    for (int i = 0; i < a->items * a->item_features; i++)
        ck_assert_msg(same_float(a->x[i], b->x[i]), "%.9g and %.9g", a->x[i], b->x[i]);
}

/* An encoded list; the query strings are views into its bytes. */
struct form {
    enum ek_feature_encoding encoding;
    struct ek_buf bytes, out;
    struct ek_list q, patched;
};

static void decode(struct fixture *f, const struct ek_buf *bytes, struct ek_list *q)
{
    struct ek_error e = {0};
    int rc = ek_codec_decode(f->codec, bytes->data, bytes->length, q, &e);
    ck_assert_msg(!rc, "%s", e.message);
}

/* Encode and decode `list`, then patch other scores and decode again. */
static void round_trip(struct fixture *f, const struct ek_list *list, const double *scores,
                       struct form *form)
{
    ek_buf_clear(&form->bytes);
    ck_assert_int_eq(ek_codec_encode(f->m, list, form->encoding, &form->bytes, NULL), EK_OK);
    decode(f, &form->bytes, &form->q);
    ck_assert_int_eq(
        ek_codec_patch(&form->q, form->bytes.data, form->bytes.length, scores, &form->out, NULL),
        EK_OK);
    decode(f, &form->out, &form->patched);
}

static void init_form(struct form *form)
{
    ek_buf_init(&form->bytes, 0);
    ek_buf_init(&form->out, 0);
    ek_list_init(&form->q);
    ek_list_init(&form->patched);
}

static void release_form(struct form *form)
{
    ek_buf_release(&form->bytes);
    ek_buf_release(&form->out);
    ek_list_release(&form->q);
    ek_list_release(&form->patched);
}

START_TEST(lists_are_the_same_as_msgpack_and_as_json_before_and_after_patching)
{
    struct form forms[] = {{.encoding = EK_FEATURES_ARRAY},
                           {.encoding = EK_FEATURES_JSON},
                           {.encoding = EK_FEATURES_JSON_MAP}};
    struct fixture *f = setup(1);
    struct ek_list list;
    double scores[ITEMS_MOST];
    ek_list_init(&list);
    for (int k = 0; k < 3; k++)
        init_form(&forms[k]);
    for (int i = 0; i < LISTS; i++) {
        fill(f, &list);
        for (int k = 0; k < ITEMS_MOST; k++)
            scores[k] = (float)ek_rng_normal(&f->r); /* msgpack may store it as a float32 */
        for (int k = 0; k < 3; k++)
            round_trip(f, &list, scores, &forms[k]);
        for (int k = 1; k < 3; k++) {
            assert_same(&forms[0].q, &forms[k].q);
            assert_same(&forms[0].patched, &forms[k].patched);
        }
    }
    ek_list_release(&list);
    for (int k = 0; k < 3; k++)
        release_form(&forms[k]);
    teardown(f);
}
END_TEST

START_TEST(every_number_that_is_written_is_read_back)
{
    struct ek_rng r;
    char text[EK_JSON_NUMBER_BYTES + 1];
    ek_rng_seed(&r, 2);
    for (int i = 0; i < NUMBERS; i++) {
        float narrow = any_float(&r);
        double wide = ek_double_from_bits(ek_rng_u64(&r));
        size_t length = ek_json_double(text, wide);
        text[length] = 0;
        ck_assert(isfinite(wide) ? same_double(strtod(text, NULL), wide) : !length);
        length = ek_json_float(text, narrow);
        text[length] = 0;
        ck_assert(isnan(narrow) ? !length : same_float((float)strtod(text, NULL), narrow));
    }
}
END_TEST

Suite *suite_codec_json(void)
{
    return ek_suite("codec_json",
                    lists_are_the_same_as_msgpack_and_as_json_before_and_after_patching,
                    every_number_that_is_written_is_read_back);
}
