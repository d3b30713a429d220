#include "rules/rules.h"

#include "base/alloc.h"
#include "rules/rules_read.h"

#include <string.h>

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
    ek_free(r->stratify_by);
    ek_free(r);
}

void ek_rules_set_features(struct ek_rules *r)
{
    struct ek_feature_rule rule = r->defaults;
    rule.has_mode = false;
    rule.mode_in_count = 0;
    rule.mode_in = NULL;
    for (int i = 0; i < r->feature_count; i++)
        r->feature[i] = rule;
}

static struct ek_key_source source_of(struct ek_rules *r, struct ek_rules_context *c,
                                      const struct ek_yaml *y, struct ek_error *e)
{
    return (struct ek_key_source){.table = ek_rules_keys(),
                                  .yaml = y,
                                  .base = {[EK_IN_RULES] = r, [EK_IN_RULE] = &r->defaults},
                                  .context = c,
                                  .e = e};
}

int ek_rules_default(struct ek_rules **out, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_rules_context context = {.m = m, .feature = -1};
    struct ek_rules *r = ek_calloc(1, sizeof *r);
    int features = m ? m->feature_count : 0;
    if (r)
        r->feature = ek_calloc((size_t)features, sizeof *r->feature);
    if (!r || !r->feature) {
        ek_rules_free(r);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    struct ek_key_source s = source_of(r, &context, NULL, e ? e : &unwanted);
    r->feature_count = features;
    int rc = ek_keys_set_built_in(&s, "");
    if (rc) {
        ek_rules_free(r);
        return rc;
    }
    ek_rules_set_features(r);
    *out = r;
    return EK_OK;
}

int ek_rules_from_tree(struct ek_rules **out, const struct ek_manifest *m, const struct ek_yaml *y,
                       struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_rules_context context = {.m = m, .feature = -1};
    struct ek_rules *r = NULL;
    e = e ? e : &unwanted;
    int rc = ek_rules_default(&r, m, e);
    if (!rc) {
        struct ek_key_source s = source_of(r, &context, y, e);
        s.faults = faults;
        rc = ek_keys_collect(&s, ek_keys_read(&s, "", ek_yaml_root(y)));
    }
    rc = ek_error_list_first(faults, rc, e);
    if (rc)
        ek_rules_free(r);
    else
        *out = r;
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

static const struct ek_mode_in *find_mode(const struct ek_feature_rule *rule, const char *dimension,
                                          const char *value)
{
    for (int i = 0; dimension && i < rule->mode_in_count; i++)
        if (!strcmp(rule->mode_in[i].dimension, dimension) &&
            !strcmp(rule->mode_in[i].value, value))
            return &rule->mode_in[i];
    return NULL;
}

bool ek_rules_has_segments(const struct ek_rules *r, const char *const *names, int count)
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
    const struct ek_mode_in *in = find_mode(rule, dimension, value);
    if (!in && !rule->has_mode)
        in = find_mode(&r->defaults, dimension, value);
    return in ? in->mode : rule->mode;
}
