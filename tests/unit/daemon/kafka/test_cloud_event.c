/* CloudEvents, times and URLs. */
#include "daemon/kafka/side_records.h"
#include "daemon/base/url.h"
#include "tests/event_from.h"
#include "tests/check.h"

#include <string.h>

static const char FINDING[] =
    "{\"event\":\"finding\",\"finding_id\":\"price-17\",\"time_ms\":1790001121472,"
    "\"text\":\"\\\"time_ms\\\":5\"}";
static const char DRIFT[] = "{\"event\":\"model_drift\",\"time_ms\":1250}";

START_TEST(an_event_has_source_type_time_and_the_same_id_again)
{
    struct ek_cloud_event a, b, other;
    ek_cloud_event_init(&a, "hotel ranker/\xc3\xa4", event_from(FINDING), FINDING, 0);
    ck_assert_str_eq(a.source, "/evenkeel/hotel%20ranker%2F%C3%A4");
    ck_assert_str_eq(a.type, "evenkeel.finding");
    ck_assert_str_eq(a.time, "2026-09-21T14:32:01.472Z");
    ck_assert_uint_eq(strlen(a.id), 16);
    ek_cloud_event_init(&b, "x", event_from(FINDING), FINDING, 77);
    ck_assert_str_eq(a.id, b.id);
    ek_cloud_event_init(&other, "x", event_from(DRIFT), DRIFT, 0);
    ck_assert_str_ne(a.id, other.id);
    ck_assert_str_eq(other.type, "evenkeel.model_drift");
    ck_assert_str_eq(other.time, "1970-01-01T00:00:01.250Z");
}
END_TEST

START_TEST(times_keep_within_four_digits_of_a_year)
{
    char text[EK_RFC3339_BYTES];
    ck_assert_str_eq(ek_rfc3339(-1, text), "1969-12-31T23:59:59.999Z");
    ck_assert_str_eq(ek_rfc3339(INT64_MAX, text), "9999-12-31T23:59:59.999Z");
    ck_assert_str_eq(ek_rfc3339(INT64_MIN, text), "0000-01-01T00:00:00.000Z");
}
END_TEST

START_TEST(an_address_is_http_with_a_host)
{
    static const char *const good[] = {"http://localhost:9093", "https://a.example/x?y=%20#z",
                                       "HTTPS://u:p@a.example:443/", "http://[::1]:80/",
                                       "http://a"};
    static const char *const bad[] = {"",
                                      "localhost:9093",
                                      "ftp://a",
                                      "http://",
                                      "http:///x",
                                      "http://a:0",
                                      "http://a:x",
                                      "http://a:70000",
                                      "http://a b",
                                      "http://a/\xc3\xa4",
                                      "http://[::1",
                                      "http://a:1:2",
                                      "https://a/\n",
                                      "http://a\"b/"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(!ek_url_check(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(ek_url_check(bad[i]), "%s", bad[i]);
}
END_TEST

static void assert_shown(const char *url, const char *shown)
{
    char out[EK_URL_REDACTED_BYTES];
    ck_assert_int_eq(ek_url_redact(url, out), EK_OK);
    ck_assert_str_eq(out, shown);
}

START_TEST(of_an_address_only_the_host_is_shown)
{
    assert_shown("https://hooks.example/services/T0/secret", "https://hooks.example/***");
    assert_shown("http://ana:pw@a.example:81", "http://a.example:81/***");
    assert_shown("http://a.example?k=secret", "http://a.example/***");
    assert_shown("http://localhost:9093/", "http://localhost:9093");
    ck_assert(!ek_url_check("http://a.example/***"));
}
END_TEST

START_TEST(a_name_in_an_address_is_cut_between_characters)
{
    char out[8];
    ek_url_escape("a b\xc3\xa4", out, sizeof out);
    ck_assert_str_eq(out, "a%20b");
}
END_TEST

Suite *suite_cloud_event(void)
{
    return ek_suite("cloud_event", an_event_has_source_type_time_and_the_same_id_again,
                    times_keep_within_four_digits_of_a_year, an_address_is_http_with_a_host,
                    of_an_address_only_the_host_is_shown,
                    a_name_in_an_address_is_cut_between_characters);
}
