/* Values that several parts of a rules file have: features, segments, classes, actions. */
#include "rules/rules_read.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHOICES_BYTES = 200, CHOICES_MAX = 16 };

int ek_rules_go_on(const struct ek_rules_source *s, int code)
{
    return ek_error_list_go_on(s->faults, code, s->e);
}

int ek_rules_keys(const struct ek_rules_source *s, const struct ek_node *map, const char *section)
{
    const char *known[EK_RULES_KEYS_MOST];
    size_t count = ek_rules_keys_of(section, known, EK_RULES_KEYS_MOST);
    return ek_node_all_keys(s->y, map, known, count, s->faults, s->e);
}

int ek_rules_need(const struct ek_rules_source *s, const struct ek_node *map, const char *section,
                  const char *owner)
{
    for (size_t i = 0; i < ek_rules_key_count(); i++) {
        const struct ek_rules_key *k = ek_rules_key_at(i);
        const char *name = ek_rules_key_name(k);
        if (!k->required || !ek_rules_key_in(k, section) || ek_node_get(map, name))
            continue;
        bool words = k->type == EK_KEY_CHOICE;
        return ek_node_fail(s->y, map, s->e, "the %s has no '%s': put one there%s%s", owner, name,
                            words ? ", one of: " : "", words ? k->choices : "");
    }
    return EK_OK;
}

int ek_rules_no_memory(const struct ek_rules_source *s)
{
    return ek_fail(s->e, EK_ENOMEM, "out of memory");
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

/* The value of a key that the mapping may have, and what the table says about it. */
static const struct ek_node *value_of(const struct ek_node *map, const char *path,
                                      const struct ek_rules_key **key)
{
    *key = ek_rules_key_find(path);
    return ek_node_get(map, ek_rules_key_name(*key));
}

static bool is_limited(const struct ek_rules_key *k)
{
    return k->low < k->high;
}

int ek_rules_text_of(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                     char **out)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    const char *what = ek_rules_key_name(k);
    int rc = ek_rules_text(s, n, what, out);
    if (!n || rc)
        return ek_rules_go_on(s, rc);
    size_t length = strlen(n->text);
    if (is_limited(k) && (length < (size_t)k->low || length > (size_t)k->high))
        rc = ek_node_fail(s->y, n, s->e, "'%s' must be %g to %g bytes long, not %zu", what, k->low,
                          k->high, length);
    return ek_rules_go_on(s, rc);
}

int ek_rules_bool(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                  bool *out)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    return n ? ek_rules_go_on(s, ek_node_bool(s->y, n, ek_rules_key_name(k), out, s->e)) : EK_OK;
}

int ek_rules_double(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                    double *out)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    double low = is_limited(k) ? k->low : -HUGE_VAL, high = is_limited(k) ? k->high : HUGE_VAL;
    return n ? ek_rules_go_on(s,
                              ek_node_double(s->y, n, ek_rules_key_name(k), low, high, out, s->e))
             : EK_OK;
}

int ek_rules_int(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                 int *out)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    int64_t value = 0;
    int rc = n ? ek_node_int(s->y, n, ek_rules_key_name(k), (int64_t)k->low, (int64_t)k->high,
                             &value, s->e)
               : EK_OK;
    if (n && !rc)
        *out = (int)value;
    return ek_rules_go_on(s, rc);
}

int ek_rules_duration(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                      int64_t *out_ms)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    int rc = n ? ek_node_duration(s->y, n, ek_rules_key_name(k), (int64_t)k->low, EK_RULES_DAYS_MAX,
                                  out_ms, s->e)
               : EK_OK;
    return ek_rules_go_on(s, rc);
}

int ek_rules_choice(const struct ek_rules_source *s, const struct ek_node *n, const char *path,
                    int *out)
{
    const struct ek_rules_key *k = ek_rules_key_find(path);
    char text[CHOICES_BYTES];
    const char *words[CHOICES_MAX];
    size_t count = 0;
    snprintf(text, sizeof text, "%s", k->choices);
    for (char *word = text, *end; word && count < CHOICES_MAX; word = end) {
        end = strchr(word, ' ');
        if (end)
            *end++ = 0;
        words[count++] = word;
    }
    return ek_node_choice(s->y, n, ek_rules_key_name(k), words, count, out, s->e);
}

int ek_rules_word(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                  int *out)
{
    const struct ek_rules_key *k;
    const struct ek_node *n = value_of(map, path, &k);
    return n ? ek_rules_go_on(s, ek_rules_choice(s, n, path, out)) : EK_OK;
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
    return ek_node_fail(s->y, n, s->e,
                        "unknown feature '%.60s': put it into the manifest, which does not have it",
                        name);
}

int ek_rules_dimension(const struct ek_rules_source *s, const struct ek_node *n)
{
    char there[CHOICES_BYTES] = "";
    size_t used = 0;
    for (int i = 0; i < s->r->segment_count; i++) {
        if (!strcmp(s->r->segment[i], n->text))
            return EK_OK;
        if (used < sizeof there)
            used += (size_t)snprintf(there + used, sizeof there - used, "%s%s", i ? ", " : "",
                                     s->r->segment[i]);
    }
    if (!*there)
        return ek_node_fail(s->y, n, s->e,
                            "'%.60s' is no segment of these rules: write "
                            "'segments: [%.60s]'",
                            n->text, n->text);
    return ek_node_fail(s->y, n, s->e,
                        "'%.60s' is not one of the 'segments' of these rules: there are %s, add it "
                        "there",
                        n->text, there);
}

int ek_rules_value(const struct ek_rules_source *s, const struct ek_node *n, char **out)
{
    size_t length = n->kind == EK_NODE_SCALAR ? strlen(n->text) : 0;
    if (length > EK_SEGMENT_BYTES_MAX)
        return ek_node_fail(s->y, n, s->e,
                            "a value of a segment has at most %d bytes here, not %zu: lists with "
                            "longer ones are watched together",
                            EK_SEGMENT_BYTES_MAX, length);
    return ek_rules_text(s, n, "segment", out);
}

int ek_rules_segment(const struct ek_rules_source *s, const struct ek_node *n, char **dimension,
                     char **value)
{
    if (n->kind != EK_NODE_MAPPING || n->count != 1)
        return ek_node_fail(s->y, n, s->e, "'segment' must be one pair, like {arm: B}");
    const struct ek_node *key = &n->children[0];
    int rc = ek_rules_dimension(s, key);
    if (!rc)
        rc = ek_rules_text(s, key, "segment", dimension);
    return rc ? rc : ek_rules_value(s, &n->children[1], value);
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
                            "action '%s' needs a routable feature, and '%s' is not one: take "
                            "'alert', or set 'routable: true' in the manifest",
                            words[word], s->m->features[feature].name);
    *out = (enum ek_action)word;
    return EK_OK;
}
