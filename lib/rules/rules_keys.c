#include "rules/rules_keys.h"

#include "base/alloc.h"
#include "num/windows.h"
#include "rules/rules_read.h"

#include <math.h>
#include <string.h>

/* Readers of `pins` and `tests`. */
static int check_count(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n,
                       size_t max)
{
    int rc = ek_node_check_kind(s->yaml, n, ek_key_name(k), EK_NODE_SEQUENCE, s->e);
    if (!rc && n->count > max)
        rc = ek_node_fail(s->yaml, n, s->e, "there must be at most %zu %s, not %zu", max,
                          ek_key_name(k), n->count);
    return rc;
}

static int enomem(const struct ek_key_source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

static int read_pin_feature(struct ek_key_source *s, const struct ek_key_row *k,
                            const struct ek_node *n)
{
    struct ek_pin *pin = s->base[k->base];
    return ek_rules_read_feature_name(s, n, &pin->feature);
}

static int read_pin_action(struct ek_key_source *s, const struct ek_key_row *k,
                           const struct ek_node *n)
{
    struct ek_pin *pin = s->base[k->base];
    int rc = ek_rules_read_action(s, n, pin->feature, &pin->action);
    if (!rc && (pin->action == EK_ACT_REPAIR || pin->action == EK_ACT_AUTO))
        rc = ek_node_fail(s->yaml, n, s->e, "a pin has no %s for '%s'; use 'route'",
                          pin->action == EK_ACT_REPAIR ? "factor" : "class", n->text);
    return rc;
}

static int read_pin_segment(struct ek_key_source *s, const struct ek_key_row *k,
                            const struct ek_node *n)
{
    struct ek_pin *pin = s->base[EK_IN_PIN];
    (void)k;
    return ek_rules_read_cell(s, n, &pin->dimension, &pin->value);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static const char *feature_name(const struct ek_node *pin)
{
    const struct ek_node *n = ek_node_get(pin, "feature");
    return n ? n->text : NULL;
}

/* Compare the last pin with earlier ones by feature name, because without a manifest features have
 * no index. */
static int check_pin_twice(const struct ek_key_source *s, const struct ek_node *list)
{
    const struct ek_rules *r = ek_rules_from_node(s);
    size_t at = (size_t)r->pin_count - 1;
    const struct ek_pin *pin = r->pin, *last = &pin[at];
    const char *name = feature_name(&list->children[at]);
    for (size_t i = 0; name && i < at; i++)
        if (same_text(feature_name(&list->children[i]), name) &&
            same_text(pin[i].dimension, last->dimension) && same_text(pin[i].value, last->value))
            return ek_node_fail(
                s->yaml, &list->children[at], s->e,
                "duplicate pin of feature '%.60s' in the same segment, first at %ld:%ld", name,
                pin[i].line, pin[i].column);
    return EK_OK;
}

static int read_pins(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_rules *r = ek_rules_from_node(s);
    int rc = check_count(s, k, n, EK_PINS_MAX);
    if (rc)
        return rc;
    r->pin = ek_calloc(n->count, sizeof *r->pin);
    if (!r->pin)
        return enomem(s);
    for (size_t i = 0; !rc && i < n->count; i++) {
        const struct ek_node *map = &n->children[i];
        struct ek_pin *pin = &r->pin[r->pin_count++];
        *pin = (struct ek_pin){.feature = -1, .line = map->line, .column = map->column};
        s->base[EK_IN_PIN] = pin;
        rc = ek_keys_read(s, "pins.*", map);
        if (!rc)
            rc = check_pin_twice(s, n);
        rc = ek_keys_collect(s, rc);
    }
    return rc;
}

static bool is_none(const struct ek_node *n)
{
    return n->kind == EK_NODE_SCALAR && !n->quoted && !strcmp(n->text, "none");
}

static struct ek_rules_test *test_of(const struct ek_key_source *s)
{
    return s->base[EK_IN_TEST];
}

static int read_target(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    const struct ek_manifest *m = ek_rules_make_manifest(s);
    struct ek_rules_test *t = test_of(s);
    (void)k;
    int rc = ek_rules_read_feature_name(s, n, &t->feature);
    if (!rc && t->feature >= 0 && m->features[t->feature].role != EK_ROLE_ITEM)
        rc = ek_node_fail(s->yaml, n, s->e, "'%s' is a query feature; use an item feature",
                          m->features[t->feature].name);
    return rc;
}

static const struct {
    const char *name;
    double nothing; /* the neutral value */
} FAULTS[] = {[EK_INJECT_SCALE] = {"scale", 1},   [EK_INJECT_POWER] = {"power", 1},
              [EK_INJECT_OFFSET] = {"offset", 0}, [EK_INJECT_MISSING] = {"missing", 0},
              [EK_INJECT_ZERO] = {"zero", 0},     [EK_INJECT_NEGATIVE] = {"negative", 0}};

static enum ek_inject fault_of(const struct ek_key_row *k)
{
    int fault = EK_INJECT_SCALE;
    while (strcmp(FAULTS[fault].name, ek_key_name(k)) != 0)
        fault++;
    return (enum ek_inject)fault;
}

/* Read the fault; a test has exactly one. */
static int read_fault(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_rules_test *t = test_of(s);
    bool value = true;
    if (t->inject)
        return ek_node_fail(s->yaml, n, s->e,
                            "'%s' and '%s' exclude each other; use one of them, or two tests",
                            FAULTS[t->inject].name, ek_key_name(k));
    t->inject = fault_of(k);
    int rc = k->type == EK_KEY_NUMBER ? ek_key_store(s, k, n)
                                      : ek_node_bool(s->yaml, n, ek_key_name(k), &value, s->e);
    if (!rc && (!value || t->by == FAULTS[t->inject].nothing))
        rc = ek_node_fail(s->yaml, n, s->e,
                          "the value has no effect; use another one, or 'inject: none'");
    return rc;
}

static int read_faulty_segment(struct ek_key_source *s, const struct ek_key_row *k,
                               const struct ek_node *n)
{
    (void)k;
    return ek_rules_read_cell(s, n, &test_of(s)->dimension, &test_of(s)->value);
}

static int read_inject(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_rules_context *c = s->context;
    c->injects_nothing = is_none(n);
    if (c->injects_nothing)
        return EK_OK;
    if (n->kind == EK_NODE_SCALAR)
        return ek_node_fail(
            s->yaml, n, s->e,
            "'inject' must be a fault such as {feature: price, scale: 100}, or none");
    int rc = ek_keys_read(s, k->path, n);
    if (!rc && !test_of(s)->inject)
        rc = ek_node_fail(
            s->yaml, n, s->e,
            "the fault is missing; set one of scale, power, offset, missing, zero, negative");
    return rc;
}

static int read_class(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    int word = 0;
    if (is_none(n))
        return ek_node_fail(s->yaml, n, s->e, "invalid class 'none'; use 'expect: none'");
    int rc = ek_key_read_name(s, k, n, &word);
    if (!rc)
        test_of(s)->class = (enum ek_class)(word + 1); /* the choices lack `none` */
    return rc;
}

static int read_found_segment(struct ek_key_source *s, const struct ek_key_row *k,
                              const struct ek_node *n)
{
    struct ek_rules_test *t = test_of(s);
    (void)k;
    t->has_segment = true;
    return is_none(n) ? EK_OK : ek_rules_read_cell(s, n, &t->found_dimension, &t->found_value);
}

static int read_expect(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_rules_test *t = test_of(s);
    const struct ek_rules_context *c = s->context;
    t->nothing = is_none(n);
    if (t->nothing)
        return ek_keys_set_built_in(s, "tests.*.lists");
    if (c->injects_nothing)
        return ek_node_fail(s->yaml, n, s->e, "'expect' must be none with 'inject: none'");
    if (n->kind == EK_NODE_SCALAR)
        return ek_node_fail(
            s->yaml, n, s->e,
            "'expect' must be a finding such as {class: scale, factor: 100}, or none");
    return ek_keys_read(s, k->path, n);
}

static int read_lists(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    if (test_of(s)->nothing)
        return ek_key_store(s, k, n);
    return ek_node_fail(s->yaml, n, s->e,
                        "'lists' is for 'expect: none': use 'after_lists' under 'expect'");
}

static int check_test_twice(const struct ek_key_source *s, const struct ek_node *map)
{
    const struct ek_rules *r = ek_rules_from_node(s);
    const struct ek_rules_test *last = &r->test[r->test_count - 1];
    for (const struct ek_rules_test *t = r->test; last->name && t < last; t++)
        if (t->name && !strcmp(t->name, last->name))
            return ek_node_fail(s->yaml, ek_node_get(map, "name"), s->e,
                                "duplicate test '%.60s', first at %ld:%ld", t->name, t->line,
                                t->column);
    return EK_OK;
}

static int read_test(struct ek_key_source *s, const struct ek_node *map, struct ek_rules_test *t)
{
    struct ek_rules_context *c = s->context;
    *t = (struct ek_rules_test){.line = map->line,
                                .column = map->column,
                                .feature = -1,
                                .by = NAN,
                                .action = -1,
                                .mode = -1,
                                .factor = NAN,
                                .exponent = NAN,
                                .within_percent = NAN};
    s->base[EK_IN_TEST] = t;
    c->injects_nothing = false;
    int rc = ek_keys_set_built_in(s, "tests.*.inject");
    if (!rc)
        rc = ek_keys_set_built_in(s, "tests.*.expect");
    if (!rc)
        rc = ek_keys_read(s, "tests.*", map);
    return rc ? rc : check_test_twice(s, map);
}

static int read_tests(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    struct ek_rules *r = ek_rules_from_node(s);
    int rc = check_count(s, k, n, EK_TESTS_MAX);
    if (rc)
        return rc;
    r->test = ek_calloc(n->count, sizeof *r->test);
    if (!r->test)
        return enomem(s);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_test(s, &n->children[i], &r->test[r->test_count++]));
    return rc;
}

#define MODES   "observe shadow canary enforce"
#define CLASSES "scale power offset items missing zero sign stuck clip shape new_category"
#define ACTIONS "none alert route route_normalized repair blank route_per_source fill auto"
/* Only faults of all values have an inverse; only class items has a source. */
#define OF_ANY    "none alert auto route route_normalized blank"
#define OF_VALUES OF_ANY " repair"
#define OF_ITEMS  OF_ANY " repair route_per_source"
#define OF_LOST   OF_ANY " fill"
#define OF_PIN    "none alert route route_normalized blank route_per_source fill"

#define TEN_YEARS_MS (EK_RULES_DAYS_MAX * 86400000.0)

#define IN_RULES(member) EK_KEY_AT(EK_IN_RULES, struct ek_rules, member)
#define IN_RULE(member)  EK_KEY_AT(EK_IN_RULE, struct ek_feature_rule, member)
#define IN_PIN(member)   EK_KEY_AT(EK_IN_PIN, struct ek_pin, member)
#define IN_TEST(member)  EK_KEY_AT(EK_IN_TEST, struct ek_rules_test, member)

static const struct ek_key_row KEYS[] = {
    {"version", EK_KEY_INT, .low = 1, .high = 1, .built_in = "1",
     .help = "version of the file format"},

    {"segments", EK_KEY_TEXTS, .read = ek_rules_read_segments, .low = 0, .high = EK_DIMENSIONS_MAX,
     .help = "segment dimensions: message fields to which a fault may be confined; names of at "
             "most 200 bytes"},

    {"defaults", EK_KEY_MAP, .read = ek_rules_read_defaults, .help = "values for all features"},
    {"defaults.mode", EK_KEY_CHOICE, IN_RULE(mode), .read = ek_rules_read_mode, .choices = MODES,
     .built_in = "observe", .also = "features.*",
     .help = "effect of an action: `observe` reports it, `shadow` also compares its ranking, "
             "`canary` applies it to a percentage of the lists, `enforce` to all"},
    {"defaults.mode_in", EK_KEY_MAP, .read = ek_rules_read_mode_in, .also = "features.*",
     .help = "mode for the lists of a segment, such as `{arm: {B: enforce}}`; at most 64 values. "
             "It overrides the `mode` at the same level; if several match a list, the most "
             "cautious one applies"},
    {"defaults.mode_in.*.*", EK_KEY_CHOICE, .choices = MODES,
     .help = "mode for one value of a dimension of `segments`"},
    {"defaults.report_threshold", EK_KEY_NUMBER, IN_RULE(report_threshold), .low = 1.001,
     .high = 1e6, .built_in = "1.1", .also = "features.*",
     .help = "smallest factor that is reported"},
    {"defaults.action_threshold", EK_KEY_NUMBER, IN_RULE(action_threshold), .low = 1.001,
     .high = 1e6, .built_in = "1.25", .also = "features.*",
     .help =
         "smallest factor that is acted on, at least `report_threshold`; smaller ones only if a "
         "listed unit fits. An `offset` has no unit and has to move the level by twice the "
         "logarithm. "
         "If only `report_threshold` is set and larger, it applies to both"},
    {"defaults.action_min_fraction", EK_KEY_NUMBER, IN_RULE(action_min_fraction), .low = 0,
     .high = 1, .built_in = "0.05", .also = "features.*",
     .help = "smallest fraction of shifted lists for an action on `scale`. A route affects all "
             "lists of its segment, also unaffected ones, and below 0.05 it costs more than it "
             "saves; an alert is sent instead. The budget of each route uses this fraction"},
    {"defaults.actions", EK_KEY_MAP, .also = "features.*",
     .help = "action for each class; a class that is not listed keeps its default. `auto` "
             "with a network is `route` for `scale`, `route_normalized` for `power` and "
             "`offset`, `blank` for `sign`, else `alert`; with `writes: features` or your own "
             "ranker it is the mitigation that suits the finding (repair.md)"},
    {"defaults.actions.scale", EK_KEY_CHOICE, IN_RULE(actions[EK_SCALE]),
     .read = ek_rules_read_reaction, .choices = OF_VALUES, .built_in = "auto",
     .help = "values multiplied by a factor"},
    {"defaults.actions.power", EK_KEY_CHOICE, IN_RULE(actions[EK_POWER]),
     .read = ek_rules_read_reaction, .choices = OF_VALUES, .built_in = "auto",
     .help = "values raised to a power"},
    {"defaults.actions.offset", EK_KEY_CHOICE, IN_RULE(actions[EK_OFFSET]),
     .read = ek_rules_read_reaction, .choices = OF_VALUES, .built_in = "auto",
     .help = "values plus an amount"},
    {"defaults.actions.items", EK_KEY_CHOICE, IN_RULE(actions[EK_ITEMS]),
     .read = ek_rules_read_reaction, .choices = OF_ITEMS, .built_in = "alert",
     .help = "a factor on some items of a list"},
    {"defaults.actions.missing", EK_KEY_CHOICE, IN_RULE(actions[EK_MISSING]),
     .read = ek_rules_read_reaction, .choices = OF_LOST, .built_in = "alert",
     .help = "missing values"},
    {"defaults.actions.zero", EK_KEY_CHOICE, IN_RULE(actions[EK_ZERO]),
     .read = ek_rules_read_reaction, .choices = OF_LOST, .built_in = "alert",
     .help = "zero values"},
    {"defaults.actions.sign", EK_KEY_CHOICE, IN_RULE(actions[EK_SIGN]),
     .read = ek_rules_read_reaction, .choices = OF_VALUES, .built_in = "auto",
     .help = "reversed sign"},
    {"defaults.actions.stuck", EK_KEY_CHOICE, IN_RULE(actions[EK_STUCK]),
     .read = ek_rules_read_reaction, .choices = OF_LOST, .built_in = "alert",
     .help = "one value for all items"},
    {"defaults.actions.clip", EK_KEY_CHOICE, IN_RULE(actions[EK_CLIP]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "values limited to a maximum or minimum"},
    {"defaults.actions.shape", EK_KEY_CHOICE, IN_RULE(actions[EK_SHAPE]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "another distribution that no transform explains"},
    {"defaults.actions.new_category", EK_KEY_CHOICE, IN_RULE(actions[EK_NEW_CATEGORY]),
     .read = ek_rules_read_reaction, .choices = OF_ANY, .built_in = "alert",
     .help = "a category that training did not have"},
    {"defaults.canary", EK_KEY_MAP, .read = ek_rules_read_canary, .also = "features.*",
     .help = "growth of a `canary`"},
    {"defaults.canary.initial_percent", EK_KEY_NUMBER, IN_RULE(canary.initial_percent), .low = .01,
     .high = 100, .built_in = "5", .help = "initial percentage of the lists"},
    {"defaults.canary.step_percent", EK_KEY_NUMBER, IN_RULE(canary.step_percent), .low = 0,
     .high = 100, .built_in = "5",
     .help = "increase at each step; at least 0.01 while `initial_percent` is below `max_percent`"},
    {"defaults.canary.step_interval", EK_KEY_DURATION, IN_RULE(canary.step_interval_ms),
     .low = 1000, .high = TEN_YEARS_MS, .built_in = "10m",
     .help = "time between steps, in event time"},
    {"defaults.canary.max_percent", EK_KEY_NUMBER, IN_RULE(canary.max_percent), .low = .01,
     .high = 100, .built_in = "100",
     .help = "final percentage of the lists; at least `initial_percent`"},
    {"defaults.canary.min_lists", EK_KEY_INT, IN_RULE(canary.min_lists), .low = 1, .high = 1000000,
     .built_in = "200", .help = "shadow-scored lists required before a step"},
    {"defaults.canary.abort_if", EK_KEY_MAP,
     .help = "guardrails that roll back a route, also in `enforce`; each has its default"},
    {"defaults.canary.abort_if.rank_change_p95", EK_KEY_NUMBER,
     IN_RULE(canary.abort_if.rank_change_p95), .low = 0, .high = 1, .built_in = "0",
     .help = "95th percentile of the rank change of the lists: Spearman's footrule over its "
             "maximum. 0: off"},
    {"defaults.canary.abort_if.error_rate", EK_KEY_NUMBER, IN_RULE(canary.abort_if.error_rate),
     .low = 0, .high = 1, .built_in = "0.01",
     .help = "fraction of the affected lists that model or plan cannot score; lists without the "
             "required values do not count. 0: off"},
    {"defaults.canary.abort_if.dead_letter_rate", EK_KEY_NUMBER,
     IN_RULE(canary.abort_if.dead_letter_rate), .low = 0, .high = 1, .built_in = "0",
     .help = "fraction of the affected lists that become dead letters, above that of the other "
             "lists. 0: off"},
    {"defaults.canary.abort_if.latency_p99", EK_KEY_DURATION,
     IN_RULE(canary.abort_if.latency_p99_ms), .low = 0, .high = TEN_YEARS_MS, .built_in = "0ms",
     .help = "99th percentile of the processing time of the affected lists. 0ms: off"},
    {"defaults.canary.abort_if.worse_than_unmitigated", EK_KEY_BOOL,
     IN_RULE(canary.abort_if.worse_than_unmitigated), .built_in = "true",
     .help = "the route harms the order of the lists more than the fault does"},
    {"defaults.canary.abort_if.model_drift", EK_KEY_BOOL, IN_RULE(canary.abort_if.model_drift),
     .built_in = "false", .help = "model and upstream no longer agree"},
    {"defaults.false_alarms", EK_KEY_RATE, IN_RULES(false_alarms),
     .built_in = "1 per 10000000 lists",
     .help = "rate of false alarms over all features and segments"},
    {"defaults.dedup_key", EK_KEY_TEXTS, IN_RULES(dedup_key), .read = ek_rules_read_dedup_key,
     .choices = "query_features items.id", .built_in = "[query_features, items.id]",
     .help =
         "fields that identify a repeated list, which is no new evidence; values replace missing "
         "item ids; `[]`: every list is new"},
    {"defaults.stratify_by", EK_KEY_TEXT, IN_RULES(stratify_by), .read = ek_rules_read_stratify_by,
     .built_in = "none",
     .help = "stratum of the profile: a segment dimension or query feature; `none`: that of the "
             "profile. Another one than the profile's is an error. Slow drift is always followed; "
             "it has no key"},
    {"defaults.confirmation_lists", EK_KEY_INT, IN_RULES(confirmation_lists), .low = 1,
     .high = 1000000, .built_in = "64",
     .help = "lists of the segment between the alarm and the verdict, at most"},
    {"defaults.min_duration", EK_KEY_DURATION, IN_RULES(min_duration_ms), .low = 0,
     .high = TEN_YEARS_MS, .built_in = "10m",
     .help = "shortest duration of a route, even if its fault recovers earlier"},
    {"defaults.max_duration", EK_KEY_DURATION, IN_RULES(max_duration_ms), .low = 0,
     .high = TEN_YEARS_MS, .built_in = "6h",
     .help = "the duration of a route increases each time its fault returns, up to this; at least "
             "`min_duration`. If only `min_duration` is set and longer, it applies to both"},
    {"defaults.recover", EK_KEY_CHOICE, IN_RULES(recover_auto), .choices = "manual auto",
     .built_in = "auto",
     .help = "`auto`: a fault that has cleared ends, and its route ends after `min_duration`; "
             "`manual`: a cleared fault is reported, and its route stays until `evenkeel resume "
             "--feature NAME`"},

    {"limits", EK_KEY_MAP, .help = "limits of active routes"},
    {"limits.max_routed_features", EK_KEY_INT, IN_RULES(max_routed_features), .low = 0,
     .high = EK_FEATURES_MAX, .built_in = "10",
     .help = "maximum number of routed features; those of one incident count once"},
    {"limits.max_routed_share", EK_KEY_NUMBER, IN_RULES(max_routed_share), .low = 0, .high = 1,
     .built_in = "1", .help = "maximum fraction of routed lists"},
    {"limits.on_limit", EK_KEY_CHOICE, IN_RULES(on_limit), .choices = "observe keep",
     .built_in = "observe",
     .help = "effect of exceeding a limit: `observe` suspends all actions on findings, because the "
             "profile is suspect, until the requests have stayed within the limits for "
             "`min_duration`; `keep` keeps the active routes and adds none. The finding names the "
             "limit in `blocked_by`; with `observe` its mode is `observe`"},

    {"windows", EK_KEY_MAP, .help = "live sketches of the traffic; findings do not depend on them"},
    {"windows.length", EK_KEY_DURATION, IN_RULES(windows.length_ms), .low = 1000,
     .high = TEN_YEARS_MS, .built_in = "5m", .help = "length of a window, in event time"},
    {"windows.retention", EK_KEY_INT, IN_RULES(windows.retention), .low = 1,
     .high = EK_WINDOWS_KEPT_MAX, .built_in = "12",
     .help = "closed windows kept in addition to the open one; with the defaults, one hour"},
    {"windows.max_segments", EK_KEY_INT, IN_RULES(windows.max_segments), .low = 0, .high = 10000,
     .built_in = "100",
     .help = "maximum number of segments with sketches: all traffic and the first segment values "
             "seen. 0: none"},

    {"units", EK_KEY_LIST, .read = ek_rules_read_units,
     .help = "additional unit conversions, and files with units ([units](format/units.md)); paths "
             "are relative to the folder of the rules"},

    {"features", EK_KEY_MAP, .read = ek_rules_read_features,
     .help = "values for single features, by name"},
    {"features.*.watch", EK_KEY_BOOL, IN_RULE(watch), .built_in = "true",
     .help = "`false`: no findings for this feature"},
    {"features.*.units", EK_KEY_TEXTS, .read = ek_rules_read_feature_units, .low = 0,
     .high = EK_UNITS_MAX, .help = "ids of units that may explain a shift of this feature"},

    {"pins", EK_KEY_LIST, .read = read_pins,
     .help =
         "fixed actions, independent of findings; at most 1000, one for each feature and segment"},
    {"pins.*.feature", EK_KEY_TEXT, IN_PIN(feature), .read = read_pin_feature,
     .flags = EK_KEY_REQUIRED, .help = "feature to pin"},
    {"pins.*.action", EK_KEY_CHOICE, IN_PIN(action), .read = read_pin_action, .choices = OF_PIN,
     .flags = EK_KEY_REQUIRED,
     .help = "action; `none`: never act. A pin has no factor, so it cannot be `repair`"},
    {"pins.*.segment", EK_KEY_SEGMENT, .read = read_pin_segment,
     .help = "segment; default: all traffic"},
    {"pins.*.until", EK_KEY_DATE, IN_PIN(until_ms),
     .help =
         "end in event time: `2027-01-31`, the end of that day in UTC, or `2027-01-31T12:00:00Z`"},
    {"pins.*.actor", EK_KEY_TEXT, IN_PIN(author), .low = 1, .high = EK_AUTHOR_BYTES,
     .help = "author of the pin"},
    {"pins.*.reason", EK_KEY_TEXT, IN_PIN(reason), .low = 0, .high = EK_REASON_BYTES,
     .help = "reason, for readers"},

    {"tests", EK_KEY_LIST, .read = read_tests,
     .help = "expected findings for injected faults; at most 1000"},
    {"tests.*.name", EK_KEY_TEXT, IN_TEST(name), .low = 1, .high = 100, .flags = EK_KEY_REQUIRED,
     .help = "unique name of the test"},
    {"tests.*.inject", EK_KEY_MAP, .read = read_inject, .choices = "none", .flags = EK_KEY_REQUIRED,
     .help = "injected fault: a `feature` and one of `scale`, `power`, `offset`, `missing`, "
             "`zero`, `negative`; or `none`"},
    {"tests.*.inject.feature", EK_KEY_TEXT, IN_TEST(feature), .read = read_target,
     .flags = EK_KEY_REQUIRED, .help = "item feature"},
    {"tests.*.inject.scale", EK_KEY_NUMBER, IN_TEST(by), .read = read_fault, .low = 1e-30,
     .high = 1e30, .help = "factor of the values, not 1"},
    {"tests.*.inject.power", EK_KEY_NUMBER, IN_TEST(by), .read = read_fault, .low = -100,
     .high = 100, .help = "exponent of the values, not 1"},
    {"tests.*.inject.offset", EK_KEY_NUMBER, IN_TEST(by), .read = read_fault,
     .help = "amount added to the values, not 0"},
    {"tests.*.inject.missing", EK_KEY_BOOL, .read = read_fault, .help = "remove the values"},
    {"tests.*.inject.zero", EK_KEY_BOOL, .read = read_fault, .help = "set the values to zero"},
    {"tests.*.inject.negative", EK_KEY_BOOL, .read = read_fault,
     .help = "reverse the sign of the values"},
    {"tests.*.inject.fraction", EK_KEY_NUMBER, IN_TEST(share), .low = .001, .high = 1,
     .built_in = "1", .help = "fraction of the lists with the fault"},
    {"tests.*.inject.items", EK_KEY_NUMBER, IN_TEST(items), .low = .001, .high = 1, .built_in = "1",
     .help = "fraction of the items of each such list with the fault"},
    {"tests.*.inject.segment", EK_KEY_SEGMENT, .read = read_faulty_segment,
     .help = "segment of the fault; default: any list"},
    {"tests.*.expect", EK_KEY_MAP, .read = read_expect, .choices = "none", .flags = EK_KEY_REQUIRED,
     .help = "finding that must be confirmed; `none`: no finding"},
    {"tests.*.expect.class", EK_KEY_CHOICE, IN_TEST(class), .read = read_class, .choices = CLASSES,
     .help = "class of the finding"},
    {"tests.*.expect.factor", EK_KEY_NUMBER, IN_TEST(factor), .low = 1e-30, .high = 1e30,
     .help = "factor of the finding"},
    {"tests.*.expect.exponent", EK_KEY_NUMBER, IN_TEST(exponent), .low = -100, .high = 100,
     .help = "exponent of the finding"},
    {"tests.*.expect.within_percent", EK_KEY_NUMBER, IN_TEST(within_percent), .low = 0, .high = 100,
     .help = "tolerance of factor and exponent"},
    {"tests.*.expect.action", EK_KEY_CHOICE, IN_TEST(action), .choices = ACTIONS,
     .help = "action of the finding"},
    {"tests.*.expect.mode", EK_KEY_CHOICE, IN_TEST(mode), .choices = MODES,
     .help = "mode of the finding"},
    {"tests.*.expect.segment", EK_KEY_SEGMENT, .read = read_found_segment, .choices = "none",
     .help = "segment of the finding; `none`: all traffic"},
    {"tests.*.expect.after_lists", EK_KEY_INT, IN_TEST(queries), .low = 1, .high = 1000000,
     .built_in = "500", .help = "maximum number of faulty lists until confirmation"},
    {"tests.*.lists", EK_KEY_INT, IN_TEST(queries), .read = read_lists, .low = 1, .high = 1000000,
     .built_in = "2000", .help = "with `expect: none`: number of lists to check"},
};

static const struct ek_key_owner OWNERS[] = {
    {"pins.*", "pin"}, {"tests.*", "test"}, {"tests.*.inject", "injection"}};

const struct ek_key_table *ek_rules_keys(void)
{
    static const struct ek_key_table table = {.keys = KEYS,
                                              .count = sizeof KEYS / sizeof *KEYS,
                                              .owners = OWNERS,
                                              .owner_count = sizeof OWNERS / sizeof *OWNERS};
    return &table;
}
