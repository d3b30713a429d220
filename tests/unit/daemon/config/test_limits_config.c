/* Limits of configuration strings and of files that the configuration names: accepted up to each
 * limit, rejected above. */
#include "base/file.h"
#include "daemon/alerts/http_delivery.h"
#include "daemon/config/config.h"
#include "daemon/base/url.h"
#include "schema/manifest.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/temporary.h"

#include <stdio.h>
#include <unistd.h>

enum {
    TOPIC_MOST = 249,
    URL_MOST = 2000,
    HOST_MOST = 255,
    PAGE_MOST = 400,
    TOKEN_MOST = 4000,
    FILE_MOST = 64 << 10,
    VALUE_MOST = 1 << 20,
    METHOD_MOST = 64,
    TEXT_ROOM = 4 << 20
};

static void fill(struct ek_buf *b, int count)
{
    must(ek_buf_reserve(b, (size_t)count));
    memset(b->data + b->length, 'x', (size_t)count);
    b->length += (size_t)count;
}

/* Parse a configuration in which a value is `before`, that many letters, `behind`. */
static int config(const char *before, int count, const char *behind, char said[SAID_BYTES])
{
    struct ek_config *c = NULL;
    struct ek_error e = {0};
    struct ek_buf b;
    ek_buf_init(&b, TEXT_ROOM);
    must(ek_buf_printf(&b,
                       "input: {brokers: \"b:9092\", topics: [s], group: g}\n"
                       "assets: {manifest: m, profile: p}\n"
                       "%s",
                       before));
    fill(&b, count);
    must(ek_buf_text(&b, behind));
    int rc = ek_config_parse(&c, "a.yaml", (const char *)b.data, b.length, NULL, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_config_free(c);
    ek_buf_release(&b);
    return rc;
}

static int topic(int bytes, char said[SAID_BYTES])
{
    return config("output: {dead_letter_topic: d, topic: ", bytes, "}\n", said);
}

static int token(int bytes, char said[SAID_BYTES])
{
    return config("output: {dead_letter_topic: d, topic: t}\n"
                  "alerts:\n- alertmanager: {url: \"http://h\", token: ",
                  bytes, "}\n", said);
}

static int url_of(const char *head, int bytes, const char *tail)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, head));
    fill(&b, bytes);
    must(ek_buf_text(&b, tail));
    int rc = ek_url_check(ek_buf_string(&b));
    ek_buf_release(&b);
    return rc ? EK_ECONFIG : EK_OK;
}

static int url(int bytes, char said[SAID_BYTES])
{
    (void)said;
    return url_of("http://h/", bytes - (int)strlen("http://h/"), "");
}

static int host(int bytes, char said[SAID_BYTES])
{
    (void)said;
    return url_of("http://", bytes, ":80/");
}

START_TEST(a_topic_has_249_bytes_a_token_4000_an_address_2000_and_its_host_255)
{
    ck_limit(topic, TOPIC_MOST, "a.yaml:", "invalid topic name");
    ck_limit(token, TOKEN_MOST, "a.yaml:", "'alerts.alertmanager.token' has more than 4000");
    ck_limit(url, URL_MOST, "", "");
    ck_limit(host, HOST_MOST, "", "");
}
END_TEST

/* Build a librdkafka property of that many bytes, mostly from one file. */
static int from_file(int of_file, int times, int more, char said[SAID_BYTES])
{
    struct temporary f = temporary_file();
    struct ek_buf b;
    ek_buf_init(&b, TEXT_ROOM);
    fill(&b, of_file);
    must(ek_file_write_bytes(f.path, b.data, b.length, NULL));
    ek_buf_clear(&b);
    must(
        ek_buf_text(&b, "output: {dead_letter_topic: d, topic: t, librdkafka: {sasl.password: \""));
    for (int i = 0; i < times; i++)
        must(ek_buf_printf(&b, "${file:%s}", f.path));
    int rc = config(ek_buf_string(&b), more, "\"}}\n", said);
    ek_buf_release(&b);
    unlink(f.path);
    return rc;
}

static int file(int bytes, char said[SAID_BYTES])
{
    return from_file(bytes, 1, 0, said);
}

static int value(int bytes, char said[SAID_BYTES])
{
    int times = (bytes - 1) / FILE_MOST;
    return from_file(FILE_MOST, times, bytes - times * FILE_MOST, said);
}

START_TEST(a_file_that_a_value_is_read_from_has_64_kib_and_the_value_1_mib)
{
    ck_limit(file, FILE_MOST, "a.yaml:", "has more than 64 KiB");
    ck_limit(value, VALUE_MOST, "a.yaml:", "the value has more than 1024 KiB");
}
END_TEST

/* Return whether an alert links to a page with a URL of that length. */
static bool has_link(int bytes)
{
    char address[PAGE_MOST + 2], link[EK_ALERT_LINK_BYTES];
    struct ek_alert a = {.feature = "price"};
    memset(address, 'x', sizeof address);
    memcpy(address, "http://", strlen("http://"));
    address[bytes] = 0;
    const struct ek_alert_context about = {.page = address};
    ek_alert_page_url(&about, &a, link);
    return *link != 0;
}

START_TEST(an_alert_links_to_a_page_whose_address_has_400_bytes_and_to_no_longer_one)
{
    ck_assert(has_link(PAGE_MOST - 1));
    ck_assert(has_link(PAGE_MOST));
    ck_assert(!has_link(PAGE_MOST + 1));
}
END_TEST

static int method(int bytes, char said[SAID_BYTES])
{
    struct ek_manifest *m = NULL;
    struct ek_error e = {0};
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b,
                     "features: [{name: price, index: 1, role: item}]\nnormalization: {method: "));
    fill(&b, bytes);
    must(ek_buf_text(&b, ", features: {price: {scale: none}}}\n"));
    int rc = ek_manifest_parse(&m, "a.yaml", (const char *)b.data, b.length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_manifest_free(m);
    ek_buf_release(&b);
    return rc;
}

START_TEST(the_method_of_the_scales_of_a_manifest_has_64_bytes)
{
    ck_limit(method, METHOD_MOST, "a.yaml:", "'method' has more than 64 bytes");
}
END_TEST

Suite *suite_limits_config(void)
{
    return ek_suite("limits config",
                    a_topic_has_249_bytes_a_token_4000_an_address_2000_and_its_host_255,
                    a_file_that_a_value_is_read_from_has_64_kib_and_the_value_1_mib,
                    an_alert_links_to_a_page_whose_address_has_400_bytes_and_to_no_longer_one,
                    the_method_of_the_scales_of_a_manifest_has_64_bytes);
}
