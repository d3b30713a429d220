/* `pins`, which are kept, and `tests`, which are only checked here. */
#include "data/rules_read.h"

#include "base/alloc.h"
#include "base/date.h"

#include <math.h>
#include <string.h>

static int need(const struct ek_rules_source *s, const struct ek_node *map, const char *const *keys,
                size_t count, const char *owner)
{
    for (size_t i = 0; i < count; i++)
        if (!ek_node_get(map, keys[i]))
            return ek_node_fail(s->y, map, s->e, "the %s has no '%s'", owner, keys[i]);
    return EK_OK;
}

static int read_until(const struct ek_rules_source *s, const struct ek_node *n, int64_t *out_ms)
{
    const char *text = NULL;
    int rc = n ? ek_node_text(s->y, n, "until", &text, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    if (ek_parse_until_ms(text, out_ms))
        return ek_node_fail(s->y, n, s->e,
                            "'until' must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, not "
                            "'%.60s'",
                            text);
    return EK_OK;
}

static int read_pin_action(const struct ek_rules_source *s, const struct ek_node *n,
                           struct ek_pin *pin)
{
    int rc = ek_rules_action(s, n, pin->feature, &pin->action);
    if (!rc && pin->action == EK_ACT_RESCALE)
        rc = ek_node_fail(s->y, n, s->e, "a pin cannot rescale, it has no factor");
    return rc;
}

static int read_pin(const struct ek_rules_source *s, const struct ek_node *map, struct ek_pin *pin)
{
    static const char *const keys[] = {"feature", "action", "segment", "until", "reason"};
    const struct ek_node *action = ek_node_get(map, "action"),
                         *segment = ek_node_get(map, "segment");
    int rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    pin->feature = -1;
    if (!rc)
        rc = need(s, map, keys, 2, "pin");
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_feature(s, ek_node_get(map, "feature"), &pin->feature));
    if (!rc)
        rc = ek_rules_go_on(s, read_pin_action(s, action, pin));
    if (!rc && segment)
        rc = ek_rules_go_on(s, ek_rules_segment(s, segment, &pin->dimension, &pin->value));
    if (!rc)
        rc = ek_rules_go_on(s, read_until(s, ek_node_get(map, "until"), &pin->until_ms));
    return rc ? rc : ek_rules_text(s, ek_node_get(map, "reason"), "reason", &pin->reason);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static int check_pin_twice(const struct ek_rules_source *s, const struct ek_node *map)
{
    const struct ek_pin *last = &s->r->pin[s->r->pin_count - 1];
    for (const struct ek_pin *p = s->r->pin; p < last; p++)
        if (p->feature >= 0 && p->feature == last->feature &&
            same_text(p->dimension, last->dimension) && same_text(p->value, last->value))
            return ek_node_fail(s->y, map, s->e,
                                "feature '%s' is pinned twice for the same segment",
                                s->m->features[p->feature].name);
    return EK_OK;
}

int ek_rules_read_pins(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "pins", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_PINS_MAX)
        rc = ek_node_fail(s->y, list, s->e, "more than %d pins", EK_PINS_MAX);
    if (!rc && list->count)
        rc = ek_rules_later(s, list, "pins are", "");
    if (rc)
        return rc;
    s->r->pin = ek_calloc(list->count, sizeof *s->r->pin);
    if (!s->r->pin)
        return ek_rules_no_memory(s);
    for (size_t i = 0; !rc && i < list->count; i++) {
        s->r->pin_count++;
        rc = read_pin(s, &list->children[i], &s->r->pin[i]);
        if (!rc)
            rc = check_pin_twice(s, &list->children[i]);
        rc = ek_rules_go_on(s, rc);
    }
    return rc;
}

static int check_number(const struct ek_rules_source *s, const struct ek_node *map, const char *key,
                        double low, double high)
{
    double value;
    return ek_rules_double(s, map, key, low, high, &value);
}

static int check_cell(const struct ek_rules_source *s, const struct ek_node *segment)
{
    char *dimension = NULL, *value = NULL;
    int rc = segment ? ek_rules_segment(s, segment, &dimension, &value) : EK_OK;
    ek_free(dimension);
    ek_free(value);
    return rc;
}

static int check_inject(const struct ek_rules_source *s, const struct ek_node *map)
{
    static const char *const keys[] = {"feature", "share", "segment", "scale", "power", "offset"};
    int feature = 0, rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    if (!rc)
        rc = need(s, map, keys, 1, "injection");
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_feature(s, ek_node_get(map, "feature"), &feature));
    if (!rc)
        rc = check_number(s, map, "share", 0, 1);
    if (!rc)
        rc = check_number(s, map, "scale", 1e-30, 1e30);
    if (!rc)
        rc = check_number(s, map, "power", -100, 100);
    if (!rc)
        rc = check_number(s, map, "offset", -HUGE_VAL, HUGE_VAL);
    return rc ? rc : check_cell(s, ek_node_get(map, "segment"));
}

static int check_expect(const struct ek_rules_source *s, const struct ek_node *map)
{
    static const char *const keys[] = {"class",  "factor",        "exponent", "within_percent",
                                       "action", "after_queries", "segment"};
    const struct ek_node *class = ek_node_get(map, "class"), *action = ek_node_get(map, "action");
    enum ek_class c;
    enum ek_action a;
    int queries, rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    if (!rc && class)
        rc = ek_rules_go_on(s, ek_rules_class(s, class, &c));
    if (!rc && action)
        rc = ek_rules_go_on(s, ek_rules_action(s, action, -1, &a));
    if (!rc)
        rc = check_number(s, map, "factor", 1e-30, 1e30);
    if (!rc)
        rc = check_number(s, map, "exponent", -100, 100);
    if (!rc)
        rc = check_number(s, map, "within_percent", 0, 100);
    if (!rc)
        rc = ek_rules_int(s, map, "after_queries", 1, INT32_MAX, &queries);
    return rc ? rc : check_cell(s, ek_node_get(map, "segment"));
}

static int check_test(const struct ek_rules_source *s, const struct ek_node *map)
{
    static const char *const keys[] = {"name", "inject", "expect"};
    const char *name;
    int rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    if (!rc)
        rc = need(s, map, keys, EK_COUNT(keys), "test");
    if (!rc)
        rc = ek_node_text(s->y, ek_node_get(map, "name"), "name", &name, s->e);
    if (!rc)
        rc = ek_rules_go_on(s, check_inject(s, ek_node_get(map, "inject")));
    return rc ? rc : check_expect(s, ek_node_get(map, "expect"));
}

int ek_rules_check_tests(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "tests", EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = ek_rules_go_on(s, check_test(s, &list->children[i]));
    if (!rc)
        s->r->test_count = (int)list->count;
    return rc;
}
