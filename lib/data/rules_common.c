/* Values that several parts of a rules file have: features, segments, classes, actions. */
#include "data/rules_read.h"

#include "base/alloc.h"

#include <string.h>

int ek_rules_go_on(const struct ek_rules_source *s, int code)
{
    return ek_error_list_go_on(s->faults, code, s->e);
}

int ek_rules_keys(const struct ek_rules_source *s, const struct ek_node *map,
                  const char *const *known, size_t count)
{
    return ek_node_all_keys(s->y, map, known, count, s->faults, s->e);
}

int ek_rules_no_memory(const struct ek_rules_source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
}

int ek_rules_later(const struct ek_rules_source *s, const struct ek_node *n, const char *what,
                   const char *use)
{
    struct ek_error e;
    ek_node_fail(s->y, n, &e, "%s not available in this version%s", what, use);
    return ek_error_list_add(&s->r->later, &e) == EK_ENOMEM ? ek_rules_no_memory(s) : EK_OK;
}

int ek_rules_text(const struct ek_rules_source *s, const struct ek_node *n, const char *what,
                  char **out)
{
    const char *text = NULL;
    int rc = n ? ek_node_text(s->y, n, what, &text, s->e) : EK_OK;
    if (!n || rc)
        return rc;
    char *copy = ek_strdup(text);
    if (!copy)
        return ek_rules_no_memory(s);
    *out = copy;
    return EK_OK;
}

int ek_rules_double(const struct ek_rules_source *s, const struct ek_node *map, const char *key,
                    double low, double high, double *out)
{
    const struct ek_node *n = ek_node_get(map, key);
    return n ? ek_rules_go_on(s, ek_node_double(s->y, n, key, low, high, out, s->e)) : EK_OK;
}

int ek_rules_int(const struct ek_rules_source *s, const struct ek_node *map, const char *key,
                 int64_t low, int64_t high, int *out)
{
    const struct ek_node *n = ek_node_get(map, key);
    int64_t value = 0;
    int rc = n ? ek_node_int(s->y, n, key, low, high, &value, s->e) : EK_OK;
    if (n && !rc)
        *out = (int)value;
    return ek_rules_go_on(s, rc);
}

int ek_rules_feature(const struct ek_rules_source *s, const struct ek_node *n, int *out)
{
    const char *name = NULL;
    int rc = ek_node_text(s->y, n, "feature", &name, s->e);
    if (rc)
        return rc;
    int feature = s->m ? ek_manifest_feature(s->m, name) : -1;
    if (feature >= 0 || !s->m) {
        *out = feature;
        return EK_OK;
    }
    const char *near = ek_manifest_suggest(s->m, EK_ROLE_ITEM, name);
    if (!near)
        near = ek_manifest_suggest(s->m, EK_ROLE_QUERY, name);
    if (near)
        return ek_node_fail(s->y, n, s->e, "unknown feature '%.60s', did you mean '%s'?", name,
                            near);
    return ek_node_fail(s->y, n, s->e, "unknown feature '%.60s', the manifest does not have it",
                        name);
}

int ek_rules_segment(const struct ek_rules_source *s, const struct ek_node *n, char **dimension,
                     char **value)
{
    if (n->kind != EK_NODE_MAPPING || n->count != 1)
        return ek_node_fail(s->y, n, s->e, "'segment' must be one pair, like {arm: B}");
    const struct ek_node *key = &n->children[0];
    int i = 0;
    while (i < s->r->segment_count && strcmp(s->r->segment[i], key->text) != 0)
        i++;
    if (i == s->r->segment_count)
        return ek_node_fail(s->y, key, s->e, "'%.60s' is not one of the 'segments' of these rules",
                            key->text);
    int rc = ek_rules_text(s, key, "segment", dimension);
    return rc ? rc : ek_rules_text(s, &n->children[1], "segment", value);
}

int ek_rules_class(const struct ek_rules_source *s, const struct ek_node *n, enum ek_class *out)
{
    const char *words[EK_CLASS_COUNT - 1];
    int word = 0;
    for (int i = 0; i < EK_CLASS_COUNT - 1; i++)
        words[i] = ek_class_name((enum ek_class)(i + 1)); /* all but `none` */
    int rc = ek_node_choice(s->y, n, "class", words, EK_COUNT(words), &word, s->e);
    if (!rc)
        *out = (enum ek_class)(word + 1);
    return rc;
}

static bool needs_wide_path(enum ek_action action)
{
    return action != EK_ACT_NONE && action != EK_ACT_ALERT;
}

int ek_rules_action(const struct ek_rules_source *s, const struct ek_node *n, int feature,
                    enum ek_action *out)
{
    const char *words[EK_ACTION_COUNT];
    int word = 0;
    for (int i = 0; i < EK_ACTION_COUNT; i++)
        words[i] = ek_action_name((enum ek_action)i);
    int rc = ek_node_choice(s->y, n, "action", words, EK_COUNT(words), &word, s->e);
    if (rc)
        return rc;
    if (feature >= 0 && needs_wide_path((enum ek_action)word) && !s->m->features[feature].routable)
        return ek_node_fail(s->y, n, s->e,
                            "action '%s' needs a routable feature, and '%s' is not one",
                            words[word], s->m->features[feature].name);
    *out = (enum ek_action)word;
    return EK_OK;
}
