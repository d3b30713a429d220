/* Dead-letter report of `capture`. */
#include "daemon/commands/capture.h"

#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static struct ek_header header(const char *name, const char *value)
{
    return (struct ek_header){name, value, value ? strlen(value) : 0};
}

static void add(struct ek_dead_letters *d, const char *class, const char *offset, const char *why)
{
    struct ek_kafka_record r = {.header_count = 6};
    r.headers[0] = header("ek-error", "of a producer");
    r.headers[1] = header("ek-source-topic", "scored");
    r.headers[2] = header("ek-source-partition", "2");
    r.headers[3] = header("ek-source-offset", offset);
    r.headers[4] = header("ek-error-class", class);
    r.headers[5] = header("ek-error", why);
    ek_dead_letters_add(d, &r);
}

/* The caller frees it. */
static char *printed(const struct ek_dead_letters *d)
{
    char *text;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    ck_assert_int_eq(ek_dead_letters_print(d, to), 0);
    fclose(to);
    return text;
}

START_TEST(of_each_class_there_is_a_count_and_the_last_place_and_reason)
{
    struct ek_dead_letters d = {.of = {{.count = 0}}};
    add(&d, "format", "7", "items: missing");
    add(&d, "limit", "8", "too large");
    add(&d, "format", "9", "items[0]: no \"score\"");
    char *text = printed(&d);
    ck_assert_str_eq(text,
                     "dead letters, format: 2, the last from \"scored, partition 2, offset 9\": "
                     "\"items[0]: no \\\"score\\\"\"\n"
                     "dead letters, limit: 1, the last from \"scored, partition 2, offset 8\": "
                     "\"too large\"\n");
    free(text);
}
END_TEST

START_TEST(those_that_lack_a_part_of_their_message_are_told)
{
    struct ek_dead_letters d = {.of = {{.count = 0}}};
    struct ek_kafka_record r = {.header_count = 2};
    add(&d, "limit", "8", "too large");
    r.headers[0] = header("ek-error-class", "limit");
    r.headers[1] = header("ek-truncated", "value");
    ek_dead_letters_add(&d, &r);
    r.headers[0] = header("ek-truncated", "headers"); /* of another time */
    r.headers[1] = header("ek-error-class", "limit");
    ek_dead_letters_add(&d, &r);
    char *text = printed(&d);
    ck_assert_ptr_nonnull(strstr(text, "limit: 3 (1 without all of the message), the last from"));
    free(text);
}
END_TEST

START_TEST(messages_that_are_no_dead_letters_are_not_told)
{
    struct ek_dead_letters d = {.of = {{.count = 0}}};
    struct ek_kafka_record r = {.header_count = 1};
    r.headers[0] = header("ek-error-classes", "format");
    ek_dead_letters_add(&d, &r);
    char *text = printed(&d);
    ck_assert_str_eq(text, "");
    free(text);
}
END_TEST

START_TEST(a_dead_letter_that_was_sent_again_is_none_unless_it_came_back)
{
    struct ek_dead_letters d = {.of = {{.count = 0}}};
    struct ek_kafka_record r = {.header_count = 3};
    r.headers[0] = header("ek-error-class", "format");
    r.headers[1] = header("ek-plan-version", "7");
    r.headers[2] = header("ek-action", "pass");
    ek_dead_letters_add(&d, &r);
    for (int i = 0; i < EK_DEAD_CLASSES; i++)
        ck_assert_uint_eq(d.of[i].count, 0);
    r.header_count = 4;
    r.headers[3] = header("ek-error-class", "limit");
    ek_dead_letters_add(&d, &r);
    ck_assert_uint_eq(d.of[0].count, 0);
    ck_assert_uint_eq(d.of[1].count, 1);
}
END_TEST

START_TEST(headers_of_any_content_are_cut_short_and_quoted)
{
    struct ek_dead_letters d = {.of = {{.count = 0}}};
    char *long_one = malloc(100001);
    ck_assert_ptr_nonnull(long_one);
    memset(long_one, 0x1b, 100000);
    long_one[100000] = '\0';
    add(&d, long_one, long_one, long_one);
    add(&d, "other", NULL, "");
    add(&d, "formats", long_one, long_one);
    char *text = printed(&d);
    ck_assert_int_eq(strncmp(text, "dead letters, other: 3, ", 24), 0);
    ck_assert_ptr_null(strchr(text, 0x1b));
    ck_assert_uint_lt(strlen(text), 6 * (EK_DEAD_REASON_BYTES + EK_DEAD_TOPIC_BYTES));
    free(text);
    free(long_one);
}
END_TEST

Suite *suite_dead_letters(void)
{
    return ek_suite("dead_letters", of_each_class_there_is_a_count_and_the_last_place_and_reason,
                    those_that_lack_a_part_of_their_message_are_told,
                    messages_that_are_no_dead_letters_are_not_told,
                    a_dead_letter_that_was_sent_again_is_none_unless_it_came_back,
                    headers_of_any_content_are_cut_short_and_quoted);
}
