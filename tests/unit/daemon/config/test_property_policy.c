/* librdkafka properties that would break the delivery guarantee are rejected. */
#include "daemon/config/config.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

/* Parse a configuration with these producer properties. */
static int parse(struct ek_config **c, const char *properties, struct ek_error *e)
{
    char text[1000];
    snprintf(text, sizeof text,
             "input: {brokers: \"b:9092\", topics: [s], group: g}\n"
             "output:\n  topic: r\n  dead_letter_topic: d\n  librdkafka:\n%s"
             "assets: {manifest: m, profile: p}\n",
             properties);
    return ek_config_parse(c, "run.yaml", text, strlen(text), NULL, e);
}

START_TEST(what_could_lose_messages_is_refused_where_it_stands)
{
    static const char *const values[] = {"acks: 1", "acks: 0", "request.required.acks: 1"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char line[100];
        struct ek_config *c = NULL;
        struct ek_error e;
        snprintf(line, sizeof line, "    %s\n", values[i]);
        ck_assert_int_eq(parse(&c, line, &e), EK_ECONFIG);
        ck_assert_int_eq(e.line, 6);
        ck_assert_ptr_nonnull(strstr(e.message, "an acknowledged output may be lost"));
    }
}
END_TEST

START_TEST(what_ends_the_program_or_the_order_is_noted_where_it_stands)
{
    static const struct {
        const char *property, *said; /* NULL: no warning */
    } cases[] = {
        {"    acks: all\n", NULL},
        {"    message.timeout.ms: 30000\n", "a longer broker outage ends the program"},
        {"    message.timeout.ms: 0\n", NULL},
        {"    retries: 3\n", "a longer broker outage ends the program"},
        {"    retries: 2147483647\n", NULL},
        {"    enable.idempotence: false\n", "lists may be reordered"},
        {"    enable.idempotence: true\n    max.in.flight: 5\n", NULL},
        {"    enable.gapless.guarantee: true\n    enable.idempotence: true\n",
         "one rejected message ends the program"},
        {"    isolation.level: read_uncommitted\n", "aborted transactions"},
        {"    isolation.level: read_committed\n", NULL},
        {"    linger.ms: 3\n", NULL},
        {"    enable.ssl.certificate.verification: false\n", "certificates of brokers are not"},
        {"    enable.ssl.certificate.verification: true\n", NULL},
        {"    ssl.endpoint.identification.algorithm: none\n", "host names in certificates"},
        {"    ssl.endpoint.identification.algorithm: https\n", NULL},
        {"    security.protocol: SASL_PLAINTEXT\n    sasl.mechanism: PLAIN\n",
         "sends the password unencrypted"},
        {"    security.protocol: sasl_plaintext\n    sasl.mechanism: SCRAM-SHA-256\n", NULL},
        {"    security.protocol: sasl_ssl\n    sasl.mechanism: PLAIN\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_config *c = NULL;
        struct ek_error e;
        ck_assert_msg(!parse(&c, cases[i].property, &e), "%s", e.message);
        ck_assert_uint_eq(c->notes.count, cases[i].said != NULL);
        if (cases[i].said) {
            ck_assert_int_eq(c->notes.errors[0].line, 6);
            ck_assert_str_eq(c->notes.errors[0].file, "run.yaml");
            ck_assert_ptr_nonnull(strstr(c->notes.errors[0].message, cases[i].said));
        }
        ek_config_free(c);
    }
}
END_TEST

Suite *suite_property_policy(void)
{
    return ek_suite("risk", what_could_lose_messages_is_refused_where_it_stands,
                    what_ends_the_program_or_the_order_is_noted_where_it_stands);
}
