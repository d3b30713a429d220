/* Where the HTTP interface listens; what it answers is in test_stage_tells.c. */
#include "daemon/http.h"
#include "tests/check.h"

#include <stdio.h>

/* Nothing behind it. */
static const struct ek_api NOBODY;

START_TEST(an_address_to_listen_on_is_checked)
{
    struct ek_http *http = NULL;
    struct ek_error e;
    static const char *const bad[] = {"9464", "localhost:port", "localhost:70000", "[::1]",
                                      "256.0.0.1:1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(ek_http_start(&http, bad[i], NULL, &NOBODY, NULL, &e), EK_ECONFIG);
    ck_assert_ptr_null(http);
}
END_TEST

/* The second server on the port of the first is refused by its name. */
static void assert_not_shared(const char *host)
{
    struct ek_http *first, *second = NULL;
    struct ek_error e;
    char at[64], expected[120];
    snprintf(at, sizeof at, "%s:0", host);
    ck_assert_msg(!ek_http_start(&first, at, NULL, &NOBODY, NULL, &e), "%s", e.message);
    ck_assert_int_gt(ek_http_port(first), 0);
    snprintf(at, sizeof at, "%s:%d", host, ek_http_port(first));
    snprintf(expected, sizeof expected, "cannot listen on %s: address already in use", at);
    ck_assert_int_eq(ek_http_start(&second, at, NULL, &NOBODY, NULL, &e), EK_EIO);
    ck_assert_str_eq(e.message, expected);
    ek_http_stop(first);
    ck_assert_msg(!ek_http_start(&second, at, NULL, &NOBODY, NULL, &e), "%s", e.message);
    ek_http_stop(second);
}

START_TEST(two_instances_do_not_share_a_port)
{
    assert_not_shared("127.0.0.1");
}
END_TEST

START_TEST(nor_a_port_of_ipv6)
{
    struct ek_http *http;
    if (ek_http_start(&http, "[::1]:0", NULL, &NOBODY, NULL, NULL)) {
        printf("skipped: there is no IPv6 here\n");
        return;
    }
    ek_http_stop(http);
    assert_not_shared("[::1]");
}
END_TEST

Suite *suite_http(void)
{
    return ek_suite("http", an_address_to_listen_on_is_checked, two_instances_do_not_share_a_port,
                    nor_a_port_of_ipv6);
}
