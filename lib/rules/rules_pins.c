/* Readers of `pins` and `tests`. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

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

int ek_rules_read_pin_feature(struct ek_key_source *s, const struct ek_key_row *k,
                              const struct ek_node *n)
{
    struct ek_pin *pin = s->base[k->base];
    return ek_rules_read_feature_name(s, n, &pin->feature);
}

int ek_rules_read_pin_action(struct ek_key_source *s, const struct ek_key_row *k,
                             const struct ek_node *n)
{
    struct ek_pin *pin = s->base[k->base];
    int rc = ek_rules_read_action(s, n, pin->feature, &pin->action);
    if (!rc && (pin->action == EK_ACT_REPAIR || pin->action == EK_ACT_AUTO))
        rc = ek_node_fail(s->yaml, n, s->e, "a pin has no factor for 'repair'; use 'route'");
    return rc;
}

int ek_rules_read_pin_segment(struct ek_key_source *s, const struct ek_key_row *k,
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

int ek_rules_read_pins(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
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

int ek_rules_read_target(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
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
int ek_rules_read_fault(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
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

int ek_rules_read_faulty_segment(struct ek_key_source *s, const struct ek_key_row *k,
                                 const struct ek_node *n)
{
    (void)k;
    return ek_rules_read_cell(s, n, &test_of(s)->dimension, &test_of(s)->value);
}

int ek_rules_read_inject(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
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

int ek_rules_read_class(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
{
    int word = 0;
    if (is_none(n))
        return ek_node_fail(s->yaml, n, s->e, "invalid class 'none'; use 'expect: none'");
    int rc = ek_key_read_name(s, k, n, &word);
    if (!rc)
        test_of(s)->class = (enum ek_class)(word + 1); /* the choices lack `none` */
    return rc;
}

int ek_rules_read_found_segment(struct ek_key_source *s, const struct ek_key_row *k,
                                const struct ek_node *n)
{
    struct ek_rules_test *t = test_of(s);
    (void)k;
    t->has_segment = true;
    return is_none(n) ? EK_OK : ek_rules_read_cell(s, n, &t->found_dimension, &t->found_value);
}

int ek_rules_read_expect(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
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

int ek_rules_read_lists(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
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

int ek_rules_read_tests(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n)
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
