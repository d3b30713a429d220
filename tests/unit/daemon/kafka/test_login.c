/* Settings of a login with OpenID Connect. */
#include "daemon/kafka/login.h"
#include "tests/check.h"

#include <stdint.h>
#include <string.h>

enum { ESCAPED_MOST = 1996 };

static struct ek_property property(const char *name, const char *value)
{
    return (struct ek_property){.name = (char *)(uintptr_t)name, .value = (char *)(uintptr_t)value};
}

static int configure(const char *url, const char *scope, struct ek_error *e)
{
    struct ek_property items[] = {property("sasl.oauthbearer.method", "oidc"),
                                  property("sasl.oauthbearer.token.endpoint.url", url),
                                  property("sasl.oauthbearer.client.id", "ranker"),
                                  property("sasl.oauthbearer.client.secret", "secret"),
                                  property("sasl.oauthbearer.scope", scope)};
    const struct ek_property_list list = {items, sizeof items / sizeof *items};
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = ek_login_configure(conf, &list, e);
    rd_kafka_conf_destroy(conf);
    return rc;
}

static void assert_rejected(const char *url, const char *scope, const char *expected)
{
    struct ek_error e;
    char text[sizeof e];
    ck_assert_int_eq(configure(url, scope, &e), EK_ECONFIG);
    ek_error_text(&e, text, sizeof text);
    ck_assert_msg(strstr(text, expected), "'%s' is not in '%s'", expected, text);
}

START_TEST(a_scope_that_the_request_cannot_hold_is_rejected)
{
    static const char URL[] = "https://idp/token";
    char scope[ESCAPED_MOST + 1];
    struct ek_error e;
    memset(scope, 'a', ESCAPED_MOST);
    scope[ESCAPED_MOST] = 0;
    ck_assert_int_eq(configure(URL, scope, &e), EK_OK);
    memset(scope, ' ', 2); /* three bytes each in the request */
    assert_rejected(URL, scope,
                    "'sasl.oauthbearer.scope' is too long: percent-encoded it has more than 1996");
}
END_TEST

START_TEST(an_endpoint_without_a_scheme_is_rejected)
{
    assert_rejected("idp/token", "kafka", "must start with https:// or http://");
}
END_TEST

Suite *suite_login(void)
{
    return ek_suite("login", a_scope_that_the_request_cannot_hold_is_rejected,
                    an_endpoint_without_a_scheme_is_rejected);
}
