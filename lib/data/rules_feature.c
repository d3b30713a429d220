/* What is done about one feature, or about all: `defaults` and `features`. */
#include "data/rules_read.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static const double EFFECT_MIN = 1.001, EFFECT_MAX = 1e6;
static const char BY_QUERY_FEATURE[] = EK_RULES_QUERY_FEATURE;

static int read_canary(const struct ek_rules_source *s, const struct ek_node *map,
                       struct ek_canary *c)
{
    static const char *const keys[] = {"percent", "step", "every", "max", "abort_if"};
    static const char *const reasons[] = {"rank_change_p95"};
    if (!map)
        return EK_OK;
    const struct ek_node *every = ek_node_get(map, "every"),
                         *abort_if = ek_node_get(map, "abort_if");
    int rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    if (!rc)
        rc = ek_rules_double(s, map, "percent", 0, 100, &c->percent);
    if (!rc)
        rc = ek_rules_double(s, map, "step", 0, 100, &c->step);
    if (!rc)
        rc = ek_rules_double(s, map, "max", 0, 100, &c->max);
    if (!rc && every)
        rc = ek_rules_go_on(s, ek_node_duration(s->y, every, "every", &c->every_ms, s->e));
    if (!rc && abort_if)
        rc = ek_rules_keys(s, abort_if, reasons, EK_COUNT(reasons));
    if (!rc && abort_if)
        rc = ek_rules_double(s, abort_if, "rank_change_p95", 0, 1, &c->abort_if.rank_change_p95);
    if (!rc && c->percent > c->max)
        rc =
            ek_node_fail(s->y, map, s->e, "'percent' (%g) is above 'max' (%g)", c->percent, c->max);
    return rc;
}

static int read_reaction(const struct ek_rules_source *s, const struct ek_node *key,
                         const struct ek_node *value, int feature, struct ek_feature_rule *rule)
{
    enum ek_class class = EK_CLASS_NONE;
    enum ek_action action = EK_ACT_NONE;
    int rc = ek_rules_class(s, key, &class);
    if (!rc)
        rc = ek_rules_action(s, value, feature, &action);
    if (!rc && action == EK_ACT_RESCALE && class != EK_SCALE)
        rc = ek_node_fail(s->y, value, s->e,
                          "only 'scale' has a factor to rescale by, '%s' has none",
                          ek_class_name(class));
    if (!rc && action == EK_ACT_ROUTE_SOURCE && class != EK_ITEMS)
        rc =
            ek_node_fail(s->y, value, s->e,
                         "'route_source' is for 'items', which has some items of a list on another "
                         "scale, not for '%s'",
                         ek_class_name(class));
    if (!rc && action == EK_ACT_ROUTE_SOURCE && !s->r->source_line) {
        s->r->source_line = value->line;
        s->r->source_column = value->column;
    }
    if (!rc)
        rule->on[class] = action;
    return rc;
}

static int read_on(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                   struct ek_feature_rule *rule)
{
    if (!map)
        return EK_OK;
    int rc = ek_node_expect(s->y, map, "on", EK_NODE_MAPPING, s->e);
    for (size_t i = 0; !rc && i < map->count; i++)
        rc = ek_rules_go_on(
            s, read_reaction(s, &map->children[2 * i], &map->children[2 * i + 1], feature, rule));
    return rc;
}

static int read_effects(const struct ek_rules_source *s, const struct ek_node *map,
                        struct ek_feature_rule *rule)
{
    const struct ek_node *act = ek_node_get(map, "act_effect");
    int rc = ek_rules_double(s, map, "min_effect", EFFECT_MIN, EFFECT_MAX, &rule->min_effect);
    if (!rc)
        rc = ek_rules_double(s, map, "act_effect", EFFECT_MIN, EFFECT_MAX, &rule->act_effect);
    if (!rc && act && rule->act_effect < rule->min_effect)
        rc = ek_node_fail(s->y, act, s->e, "'act_effect' (%g) is below 'min_effect' (%g)",
                          rule->act_effect, rule->min_effect);
    if (!rc && rule->act_effect < rule->min_effect)
        rule->act_effect = rule->min_effect;
    return rc ? rc : ek_rules_double(s, map, "act_share", 0, 1, &rule->act_share);
}

static int set_mode(const struct ek_rules_source *s, const struct ek_node *n, enum ek_mode mode,
                    struct ek_feature_rule *rule)
{
    char what[40];
    rule->mode = mode;
    if (!rule->watch || (mode != EK_MODE_SHADOW && mode != EK_MODE_CANARY))
        return EK_OK;
    snprintf(what, sizeof what, "mode '%s' is", ek_mode_name(mode));
    return ek_rules_later(s, n, what, ", use 'observe' or 'enforce'");
}

int ek_rules_read_common(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                         struct ek_feature_rule *rule)
{
    const char *modes[EK_MODE_COUNT];
    const struct ek_node *mode = ek_node_get(map, "mode");
    int word = 0, rc = EK_OK;
    for (int i = 0; i < EK_MODE_COUNT; i++)
        modes[i] = ek_mode_name((enum ek_mode)i);
    if (mode)
        rc = ek_rules_go_on(
            s, ek_node_choice(s->y, mode, "mode", modes, EK_COUNT(modes), &word, s->e));
    if (mode && !rc)
        rc = set_mode(s, mode, (enum ek_mode)word, rule);
    rule->mode_said |= mode && !rc;
    if (!rc)
        rc = ek_rules_go_on(s, read_effects(s, map, rule));
    if (!rc)
        rc = ek_rules_go_on(s, read_canary(s, ek_node_get(map, "canary"), &rule->canary));
    return rc ? rc : read_on(s, ek_node_get(map, "on"), feature, rule);
}

static bool is_currency_pair(const char *id)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return strlen(id) == 7 && strspn(id, capitals) == 3 && id[3] == '/' &&
           strspn(id + 4, capitals) == 3;
}

static int check_unit_id(const struct ek_rules_source *s, const struct ek_node *n, const char *id)
{
    const char *near = NULL;
    if (is_currency_pair(id) || ek_units_find(&s->r->units, id) || s->r->units.incomplete)
        return EK_OK;
    if (ek_units_nearest(&s->r->units, id, &near))
        return ek_rules_no_memory(s);
    if (near)
        return ek_node_fail(s->y, n, s->e, "unknown unit '%.60s', did you mean '%s'?", id, near);
    return ek_node_fail(s->y, n, s->e,
                        "unknown unit '%.60s': it must be a known one like cents, a pair like "
                        "EUR/USD, or query_feature:NAME",
                        id);
}

static int check_unit(const struct ek_rules_source *s, const struct ek_node *n, const char *id)
{
    if (strncmp(id, BY_QUERY_FEATURE, strlen(BY_QUERY_FEATURE)) != 0)
        return check_unit_id(s, n, id);
    const char *name = id + strlen(BY_QUERY_FEATURE);
    if (!s->m || ek_manifest_query(s->m, name) >= 0)
        return EK_OK;
    const char *near = ek_manifest_suggest(s->m, EK_ROLE_QUERY, name);
    return ek_node_fail(s->y, n, s->e, "there is no query feature '%.60s'%s%s%s", name,
                        near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int read_unit(const struct ek_rules_source *s, const struct ek_node *n,
                     struct ek_feature_rule *rule)
{
    const char *id = NULL;
    int rc = ek_node_text(s->y, n, "units", &id, s->e);
    if (!rc)
        rc = check_unit(s, n, id);
    for (int k = 0; !rc && k < rule->unit_count; k++)
        if (!strcmp(rule->unit[k], id))
            rc = ek_node_fail(s->y, n, s->e, "unit '%s' is there twice", id);
    if (!rc)
        rc = ek_rules_text(s, n, "units", &rule->unit[rule->unit_count]);
    rule->unit_count += !rc;
    return rc;
}

static int read_units(const struct ek_rules_source *s, const struct ek_node *list,
                      struct ek_feature_rule *rule)
{
    if (!list)
        return EK_OK;
    int rc = ek_node_expect(s->y, list, "units", EK_NODE_SEQUENCE, s->e);
    if (!rc && list->count > EK_UNITS_MAX)
        rc = ek_node_fail(s->y, list, s->e, "more than %d units for one feature", EK_UNITS_MAX);
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = ek_rules_go_on(s, read_unit(s, &list->children[i], rule));
    return rc;
}

static int read_rule(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                     struct ek_feature_rule *rule)
{
    static const char *const keys[] = {"watch", "mode",       "canary",     "units",
                                       "on",    "min_effect", "act_effect", "act_share"};
    int rc = ek_rules_keys(s, map, keys, EK_COUNT(keys));
    const struct ek_node *watch = ek_node_get(map, "watch");
    if (!rc && watch)
        rc = ek_rules_go_on(s, ek_node_bool(s->y, watch, "watch", &rule->watch, s->e));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_common(s, map, feature, rule));
    return rc ? rc : read_units(s, ek_node_get(map, "units"), rule);
}

static int read_feature(const struct ek_rules_source *s, const struct ek_node *key,
                        const struct ek_node *map)
{
    struct ek_feature_rule unknown = s->r->defaults;
    int feature = -1;
    unknown.mode_in_count = 0;
    unknown.mode_in = NULL;
    int rc = ek_rules_go_on(s, ek_rules_feature(s, key, &feature));
    if (rc)
        return rc;
    rc = read_rule(s, map, feature, feature >= 0 ? &s->r->feature[feature] : &unknown);
    for (int i = 0; i < unknown.unit_count; i++)
        ek_free(unknown.unit[i]);
    return rc;
}

int ek_rules_read_features(const struct ek_rules_source *s, const struct ek_node *map)
{
    if (!map)
        return EK_OK;
    int rc = ek_node_expect(s->y, map, "features", EK_NODE_MAPPING, s->e);
    for (size_t i = 0; !rc && i < map->count; i++)
        rc = ek_rules_go_on(s, read_feature(s, &map->children[2 * i], &map->children[2 * i + 1]));
    return rc;
}
