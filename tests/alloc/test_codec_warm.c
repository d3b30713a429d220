/* A list that has grown to the size of the messages is decoded and patched without allocation. */
#include "lists/codec.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <string.h>

enum { ITEMS = 30, LISTS = 60, FORMS = EK_FEATURES_JSON_MAP + 1 };

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: rating, index: 2, role: item}\n"
                               "  - {name: nights, index: 3, role: query}\n"
                               "derived_query_features: [log_list_size]\n";

static struct ek_manifest *manifest;
static struct ek_codec *codec;
static struct ek_list q;
static struct ek_buf message, out;

static void make_message(int items, enum ek_feature_encoding encoding)
{
    struct ek_list list;
    ek_list_init(&list);
    ck_assert_int_eq(ek_list_resize(&list, items, 2, 2), EK_OK);
    list.time_ms = 5;
    list.query[0] = 1;
    for (int i = 0; i < items; i++) {
        list.x[2 * i] = list.x[2 * i + 1] = (float)i;
        list.score[i] = i;
        list.item_id[i] = (struct ek_text){"an id with a \"", 14};
    }
    ek_buf_clear(&message);
    ck_assert_int_eq(ek_codec_encode(manifest, &list, encoding, &message, NULL), EK_OK);
    ek_list_release(&list);
}

static int read_and_patch(void)
{
    static const double scores[ITEMS] = {0};
    int rc = ek_codec_decode(codec, message.data, message.length, &q, NULL);
    return rc ? rc : ek_codec_patch(&q, message.data, message.length, scores, &out, NULL);
}

START_TEST(a_warm_reader_asks_for_no_memory)
{
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_manifest_parse(&manifest, "m", FEATURES, strlen(FEATURES), NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&codec, manifest, NULL, NULL, NULL), EK_OK);
    make_message(ITEMS, EK_FEATURES_MAP);
    ck_assert_int_eq(read_and_patch(), EK_OK);
    make_message(ITEMS, EK_FEATURES_JSON_MAP);
    ck_assert_int_eq(read_and_patch(), EK_OK);
    for (int i = 0; i < LISTS; i++) {
        make_message(1 + i % ITEMS, (enum ek_feature_encoding)(i % FORMS));
        ek_sweep_fail(1);
        int rc = read_and_patch();
        ek_sweep_fail(0);
        ck_assert_int_eq(rc, EK_OK);
        ck_assert_int_eq(q.items, 1 + i % ITEMS);
    }
    ek_list_release(&q);
    ek_buf_release(&message);
    ek_buf_release(&out);
    ek_codec_free(codec);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_codec_warm(void)
{
    return ek_suite("codec_warm", a_warm_reader_asks_for_no_memory);
}
