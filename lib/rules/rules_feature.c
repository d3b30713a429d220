/* What is done about one feature, or about all: `defaults` and `features`. */
#include "rules/rules_read.h"

#include <stdio.h>
#include <string.h>

static const char BY_QUERY_FEATURE[] = EK_RULES_QUERY_FEATURE;

/* What is built in for a class undoes as much of it as can be undone. */
static int no_factor(const struct ek_rules_source *s, const struct ek_node *n, enum ek_class class)
{
    char path[64];
    snprintf(path, sizeof path, "defaults.on.%s", ek_class_name(class));
    return ek_node_fail(s->y, n, s->e,
                        "only 'scale' has a factor to rescale by, '%s' has none: take '%s', as is "
                        "built in",
                        ek_class_name(class), ek_rules_key_find(path)->built_in);
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
        rc = no_factor(s, value, class);
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
    int rc = ek_rules_double(s, map, "defaults.min_effect", &rule->min_effect);
    if (!rc)
        rc = ek_rules_double(s, map, "defaults.act_effect", &rule->act_effect);
    if (!rc && act && rule->act_effect < rule->min_effect)
        rc = ek_node_fail(s->y, act, s->e,
                          "'act_effect' (%g) is below 'min_effect' (%g): it must be at least that",
                          rule->act_effect, rule->min_effect);
    if (!rc && rule->act_effect < rule->min_effect)
        rule->act_effect = rule->min_effect;
    return rc ? rc : ek_rules_double(s, map, "defaults.act_share", &rule->act_share);
}

int ek_rules_read_common(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                         struct ek_feature_rule *rule)
{
    const struct ek_node *mode = ek_node_get(map, "mode");
    int word = (int)rule->mode, rc = ek_rules_word(s, map, "defaults.mode", &word);
    if (!rc) {
        rule->mode = (enum ek_mode)word;
        rule->mode_said = mode != NULL;
        rc = ek_rules_go_on(s, ek_rules_read_mode_in(s, ek_node_get(map, "mode_in"), rule));
    }
    if (!rc)
        rc = ek_rules_go_on(s, read_effects(s, map, rule));
    if (!rc)
        rc = ek_rules_go_on(s, ek_rules_read_canary(s, ek_node_get(map, "canary"), &rule->canary));
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
            rc = ek_node_fail(s->y, n, s->e, "unit '%s' is there twice: take one away", id);
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
        rc = ek_node_fail(s->y, list, s->e,
                          "there must be at most %d units for one feature, not %zu", EK_UNITS_MAX,
                          list->count);
    for (size_t i = 0; !rc && i < list->count; i++)
        rc = ek_rules_go_on(s, read_unit(s, &list->children[i], rule));
    return rc;
}

static int read_rule(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                     struct ek_feature_rule *rule)
{
    int rc = ek_rules_keys(s, map, "features.*");
    if (!rc)
        rc = ek_rules_bool(s, map, "features.*.watch", &rule->watch);
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
    ek_rules_release_rule(&unknown);
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
