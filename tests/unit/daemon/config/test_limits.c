/* Named input limits: one below and at a limit parsing succeeds; one above, the error names the
 * limit and, in a file, the position. tests/limits.txt lists them. */
#include "base/buf.h"
#include "daemon/config/config.h"
#include "daemon/config/config_keys.h"
#include "lists/codec_internal.h"
#include "schema/manifest.h"
#include "rules/rules.h"
#include "rules/rules_keys.h"
#include "yaml/yaml.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_MOST = 16 << 20 };

static void repeat(struct ek_buf *b, const char *text, int count)
{
    for (int i = 0; i < count; i++)
        must(ek_buf_text(b, text));
}

/* Parse a text and free it. Return the code, and set the user-visible error. */
static int yaml(struct ek_buf *b, char said[SAID_BYTES])
{
    struct ek_yaml *y = NULL;
    struct ek_error e = {0};
    int rc = ek_yaml_parse(&y, "a.yaml", (const char *)b->data, b->length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_yaml_free(y);
    ek_buf_release(b);
    return rc;
}

static int depth(int levels, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    repeat(&b, "[", levels);
    repeat(&b, "]", levels);
    return yaml(&b, said);
}

static int nodes(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    repeat(&b, "- x\n", count - 1); /* and the list itself */
    return yaml(&b, said);
}

static int bytes(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    must(ek_buf_text(&b, "a: #"));
    repeat(&b, "x", count - 4);
    return yaml(&b, said);
}

static void has_limit(limit_take *take, int most, const char *says)
{
    ck_limit(take, most, "a.yaml", says);
}

START_TEST(a_yaml_file_has_32_levels_200000_nodes_and_8_mib)
{
    has_limit(depth, EK_YAML_DEPTH_MAX, "32");
    has_limit(nodes, EK_YAML_NODES_MAX, "200000");
    has_limit(bytes, EK_YAML_BYTES_MAX, "8388608");
}
END_TEST

static int manifest(struct ek_buf *b, char said[SAID_BYTES])
{
    struct ek_manifest *m = NULL;
    struct ek_error e = {0};
    int rc = ek_manifest_parse(&m, "a.yaml", (const char *)b->data, b->length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_manifest_free(m);
    ek_buf_release(b);
    return rc;
}

static int name(int length, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    must(ek_buf_text(&b, "features: [{index: 1, role: item, name: "));
    repeat(&b, "x", length);
    must(ek_buf_text(&b, "}]"));
    return manifest(&b, said);
}

static int features(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    must(ek_buf_text(&b, "features:\n"));
    for (int i = 1; i <= count; i++)
        must(ek_buf_printf(&b, "- {name: x%d, index: %d, role: item}\n", i, i));
    return manifest(&b, said);
}

static int feature_index(int number, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, TEXT_MOST);
    must(ek_buf_printf(&b, "features: [{name: x, index: %d, role: item}]", number));
    return manifest(&b, said);
}

START_TEST(a_manifest_has_4096_features_names_of_200_bytes_and_indices_below_a_million)
{
    has_limit(name, EK_NAME_BYTES_MAX, "200");
    has_limit(features, EK_FEATURES_MAX, "4096");
    has_limit(feature_index, EK_INDEX_MAX, "1048576");
}
END_TEST

static int rules(struct ek_buf *b, char said[SAID_BYTES])
{
    static const char text[] = "features: [{name: price, index: 1, role: item}]";
    struct ek_manifest *m = NULL;
    struct ek_rules *r = NULL;
    struct ek_error e = {0};
    must(ek_manifest_parse(&m, "m.yaml", text, strlen(text), NULL));
    int rc = ek_rules_parse(&r, m, "a.yaml", (const char *)b->data, b->length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_rules_free(r);
    ek_manifest_free(m);
    ek_buf_release(b);
    return rc;
}

static int segments(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "segments: ["));
    for (int i = 0; i < count; i++)
        must(ek_buf_printf(&b, "s%d, ", i));
    must(ek_buf_text(&b, "]"));
    return rules(&b, said);
}

static int segment_name(int length, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "segments: ["));
    repeat(&b, "x", length);
    must(ek_buf_text(&b, "]"));
    return rules(&b, said);
}

START_TEST(rules_tell_8_segments_apart_with_names_of_200_bytes)
{
    has_limit(segments, EK_DIMENSIONS_MAX, "8");
    has_limit(segment_name, EK_NAME_BYTES_MAX, "200");
}
END_TEST

/* Parse rules with that many segment values with their own mode. */
static int modes_in(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "segments: [arm]\ndefaults: {mode_in: {arm: {"));
    for (int i = 0; i < count; i++)
        must(ek_buf_printf(&b, "v%d: observe, ", i));
    must(ek_buf_text(&b, "}}}"));
    return rules(&b, said);
}

static int units_of_a_feature(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "features: {price: {units: ["));
    for (int i = 0; i < count; i++)
        must(ek_buf_printf(&b, "EUR/%c%cX, ", 'A' + i, 'B' + i));
    must(ek_buf_text(&b, "]}}"));
    return rules(&b, said);
}

static int hold_days(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_printf(&b, "defaults: {min_duration: %dd, max_duration: 3650d}", count));
    return rules(&b, said);
}

START_TEST(rules_have_64_modes_by_value_16_units_of_a_feature_and_times_of_ten_years)
{
    has_limit(modes_in, EK_MODE_IN_MAX, "'mode_in' must have at most 64 values");
    has_limit(units_of_a_feature, EK_UNITS_MAX, "at most 16 units for one feature, not 17");
    has_limit(hold_days, EK_RULES_DAYS_MAX, "'min_duration' must be from 0ms to 3650d");
}
END_TEST

/* Parse a configuration that ends with `more` and a string of that length. */
static int config(const char *more, int length, char said[SAID_BYTES])
{
    struct ek_config *c = NULL;
    struct ek_error e = {0};
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_printf(&b,
                       "output: {topic: ranked, dead_letter_topic: dead}\n"
                       "assets: {manifest: features.yaml, profile: profile.ekp}\n"
                       "input: {brokers: \"b:9092\", topics: [scored], group: g%s",
                       more));
    repeat(&b, "x", length);
    must(ek_buf_text(&b, "}\n"));
    int rc = ek_config_parse(&c, "a.yaml", (const char *)b.data, b.length, NULL, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_config_free(c);
    ek_buf_release(&b);
    return rc;
}

static int group(int length, char said[SAID_BYTES])
{
    return config("", length - 1, said);
}

static int instance(int length, char said[SAID_BYTES])
{
    return config("}\nservice: {instance: ", length, said);
}

START_TEST(names_of_a_group_and_of_an_instance_are_taken_whole_or_not_at_all)
{
    has_limit(group, EK_GROUP_BYTES_MAX, "'input.group' must have at most 255 bytes");
    has_limit(instance, EK_INSTANCE_BYTES - 1, "'service.instance' must have at most 199 bytes");
}
END_TEST

static int mapping(const struct ek_mapping *of, char said[SAID_BYTES])
{
    static const char text[] = "features: [{name: price, index: 1, role: item}]";
    struct ek_manifest *m = NULL;
    struct ek_codec *c = NULL;
    struct ek_error e = {0};
    must(ek_manifest_parse(&m, "m.yaml", text, strlen(text), NULL));
    int rc = ek_codec_new(&c, m, of, NULL, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_codec_free(c);
    ek_manifest_free(m);
    return rc;
}

/* Return a path of that many parts, none shared with another path. */
static const char *path(char letter, int parts, char at[16])
{
    for (int i = 0; i < parts; i++) {
        at[2 * i] = letter;
        at[2 * i + 1] = i + 1 < parts ? '.' : 0;
    }
    return at;
}

static int path_parts(int parts, char said[SAID_BYTES])
{
    char at[16];
    return mapping(&(struct ek_mapping){.score = path('s', parts, at)}, said);
}

START_TEST(a_path_of_a_mapping_has_5_parts)
{
    ck_limit(path_parts, EK_FIELD_DEPTH_MAX, "'message.score': path 's.s.s.s.s.s'",
             "more than 5 parts");
}
END_TEST

/* Convert from the file's unit to the struct's. */
static int set(const struct ek_key_row *k, int64_t value)
{
    static const char *const units[] = {
        [EK_KEY_INT] = "", [EK_KEY_DURATION] = "ms", [EK_KEY_SIZE] = ""};
    struct ek_config *c = NULL;
    struct ek_error e = {0};
    char text[40];
    must(ek_config_new(&c, NULL));
    snprintf(text, sizeof text, "%" PRId64 "%s", value, units[k->type]);
    int rc = ek_config_set(c, k->path, text, &e);
    if (rc)
        ck_assert_msg(strstr(e.message, k->path) != NULL, "%s", e.message);
    ek_config_free(c);
    return rc;
}

static bool has_range(const struct ek_key_row *k)
{
    return ek_key_is_whole(k) && k->base == EK_IN_CONFIG;
}

START_TEST(each_number_of_the_configuration_has_its_range_and_no_more)
{
    int seen = 0;
    for (size_t i = 0; i < ek_config_keys()->count; i++) {
        const struct ek_key_row *k = &ek_config_keys()->keys[i];
        int64_t low = (int64_t)k->low, high = (int64_t)k->high;
        if (!has_range(k))
            continue;
        seen++;
        ck_assert_msg(!set(k, low) && !set(k, low + 1), "%s: its low end", k->path);
        ck_assert_msg(!set(k, high) && !set(k, high - 1), "%s: its high end", k->path);
        ck_assert_msg(set(k, low - 1) == EK_ECONFIG, "%s: below", k->path);
        ck_assert_msg(set(k, high + 1) == EK_ECONFIG, "%s: above", k->path);
    }
    ck_assert_int_gt(seen, 25);
}
END_TEST

Suite *suite_limits(void)
{
    return ek_suite("limits", a_yaml_file_has_32_levels_200000_nodes_and_8_mib,
                    a_manifest_has_4096_features_names_of_200_bytes_and_indices_below_a_million,
                    rules_tell_8_segments_apart_with_names_of_200_bytes,
                    rules_have_64_modes_by_value_16_units_of_a_feature_and_times_of_ten_years,
                    names_of_a_group_and_of_an_instance_are_taken_whole_or_not_at_all,
                    a_path_of_a_mapping_has_5_parts,
                    each_number_of_the_configuration_has_its_range_and_no_more);
}
