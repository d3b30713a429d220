#include "rules/rules_warnings.h"

#include <string.h>

static const char *const OF_WATCHED[] = {"mode", "mode_in", "canary", "actions"};

struct notes {
    const struct ek_rules *r;
    const struct ek_yaml *y;
    struct ek_error_list *list;
};

static int add(const struct notes *n, const struct ek_error *e)
{
    return ek_error_list_add(n->list, e) == EK_ENOMEM ? EK_ENOMEM : EK_OK;
}

static bool add_warning(const struct ek_node *n, const char *word)
{
    return n && n->kind == EK_NODE_SCALAR && !strcmp(n->text, word);
}

static bool is_watched(const struct ek_node *rule)
{
    return !add_warning(ek_node_get(rule, "watch"), "false");
}

static int note_pins(const struct notes *n, const struct ek_node *pins, int64_t now_ms)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && pins && i < pins->count && i < (size_t)n->r->pin_count; i++) {
        const struct ek_node *pin = &pins->children[i], *until = ek_node_get(pin, "until");
        struct ek_error e;
        if (!until || n->r->pin[i].until_ms > now_ms)
            continue;
        ek_node_fail(n->y, until, &e, "the pin of '%.60s' expired on %.20s; remove it",
                     ek_node_get(pin, "feature")->text, until->text);
        rc = add(n, &e);
    }
    return rc;
}

/* Return the mapping of feature i, or NULL after the last. */
static const struct ek_node *rule_at(const struct ek_node *features, size_t i)
{
    return features && i < features->count ? &features->children[2 * i + 1] : NULL;
}

static int note_unwatched(const struct notes *n, const struct ek_node *features)
{
    const struct ek_node *rule;
    int rc = EK_OK;
    for (size_t i = 0; !rc && (rule = rule_at(features, i)); i++)
        for (size_t k = 0; !rc && !is_watched(rule) && k < sizeof OF_WATCHED / sizeof *OF_WATCHED;
             k++) {
            const struct ek_node *value = ek_node_get(rule, OF_WATCHED[k]);
            struct ek_error e;
            if (!value)
                continue;
            ek_node_fail(n->y, value, &e, "'%s' has no effect, because '%.60s' is not watched",
                         OF_WATCHED[k], features->children[2 * i].text);
            rc = add(n, &e);
        }
    return rc;
}

/* Return the first mode in a mapping that allows actions, or NULL. */
static const struct ek_node *action_text(const struct ek_node *rule)
{
    const struct ek_node *mode = ek_node_get(rule, "mode"), *in = ek_node_get(rule, "mode_in");
    if (add_warning(mode, "enforce") || add_warning(mode, "canary"))
        return mode;
    for (size_t i = 0; in && i < in->count; i++) {
        const struct ek_node *values = &in->children[2 * i + 1];
        for (size_t k = 0; k < values->count; k++) {
            mode = &values->children[2 * k + 1];
            if (add_warning(mode, "enforce") || add_warning(mode, "canary"))
                return mode;
        }
    }
    return NULL;
}

/* Return the first mode of the rules that allows actions, or NULL. */
static const struct ek_node *acting_mode(const struct ek_node *root)
{
    const struct ek_node *features = ek_node_get(root, "features"),
                         *acts = action_text(ek_node_get(root, "defaults")), *rule;
    for (size_t i = 0; !acts && (rule = rule_at(features, i)); i++)
        acts = is_watched(rule) ? action_text(rule) : NULL;
    return acts;
}

/* Return the action of the first pin that changes lists, or NULL. */
static const struct ek_node *acting_pin(const struct ek_node *root)
{
    const struct ek_node *pins = ek_node_get(root, "pins");
    for (size_t i = 0; pins && i < pins->count; i++) {
        const struct ek_node *n = ek_node_get(&pins->children[i], "action");
        int action = n ? ek_action_parse(n->text) : -1;
        if (action >= 0 && ek_action_treats((enum ek_action)action))
            return n;
    }
    return NULL;
}

int ek_rules_check_observing(const struct ek_yaml *y, struct ek_error *e)
{
    const struct ek_node *root = ek_yaml_root(y), *mode = acting_mode(root),
                         *pin = acting_pin(root);
    if (mode)
        return ek_node_fail(y, mode, e,
                            "mode '%s' changes lists, but there is no 'output.topic'; set it, or "
                            "use 'observe' or 'shadow'",
                            mode->text);
    return pin ? ek_node_fail(y, pin, e,
                              "a pin to '%s' changes lists, but there is no 'output.topic'; set "
                              "it, or use 'none' or 'alert'",
                              pin->text)
               : EK_OK;
}

static int note_limit(const struct notes *n, const struct ek_node *root)
{
    const struct ek_node *most = ek_node_get(ek_node_get(root, "limits"), "max_routed_features"),
                         *acts = acting_mode(root);
    struct ek_error e;
    if (!most || n->r->max_routed_features || !acts)
        return EK_OK;
    ek_node_fail(n->y, most, &e, "'max_routed_features' is 0, so '%s' at %ld:%ld has no effect",
                 acts->text, acts->line, acts->column);
    return add(n, &e);
}

int ek_rules_warnings(const struct ek_rules *r, const struct ek_yaml *y, int64_t now_ms,
                      struct ek_error_list *notes)
{
    const struct notes n = {r, y, notes};
    const struct ek_node *root = ek_yaml_root(y);
    struct ek_error unwanted;
    int rc = note_pins(&n, ek_node_get(root, "pins"), now_ms);
    if (!rc)
        rc = note_unwatched(&n, ek_node_get(root, "features"));
    if (!rc)
        rc = note_limit(&n, root);
    if (!rc)
        ek_error_list_first(notes, EK_OK, &unwanted);
    return rc;
}
