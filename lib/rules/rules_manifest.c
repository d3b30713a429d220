/* Manifest of the features named in rules. It is generated as text and parsed, so that an invalid
 * name is reported at its position in the rules. */
#include "rules/rules_read.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

struct named {
    const char *name;
    const struct ek_node *at;
    bool query;
};

struct names {
    struct named *one;
    size_t count, capacity;
};

static int add(struct names *all, const struct ek_node *at, const char *name, bool query)
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
    return n && n->kind == EK_NODE_SCALAR && *n->text ? add(all, n, n->text, query) : EK_OK;
}

static int add_units(struct names *all, const struct ek_node *units)
{
    static const char mark[] = EK_RULES_QUERY_FEATURE;
    int rc = EK_OK;
    for (size_t i = 0; !rc && units && units->kind == EK_NODE_SEQUENCE && i < units->count; i++) {
        const struct ek_node *n = &units->children[i];
        if (n->kind == EK_NODE_SCALAR && !strncmp(n->text, mark, sizeof mark - 1) &&
            n->text[sizeof mark - 1])
            rc = add(all, n, n->text + sizeof mark - 1, true);
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
