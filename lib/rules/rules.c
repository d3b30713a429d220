/* The rules file as a whole. Features are read in rules_feature.c, pins and tests in rules_pins.c.
 */
#include "rules/rules_read.h"

#include "base/alloc.h"
#include "base/parse.h"

#include <string.h>

enum { CONFIRM_QUERIES = 64, HOLD_MS = 600000, HOLD_MAX_MS = 6 * 3600000, ROUTED_FEATURES = 10 };
static const uint64_t QUERIES_PER_FALSE_ALARM = 10000000;

static const struct ek_feature_rule BUILT_IN = {
    .watch = true,
    .mode = EK_MODE_OBSERVE,
    .canary = {.percent = 5,
               .step = 5,
               .max = 100,
               .every_ms = 600000,
               .min_lists = 200,
               .abort_if = {.error_rate = .01, .worse_than_fault = true}},
    .min_effect = 1.10,
    .act_effect = 1.25,
    .act_share = .05,
    .on = {[EK_SCALE] = EK_ACT_ROUTE,
           [EK_POWER] = EK_ACT_ROUTE_SPREAD,
           [EK_OFFSET] = EK_ACT_ROUTE_SPREAD,
           [EK_ITEMS] = EK_ACT_ALERT,
           [EK_MISSING] = EK_ACT_ALERT,
           [EK_ZERO] = EK_ACT_ALERT,
           [EK_SIGN] = EK_ACT_SILENCE,
           [EK_STUCK] = EK_ACT_ALERT,
           [EK_CLIP] = EK_ACT_ALERT,
           [EK_SHAPE] = EK_ACT_ALERT,
           [EK_NEW_CATEGORY] = EK_ACT_ALERT},
};

void ek_rules_release_rule(struct ek_feature_rule *rule)
{
    for (int i = 0; i < rule->unit_count; i++)
        ek_free(rule->unit[i]);
    for (int i = 0; i < rule->mode_in_count; i++) {
        ek_free(rule->mode_in[i].dimension);
        ek_free(rule->mode_in[i].value);
    }
    ek_free(rule->mode_in);
}

static void free_pin(struct ek_pin *pin)
{
    ek_free(pin->dimension);
    ek_free(pin->value);
    ek_free(pin->author);
    ek_free(pin->reason);
}

static void free_test(struct ek_rules_test *test)
{
    ek_free(test->name);
    ek_free(test->dimension);
    ek_free(test->value);
    ek_free(test->found_dimension);
    ek_free(test->found_value);
}

void ek_rules_free(struct ek_rules *r)
{
    if (!r)
        return;
    ek_rules_release_rule(&r->defaults);
    for (int i = 0; r->feature && i < r->feature_count; i++)
        ek_rules_release_rule(&r->feature[i]);
    for (int i = 0; r->pin && i < r->pin_count; i++)
        free_pin(&r->pin[i]);
    for (int i = 0; r->test && i < r->test_count; i++)
        free_test(&r->test[i]);
    for (int i = 0; i < r->segment_count; i++)
        ek_free(r->segment[i]);
    ek_units_release(&r->units);
    ek_free(r->feature);
    ek_free(r->pin);
    ek_free(r->test);
    ek_free(r->baseline);
    ek_free(r);
}

/* Features begin with what `defaults` says, but for what is said of segments there. */
static void fill_in_defaults(struct ek_rules *r)
{
    struct ek_feature_rule rule = r->defaults;
    rule.mode_said = false;
    rule.mode_in_count = 0;
    rule.mode_in = NULL;
    for (int i = 0; i < r->feature_count; i++)
        r->feature[i] = rule;
}

int ek_rules_default(struct ek_rules **out, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_rules *r = ek_calloc(1, sizeof *r);
    int features = m ? m->feature_count : 0;
    if (r)
        r->feature = ek_calloc((size_t)features, sizeof *r->feature);
    if (!r || !r->feature) {
        ek_rules_free(r);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    r->feature_count = features;
    r->false_alarms = QUERIES_PER_FALSE_ALARM;
    r->same_query = EK_SAME_QUERY_FEATURES | EK_SAME_ITEM_IDS;
    r->confirm_queries = CONFIRM_QUERIES;
    r->hold_ms = HOLD_MS;
    r->hold_max_ms = HOLD_MAX_MS;
    r->recover_auto = true;
    r->max_routed_features = ROUTED_FEATURES;
    r->max_routed_share = 1;
    r->on_limit = EK_LIMIT_OBSERVE;
    r->windows = ek_rules_windows_default();
    r->defaults = BUILT_IN;
    fill_in_defaults(r);
    *out = r;
    return EK_OK;
}

/* `1 per N queries`. */
static int read_false_alarms(const struct ek_rules_source *s, const struct ek_node *n)
{
    static const char before[] = "1 per ", after[] = " queries";
    const char *text = NULL;
    uint64_t queries = 0;
    int rc = n ? ek_node_text(s->y, n, "false_alarms", &text, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    size_t length = strlen(text), around = strlen(before) + strlen(after);
    if (length <= around || strncmp(text, before, strlen(before)) != 0 ||
        strcmp(text + length - strlen(after), after) != 0 ||
        ek_parse_u64(text + strlen(before), length - around, &queries) || !queries)
        return ek_node_fail(s->y, n, s->e,
                            "'false_alarms' must read '1 per N queries', not '%.60s'", text);
    s->r->false_alarms = queries;
    return EK_OK;
}

static int read_same_query(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    unsigned same = 0;
    int rc = ek_node_expect(s->y, list, "same_query", EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < list->count; i++) {
        int word = 0;
        rc = ek_rules_choice(s, &list->children[i], "defaults.same_query", &word);
        same |= 1u << word;
    }
    if (!rc)
        s->r->same_query = same;
    return rc;
}

static int read_baseline(const struct ek_rules_source *s, const struct ek_node *n)
{
    const char *name = NULL;
    int rc = n ? ek_node_text(s->y, n, "baseline", &name, s->e) : EK_OK;
    if (!n || rc || !strcmp(name, "none"))
        return rc;
    if (s->m && ek_manifest_item(s->m, name) >= 0)
        return ek_node_fail(s->y, n, s->e,
                            "'baseline' must be a segment or a query feature, '%s' is an item "
                            "feature",
                            name);
    return ek_rules_text(s, n, "baseline", &s->r->baseline);
}

/* Where only `hold` is given and longer, it counts for both. */
static int read_hold(const struct ek_rules_source *s, const struct ek_node *map)
{
    struct ek_rules *r = s->r;
    const struct ek_node *most = ek_node_get(map, "hold_max");
    int rc = ek_rules_duration(s, map, "defaults.hold", &r->hold_ms);
    if (!rc)
        rc = ek_rules_duration(s, map, "defaults.hold_max", &r->hold_max_ms);
    if (!rc && most && r->hold_max_ms < r->hold_ms)
        rc = ek_node_fail(s->y, most, s->e, "'hold_max' is below 'hold': it must be at least %gs",
                          (double)r->hold_ms / 1000);
    if (!rc && r->hold_max_ms < r->hold_ms)
        r->hold_max_ms = r->hold_ms;
    return ek_rules_go_on(s, rc);
}

static int read_defaults(const struct ek_rules_source *s, const struct ek_node *map)
{
    if (!map)
        return EK_OK;
    int manual = 0, rc = ek_rules_keys(s, map, "defaults");
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_common(s, map, -1, &s->r->defaults));
    if (!rc)
        rc = ek_rules_go_on(s, read_false_alarms(s, ek_node_get(map, "false_alarms")));
    if (!rc)
        rc = ek_rules_go_on(s, read_same_query(s, ek_node_get(map, "same_query")));
    if (!rc)
        rc = ek_rules_go_on(s, read_baseline(s, ek_node_get(map, "baseline")));
    if (!rc)
        rc = ek_rules_int(s, map, "defaults.confirm_queries", &s->r->confirm_queries);
    if (!rc)
        rc = read_hold(s, map);
    if (!rc)
        rc = ek_rules_word(s, map, "defaults.recover", &manual);
    s->r->recover_auto = !manual;
    if (!rc)
        fill_in_defaults(s->r);
    return rc;
}

static int read_limits(const struct ek_rules_source *s, const struct ek_node *map)
{
    if (!map)
        return EK_OK;
    int word = (int)s->r->on_limit;
    int rc = ek_rules_keys(s, map, "limits");
    if (!rc)
        rc = ek_rules_int(s, map, "limits.max_routed_features", &s->r->max_routed_features);
    if (!rc)
        rc = ek_rules_double(s, map, "limits.max_routed_share", &s->r->max_routed_share);
    if (!rc)
        rc = ek_rules_word(s, map, "limits.on_limit", &word);
    s->r->on_limit = (enum ek_on_limit)word;
    return rc;
}

static int read_segments(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "segments", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_DIMENSIONS_MAX)
        rc = ek_node_fail(s->y, list, s->e, "there must be at most %d segments, not %zu",
                          EK_DIMENSIONS_MAX, list->count);
    for (size_t i = 0; !rc && i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        rc = ek_rules_text(s, n, "segments", &s->r->segment[i]);
        if (rc)
            return rc;
        s->r->segment_count++;
        if (!*n->text)
            return ek_node_fail(
                s->y, n, s->e, "a segment without a name: put the name of a field of the messages");
        if (strlen(n->text) > EK_NAME_BYTES_MAX) /* in records of a fleet it would be damage */
            return ek_node_fail(s->y, n, s->e,
                                "the name of a segment has at most %d bytes, not %zu: rename the "
                                "field",
                                EK_NAME_BYTES_MAX, strlen(n->text));
        for (size_t k = 0; k < i; k++)
            if (!strcmp(s->r->segment[k], n->text))
                return ek_node_fail(s->y, n, s->e, "segment '%s' is there twice: take one away",
                                    n->text);
    }
    return rc;
}

static int read_root(const struct ek_rules_source *s, const struct ek_node *root)
{
    int version, rc = ek_rules_keys(s, root, "");
    if (!rc)
        rc = ek_rules_int(s, root, "version", &version);
    if (!rc)
        rc = ek_rules_go_on(s, read_segments(s, ek_node_get(root, "segments")));
    if (!rc)
        rc = ek_rules_go_on(s, read_defaults(s, ek_node_get(root, "defaults")));
    if (!rc)
        rc = ek_rules_go_on(s, read_limits(s, ek_node_get(root, "limits")));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_windows(s, ek_node_get(root, "windows")));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_units(s, ek_node_get(root, "units")));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_features(s, ek_node_get(root, "features")));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_pins(s, ek_node_get(root, "pins")));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_tests(s, ek_node_get(root, "tests")));
    return rc;
}

int ek_rules_from_tree(struct ek_rules **out, const struct ek_manifest *m, const struct ek_yaml *y,
                       struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_rules_source s = {y, m, NULL, e ? e : &unwanted, faults};
    int rc = ek_rules_default(&s.r, m, s.e);
    if (!rc)
        rc = ek_rules_go_on(&s, read_root(&s, ek_yaml_root(y)));
    rc = ek_error_list_first(faults, rc, s.e);
    if (rc)
        ek_rules_free(s.r);
    else
        *out = s.r;
    return rc;
}

int ek_rules_load(struct ek_rules **out, const struct ek_manifest *m, const char *path,
                  struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_load(&y, path, e);
    if (rc)
        return rc;
    rc = ek_rules_from_tree(out, m, y, NULL, e);
    ek_yaml_free(y);
    return rc;
}

int ek_rules_parse(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                   const char *text, size_t length, struct ek_error *e)
{
    return ek_rules_parse_all(out, m, name, text, length, NULL, e);
}

int ek_rules_parse_all(struct ek_rules **out, const struct ek_manifest *m, const char *name,
                       const char *text, size_t length, struct ek_error_list *faults,
                       struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse_all(&y, name, text, length, faults, e);
    if (rc)
        return rc;
    rc = ek_rules_from_tree(out, m, y, faults, e);
    ek_yaml_free(y);
    return rc;
}
