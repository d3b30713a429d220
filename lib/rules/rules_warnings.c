#include "rules/rules_warnings.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "rules/rules_read.h"

#include <stdlib.h>
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

/* Manifest of the features named in rules. It is generated as text and parsed, so that an invalid
 * name is reported at its position in the rules. */
struct named {
    const char *name;
    const struct ek_node *at;
    bool query;
};

struct names {
    struct named *one;
    size_t count, capacity;
};

static int add_name(struct names *all, const struct ek_node *at, const char *name, bool query)
{
    struct named *one = ek_grow(all->one, all->count, &all->capacity, sizeof *one);
    if (!one)
        return EK_ENOMEM;
    all->one = one;
    all->one[all->count++] = (struct named){name, at, query};
    return EK_OK;
}

/* Skip nodes of the wrong kind: the rules parser reports them. */
static int add_text(struct names *all, const struct ek_node *n, bool query)
{
    return n && n->kind == EK_NODE_SCALAR && *n->text ? add_name(all, n, n->text, query) : EK_OK;
}

static int add_units(struct names *all, const struct ek_node *units)
{
    static const char mark[] = EK_RULES_QUERY_FEATURE;
    int rc = EK_OK;
    for (size_t i = 0; !rc && units && units->kind == EK_NODE_SEQUENCE && i < units->count; i++) {
        const struct ek_node *n = &units->children[i];
        if (n->kind == EK_NODE_SCALAR && !strncmp(n->text, mark, sizeof mark - 1) &&
            n->text[sizeof mark - 1])
            rc = add_name(all, n, n->text + sizeof mark - 1, true);
    }
    return rc;
}

static int add_features(struct names *all, const struct ek_node *map)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && map && map->kind == EK_NODE_MAPPING && i < map->count; i++) {
        rc = add_text(all, &map->children[2 * i], false);
        if (!rc)
            rc = add_units(all, ek_node_get(&map->children[2 * i + 1], "units"));
    }
    return rc;
}

/* Add `feature` of each list entry, or of its mapping `within`. */
static int add_entries(struct names *all, const struct ek_node *list, const char *within)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && list && list->kind == EK_NODE_SEQUENCE && i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        rc = add_text(all, ek_node_get(within ? ek_node_get(n, within) : n, "feature"), false);
    }
    return rc;
}

/* Add the stratum field as a query feature unless it is a segment. */
static int add_baseline(struct names *all, const struct ek_node *root)
{
    const struct ek_node *n = ek_node_get(ek_node_get(root, "defaults"), "stratify_by"),
                         *segments = ek_node_get(root, "segments");
    if (!n || n->kind != EK_NODE_SCALAR || !strcmp(n->text, "none"))
        return EK_OK;
    for (size_t i = 0; segments && segments->kind == EK_NODE_SEQUENCE && i < segments->count; i++)
        if (segments->children[i].kind == EK_NODE_SCALAR &&
            !strcmp(segments->children[i].text, n->text))
            return EK_OK;
    return add_text(all, n, true);
}

static int by_place(const void *a, const void *b)
{
    const struct ek_node *x = ((const struct named *)a)->at, *y = ((const struct named *)b)->at;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order)
        return order;
    return x->query != y->query ? (x->query ? -1 : 1) : by_place(a, b);
}

static void drop_repeated(struct names *all)
{
    size_t kept = 0;
    if (!all->count)
        return; /* qsort requires an array */
    qsort(all->one, all->count, sizeof *all->one, by_name);
    for (size_t i = 0; i < all->count; i++)
        if (!i || strcmp(all->one[i].name, all->one[kept - 1].name) != 0)
            all->one[kept++] = all->one[i];
    all->count = kept;
    qsort(all->one, all->count, sizeof *all->one, by_place);
}

/* One line per feature, so that the line of an error identifies its feature. */
static int write_manifest(const struct names *all, struct ek_buf *text)
{
    ek_buf_text(text, "features:\n");
    for (size_t i = 0; i < all->count; i++) {
        const struct named *f = &all->one[i];
        ek_buf_text(text, "  - {name: ");
        ek_buf_json(text, f->name, strlen(f->name));
        ek_buf_printf(text, ", index: %zu, role: %s, routable: %s}\n", i + 1,
                      f->query ? "query" : "item", f->query ? "false" : "true");
    }
    return text->rc;
}

static int read_manifest(struct ek_manifest **out, const struct ek_yaml *y, const struct names *all,
                         struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = write_manifest(all, &text);
    if (rc)
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    else
        rc = ek_manifest_parse(out, ek_yaml_name(y), (const char *)text.data, text.length, e);
    if (rc == EK_ECONFIG && e && e->line >= 2 && (size_t)e->line - 2 < all->count) {
        const struct ek_node *at = all->one[e->line - 2].at;
        e->line = at->line;
        e->column = at->column;
    }
    ek_buf_release(&text);
    return rc;
}

static int collect(struct names *all, const struct ek_node *root)
{
    int rc = add_features(all, ek_node_get(root, "features"));
    if (!rc)
        rc = add_entries(all, ek_node_get(root, "pins"), NULL);
    if (!rc)
        rc = add_entries(all, ek_node_get(root, "tests"), "inject");
    return rc ? rc : add_baseline(all, root);
}

int ek_rules_manifest(struct ek_manifest **out, const char *name, const char *text, size_t length,
                      struct ek_error *e)
{
    struct ek_yaml *y;
    struct names all = {0};
    int rc = ek_yaml_parse(&y, name, text, length, e);
    if (rc)
        return rc;
    if (collect(&all, ek_yaml_root(y)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    else if (!all.count)
        rc = ek_node_fail(y, ek_yaml_root(y), e,
                          "the rules name no feature; add one under 'features', or use a manifest");
    if (!rc) {
        drop_repeated(&all);
        rc = read_manifest(out, y, &all, e);
    }
    ek_free(all.one);
    ek_yaml_free(y);
    return rc;
}
