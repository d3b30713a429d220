/* Which mode holds where. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <string.h>

static const struct ek_mode_in *find(const struct ek_feature_rule *rule, const char *dimension,
                                     const char *value)
{
    for (int i = 0; dimension && i < rule->mode_in_count; i++)
        if (!strcmp(rule->mode_in[i].dimension, dimension) &&
            !strcmp(rule->mode_in[i].value, value))
            return &rule->mode_in[i];
    return NULL;
}

bool ek_rules_segments_are(const struct ek_rules *r, const char *const *names, int count)
{
    bool same = r->segment_count == count;
    for (int i = 0; same && i < count; i++)
        same = !strcmp(r->segment[i], names[i]);
    return same;
}

enum ek_mode ek_rules_mode(const struct ek_rules *r, int feature, const char *dimension,
                           const char *value)
{
    const struct ek_feature_rule *rule = &r->feature[feature];
    const struct ek_mode_in *in = find(rule, dimension, value);
    if (!in && !rule->mode_said)
        in = find(&r->defaults, dimension, value);
    return in ? in->mode : rule->mode;
}

static int wrong_shape(const struct ek_rules_source *s, const struct ek_node *n)
{
    return ek_node_fail(s->y, n, s->e,
                        "'mode_in' must be modes of values of segments, like {arm: {B: enforce}}");
}

static int read_one(const struct ek_rules_source *s, const struct ek_node *dimension,
                    const struct ek_node *value, const struct ek_node *mode,
                    struct ek_feature_rule *rule)
{
    int word = 0, rc = ek_rules_choice(s, mode, "defaults.mode", &word);
    if (rc)
        return rc;
    if (rule->mode_in_count == EK_MODE_IN_MAX)
        return ek_node_fail(s->y, value, s->e,
                            "'mode_in' must be at most %d values: put what most have into 'mode'",
                            EK_MODE_IN_MAX);
    struct ek_mode_in *in = &rule->mode_in[rule->mode_in_count];
    rc = ek_rules_value(s, value, &in->value);
    if (rc)
        return rc;
    in->dimension = ek_strdup(dimension->text);
    in->mode = (enum ek_mode)word;
    rule->mode_in_count++;
    return in->dimension ? EK_OK : ek_rules_no_memory(s);
}

static int read_dimension(const struct ek_rules_source *s, const struct ek_node *dimension,
                          const struct ek_node *values, struct ek_feature_rule *rule)
{
    int rc = ek_rules_go_on(s, ek_rules_dimension(s, dimension));
    if (!rc && values->kind != EK_NODE_MAPPING)
        rc = wrong_shape(s, values);
    for (size_t i = 0; !rc && i < values->count; i++)
        rc = ek_rules_go_on(s, read_one(s, dimension, &values->children[2 * i],
                                        &values->children[2 * i + 1], rule));
    return rc;
}

int ek_rules_read_mode_in(const struct ek_rules_source *s, const struct ek_node *map,
                          struct ek_feature_rule *rule)
{
    if (!map)
        return EK_OK;
    if (map->kind != EK_NODE_MAPPING)
        return wrong_shape(s, map);
    rule->mode_in = ek_calloc(EK_MODE_IN_MAX, sizeof *rule->mode_in);
    if (!rule->mode_in)
        return ek_rules_no_memory(s);
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < map->count; i++)
        rc = ek_rules_go_on(
            s, read_dimension(s, &map->children[2 * i], &map->children[2 * i + 1], rule));
    return rc;
}
