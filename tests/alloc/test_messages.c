/* Allocation failures while a message is decoded, scored and patched. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "lists/codec.h"
#include "offline/world/hotel.h"
#include "score/scorer.h"

#include <string.h>

static struct ek_manifest *manifest;
static struct ek_model *model;
static struct ek_buf message;

/* Lists of 10 to 30 items: memory has to grow on the way. */
enum { LISTS = 6, ITEMS_MAX = 30 };

static void make_message(uint64_t number, enum ek_feature_encoding encoding)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    ck_assert_int_eq(ek_hotel_new(&hotel, 5, NULL), EK_OK);
    ek_list_init(&q);
    ck_assert_int_eq(ek_hotel_list(hotel, number, &q, NULL), EK_OK);
    for (int i = 0; i < q.items; i++)
        q.score[i] = i;
    ek_buf_clear(&message);
    ck_assert_int_eq(ek_codec_encode(manifest, &q, encoding, &message, NULL), EK_OK);
    ek_list_release(&q);
    ek_hotel_free(hotel);
}

static void set_up(void)
{
    static const struct ek_model_shape shape = {
        .hidden_count = 1, .hidden = {8}, .gate_size = 4, .log_input = EK_LOG_ALWAYS};
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_model_new(&model, manifest, &shape, NULL), EK_OK);
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->query_features; i++)
        model->query_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    ek_buf_init(&message, 0);
}

static void tear_down(void)
{
    ek_buf_release(&message);
    ek_model_free(model);
    ek_manifest_free(manifest);
}

static int score_and_patch(struct ek_scorer *scorer, const struct ek_list *q, struct ek_error *e)
{
    double scores[ITEMS_MAX];
    struct ek_buf out;
    int rc = ek_scorer_score(scorer, q, NULL, scores, e);
    if (rc)
        return rc;
    ek_buf_init(&out, 0);
    rc = ek_codec_patch(q, message.data, message.length, scores, &out, e);
    ek_buf_release(&out);
    return rc;
}

static int decode_score_patch(struct ek_error *e)
{
    struct ek_codec *codec;
    struct ek_scorer *scorer;
    struct ek_list q;
    int rc = ek_codec_new(&codec, manifest, NULL, NULL, e);
    if (rc)
        return rc;
    rc = ek_scorer_new(&scorer, model, e);
    if (!rc) {
        ek_list_init(&q);
        rc = ek_codec_decode(codec, message.data, message.length, &q, e);
        if (!rc)
            rc = score_and_patch(scorer, &q, e);
        ek_list_release(&q);
        ek_scorer_free(scorer);
    }
    ek_codec_free(codec);
    return rc;
}

START_TEST(a_message_without_memory_leaves_nothing)
{
    static const enum ek_feature_encoding encodings[] = {EK_FEATURES_ARRAY, EK_FEATURES_BIN,
                                                         EK_FEATURES_MAP};
    set_up();
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        make_message(i, encodings[i]);
        ek_sweep(decode_score_patch);
    }
    tear_down();
}
END_TEST

/* simdjson retries a failed buffer allocation once: one failure may have no effect. */
START_TEST(a_json_message_without_memory_is_refused_or_read)
{
    enum { PLACES = 120 };
    set_up();
    make_message(0, EK_FEATURES_JSON);
    for (long n = 1; n <= PLACES; n++) {
        struct ek_error e = {0};
        ek_sweep_fail(n);
        int rc = decode_score_patch(&e);
        ek_sweep_fail(0);
        ck_assert(rc == EK_OK || (rc == EK_ENOMEM && e.message[0]));
        ck_assert(n > 1 || rc == EK_ENOMEM);
        ck_assert(n < PLACES || rc == EK_OK);
    }
    tear_down();
}
END_TEST

static int encode(struct ek_error *e)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    struct ek_buf out;
    int rc = ek_hotel_new(&hotel, 5, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    ek_buf_init(&out, 0);
    for (uint64_t i = 0; i < LISTS && !rc; i++) {
        rc = ek_hotel_list(hotel, i, &q, e);
        if (!rc)
            rc = ek_codec_encode(manifest, &q, EK_FEATURES_ARRAY, &out, e);
    }
    ek_buf_release(&out);
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

START_TEST(writing_messages_without_memory_leaves_nothing)
{
    set_up();
    ek_sweep(encode);
    tear_down();
}
END_TEST

Suite *suite_messages(void)
{
    return ek_suite("messages without memory", a_json_message_without_memory_is_refused_or_read,
                    a_message_without_memory_leaves_nothing,
                    writing_messages_without_memory_leaves_nothing);
}
