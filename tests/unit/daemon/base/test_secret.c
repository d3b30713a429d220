/* Secrets: the secret librdkafka properties, their files, and their redaction. */
#include "base/alloc.h"
#include "daemon/config/config.h"
#include "daemon/base/process.h"
#include "tests/check.h"
#include "tests/must.h"

#include <librdkafka/rdkafka.h>

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every authentication property of librdkafka 2.0 to 2.12. */
static const char *const SECRETS[] = {
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
    "sasl.kerberos.kinit.cmd",
    "sasl.password",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.token.endpoint.url", /* may contain one */
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
};
static const char *const PUBLIC[] = {
    "allow.auto.create.topics",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "enable.ssl.certificate.verification",
    "group.protocol.type",
    "https.ca.location",
    "https.ca.pem",
    "oauthbearer_token_refresh_cb",
    "plugin.library.paths",
    "sasl.kerberos.keytab",
    "sasl.kerberos.min.time.before.relogin",
    "sasl.kerberos.principal",
    "sasl.kerberos.service.name",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.oauthbearer.assertion.algorithm",
    "sasl.oauthbearer.assertion.claim.aud",
    "sasl.oauthbearer.assertion.claim.exp.seconds",
    "sasl.oauthbearer.assertion.claim.iss",
    "sasl.oauthbearer.assertion.claim.jti.include",
    "sasl.oauthbearer.assertion.claim.nbf.seconds",
    "sasl.oauthbearer.assertion.claim.sub",
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.assertion.private.key.file",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.client.id",
    "sasl.oauthbearer.extensions",
    "sasl.oauthbearer.grant.type",
    "sasl.oauthbearer.metadata.authentication.type",
    "sasl.oauthbearer.method",
    "sasl.oauthbearer.scope",
    "sasl.oauthbearer.sub.claim.name",
    "sasl.username",
    "security.protocol",
    "ssl.ca.certificate.stores",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.certificate.verify_cb",
    "ssl.cipher.suites",
    "ssl.crl.location",
    "ssl.curves.list",
    "ssl.endpoint.identification.algorithm",
    "ssl.engine.id",
    "ssl.engine.location",
    "ssl.key.location",
    "ssl.keystore.location",
    "ssl.providers",
    "ssl.sigalgs.list",
    "ssl_ca",
    "ssl_certificate",
    "ssl_engine_callback_data",
    "ssl_key",
};

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static bool has_to_do_with_getting_in(const char *name)
{
    static const char *const words[] = {"ssl",    "sasl",  "secur", "pass",    "secret", "token",
                                        "cred",   "cert",  "auth",  "jaas",    "kinit",  "pem",
                                        "plugin", "oauth", "https", "private", "login"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i]))
            return true;
    return false;
}

/* Call `look` with the name of each property of this librdkafka. */
static int each_property(void look(const char *name))
{
    char line[2000], name[100];
    int count = 0;
    FILE *table = tmpfile();
    rd_kafka_conf_properties_show(table);
    rewind(table);
    while (fgets(line, sizeof line, table))
        if (sscanf(line, "%99s |", name) == 1 && strchr(line, '|')) {
            look(name);
            count++;
        }
    fclose(table);
    return count;
}

static void is_known(const char *name)
{
    if (!has_to_do_with_getting_in(name) || !strcmp(name, "Property"))
        return;
    ck_assert_msg(is_among(name, SECRETS, sizeof SECRETS / sizeof *SECRETS) ||
                      is_among(name, PUBLIC, sizeof PUBLIC / sizeof *PUBLIC),
                  "librdkafka %s has '%s', which this test does not know: is it a secret?",
                  rd_kafka_version_str(), name);
}

START_TEST(every_property_of_librdkafka_is_known_to_be_a_secret_or_none)
{
    ck_assert_int_gt(each_property(is_known), 100);
    for (size_t i = 0; i < sizeof SECRETS / sizeof *SECRETS; i++)
        ck_assert_msg(ek_secret_name(SECRETS[i]), "'%s' is shown", SECRETS[i]);
    for (size_t i = 0; i < sizeof PUBLIC / sizeof *PUBLIC; i++)
        ck_assert_msg(!ek_secret_name(PUBLIC[i]) || strstr(PUBLIC[i], "token"), "'%s' is hidden",
                      PUBLIC[i]);
}
END_TEST

START_TEST(a_process_with_secrets_leaves_no_core_dump)
{
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 1);
    ek_secret_protect();
    ck_assert_int_eq(prctl(PR_GET_DUMPABLE), 0);
}
END_TEST

static const char *secret_file(const char *text, size_t length, int mode)
{
    static char path[100];
    snprintf(path, sizeof path, "/tmp/ek-secret-%ld", (long)getpid());
    FILE *f = fopen(path, "w");
    ck_assert_uint_eq(fwrite(text, 1, length, f), length);
    fclose(f);
    chmod(path, (mode_t)mode);
    return path;
}

/* Parse a configuration with a password from that file. */
static int parse_secret(struct ek_config **c, const char *path, const char *property,
                        struct ek_error *e)
{
    char text[1000];
    snprintf(
        text, sizeof text,
        "input: {brokers: \"b:9092\", topics: [s], group: g, librdkafka: {%s: \"${file:%s}\"}}\n"
        "output: {topic: r, dead_letter_topic: d}\nassets: {manifest: m, profile: p}\n",
        property, path);
    return ek_config_parse(c, "run.yaml", text, strlen(text), NULL, e);
}

START_TEST(a_secret_comes_from_a_file_without_its_line_end)
{
    static const char *const contents[] = {"hunter2", "hunter2\n", "hunter2\r\n"};
    for (size_t i = 0; i < 3; i++) {
        struct ek_config *c;
        struct ek_error e;
        struct ek_buf shown;
        const char *path = secret_file(contents[i], strlen(contents[i]), 0600);
        ck_assert_msg(!parse_secret(&c, path, "sasl.username", &e), "%s", e.message);
        ck_assert_str_eq(c->librdkafka.items[0].value, "hunter2");
        ck_assert(ek_config_has_secret(c));
        ck_assert_uint_eq(c->notes.count, 0);
        ek_buf_init(&shown, 0);
        ck_assert_int_eq(ek_config_print(c, &shown), EK_OK);
        ck_assert_ptr_null(strstr(ek_buf_string(&shown), "hunter2"));
        ek_buf_release(&shown);
        ek_config_free(c);
        unlink(path);
    }
}
END_TEST

START_TEST(a_property_has_the_present_contents_of_its_file)
{
    struct ek_config *c;
    struct ek_error e;
    char *value;
    const char *path = secret_file("hunter2", 7, 0600);
    ck_assert_msg(!parse_secret(&c, path, "sasl.username", &e), "%s", e.message);
    const struct ek_property *p = &c->librdkafka.items[0];
    must(ek_property_read(p, &value, &e));
    ck_assert_str_eq(value, "hunter2");
    ek_free(value);
    secret_file("hunter3\n", 8, 0600);
    must(ek_property_read(p, &value, &e));
    ck_assert_str_eq(value, "hunter3");
    ck_assert_str_eq(p->value, "hunter2");
    ek_free(value);
    unlink(path);
    ck_assert_int_eq(ek_property_read(p, &value, &e), EK_ECONFIG);
    ck_assert_ptr_nonnull(strstr(e.message, "${file:/tmp/ek-secret-"));
    ek_config_free(c);
}
END_TEST

START_TEST(tokens_are_secrets_of_the_process)
{
    static const char text[] =
        "input: {brokers: 'h:1', topics: [t], group: g}\noutput: {topic: r, dead_letter_topic: d}\n"
        "assets: {manifest: m, profile: p}\nhttp: {token_file: tokens.txt}\n";
    struct ek_config *c;
    struct ek_error e;
    ck_assert_msg(!ek_config_parse(&c, "run.yaml", text, strlen(text), NULL, &e), "%s", e.message);
    ck_assert(ek_config_has_secret(c));
    ek_config_free(c);
}
END_TEST

START_TEST(a_user_in_an_address_is_a_secret_and_is_not_printed)
{
    static const char *const keys[][2] = {
        {"message: {encoding: avro, registry: {url: 'https://", "h.example:8081/base'}}"},
        {"otlp: {endpoint: 'http://", "h.example:4318/v1/metrics'}"}};
    static const char shown[] = "endpoint: \"http://h.example:4318/***\"";
    for (int i = 0; i < 4; i++) {
        struct ek_config *c;
        struct ek_error e;
        struct ek_buf out;
        char text[500];
        bool has_user = i & 1;
        snprintf(text, sizeof text,
                 "input: {brokers: 'h:1', topics: [t], group: g}\noutput: {topic: r}\n"
                 "assets: {manifest: m, profile: p}\n%s%s%s\n",
                 keys[i / 2][0], has_user ? "ann:hunter2@" : "", keys[i / 2][1]);
        ck_assert_msg(!ek_config_parse(&c, "run.yaml", text, strlen(text), NULL, &e), "%s",
                      e.message);
        ck_assert_int_eq(ek_config_has_secret(c), has_user);
        ek_buf_init(&out, 0);
        ck_assert_int_eq(ek_config_print(c, &out), EK_OK);
        ck_assert_ptr_null(strstr(ek_buf_string(&out), "ann"));
        ck_assert_ptr_null(strstr(ek_buf_string(&out), "hunter2"));
        ck_assert_int_eq(strstr(ek_buf_string(&out), shown) != NULL, i == 3);
        ek_buf_release(&out);
        ek_config_free(c);
    }
}
END_TEST

START_TEST(credentials_of_aws_are_secrets_of_the_process)
{
    static const char *const properties[] = {
        "security.protocol: ssl",
        "sasl.oauthbearer.method: aws_msk_iam, sasl.oauthbearer.aws.region: us-east-1"};
    for (int i = 0; i < 2; i++) {
        struct ek_config *c;
        struct ek_error e;
        char text[300];
        snprintf(text, sizeof text,
                 "input: {brokers: 'h:1', topics: [t], group: g, librdkafka: {%s}}\n"
                 "output: {topic: r, dead_letter_topic: d}\nassets: {manifest: m, profile: p}\n",
                 properties[i]);
        ck_assert_msg(!ek_config_parse(&c, "run.yaml", text, strlen(text), NULL, &e), "%s",
                      e.message);
        ck_assert_int_eq(ek_config_has_secret(c), i == 1);
        ek_config_free(c);
    }
}
END_TEST

START_TEST(a_secret_that_everybody_may_read_is_told)
{
    struct ek_config *c;
    struct ek_error e;
    const char *path = secret_file("x", 1, 0644);
    ck_assert_int_eq(parse_secret(&c, path, "sasl.password", &e), EK_OK);
    ck_assert_uint_eq(c->notes.count, 1);
    ck_assert_int_eq(c->notes.errors[0].line, 1);
    ck_assert_ptr_nonnull(strstr(c->notes.errors[0].message, "all users of this machine can read"));
    ek_config_free(c);
    unlink(path);
}
END_TEST

START_TEST(files_that_hold_no_secret_are_refused_with_their_place)
{
    static char large[(64 << 10) + 2];
    struct ek_config *c = NULL;
    struct ek_error e;
    memset(large, 'x', sizeof large);
    const struct {
        const char *text, *said;
        size_t length;
    } cases[] = {{"\n", "is empty", 1},
                 {"a\0b", "is not text", 3},
                 {large, "more than 64 KiB", sizeof large}};
    for (size_t i = 0; i < 3; i++) {
        const char *path = secret_file(cases[i].text, cases[i].length, 0600);
        ck_assert_int_ne(parse_secret(&c, path, "sasl.password", &e), EK_OK);
        ck_assert_msg(strstr(e.message, cases[i].said) != NULL, "%s", e.message);
        ck_assert_int_eq(e.line, 1);
        unlink(path);
    }
    ck_assert_int_ne(parse_secret(&c, "/nosuch/secret", "sasl.password", &e), EK_OK);
    ck_assert_ptr_nonnull(strstr(e.message, "/nosuch/secret"));
}
END_TEST

START_TEST(no_error_repeats_a_secret)
{
    static const char form[] =
        "input: {brokers: \"b:9092\", topics: [s], group: g, librdkafka: {%s: \"%s\"}}\n"
        "output: {topic: r, dead_letter_topic: d}\nassets: {manifest: m, profile: p}\n";
    struct ek_config *c = NULL;
    struct ek_error e;
    char text[1000];
    const char *path = secret_file("hunter2", 7, 0600);
    ck_assert_int_eq(parse_secret(&c, path, "security.protocol", &e), EK_ECONFIG);
    ck_assert_str_eq(
        e.message, "librdkafka property 'security.protocol': its value is refused, not shown here");
    unlink(path);
    /* secret by its name; librdkafka accepts no string for it */
    snprintf(text, sizeof text, form, "sasl.jaas.config", "hunter2");
    ck_assert_int_eq(ek_config_parse(&c, "run.yaml", text, strlen(text), NULL, &e), EK_ECONFIG);
    ck_assert_ptr_null(strstr(e.message, "hunter2"));
    ck_assert_int_eq(ek_config_new(&c, &e), EK_OK);
    ck_assert_int_eq(ek_config_set(c, "input.librdkafka", "hunter2", &e), EK_ECONFIG);
    ck_assert_ptr_null(strstr(e.message, "hunter2"));
    ek_config_free(c);
}
END_TEST

Suite *suite_secret(void)
{
    return ek_suite(
        "secret", every_property_of_librdkafka_is_known_to_be_a_secret_or_none,
        a_process_with_secrets_leaves_no_core_dump, tokens_are_secrets_of_the_process,
        a_user_in_an_address_is_a_secret_and_is_not_printed,
        credentials_of_aws_are_secrets_of_the_process,
        a_secret_comes_from_a_file_without_its_line_end,
        a_property_has_the_present_contents_of_its_file, a_secret_that_everybody_may_read_is_told,
        files_that_hold_no_secret_are_refused_with_their_place, no_error_repeats_a_secret);
}
