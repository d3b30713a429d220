/* Item sources: conditions under which they are tracked separately. */
#include "lists/codec.h"

#include "tests/check.h"
#include "tests/pack.h"

#include <stdio.h>
#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n";

/* Return the number of sources of a message. The caller frees the list. */
static int read_message(const struct ek_buf *message, struct ek_list *q)
{
    struct ek_manifest *m;
    struct ek_codec *codec;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_manifest_parse(&m, "m", FEATURES, strlen(FEATURES), &e), EK_OK);
    ck_assert_int_eq(ek_codec_new(&codec, m, NULL, NULL, &e), EK_OK);
    int rc = ek_codec_decode(codec, message->data, message->length, q, &e);
    ck_assert_msg(rc == EK_OK, "%s", e.message);
    ek_codec_free(codec);
    ek_manifest_free(m);
    return q->sources;
}

static int read_sources(const char *text, struct ek_list *q)
{
    struct ek_buf message;
    ek_buf_init(&message, 0);
    ek_pack(&message, text);
    int sources = read_message(&message, q);
    ek_buf_release(&message);
    return sources;
}

START_TEST(sources_count_when_every_item_says_its_own)
{
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(read_sources("{items: [{features: [1], source: A}, {source: 7, features: [1]},"
                                  " {features: [1], source: A}, {features: [1], source: 7}]}",
                                  &q),
                     2);
    ck_assert(q.source[0] == 0 && q.source[1] == 1 && q.source[2] == 0 && q.source[3] == 1);
    ck_assert_int_eq(read_sources("{items: [{features: [1], source: A}, {features: [1]}]}", &q), 0);
    ck_assert_int_eq(read_sources("{items: []}", &q), 0);
    ek_list_release(&q);
}
END_TEST

START_TEST(a_source_of_another_kind_is_none_and_no_fault)
{
    struct ek_list q;
    ek_list_init(&q);
    ck_assert_int_eq(read_sources("{items: [{features: [1], source: [A]}]}", &q), 0);
    ck_assert_int_eq(read_sources("{items: [{features: [1], source: nil}]}", &q), 0);
    ek_list_release(&q);
}
END_TEST

START_TEST(more_sources_than_are_kept_apart_count_as_none)
{
    struct ek_list q;
    struct ek_buf message;
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    for (int count = EK_SOURCES_MAX; count <= EK_SOURCES_MAX + 1; count++) {
        const uint8_t array[] = {0, (uint8_t)count};
        ek_pack(&message, "{items: [1]}");
        message.length -= 2; /* a longer array in place of [1] */
        ek_pack_bytes(&message, 0xdc, array, sizeof array);
        for (int i = 0; i < count; i++) {
            char item[60];
            const char *at = item;
            snprintf(item, sizeof item, "{features: [1], source: %d}", i);
            ek_pack_value(&message, &at);
        }
        ck_assert_int_eq(read_message(&message, &q), count > EK_SOURCES_MAX ? 0 : count);
    }
    ek_buf_release(&message);
    ek_list_release(&q);
}
END_TEST

Suite *suite_sources(void)
{
    return ek_suite("sources", sources_count_when_every_item_says_its_own,
                    a_source_of_another_kind_is_none_and_no_fault,
                    more_sources_than_are_kept_apart_count_as_none);
}
