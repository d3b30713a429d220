/* The installed JSON Schemas agree with the parsers on good and bad files. */
#include "deploy/key_pages.h"

#include "base/buf.h"
#include "base/file.h"
#include "daemon/config/config.h"
#include "rules/rules.h"
#include "tests/check.h"
#include "tests/unit/json_schema.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 400 };

static json_t *schema_of(void (*write)(FILE *out))
{
    char *text = NULL;
    size_t length = 0;
    json_error_t e;
    FILE *out = open_memstream(&text, &length);
    ck_assert_ptr_nonnull(out);
    write(out);
    ck_assert_int_eq(fclose(out), 0);
    json_t *schema = json_loadb(text, length, JSON_REJECT_DUPLICATES, &e);
    ck_assert_msg(schema != NULL, "no JSON: %s", e.text);
    free(text);
    return schema;
}

static bool takes_text(const json_t *schema, const char *text, size_t length)
{
    struct ek_yaml *y;
    if (ek_yaml_parse(&y, "text", text, length, NULL))
        return false;
    bool takes = schema_takes(schema, ek_yaml_root(y));
    ek_yaml_free(y);
    return takes;
}

static bool rules_take(const char *text, size_t length)
{
    struct ek_rules *r;
    if (ek_rules_parse(&r, NULL, "text", text, length, NULL))
        return false;
    ek_rules_free(r);
    return true;
}

static bool config_takes(const char *text, size_t length)
{
    struct ek_config *c;
    struct ek_error e;
    if (ek_config_parse(&c, "text", text, length, NULL, &e))
        return false;
    ek_config_free(c);
    return true;
}

typedef bool taking(const char *text, size_t length);

/* Return how many YAML blocks of a document the parser accepts; the schema must accept them too. */
static int check_document(const char *path, const json_t *schema, taking *takes)
{
    static const char fence[] = "```";
    struct ek_buf text;
    int count = 0;
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_file_read(path, &text, NULL), EK_OK);
    for (const char *at = ek_buf_string(&text), *end; (at = strstr(at, "```yaml")); at = end + 3) {
        at = strchr(at, '\n') + 1;
        end = strstr(at, fence);
        ck_assert_ptr_nonnull(end);
        size_t length = (size_t)(end - at);
        if (!takes(at, length))
            continue;
        ck_assert_msg(takes_text(schema, at, length), "%s: the schema refuses:\n%.*s", path,
                      (int)length, at);
        count++;
    }
    ek_buf_release(&text);
    return count;
}

static int check_documents(const json_t *schema, taking *takes)
{
    static const char *const folders[] = {"docs", "docs/format"};
    char path[PATH_BYTES];
    int count = check_document("README.md", schema, takes);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        DIR *folder = opendir(folders[i]);
        ck_assert_ptr_nonnull(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            const char *end = strrchr(entry->d_name, '.');
            snprintf(path, sizeof path, "%s/%s", folders[i], entry->d_name);
            if (end && !strcmp(end, ".md"))
                count += check_document(path, schema, takes);
        }
        closedir(folder);
    }
    return count;
}

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* Check that the schema rejects the bad files of a kind, except those in `beyond`. */
static void check_bad(const char *kind, const json_t *schema, const char *const *beyond)
{
    char path[PATH_BYTES];
    int refused = 0;
    snprintf(path, sizeof path, "tests/bad/%s", kind);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct ek_buf text;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "tests/bad/%s/%s", kind, entry->d_name);
        ek_buf_init(&text, 0);
        ck_assert_int_eq(ek_file_read(path, &text, NULL), EK_OK);
        bool taken = takes_text(schema, (const char *)text.data, text.length);
        ck_assert_msg(taken == is_among(entry->d_name, beyond), "%s is %s by the schema", path,
                      taken ? "taken" : "refused");
        refused += !taken;
        ek_buf_release(&text);
    }
    closedir(folder);
    ck_assert_int_ge(refused, 30);
}

START_TEST(the_schema_of_rules_takes_what_their_reader_takes)
{
    json_t *schema = schema_of(ek_schema_rules);
    ck_assert_int_ge(check_documents(schema, rules_take), 2);
    static const char *const more[] = {"tests/fuzz/corpus/yaml/rules",
                                       "tests/fuzz/corpus/yaml/rules-modes"};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct ek_buf text;
        ek_buf_init(&text, 0);
        ck_assert_int_eq(ek_file_read(more[i], &text, NULL), EK_OK);
        ck_assert(rules_take((const char *)text.data, text.length));
        ck_assert_msg(takes_text(schema, (const char *)text.data, text.length), "%s", more[i]);
        ek_buf_release(&text);
    }
    json_decref(schema);
}
END_TEST

START_TEST(the_schema_of_the_configuration_takes_what_its_reader_takes)
{
    json_t *schema = schema_of(ek_schema_config);
    ck_assert_int_ge(check_documents(schema, config_takes), 2);
    static const char expanded[] = "input: {brokers: '${HOME}', topics: a, group: g}\n"
                                   "pipeline: {workers: auto, batch_size: '${HOME}'}\n"
                                   "limits: {message_bytes: 65536}\n"
                                   "alerts: [{kafka: {topic: b}}]\n";
    ck_assert(takes_text(schema, expanded, strlen(expanded)));
    json_decref(schema);
}
END_TEST

/* Outside a schema's reach: names known only to the manifest or the file, combinations of keys, and
 * lengths in bytes (a schema counts characters). */
static const char *const BEYOND_RULES[] = {"segments-long-name.yaml",
                                           "pin-segment-long.yaml",
                                           "expect-segment-long.yaml",
                                           "mode-in-value-long.yaml",
                                           "act-below-min.yaml",
                                           "baseline-item-feature.yaml",
                                           "canary-above-max.yaml",
                                           "canary-every-zero.yaml",
                                           "canary-step-below-the-least.yaml",
                                           "canary-step-tiny.yaml",
                                           "canary-step-zero-of-defaults.yaml",
                                           "canary-step-zero.yaml",
                                           "catalog-gone.yaml",
                                           "catalog-is-itself.yaml",
                                           "catalog-is-no-catalog.yaml",
                                           "catalog-unit-twice.yaml",
                                           "catalog-unit-wrong.yaml",
                                           "catalog-without-a-name.yaml",
                                           "catalog-wrong.yaml",
                                           "false-alarms-huge.yaml",
                                           "feature-not-routable.yaml",
                                           "feature-unknown-without-hint.yaml",
                                           "feature-unknown.yaml",
                                           "hold-beyond-ten-years.yaml",
                                           "hold-max-below-hold.yaml",
                                           "hold-max-below-the-built-in-hold.yaml",
                                           "hold-of-twenty-digits.yaml",
                                           "inject-changes-nothing.yaml",
                                           "inject-none-but-expect-something.yaml",
                                           "inject-nothing-named.yaml",
                                           "inject-query-feature.yaml",
                                           "inject-two-kinds.yaml",
                                           "mode-in-no-segments.yaml",
                                           "mode-in-segment-unknown.yaml",
                                           "mode-in-too-many.yaml",
                                           "pin-feature-unknown.yaml",
                                           "pin-not-routable.yaml",
                                           "pin-segment-unknown.yaml",
                                           "pin-twice.yaml",
                                           "pin-until-no-such-day.yaml",
                                           "lists-with-a-finding.yaml",
                                           "segments-empty-name.yaml",
                                           "segments-twice.yaml",
                                           "test-inject-feature.yaml",
                                           "test-name-twice.yaml",
                                           "unit-form.yaml",
                                           "unit-half-a-pair.yaml",
                                           "unit-near-an-own-one.yaml",
                                           "unit-near.yaml",
                                           "unit-query-feature-is-item.yaml",
                                           "unit-query-feature-unknown.yaml",
                                           "unit-twice.yaml",
                                           "unit-unknown-without-hint.yaml",
                                           "windows-short.yaml",
                                           NULL};
static const char *const BEYOND_CONFIG[] = {"schema-without-encoding.yaml",
                                            "protobuf-without-schema.yaml",
                                            "type-with-registry.yaml",
                                            "type-without-protobuf.yaml",
                                            "schema-and-registry.yaml",
                                            "avro-without-schema.yaml",
                                            "registry-user-without-password.yaml",
                                            "registry-without-ids.yaml",
                                            "group-long.yaml",
                                            "instance-long.yaml",
                                            "alert-key-missing.yaml",
                                            "alert-repeat-too-short.yaml",
                                            "alert-sink-twice.yaml",
                                            "alert-sinks-in-one-element.yaml",
                                            "alert-url-is-none.yaml",
                                            "alert-url-missing.yaml",
                                            "alert-url-of-another-scheme.yaml",
                                            "commit-above-the-time-out.yaml",
                                            "dead-letter-is-the-output.yaml",
                                            "file-that-is-gone.yaml",
                                            "fleet-is-an-input.yaml",
                                            "fleet-is-the-state.yaml",
                                            "in-flight-below-a-message.yaml",
                                            "in-flight-below-two-transactions.yaml",
                                            "topic-twice.yaml",
                                            "listen-port-too-large.yaml",
                                            "listen-without-a-port.yaml",
                                            "no-brokers.yaml",
                                            "no-dead-letter.yaml",
                                            "no-group.yaml",
                                            "no-manifest.yaml",
                                            "no-profile.yaml",
                                            "no-topics.yaml",
                                            "output-is-an-input.yaml",
                                            "public-url-is-none.yaml",
                                            "reserved-property.yaml",
                                            "silent-below-three-ticks.yaml",
                                            "state-is-an-output.yaml",
                                            "ticks-are-the-state.yaml",
                                            "topic-with-a-blank.yaml",
                                            "unknown-property.yaml",
                                            "variable-that-is-not-set.yaml",
                                            "variable-without-an-end.yaml",
                                            NULL};

START_TEST(the_schema_of_rules_refuses_bad_ones)
{
    json_t *schema = schema_of(ek_schema_rules);
    check_bad("rules", schema, BEYOND_RULES);
    json_decref(schema);
}
END_TEST

START_TEST(the_schema_of_the_configuration_refuses_bad_ones)
{
    json_t *schema = schema_of(ek_schema_config);
    check_bad("config", schema, BEYOND_CONFIG);
    json_decref(schema);
}
END_TEST

Suite *suite_schema(void)
{
    return ek_suite("schema", the_schema_of_rules_takes_what_their_reader_takes,
                    the_schema_of_the_configuration_takes_what_its_reader_takes,
                    the_schema_of_rules_refuses_bad_ones,
                    the_schema_of_the_configuration_refuses_bad_ones);
}
