/* `pins`: what people have settled. */
#include "rules/rules_read.h"

#include "base/alloc.h"
#include "base/date.h"

#include <string.h>

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
        rc = ek_node_fail(s->y, n, s->e, "a pin cannot rescale, it has no factor: take 'route'");
    return rc;
}

static int read_pin(const struct ek_rules_source *s, const struct ek_node *map, struct ek_pin *pin)
{
    const struct ek_node *segment = ek_node_get(map, "segment");
    int rc = ek_rules_keys(s, map, "pins.*");
    pin->feature = -1;
    pin->line = map->line;
    pin->column = map->column;
    if (!rc)
        rc = ek_rules_need(s, map, "pins.*", "pin");
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_feature(s, ek_node_get(map, "feature"), &pin->feature));
    if (!rc)
        rc = ek_rules_go_on(s, read_pin_action(s, ek_node_get(map, "action"), pin));
    if (!rc && segment)
        rc = ek_rules_go_on(s, ek_rules_segment(s, segment, &pin->dimension, &pin->value));
    if (!rc)
        rc = ek_rules_go_on(s, read_until(s, ek_node_get(map, "until"), &pin->until_ms));
    if (!rc)
        rc = ek_rules_text_of(s, map, "pins.*.author", &pin->author);
    return rc ? rc : ek_rules_text_of(s, map, "pins.*.reason", &pin->reason);
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* NULL: it says none. */
static const char *feature_name(const struct ek_node *pin)
{
    const struct ek_node *n = ek_node_get(pin, "feature");
    return n ? n->text : NULL;
}

/* The last one that was read against those before it. By their names, for without a manifest no
 * feature has a number. */
static int check_pin_twice(const struct ek_rules_source *s, const struct ek_node *list)
{
    size_t at = (size_t)s->r->pin_count - 1;
    const struct ek_pin *pin = s->r->pin, *last = &pin[at];
    const char *name = feature_name(&list->children[at]);
    for (size_t i = 0; name && i < at; i++)
        if (same_text(feature_name(&list->children[i]), name) &&
            same_text(pin[i].dimension, last->dimension) && same_text(pin[i].value, last->value))
            return ek_node_fail(
                s->y, &list->children[at], s->e,
                "feature '%.60s' is pinned twice for the same segment, first at %ld:%ld", name,
                pin[i].line, pin[i].column);
    return EK_OK;
}

int ek_rules_read_pins(const struct ek_rules_source *s, const struct ek_node *list)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "pins", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_PINS_MAX)
        rc = ek_node_fail(s->y, list, s->e, "there must be at most %d pins, not %zu", EK_PINS_MAX,
                          list->count);
    if (rc)
        return rc;
    s->r->pin = ek_calloc(list->count, sizeof *s->r->pin);
    if (!s->r->pin)
        return ek_rules_no_memory(s);
    for (size_t i = 0; !rc && i < list->count; i++) {
        s->r->pin_count++;
        rc = read_pin(s, &list->children[i], &s->r->pin[i]);
        if (!rc)
            rc = check_pin_twice(s, list);
        rc = ek_rules_go_on(s, rc);
    }
    return rc;
}
