/* Configuration: parsing and error messages. */
#include "base/buf.h"
#include "base/file.h"
#include "daemon/alerts/alert_registry.h"
#include "daemon/base/url.h"
#include "daemon/config/config.h"
#include "daemon/kafka/client.h"
#include "tests/check.h"
#include "tests/unit/key_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MINIMAL[] = "input: {brokers: \"b:9092\", topics: [scored], group: g}\n"
                              "output: {topic: ranked, dead_letter_topic: ranked.dead}\n"
                              "assets: {manifest: features.yaml, profile: /p/profile.ekp}\n";

static struct ek_config *parsed(const char *more)
{
    char text[4000];
    struct ek_error e;
    struct ek_config *c = NULL;
    snprintf(text, sizeof text, "%s%s", MINIMAL, more);
    int rc = ek_config_parse(&c, "conf/run.yaml", text, strlen(text), NULL, &e);
    ck_assert_msg(!rc, "%s", rc ? e.message : "");
    return c;
}

static void refused(const char *more, const char *expected)
{
    char text[4000], said[700];
    struct ek_error e;
    struct ek_config *c = NULL;
    snprintf(text, sizeof text, "%s%s", MINIMAL, more);
    ck_assert_int_eq(ek_config_parse(&c, "conf/run.yaml", text, strlen(text), NULL, &e),
                     EK_ECONFIG);
    ck_assert_ptr_null(c);
    ck_assert_str_eq(ek_error_text(&e, said, sizeof said), expected);
}

START_TEST(a_short_file_gets_the_built_in_values)
{
    struct ek_config *c = parsed("");
    ck_assert_str_eq(c->brokers, "b:9092");
    ck_assert_uint_eq(c->topics.count, 1);
    ck_assert_str_eq(c->topics.items[0], "scored");
    ck_assert_str_eq(c->listen, "127.0.0.1:9464");
    ck_assert_int_eq(c->message_bytes, 4 << 20);
    ck_assert_int_eq(c->commit_interval_ms, 0);
    ck_assert_int_eq(ek_config_commit_interval_ms(c), 1000);
    ck_assert_int_eq(c->offset_reset, EK_OFFSET_RESET_EARLIEST);
    ck_assert_ptr_null(c->model);
    ck_assert_ptr_null(c->alert_topic);
    ek_config_free(c);
}
END_TEST

START_TEST(relative_assets_are_beside_the_file)
{
    struct ek_config *c = parsed("");
    ck_assert_str_eq(c->manifest, "conf/features.yaml");
    ck_assert_str_eq(c->profile, "/p/profile.ekp");
    ek_config_free(c);
}
END_TEST

START_TEST(values_come_from_the_environment)
{
    setenv("EK_TEST_NAME", "hotels: [1", 1);
    unsetenv("EK_TEST_NONE");
    struct ek_config *c = parsed("service: {name: \"a-${EK_TEST_NAME}-$${X}-$5\"}\n");
    ck_assert_str_eq(c->service_name, "a-hotels: [1-${X}-$5");
    ek_config_free(c);
    refused("service: {name: \"${EK_TEST_NONE}\"}\n",
            "conf/run.yaml:4:17: environment variable 'EK_TEST_NONE' is not set; set it, or write "
            "$${ for ${");
    refused("service: {name: \"${EK\"}\n",
            "conf/run.yaml:4:17: '${' without a name and a closing brace");
}
END_TEST

START_TEST(a_quoted_null_is_a_text)
{
    setenv("EK_TEST_NULL", "null", 1);
    struct ek_config *c = parsed("message: {features: 'null', segments: {arm: \"~\"}, "
                                 "query_features: \"${EK_TEST_NULL}\"}\n");
    ck_assert_str_eq(c->features.path, "null");
    ck_assert_str_eq(c->segments.items[0].path, "~");
    ck_assert_str_eq(c->query_features.path, "null");
    ek_config_free(c);
}
END_TEST

START_TEST(unknown_keys_are_errors_with_the_nearest_one)
{
    refused("servce: {name: x}\n",
            "conf/run.yaml:4:1: unknown key 'servce', did you mean 'service'?");
    refused("http: {lisen: x}\n", "conf/run.yaml:4:8: unknown key 'lisen', did you mean 'listen'?");
    refused(
        "http: {banana: x}\n",
        "conf/run.yaml:4:8: unknown key 'banana': it must be listen, public_url, event_history, "
        "max_connections, max_connections_per_ip, max_event_streams, request_timeout, "
        "allowed_hosts or token_file");
}
END_TEST

START_TEST(what_comes_later_is_said_and_not_ignored)
{
    refused("limits: {features: 5}\n",
            "conf/run.yaml:4:20: 'limits.features' is not available in this version");
}
END_TEST

START_TEST(a_fleet_has_two_topics_of_its_own_and_time_to_be_heard)
{
    char ticks[EK_FLEET_TOPIC_BYTES];
    struct ek_config *c = parsed("fleet: {topic: hotels}\n");
    ek_config_evidence_topic(c, ticks);
    ck_assert_str_eq(ticks, "hotels.evidence");
    ck_assert_int_eq(c->fleet_report_interval_ms, 1000);
    ck_assert_int_eq(c->fleet_leader_timeout_ms, 10000);
    ek_config_free(c);
    c = parsed("fleet: {topic: hotels, evidence_topic: seen}\n");
    ek_config_evidence_topic(c, ticks);
    ck_assert_str_eq(ticks, "seen");
    ek_config_free(c);
    refused("fleet: {topic: ranked}\n",
            "conf/run.yaml:4:9: 'fleet.topic': topic 'ranked' is also an output; use another one");
    refused("fleet: {topic: hotels, evidence_topic: scored}\n",
            "conf/run.yaml:4:24: 'fleet.evidence_topic': topic 'scored' is also an input; use "
            "another one");
    refused("fleet: {topic: hotels, evidence_topic: hotels}\n",
            "conf/run.yaml:4:24: 'fleet.evidence_topic' is also 'fleet.topic'; use another one");
    refused("fleet: {topic: hotels, leader_timeout: 2s}\n",
            "conf/run.yaml:4:24: 'fleet.leader_timeout' is less than three times "
            "'fleet.report_interval'; one late record would make the plan stale");
}
END_TEST

START_TEST(values_out_of_range_or_of_another_kind_are_refused)
{
    refused("limits: {message_bytes: 3}\n",
            "conf/run.yaml:4:25: 'limits.message_bytes' must be from 1KiB to 512MiB, not 3");
    refused("http: {event_history: many}\n",
            "conf/run.yaml:4:23: 'http.event_history' must be a whole number, not 'many'");
    refused("log: {level: loud}\n",
            "conf/run.yaml:4:14: 'log.level' must be debug, info, warn or error, not 'loud'");
    refused("http: [listen]\n",
            "conf/run.yaml:4:7: 'http' must be a mapping (key: value), not a list");
    refused("service: {name: [a]}\n",
            "conf/run.yaml:4:17: 'service.name' must be a text, not a list");
    refused("service: {name: \"\"}\n", "conf/run.yaml:4:17: 'service.name' is empty");
    refused("alerts:\n  - {kafka: {topic: a}}\n  - {kafka: {topic: b}}\n",
            "conf/run.yaml:6:21: duplicate key 'alerts.kafka.topic'");
}
END_TEST

START_TEST(a_stage_may_not_feed_itself)
{
    refused("alerts:\n  - {kafka: {topic: scored}}\n",
            "conf/run.yaml:5:14: 'alerts.kafka.topic': topic 'scored' is also an input; use "
            "another one");
    refused("state: {topic: scored}\n",
            "conf/run.yaml:4:9: 'state.topic': topic 'scored' is also an input; use another one");
    refused("state: {topic: ranked}\n",
            "conf/run.yaml:4:9: 'state.topic': topic 'ranked' is also an output; use another one");
    refused("alerts:\n  - {kafka: {topic: ranked}}\n",
            "conf/run.yaml:5:14: 'alerts.kafka.topic': topic 'ranked' is also an output; use "
            "another one");
    refused("alerts:\n  - {kafka: {topic: \"a b\"}}\n",
            "conf/run.yaml:5:14: 'alerts.kafka.topic': invalid topic name 'a b'");
}
END_TEST

START_TEST(librdkafka_properties_are_checked_where_they_stand)
{
    static const char text[] = "input:\n  brokers: b\n  topics: scored\n  group: g\n  librdkafka:\n"
                               "    %s\n"
                               "output: {topic: r, dead_letter_topic: d}\n"
                               "assets: {manifest: m, profile: p}\n";
    static const char *const cases[][2] = {
        {"sesion.timeout.ms: 6000",
         "run.yaml:6:5: librdkafka property 'sesion.timeout.ms': No such "
         "configuration property: \"sesion.timeout.ms\""},
        {"group.id: other",
         "run.yaml:6:5: librdkafka property 'group.id' is set by evenkeel: use 'input.group'"},
        {"fetch.max.bytes: 1000000",
         "run.yaml:6:5: librdkafka property 'fetch.max.bytes' is 1000000, and must be at least "
         "4259840: what 'limits.message_bytes' allows, with key and headers"},
        {"receive.message.max.bytes: 8388608",
         "run.yaml:6:5: librdkafka property 'receive.message.max.bytes' is 8388608, and must be at "
         "least 8389120: 'fetch.max.bytes' and 512"},
        {"session.timeout.ms: 400000",
         "run.yaml:6:5: librdkafka property 'max.poll.interval.ms' is 300000, and must be at least "
         "400000: 'session.timeout.ms'"},
        {"reconnect.backoff.ms: 3000",
         "run.yaml:6:5: librdkafka property 'reconnect.backoff.max.ms' is 2000, and must be at "
         "least 3000: 'reconnect.backoff.ms'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char file[600], said[700];
        struct ek_error e;
        struct ek_config *c = NULL;
        snprintf(file, sizeof file, text, cases[i][0]);
        ck_assert_int_eq(ek_config_parse(&c, "run.yaml", file, strlen(file), NULL, &e), EK_ECONFIG);
        ck_assert_str_eq(ek_error_text(&e, said, sizeof said), cases[i][1]);
    }
}
END_TEST

START_TEST(there_are_at_most_sixteen_sinks_of_alerts)
{
    static const char says[] = "conf/run.yaml:21:6: 'alerts' has more than 16 elements";
    for (int count = EK_ALERT_SINKS_MAX - 1; count <= EK_ALERT_SINKS_MAX + 1; count++) {
        char text[1000] = "alerts:\n";
        for (int i = 0; i < count; i++)
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "  - {webhook: {url: \"http://h/%d\"}}\n", i);
        if (count > EK_ALERT_SINKS_MAX)
            refused(text, says);
        else
            ek_config_free(parsed(text));
    }
}
END_TEST

static void assert_faults(const char *text, const long *lines, size_t count)
{
    struct ek_error_list faults;
    struct ek_config *c = NULL;
    struct ek_error e;
    ek_error_list_init(&faults);
    ck_assert_int_eq(ek_config_parse(&c, "x.yaml", text, strlen(text), &faults, &e), EK_ECONFIG);
    ck_assert_ptr_null(c);
    for (size_t i = 0; i < faults.count && i < count; i++) {
        ck_assert_msg(faults.errors[i].line == lines[i], "%ld: %s", faults.errors[i].line,
                      faults.errors[i].message);
        ck_assert_str_eq(faults.errors[i].file, "x.yaml");
    }
    ck_assert_uint_eq(faults.count, count);
    ck_assert_str_eq(e.message, faults.errors[0].message);
    ek_error_list_release(&faults);
}

START_TEST(a_check_goes_on_after_a_fault)
{
    static const char text[] = "servce: {name: x}\nhttp: {lisen: x, events: 0}\nlog: {level: no}\n"
                               "inputs: {}\noutput: {topic: [], dead_letter_topic: d}\n"
                               "assets: {manifest: m, profle: p}\n";
    static const long lines[] = {1, 2, 2, 3, 4, 5, 6};
    assert_faults(text, lines, sizeof lines / sizeof *lines);
}
END_TEST

START_TEST(a_check_tells_what_does_not_fit_together_too)
{
    static const char text[] = "input:\n"
                               "  brokers: \"b:99999\"\n"
                               "  topics: [\"a b\", scored, \"c d\"]\n"
                               "  librdkafka:\n"
                               "    group.id: g\n"
                               "    sesion.timeout.ms: 6000\n"
                               "output:\n"
                               "  topic: scored\n"
                               "  dead_letter_topic: scored\n"
                               "http: {listen: \"9464\"}\n";
    static const long lines[] = {0, 0, 0, 2, 3, 3, 5, 6, 8, 9, 9, 10};
    assert_faults(text, lines, sizeof lines / sizeof *lines);
}
END_TEST

START_TEST(addresses_are_read_before_they_are_used)
{
    static const char *const bad[] = {"b:0",   "b:65536", "b:",   ":9092",         "b,",
                                      "b:x,c", "b,c:-1",  "b,,c", "SSL://b:99999", "[::1]:0"};
    static const char *const good[] = {
        "b", "b:1", "a:9092, b:65535", "SSL://b:9093", "[::1]:9092", "[::1]", "::1"};
    struct ek_error e;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(ek_brokers_check("k", bad[i], &e) == EK_ECONFIG, "'%s' is taken", bad[i]);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(!ek_brokers_check("k", good[i], &e), "'%s': %s", good[i], e.message);
    ck_assert_int_eq(ek_brokers_check("k", "a:1,b:70000", &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "'k': the port of 'b:70000' is not from 1 to 65535");
    refused(
        "http: {listen: \"localhost:70000\"}\n",
        "conf/run.yaml:4:8: 'http.listen': 'localhost:70000' is not address:port, with a port up "
        "to 65535");
}
END_TEST

START_TEST(what_is_required_is_asked_for)
{
    struct ek_config *c = NULL;
    struct ek_error e;
    ck_assert_int_eq(ek_config_parse(&c, "x.yaml", "{}", 2, NULL, &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "'input.brokers' is missing; set it");
    static const char no_assets[] = "input: {brokers: b, topics: [scored], group: g}\n"
                                    "output: {topic: r, dead_letter_topic: d}\n";
    ck_assert_int_eq(ek_config_parse(&c, "x.yaml", no_assets, sizeof no_assets - 1, NULL, &e),
                     EK_ECONFIG);
    ck_assert_str_eq(e.message, "'assets.manifest' is missing; set it");
}
END_TEST

static void assert_same(const struct ek_buf *a, const struct ek_buf *b)
{
    ck_assert_uint_eq(a->length, b->length);
    ck_assert_mem_eq(a->data, b->data, a->length);
}

START_TEST(what_is_printed_reads_back_the_same_with_secrets_hidden)
{
    struct ek_config *c = parsed("service: {name: \"q\\\"${HOME}\"}\n"
                                 "alerts: [{kafka: {topic: alerts}}]\n");
    struct ek_buf first, second;
    struct ek_error e;
    ek_buf_init(&first, 0);
    ek_buf_init(&second, 0);
    ck_assert_int_eq(ek_config_set(c, "input.librdkafka", "sasl.password=hunter2", &e), EK_OK);
    ck_assert_int_eq(ek_config_print(c, &first), EK_OK);
    ck_assert_ptr_null(strstr(ek_buf_string(&first), "hunter2"));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&first), "\"sasl.password\": \"***\""));
    ek_config_free(c);
    ck_assert_msg(!ek_config_parse(&c, "/printed", ek_buf_string(&first), first.length, NULL, &e),
                  "%s", e.message);
    ck_assert_int_eq(ek_config_print(c, &second), EK_OK);
    ck_assert_str_eq(c->alert_topic, "alerts");
    /* only relative paths change, to another folder */
    ck_assert_str_eq(c->manifest, "/conf/features.yaml");
    ck_assert_int_eq(ek_config_set(c, "assets.manifest", "conf/features.yaml", &e), EK_OK);
    ek_buf_clear(&second);
    ck_assert_int_eq(ek_config_print(c, &second), EK_OK);
    assert_same(&first, &second);
    ek_buf_release(&first);
    ek_buf_release(&second);
    ek_config_free(c);
}
END_TEST

START_TEST(the_schema_registry_is_printed_without_its_secrets)
{
    struct ek_config *c =
        parsed("message: {encoding: avro, registry: {url: \"http://schemas:8081\","
               " user: ana, password: hunter2, cache: 7}}\n");
    struct ek_buf out;
    struct ek_error e;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_config_print(c, &out), EK_OK);
    ck_assert_msg(strstr(ek_buf_string(&out), "  registry: {url: \"http://schemas:8081") != NULL,
                  "%s", ek_buf_string(&out));
    ck_assert_ptr_nonnull(
        strstr(ek_buf_string(&out), "password: \"***\", timeout: 3s, cache: 7}\n"));
    ck_assert_ptr_null(strstr(ek_buf_string(&out), "hunter2"));
    ek_config_free(c);
    ck_assert_int_eq(ek_config_parse(&c, "again", ek_buf_string(&out), out.length, NULL, &e),
                     EK_OK);
    ck_assert_int_eq(c->registry_cache, 7);
    ek_buf_release(&out);
    ek_config_free(c);
}
END_TEST

START_TEST(each_sink_of_alerts_is_kept_and_printed_without_its_secrets)
{
    struct ek_config *c = parsed(
        "alerts:\n  - {alertmanager: {url: \"http://localhost:9093\", repeat_interval: 5s}}\n"
        "  - {kafka: {topic: a}}\n"
        "  - {webhook: {url: \"https://u:pw@hooks.example/T0/x\", format: slack, token: abc}}\n"
        "  - {webhook: {url: \"https://other.example\", min_severity: critical}}\n"
        "  - {pagerduty: {routing_key: R0}}\n"
        "http: {public_url: \"https://evenkeel.example/hotels/\"}\n");
    struct ek_buf out;
    ck_assert_uint_eq(c->sinks.count, 4);
    ck_assert_str_eq(c->sinks.items[2].label, "webhook-2");
    ck_assert_int_eq(c->sinks.items[0].repeat_ms, 5000);
    ck_assert_int_eq(c->sinks.items[2].format, EK_FORMAT_GENERIC);
    ck_assert_str_eq(c->sinks.items[1].token, "abc");
    ck_assert_ptr_null(c->sinks.items[2].token);
    ck_assert(ek_config_has_secret(c));
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_config_print(c, &out), EK_OK);
    ck_assert_ptr_nonnull(
        strstr(ek_buf_string(&out),
               "alerts:\n  - {kafka: {topic: \"a\"}}\n"
               "  - {alertmanager: {url: \"http://localhost:9093\", repeat_interval: 5s, "
               "min_severity: info}}\n"
               "  - {webhook: {url: \"https://hooks.example/***\", format: slack, token: \"***\", "
               "min_severity: info}}\n"
               "  - {webhook: {url: \"https://other.example\", format: generic, min_severity: "
               "critical}}\n"
               "  - {pagerduty: {routing_key: \"***\", url: "
               "\"https://events.pagerduty.com/***\", min_severity: info}}\n"));
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&out), "\"https://evenkeel.example/hotels/\""));
    ek_buf_release(&out);
    ek_config_free(c);
}
END_TEST

START_TEST(sizes_and_durations_are_printed_with_units_and_read_back_equal)
{
    static const char *const shown[] = {"message_bytes: 4097\n", "in_flight_bytes: 1GiB\n",
                                        "group_wait: 1500ms\n", "shutdown_timeout: 2m\n",
                                        "items: 5000\n"};
    struct ek_config *c = parsed("limits: {message_bytes: 4097, in_flight_bytes: 1024MiB, "
                                 "items: 5000}\n"
                                 "alerting: {group_wait: 1500ms}\n"
                                 "service: {shutdown_timeout: 120s}\n");
    struct ek_buf text;
    struct ek_error e;
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_config_print(c, &text), EK_OK);
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        ck_assert_msg(strstr(ek_buf_string(&text), shown[i]) != NULL, "no '%s' in %s", shown[i],
                      ek_buf_string(&text));
    ek_config_free(c);
    ck_assert_int_eq(ek_config_parse(&c, "again", ek_buf_string(&text), text.length, NULL, &e),
                     EK_OK);
    ck_assert_int_eq(c->message_bytes, 4097);
    ck_assert_int_eq(c->in_flight_bytes, 1 << 30);
    ck_assert_int_eq(c->alerts_group_wait_ms, 1500);
    ck_assert_int_eq(c->shutdown_timeout_ms, 120000);
    ek_config_free(c);
    ek_buf_release(&text);
}
END_TEST

START_TEST(a_configuration_can_be_made_in_code)
{
    struct ek_config *c;
    struct ek_error e;
    static const char *const values[][2] = {
        {"input.brokers", "127.0.0.1:1"},
        {"input.topics", "a"},
        {"input.topics", "b"},
        {"input.group", "g"},
        {"output.topic", "c"},
        {"output.dead_letter_topic", "d"},
        {"service.shutdown_timeout", "2s"},
    };
    ck_assert_int_eq(ek_config_new(&c, &e), EK_OK);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        ck_assert_int_eq(ek_config_set(c, values[i][0], values[i][1], &e), EK_OK);
    ck_assert_int_eq(ek_config_finish(c, NULL, &e), EK_OK);
    ck_assert_uint_eq(c->topics.count, 2);
    ck_assert_int_eq(c->shutdown_timeout_ms, 2000);
    ck_assert_int_eq(ek_config_set(c, "service.shutdown_timout", "2s", &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "unknown key 'shutdown_timout', did you mean 'shutdown_timeout'?");
    ek_config_free(c);
}
END_TEST

/* Check that the rest is rejected with exactly-once, with the error at its position. */
static void not_with_exactly_once(const char *more, const char *expected)
{
    char text[600], said[600];
    struct ek_config *c;
    struct ek_error e;
    snprintf(text, sizeof text,
             "input: {brokers: \"127.0.0.1:1\", topics: [a], group: g, delivery: exactly_once}\n"
             "output: {topic: b, dead_letter_topic: c}\n"
             "assets: {manifest: m, profile: p}\n%s",
             more);
    ck_assert_int_eq(ek_config_parse(&c, "run.yaml", text, strlen(text), NULL, &e), EK_ECONFIG);
    ck_assert_str_eq(ek_error_text(&e, said, sizeof said), expected);
}

START_TEST(what_exactly_once_depends_on_is_held_against_it)
{
    not_with_exactly_once("limits: {in_flight_bytes: 31MiB}\n",
                          "run.yaml:4:10: 'limits.in_flight_bytes' is less than twice "
                          "'limits.transaction_bytes'; one transaction is read while "
                          "another is committed");
    struct ek_config *c;
    ck_assert_int_eq(ek_config_new(&c, NULL), EK_OK);
    ck_assert_int_eq(ek_config_commit_interval_ms(c), 1000);
    ck_assert_int_eq(ek_config_set(c, "input.delivery", "exactly_once", NULL), EK_OK);
    ck_assert_int_eq(ek_config_commit_interval_ms(c), 100);
    ck_assert_int_eq(ek_config_set(c, "input.commit_interval", "2s", NULL), EK_OK);
    ck_assert_int_eq(ek_config_commit_interval_ms(c), 2000);
    ek_config_free(c);
}
END_TEST

START_TEST(workers_are_counted_or_found_out)
{
    struct ek_config *c;
    struct ek_error e;
    ck_assert_int_eq(ek_config_new(&c, &e), EK_OK);
    ck_assert_int_ge(ek_config_workers(c), 1);
    ck_assert_int_le(ek_config_workers(c), EK_WORKERS_MAX);
    ck_assert_int_eq(ek_config_set(c, "pipeline.workers", "7", &e), EK_OK);
    ck_assert_int_eq(ek_config_workers(c), 7);
    ck_assert_int_eq(ek_config_set(c, "pipeline.workers", "0", &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "'pipeline.workers' must be from 1 to 16, not 0");
    ck_assert_int_eq(ek_config_set(c, "pipeline.workers", "many", &e), EK_ECONFIG);
    ck_assert_str_eq(e.message, "'pipeline.workers' must be auto or a whole number, not 'many'");
    ck_assert_int_eq(ek_config_set(c, "pipeline.workers", "auto", &e), EK_OK);
    ck_assert_int_ge(ek_config_workers(c), 1);
    ck_assert_int_eq(ek_config_set(c, "pipeline.batch_size", "auto", &e), EK_ECONFIG);
    ek_config_free(c);
}
END_TEST

START_TEST(the_page_of_the_keys_is_up_to_date)
{
    check_page("docs/config.md", ek_page_config);
}
END_TEST

static double producer_setting(const struct ek_config *config, const char *name)
{
    char value[100];
    size_t size = sizeof value;
    rd_kafka_conf_t *conf;
    ck_assert_int_eq(ek_kafka_conf_producer(&conf, config, NULL), 0);
    ck_assert_int_eq(rd_kafka_conf_get(conf, name, value, &size), RD_KAFKA_CONF_OK);
    rd_kafka_conf_destroy(conf);
    return strtod(value, NULL);
}

START_TEST(the_linger_of_the_pipeline_is_that_of_the_producer)
{
    static const struct {
        const char *linger, *property;
        double wait_ms;
    } cases[] = {
        {"1ms", NULL, 1}, {"20ms", NULL, 20}, {"1s", NULL, 1000}, {"1s", "linger.ms=7", 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_config *config;
        ck_assert_int_eq(ek_config_new(&config, NULL), 0);
        ck_assert_int_eq(ek_config_set(config, "pipeline.linger", cases[i].linger, NULL), 0);
        if (cases[i].property)
            ck_assert_int_eq(ek_config_set(config, "output.librdkafka", cases[i].property, NULL),
                             0);
        ck_assert_double_eq(producer_setting(config, "linger.ms"), cases[i].wait_ms);
        ek_config_free(config);
    }
}
END_TEST

Suite *suite_config(void)
{
    return ek_suite(
        "config", workers_are_counted_or_found_out, what_exactly_once_depends_on_is_held_against_it,
        a_short_file_gets_the_built_in_values, relative_assets_are_beside_the_file,
        values_come_from_the_environment, a_quoted_null_is_a_text,
        unknown_keys_are_errors_with_the_nearest_one, what_comes_later_is_said_and_not_ignored,
        a_fleet_has_two_topics_of_its_own_and_time_to_be_heard,
        values_out_of_range_or_of_another_kind_are_refused, a_stage_may_not_feed_itself,
        librdkafka_properties_are_checked_where_they_stand,
        there_are_at_most_sixteen_sinks_of_alerts,
        the_linger_of_the_pipeline_is_that_of_the_producer, what_is_required_is_asked_for,
        a_check_goes_on_after_a_fault, a_check_tells_what_does_not_fit_together_too,
        addresses_are_read_before_they_are_used,
        what_is_printed_reads_back_the_same_with_secrets_hidden,
        the_schema_registry_is_printed_without_its_secrets,
        each_sink_of_alerts_is_kept_and_printed_without_its_secrets,
        sizes_and_durations_are_printed_with_units_and_read_back_equal,
        a_configuration_can_be_made_in_code, the_page_of_the_keys_is_up_to_date);
}
