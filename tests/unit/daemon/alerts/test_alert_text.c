/* Alert payloads of each receiver: any name is escaped, and secrets are omitted. */
#include "daemon/alerts/http_delivery.h"
#include "daemon/alerts/alert.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NOW_MS = 2000000000, SLACK_MOST = 3000, PAGER_SUMMARY_MOST = 1024, PAGER_KEY_MOST = 255 };

static const struct ek_alert_context ABOUT = {"hotels & \"more\"", "https://e.example/x|y?a=1&b=2",
                                              "https://d.example/runbooks.html?v=1&w=2"};

/* Return an alert for a feature `name` of any valid length. */
static struct ek_alert named(const char *name, bool firing)
{
    struct ek_alert a = {.kind = EK_ALERT_DRIFT, .firing = firing, .features_count = 1};
    a.factor = 100.3;
    a.factor_low = a.factor_high = a.share = NAN;
    a.since_ms = NOW_MS - 1000;
    a.ended_ms = NOW_MS;
    ek_alert_copy(a.feature, sizeof a.feature, name);
    ek_alert_copy(a.features, sizeof a.features, name);
    ek_alert_copy(a.segment, sizeof a.segment, "arm=B");
    ek_alert_copy(a.class, sizeof a.class, "scale");
    ek_alert_copy(a.summary, sizeof a.summary, " x100.3 on arm=B; routed");
    ek_alert_copy(a.evidence, sizeof a.evidence, name);
    return a;
}

static json_t *parsed(struct ek_buf *out)
{
    json_error_t why;
    json_t *json = json_loadb((const char *)out->data, out->length, JSON_REJECT_DUPLICATES, &why);
    ck_assert_msg(json != NULL, "%s in %.*s", why.text, (int)out->length, (char *)out->data);
    ek_buf_release(out);
    return json;
}

static json_t *slack(const struct ek_alert *a)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_alert_slack(&out, &ABOUT, a), 0);
    return parsed(&out);
}

static json_t *pager(const struct ek_alert *a)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_alert_pagerduty(&out, &ABOUT, a, "key"), 0);
    return parsed(&out);
}

static json_t *manager(const struct ek_alert *a)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_alert_alertmanager(&out, &ABOUT, a, NOW_MS, NOW_MS + 60000), 0);
    return parsed(&out);
}

static json_t *plain(const struct ek_alert *a)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_alert_generic(&out, &ABOUT, a), 0);
    return parsed(&out);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    ck_assert_msg(text != NULL, "no %s", key);
    return text;
}

static void repeat(char *out, size_t size, const char *what)
{
    size_t at = 0, length = strlen(what);
    for (; at + length < size; at += length)
        memcpy(out + at, what, length);
    out[at] = 0;
}

static void assert_taken(const char *name)
{
    for (int firing = 0; firing < 2; firing++) {
        struct ek_alert a = named(name, firing);
        json_t *all[] = {slack(&a), pager(&a), manager(&a), plain(&a)};
        const json_t *blocks = json_object_get(all[0], "blocks");
        for (size_t i = 0; i < json_array_size(blocks); i++) {
            const json_t *text = json_object_get(json_array_get(blocks, i), "text");
            ck_assert_uint_le(strlen(text_of(text, "text")), SLACK_MOST);
        }
        ck_assert_uint_le(strlen(text_of(all[1], "dedup_key")), PAGER_KEY_MOST);
        if (firing)
            ck_assert_uint_le(strlen(text_of(json_object_get(all[1], "payload"), "summary")),
                              PAGER_SUMMARY_MOST);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            json_decref(all[i]);
    }
}

START_TEST(every_name_makes_messages_that_are_whole_and_within_what_is_taken)
{
    static const char *const odd[] = {"price",      "a\"b\\c\n\r\t\x01\x7f",
                                      "\xff\xfe",   "\xc3",
                                      "\xe2\x82",   "</script>",
                                      "%s%n%1000d", "#/?&=%2F"};
    static const char *const many[] = {"&", "\"", "\xc3\xa4", "\xf0\x9f\x98\x80", "\x01"};
    char name[4000];
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        assert_taken(odd[i]);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        repeat(name, sizeof name, many[i]);
        assert_taken(name);
    }
}
END_TEST

START_TEST(a_segment_that_is_too_long_is_cut_between_characters)
{
    struct ek_alert_update n;
    char value[400], json[600];
    for (int shift = 0; shift < 4; shift++) {
        snprintf(value, sizeof value, "%.*s", shift, "xxx");
        repeat(value + shift, sizeof value - 4, "\xf0\x9f\x98\x80");
        snprintf(json, sizeof json,
                 "{\"event\":\"finding\",\"state\":\"confirmed\",\"feature\":\"price\","
                 "\"segment\":{\"%s\":\"%s\"}}",
                 "arm", value);
        ek_alert_update_read(&n, event_from(json));
        json_t *text = json_string(n.alert.segment); /* rejects invalid UTF-8 */
        ck_assert_ptr_nonnull(text);
        json_decref(text);
    }
}
END_TEST

START_TEST(in_slack_a_name_is_no_mention_and_no_link)
{
    struct ek_alert a = named("<!channel> & <http://x|y>", true);
    json_t *said = slack(&a);
    const json_t *blocks = json_object_get(said, "blocks");
    const char *head = text_of(said, "text");
    ck_assert_ptr_null(strchr(head, '<'));
    ck_assert_ptr_nonnull(strstr(head, "&lt;!channel&gt; &amp; &lt;http://x|y&gt;"));
    const json_t *last = json_array_get(blocks, json_array_size(blocks) - 1);
    ck_assert_str_eq(text_of(json_object_get(last, "text"), "text"),
                     "<https://e.example/x%7Cy?a=1&amp;b=2/#feature/"
                     "%3C%21channel%3E%20%26%20%3Chttp%3A%2F%2Fx%7Cy%3E|the feature's page>, "
                     "<https://d.example/runbooks.html?v=1&amp;w=2#drift|what to do>");
    json_decref(said);
}
END_TEST

START_TEST(without_an_address_of_the_runbooks_there_is_no_dead_link)
{
    const struct ek_alert_context bare = {"hotels", NULL, NULL};
    struct ek_alert a = named("price", true);
    struct ek_buf out;
    int (*const forms[])(struct ek_buf *, const struct ek_alert_context *,
                         const struct ek_alert *) = {ek_alert_slack, ek_alert_generic};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        ek_buf_init(&out, 0);
        ck_assert_int_eq(forms[i](&out, &bare, &a), 0);
        ck_assert_ptr_null(strstr(ek_buf_string(&out), "runbook"));
        ck_assert_ptr_null(strstr(ek_buf_string(&out), "what to do"));
        json_decref(parsed(&out));
    }
}
END_TEST

/* A segment value cannot inject a line. */
START_TEST(a_name_adds_no_line_to_a_sentence)
{
    char sentence[EK_ALERT_SENTENCE_BYTES];
    const struct ek_alert a = named("B\ncritical: call 555\x1b[2J", 1);
    ek_alert_sentence(&a, sentence);
    ck_assert_ptr_nonnull(strstr(sentence, "B?critical: call 555?[2J"));
    ck_assert_ptr_null(strpbrk(sentence, "\n\x1b"));
}
END_TEST

START_TEST(a_pager_is_told_the_end_under_the_key_of_the_beginning)
{
    struct ek_alert a = named("price", true), b = named("price", false);
    json_t *begins = pager(&a), *ends = pager(&b);
    ck_assert_str_eq(text_of(begins, "event_action"), "trigger");
    ck_assert_str_eq(text_of(ends, "event_action"), "resolve");
    ck_assert_str_eq(text_of(begins, "dedup_key"), text_of(ends, "dedup_key"));
    ck_assert_str_eq(text_of(json_object_get(begins, "payload"), "severity"), "warning");
    json_decref(begins);
    json_decref(ends);
}
END_TEST

START_TEST(names_with_slashes_have_keys_of_their_own)
{
    struct ek_alert a = named("price", true), b = a;
    char one[EK_ALERT_KEY_BYTES], two[EK_ALERT_KEY_BYTES];
    ek_alert_copy(a.segment, sizeof a.segment, "arm=B/x=C");
    ek_alert_copy(b.feature, sizeof b.feature, "price/arm=B");
    ek_alert_copy(b.segment, sizeof b.segment, "x=C");
    ek_alert_key(&a, "hotels", one);
    ek_alert_key(&b, "hotels", two);
    ck_assert_str_eq(one, "evenkeel/hotels/drift/price/arm=B%2Fx=C/scale");
    ck_assert_str_ne(one, two);
}
END_TEST

START_TEST(to_alertmanager_an_alert_never_ends_before_it_begins_or_in_the_future)
{
    static const int64_t since[] = {0, NOW_MS - 1, NOW_MS, NOW_MS + 86400000};
    static const int64_t ended[] = {0, NOW_MS - 500, NOW_MS + 86400000}; /* the clock was set */
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        for (size_t k = 0; k < sizeof ended / sizeof *ended; k++) {
            struct ek_alert a = named("price", false);
            a.since_ms = since[i];
            a.ended_ms = ended[k];
            json_t *all = manager(&a);
            const json_t *one = json_array_get(all, 0);
            ck_assert_int_lt(strcmp(text_of(one, "startsAt"), text_of(one, "endsAt")), 0);
            ck_assert_int_le(strcmp(text_of(one, "endsAt"), "1970-01-24T03:33:20.000Z"), 0);
            json_decref(all);
        }
}
END_TEST

static bool hides(const char *url, const char *said)
{
    char own[200], out[EK_HTTP_START_BYTES];
    struct ek_alert_sink s = {.url = own};
    struct ek_http_response answer = {.status = 400};
    snprintf(own, sizeof own, "%s", url);
    snprintf(answer.text, sizeof answer.text, "%s", said);
    ek_alert_format_response(&s, &answer, out);
    return strcmp(out, said) != 0;
}

START_TEST(a_part_of_an_address_that_may_be_a_secret_is_not_shown)
{
    static const char url[] =
        "https://ana:pass-word@h.example/services/T0/0123456789ab?key=zyxwvutsrqpo";
    char cut[EK_HTTP_START_BYTES];
    ck_assert(hides(url, "no token 0123456789ab here"));
    ck_assert(hides(url, "zyxwvutsrqpo is no key"));
    ck_assert(hides(url, "pass-word is wrong"));
    ck_assert(hides(url, "\"\\/services\\/T0\\/0123456789ab\""));
    ck_assert(!hides(url, "no service at h.example"));
    repeat(cut, sizeof cut - 8, ".");
    snprintf(cut + strlen(cut), 9, "01234567"); /* position of the truncation */
    ck_assert_uint_eq(strlen(cut), EK_HTTP_START_BYTES - 1);
    ck_assert(hides(url, cut));
}
END_TEST

Suite *suite_alert_text(void)
{
    return ek_suite(
        "alert_words", every_name_makes_messages_that_are_whole_and_within_what_is_taken,
        a_segment_that_is_too_long_is_cut_between_characters,
        in_slack_a_name_is_no_mention_and_no_link,
        without_an_address_of_the_runbooks_there_is_no_dead_link, a_name_adds_no_line_to_a_sentence,
        a_pager_is_told_the_end_under_the_key_of_the_beginning,
        names_with_slashes_have_keys_of_their_own,
        to_alertmanager_an_alert_never_ends_before_it_begins_or_in_the_future,
        a_part_of_an_address_that_may_be_a_secret_is_not_shown);
}
