/* What a rules file may ask for, and nothing carries out yet. Whoever makes one of these work takes
 * its line away here, and the key is in force. */
#include "data/rules_read.h"

#include <string.h>

static int note(const struct ek_rules_source *s, const struct ek_node *n, const char *what,
                const char *use)
{
    struct ek_error e;
    ek_node_fail(s->y, n, &e, "%s not available in this version%s", what, use);
    return ek_error_list_add(&s->r->later, &e) == EK_ENOMEM ? ek_rules_no_memory(s) : EK_OK;
}

static bool says(const struct ek_node *n, const char *word)
{
    return n && n->kind == EK_NODE_SCALAR && !strcmp(n->text, word);
}

static int note_mode(const struct ek_rules_source *s, const struct ek_node *mode)
{
    static const char use[] = ", use 'observe' or 'enforce'";
    if (says(mode, "shadow"))
        return note(s, mode, "mode 'shadow' is", use);
    return says(mode, "canary") ? note(s, mode, "mode 'canary' is", use) : EK_OK;
}

/* What is said of all features, or of one. */
static int note_rule(const struct ek_rules_source *s, const struct ek_node *map)
{
    const struct ek_node *in = ek_node_get(map, "mode_in");
    if (says(ek_node_get(map, "watch"), "false"))
        return EK_OK;
    int rc = note_mode(s, ek_node_get(map, "mode"));
    return !rc && in ? note(s, in, "'mode_in' is", ", use 'mode'") : rc;
}

int ek_rules_note_later(const struct ek_rules_source *s, const struct ek_node *root)
{
    const struct ek_node *defaults = ek_node_get(root, "defaults"),
                         *features = ek_node_get(root, "features"),
                         *pins = ek_node_get(root, "pins"),
                         *hold_max = ek_node_get(defaults, "hold_max"),
                         *share = ek_node_get(ek_node_get(root, "limits"), "max_routed_share");
    int rc = note_rule(s, defaults);
    bool by_name = features && features->kind == EK_NODE_MAPPING;
    for (size_t i = 0; !rc && by_name && i < features->count; i++)
        rc = note_rule(s, &features->children[2 * i + 1]);
    if (!rc && hold_max)
        rc = note(s, hold_max, "'hold_max' is", "");
    if (!rc && share && s->r->max_routed_share < 1)
        rc = note(s, share, "'max_routed_share' below 1 is", "");
    return !rc && pins && pins->count ? note(s, pins, "pins are", "") : rc;
}
