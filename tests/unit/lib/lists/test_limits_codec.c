/* Message limits: accepted one below and at each, rejected one above. */
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/reading_pack.h"

#include <stdio.h>

enum { ITEMS_MOST = 3, MESSAGE_LENGTH = 100 };

/* Decode the text of a message and free it. Return the code, and set the user-visible error. */
static int read_text(const struct ek_codec_limits *limits, struct ek_buf *text,
                     char said[SAID_BYTES])
{
    struct reading r = reading_of(READING_FEATURES, NULL, limits);
    int rc = decode(&r, ek_buf_string(text));
    ek_error_text(&r.e, said, SAID_BYTES);
    reading_end(&r);
    ek_buf_release(text);
    return rc;
}

static int items(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "{query_features: [1], items: ["));
    for (int i = 0; i < count; i++)
        must(ek_buf_text(&b, "{features: [1, 2]}, "));
    must(ek_buf_text(&b, "]}"));
    return read_text(&(struct ek_codec_limits){.items = ITEMS_MOST}, &b, said);
}

static int segments(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_printf(&b, "#83 segments #de%04x", (unsigned)count));
    for (int i = 0; i < count; i++)
        must(ek_buf_printf(&b, " s%d v", i));
    must(ek_buf_text(&b, " query_features [1] items [{features: [1, 2]}]"));
    return read_text(NULL, &b, said);
}

/* A message of that nesting depth. */
static int levels(int depth, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "{query_features: [1], items: [{features: [1, 2]}], x: "));
    for (int i = 0; i < depth; i++)
        must(ek_buf_text(&b, "["));
    must(ek_buf_text(&b, "1"));
    for (int i = 0; i < depth; i++)
        must(ek_buf_text(&b, "]"));
    must(ek_buf_text(&b, "}"));
    return read_text(&(struct ek_codec_limits){.depth = EK_WIRE_DEPTH_MAX}, &b, said);
}

static int depth_of_limits(int depth, char said[SAID_BYTES])
{
    struct ek_buf b;
    struct ek_manifest *m = NULL;
    struct ek_codec *c = NULL;
    struct ek_error e = {0};
    ek_buf_init(&b, 0);
    must(ek_manifest_parse(&m, "m", READING_FEATURES, strlen(READING_FEATURES), NULL));
    int rc = ek_codec_new(&c, m, NULL, &(struct ek_codec_limits){.depth = depth}, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_codec_free(c);
    ek_manifest_free(m);
    return rc;
}

/* A message of that many bytes. */
static int length(int bytes, char said[SAID_BYTES])
{
    static const char head[] = "{query_features: [1], items: [{features: [1, 2]}], x: #c4";
    enum { HEAD = 1 + 15 + 2 + 6 + 1 + 1 + 9 + 3 + 2 + 2 };
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_printf(&b, "%s%02x", head, (unsigned)(bytes - HEAD)));
    for (int i = HEAD; i < bytes; i++)
        must(ek_buf_text(&b, "00"));
    must(ek_buf_text(&b, "}"));
    return read_text(&(struct ek_codec_limits){.message_bytes = MESSAGE_LENGTH}, &b, said);
}

START_TEST(a_list_has_as_many_items_as_the_limit_says)
{
    ck_limit(items, ITEMS_MOST, "items: ", "4 items, the limit is 3");
}
END_TEST

START_TEST(a_message_has_16_segments)
{
    ck_limit(segments, EK_SEGMENTS_MAX, "segments.s16: ", "more than 16 segments");
}
END_TEST

START_TEST(a_message_nests_1024_levels_at_most)
{
    ck_limit(levels, EK_WIRE_DEPTH_MAX, "x: ", "nested deeper than 1024 levels");
    ck_limit(depth_of_limits, EK_WIRE_DEPTH_MAX, "limit 'depth'", "must lie in 1 .. 1024");
}
END_TEST

START_TEST(a_message_has_as_many_bytes_as_the_limit_says)
{
    ck_limit(length, MESSAGE_LENGTH, "message: ", "101 bytes, the limit is 100");
}
END_TEST

Suite *suite_limits_codec(void)
{
    return ek_suite("limits codec", a_list_has_as_many_items_as_the_limit_says,
                    a_message_has_16_segments, a_message_nests_1024_levels_at_most,
                    a_message_has_as_many_bytes_as_the_limit_says);
}
