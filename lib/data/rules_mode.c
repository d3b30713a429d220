/* Which mode holds where. */
#include "data/rules.h"

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

enum ek_mode ek_rules_mode(const struct ek_rules *r, int feature, const char *dimension,
                           const char *value)
{
    const struct ek_feature_rule *rule = &r->feature[feature];
    const struct ek_mode_in *in = find(rule, dimension, value);
    if (!in && !rule->mode_said)
        in = find(&r->defaults, dimension, value);
    return in ? in->mode : rule->mode;
}
