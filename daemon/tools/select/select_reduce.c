#include "daemon/tools/select/select_reduce.h"

#include "base/alloc.h"
#include "yaml/yaml_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { BLOCK_DEPTH = 3, INDENT = 2 };

/* Return true if the text is valid without quotes in any context. All numbers and plain words
 * are. */
static bool is_plain(const char *text)
{
    bool any = !strcmp(text, "~") || !*text;
    for (const char *c = text; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_+-./~", *c))
            return false;
        any = any || isalnum((unsigned char)*c);
    }
    return any;
}

/* Quote the text unless every reader takes it for a string. */
static int yaml_put_word(struct ek_buf *out, const char *text)
{
    static const char *const OTHER[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    bool word = isalpha((unsigned char)*text) && is_plain(text);
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        word = word && strcasecmp(text, OTHER[i]) != 0;
    return word ? ek_buf_text(out, text) : ek_buf_json(out, text, strlen(text));
}

static int write_scalar(struct ek_buf *out, const struct ek_node *n)
{
    return n->quoted || !is_plain(n->text) ? ek_buf_json(out, n->text, strlen(n->text))
                                           : ek_buf_text(out, n->text);
}

/* Write in braces or brackets on one line. */
static int write_flow(struct ek_buf *out, const struct ek_node *n)
{
    bool map = n->kind == EK_NODE_MAPPING;
    if (n->kind == EK_NODE_SCALAR)
        return write_scalar(out, n);
    ek_buf_text(out, map ? "{" : "[");
    for (size_t i = 0; i < n->count; i++) {
        if (i)
            ek_buf_text(out, ", ");
        if (map)
            write_flow(out, &n->children[2 * i]);
        if (map)
            ek_buf_text(out, ": ");
        write_flow(out, &n->children[map ? 2 * i + 1 : i]);
    }
    return ek_buf_text(out, map ? "}" : "]");
}

static bool has_collections(const struct ek_node *n)
{
    size_t children = n->kind == EK_NODE_MAPPING    ? 2 * n->count
                      : n->kind == EK_NODE_SEQUENCE ? n->count
                                                    : 0;
    for (size_t i = 0; i < children; i++)
        if (n->children[i].kind != EK_NODE_SCALAR)
            return true;
    return false;
}

static int write_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value,
                      int depth);

static int write_lines(struct ek_buf *out, const struct ek_node *n, int depth)
{
    ek_buf_text(out, "\n");
    for (size_t i = 0; i < n->count; i++) {
        if (n->kind == EK_NODE_MAPPING) {
            write_pair(out, &n->children[2 * i], &n->children[2 * i + 1], depth);
            continue;
        }
        ek_buf_printf(out, "%*s- ", depth * INDENT, "");
        write_flow(out, &n->children[i]);
        ek_buf_text(out, "\n");
    }
    return out->rc;
}

static int write_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value,
                      int depth)
{
    ek_buf_printf(out, "%*s", depth * INDENT, "");
    write_flow(out, key);
    ek_buf_text(out, ":");
    if (has_collections(value) && depth < BLOCK_DEPTH)
        return write_lines(out, value, depth + 1);
    ek_buf_text(out, " ");
    write_flow(out, value);
    return ek_buf_text(out, "\n");
}

/* Append key, value and a newline. Nested collections have a line for each element. */
static int yaml_put_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value)
{
    return write_pair(out, key, value, 0);
}

/* Return true if two nodes parse as equal. Quotes are ignored around text that is a string without
 * them. */
static bool yaml_same(const struct ek_node *a, const struct ek_node *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == EK_NODE_SCALAR)
        return !strcmp(a->text, b->text) && (a->quoted == b->quoted || !is_plain(a->text));
    size_t children = a->kind == EK_NODE_MAPPING ? 2 * a->count : a->count;
    bool same = a->count == b->count;
    for (size_t i = 0; i < children && same; i++)
        same = yaml_same(&a->children[i], &b->children[i]);
    return same;
}

enum { NUMBERS_A_LINE = 20 };

static const char CURRENCY[] = "currency_features", UNUSED[] = "unused", MAIN[] = "main_feature",
                  FEATURES[] = "features", SCALES[] = "normalization";

/* Tree of the manifest without the removed features and the two lists to be rewritten. */
struct rest {
    struct ek_node root, features, scales, scaled; /* children: views of the whole tree */
};

struct work {
    const struct ek_manifest *m;
    const struct ek_buf *text;
    const bool *keep;
    struct ek_buf *out;
    int *unused; /* [count], increasing */
    int count;
    int indent;      /* of the root */
    const char *eol; /* newline of the file */
    struct rest rest;
};

static bool is_kept(const struct work *w, const char *name)
{
    int item = ek_manifest_item(w->m, name);
    return item < 0 || w->keep[item];
}

/* Merge the removed columns with those already unused, both increasing. */
static int list_unused(struct work *w)
{
    const struct ek_manifest *m = w->m;
    int before = 0;
    w->unused = ek_calloc((size_t)m->item_count + (size_t)m->unused_count, sizeof *w->unused);
    if (!w->unused)
        return EK_ENOMEM;
    for (int i = 0; i < m->item_count; i++) {
        if (w->keep[i])
            continue;
        while (before < m->unused_count && m->unused[before] < m->item[i]->index)
            w->unused[w->count++] = m->unused[before++];
        w->unused[w->count++] = m->item[i]->index;
    }
    while (before < m->unused_count)
        w->unused[w->count++] = m->unused[before++];
    return EK_OK;
}

static int write_unused(const struct work *w)
{
    int rc = w->count ? ek_buf_printf(w->out, "%*s%s: [", w->indent, "", UNUSED) : EK_OK;
    for (int i = 0; i < w->count && !rc; i++) {
        if (i)
            ek_buf_text(w->out, i % NUMBERS_A_LINE ? ", " : ",");
        if (i && i % NUMBERS_A_LINE == 0)
            ek_buf_printf(w->out, "%s%*s", w->eol, w->indent + 9, "");
        rc = ek_buf_printf(w->out, "%d", w->unused[i]);
    }
    return rc || !w->count ? rc : ek_buf_printf(w->out, "]%s", w->eol);
}

/* Write the money features that remain. */
static int write_money(const struct work *w)
{
    int rc = EK_OK;
    bool any = false;
    for (int i = 0; i < w->m->item_count && !rc; i++) {
        if (!w->m->item[i]->is_money || !w->keep[i])
            continue;
        rc = any ? ek_buf_text(w->out, ", ")
                 : ek_buf_printf(w->out, "%*s%s: [", w->indent, "", CURRENCY);
        any = true;
        if (!rc)
            rc = yaml_put_word(w->out, w->m->item[i]->name);
    }
    return rc || !any ? rc : ek_buf_printf(w->out, "]%s", w->eol);
}

/* Lines of a text, from 1, as libyaml counts them. */
struct lines {
    const char **at; /* [count + 2]; the last is the end */
    bool *removed;   /* [count + 2] */
    long count;
};

static const char *next_line(const char *p, const char *end)
{
    return p + ek_yaml_next_line(p, (size_t)(end - p), 0);
}

static size_t break_length(const char *p, const char *end)
{
    return ek_yaml_break(p, (size_t)(end - p), 0);
}

static int split(struct lines *l, const struct ek_buf *text)
{
    const char *start = (const char *)text->data, *end = start + text->length;
    *l = (struct lines){NULL, NULL, 0};
    for (const char *p = start; p < end; p = next_line(p, end))
        l->count++;
    l->at = ek_calloc((size_t)l->count + 2, sizeof *l->at);
    l->removed = ek_calloc((size_t)l->count + 2, sizeof *l->removed);
    if (!l->at || !l->removed)
        return EK_ENOMEM;
    const char *p = start;
    for (long i = 1; i <= l->count; i++, p = next_line(p, end))
        l->at[i] = p;
    l->at[l->count + 1] = end;
    return EK_OK;
}

static const char *line_end_of(const struct ek_buf *text)
{
    const char *p = (const char *)text->data, *end = p + text->length;
    while (p < end && !break_length(p, end))
        p++;
    return p < end && *p == '\r' ? break_length(p, end) == 2 ? "\r\n" : "\r" : "\n";
}

/* Return the first non-blank character of a line, or its end. */
static const char *first_sign(const struct lines *l, long line)
{
    const char *p = l->at[line], *end = l->at[line + 1];
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p < end && break_length(p, end) ? end : p;
}

/* Return true if the node is first on its line. */
static bool begins_line(const struct lines *l, const struct ek_node *n)
{
    return n->line >= 1 && n->line <= l->count &&
           first_sign(l, n->line) - l->at[n->line] == n->column - 1;
}

static bool is_between(const struct lines *l, long line)
{
    const char *p = first_sign(l, line), *end = l->at[line + 1];
    return p == end || *p == '#' || (p == l->at[line] && end - p >= 3 && !memcmp(p, "...", 3));
}

/* Comments and empty lines between two entries belong to the second. */
static void remove_entry(struct lines *l, long first, long end)
{
    while (end - 1 > first && is_between(l, end - 1))
        end--;
    for (long i = first; i < end; i++)
        l->removed[i] = true;
}

/* Return the line of the mapping's next key after `line`, or `end`. */
static long next_key(const struct ek_node *map, long line, long end)
{
    for (size_t i = 0; i < map->count; i++) {
        long at = map->children[2 * i].line;
        if (at > line && at < end)
            end = at;
    }
    return end;
}

static const struct ek_node *key_of(const struct ek_node *map, const char *key)
{
    for (size_t i = 0; i < map->count; i++)
        if (!strcmp(map->children[2 * i].text, key))
            return &map->children[2 * i];
    return NULL;
}

/* Remove the lines of removed features. Return false if they share lines with other entries. */
static bool cut_features(const struct work *w, struct lines *l, const struct ek_node *root)
{
    const struct ek_node *list = ek_node_get(root, FEATURES);
    for (size_t i = 0; i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        long end = i + 1 < list->count ? list->children[i + 1].line
                                       : next_key(root, n->line, l->count + 1);
        if (end <= n->line || *first_sign(l, n->line) != '-')
            return false;
        if (!is_kept(w, ek_node_get(n, "name")->text))
            remove_entry(l, n->line, end);
    }
    return true;
}

/* Remove a key of the root and return its line; 0: no such key; -1: it shares its line with
 * others. */
static long cut_key(struct lines *l, const struct ek_node *root, const char *key)
{
    const struct ek_node *k = key_of(root, key);
    if (!k)
        return 0;
    if (k->column != root->column || !begins_line(l, k))
        return -1;
    remove_entry(l, k->line, next_key(root, k->line, l->count + 1));
    return k->line;
}

/* Remove the transforms of removed features. */
static bool cut_scales(const struct work *w, struct lines *l, const struct ek_node *root)
{
    const struct ek_node *section = ek_node_get(root, SCALES), *map;
    if (!section || !(map = ek_node_get(section, FEATURES)))
        return true;
    if (map->count && !w->rest.scaled.count)
        return cut_key(l, root, SCALES) >= 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct ek_node *k = &map->children[2 * i];
        long end = next_key(section, k->line, next_key(root, k->line, l->count + 1));
        if (is_kept(w, k->text))
            continue;
        if (!begins_line(l, k) || (i + 1 < map->count && k[2].line == k->line))
            return false;
        remove_entry(l, k->line, next_key(map, k->line, end));
    }
    return true;
}

static int copy_lines(const struct work *w, const struct lines *l, long money, long features)
{
    int rc = EK_OK;
    for (long i = 1; i <= l->count && !rc; i++) {
        if (i == money)
            rc = write_money(w);
        if (i == features && !rc)
            rc = write_unused(w);
        if (!rc && !l->removed[i])
            rc = ek_buf_add(w->out, l->at[i], (size_t)(l->at[i + 1] - l->at[i]));
    }
    return rc;
}

/* *why: the reason if the text cannot be edited, else NULL. */
static int edit(const struct work *w, const struct ek_node *root, const char **why)
{
    const struct ek_node *features = key_of(root, FEATURES);
    struct lines l;
    long money = 0, old = 0, main = 0;
    int rc = split(&l, w->text);
    *why = NULL;
    if (!rc && !cut_features(w, &l, root))
        *why = "its features share lines";
    if (!rc && !*why) {
        money = cut_key(&l, root, CURRENCY);
        old = cut_key(&l, root, UNUSED);
        if (w->m->main_feature && !is_kept(w, w->m->main_feature))
            main = cut_key(&l, root, MAIN);
        if (money < 0 || old < 0 || main < 0 || !begins_line(&l, features))
            *why = "its keys share lines";
        else if (!cut_scales(w, &l, root))
            *why = "the features of its 'normalization' share lines";
    }
    if (!rc && !*why)
        rc = copy_lines(w, &l, money, features->line);
    ek_free(l.at);
    ek_free(l.removed);
    return rc;
}

static int make_node(struct ek_node *to, const struct ek_node *from)
{
    *to = *from;
    to->count = 0;
    to->children = ek_calloc(2 * from->count + 1, sizeof *to->children);
    return to->children ? EK_OK : EK_ENOMEM;
}

static void add_pair(struct ek_node *to, const struct ek_node *key, const struct ek_node *value)
{
    to->children[2 * to->count] = *key;
    to->children[2 * to->count++ + 1] = *value;
}

/* Keep the remaining features and their transforms. */
static int retain_features(struct work *w, const struct ek_node *root)
{
    const struct ek_node *list = ek_node_get(root, FEATURES), *section = ek_node_get(root, SCALES),
                         *map = section ? ek_node_get(section, FEATURES) : NULL;
    struct rest *r = &w->rest;
    int rc = make_node(&r->features, list);
    for (size_t i = 0; i < list->count && !rc; i++)
        if (is_kept(w, ek_node_get(&list->children[i], "name")->text))
            r->features.children[r->features.count++] = list->children[i];
    if (!rc && map)
        rc = make_node(&r->scaled, map);
    for (size_t i = 0; map && i < map->count && !rc; i++)
        if (is_kept(w, map->children[2 * i].text))
            add_pair(&r->scaled, &map->children[2 * i], &map->children[2 * i + 1]);
    if (!rc && section)
        rc = make_node(&r->scales, section);
    for (size_t i = 0; section && i < section->count && !rc; i++) {
        const struct ek_node *k = &section->children[2 * i];
        add_pair(&r->scales, k, &k[1] == map ? &r->scaled : &k[1]);
    }
    return rc;
}

static int prune(struct work *w, const struct ek_node *root)
{
    struct rest *r = &w->rest;
    int rc = retain_features(w, root);
    if (!rc)
        rc = make_node(&r->root, root);
    for (size_t i = 0; i < root->count && !rc; i++) {
        const struct ek_node *k = &root->children[2 * i], *value = &k[1];
        bool scales = !strcmp(k->text, SCALES);
        if (!strcmp(k->text, CURRENCY) || !strcmp(k->text, UNUSED) ||
            (!strcmp(k->text, MAIN) && !is_kept(w, value->text)))
            continue;
        const struct ek_node *all = scales ? ek_node_get(value, FEATURES) : NULL;
        if (all && all->count && !r->scaled.count)
            continue;
        add_pair(&r->root, k,
                 scales                       ? &r->scales
                 : !strcmp(k->text, FEATURES) ? &r->features
                                              : value);
    }
    return rc;
}

/* Return true if a tree equals the expected one, apart from the two lists. */
static bool is_rest(const struct work *w, const struct ek_node *root)
{
    size_t at = 0;
    for (size_t i = 0; i < root->count; i++) {
        const struct ek_node *k = &root->children[2 * i], *want = &w->rest.root.children[2 * at];
        if (!strcmp(k->text, CURRENCY) || !strcmp(k->text, UNUSED))
            continue;
        if (at++ == w->rest.root.count || !yaml_same(k, want) || !yaml_same(&k[1], &want[1]))
            return false;
    }
    return at == w->rest.root.count;
}

/* Return true if the lists parse as expected. */
static bool has_lists(const struct work *w, const struct ek_manifest *n)
{
    int i = 0;
    bool right = n->unused_count == w->count;
    for (int k = 0; k < w->count && right; k++)
        right = n->unused[k] == w->unused[k];
    for (int k = 0; k < w->m->item_count && right; k++)
        if (w->keep[k]) {
            right = i < n->item_count && n->item[i]->is_money == w->m->item[k]->is_money;
            i++;
        }
    return right && i == n->item_count;
}

/* Check that the text parses as expected, as a tree and as a manifest. Return 0, EK_ECONFIG or
 * EK_ENOMEM. */
static int check_out(const struct work *w)
{
    const char *text = (const char *)w->out->data;
    struct ek_manifest *n;
    struct ek_yaml *y;
    int rc = ek_manifest_parse(&n, "reduced", text, w->out->length, NULL);
    if (rc)
        return rc == EK_ENOMEM ? rc : EK_ECONFIG;
    bool right = has_lists(w, n);
    ek_manifest_free(n);
    if (!right)
        return EK_ECONFIG;
    rc = ek_yaml_parse(&y, "reduced", text, w->out->length, NULL);
    if (rc)
        return rc == EK_ENOMEM ? rc : EK_ECONFIG;
    right = is_rest(w, ek_yaml_root(y));
    ek_yaml_free(y);
    return right ? EK_OK : EK_ECONFIG;
}

static int rewrite(struct work *w)
{
    const struct ek_node *root = &w->rest.root;
    int rc = EK_OK;
    w->indent = 0;
    w->eol = "\n";
    ek_buf_clear(w->out);
    for (size_t i = 0; i < root->count && !rc; i++) {
        const struct ek_node *k = &root->children[2 * i];
        if (!strcmp(k->text, FEATURES))
            rc = write_money(w);
        if (!strcmp(k->text, FEATURES) && !rc)
            rc = write_unused(w);
        if (!rc)
            rc = yaml_put_pair(w->out, k, &k[1]);
    }
    return rc;
}

static int reduce(struct work *w, const struct ek_node *root, const char **reason,
                  struct ek_error *e)
{
    int rc = list_unused(w);
    if (!rc)
        rc = prune(w, root);
    if (!rc)
        rc = edit(w, root, reason);
    if (!rc && !*reason && (rc = check_out(w)) == EK_ECONFIG)
        *reason = "its text without the features does not parse as expected";
    if (*reason && (!rc || rc == EK_ECONFIG)) {
        rc = rewrite(w);
        if (!rc)
            rc = check_out(w);
    }
    if (rc == EK_ECONFIG)
        return ek_fail(
            e, EK_ECONFIG,
            "the manifest cannot be reduced: %s, and rewritten it does not parse as expected",
            *reason);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

int ek_manifest_reduce(const struct ek_manifest *m, const struct ek_buf *text, const bool *keep,
                       struct ek_buf *out, const char **reason, struct ek_error *e)
{
    struct work w = {.m = m, .text = text, .keep = keep, .out = out};
    struct ek_yaml *y;
    ek_buf_clear(out);
    int rc = ek_yaml_parse(&y, "manifest", (const char *)text->data, text->length, e);
    if (rc)
        return rc;
    w.indent = (int)ek_yaml_root(y)->column - 1;
    w.eol = line_end_of(text);
    rc = reduce(&w, ek_yaml_root(y), reason, e);
    ek_yaml_free(y);
    ek_free(w.unused);
    ek_free(w.rest.root.children);
    ek_free(w.rest.features.children);
    ek_free(w.rest.scales.children);
    ek_free(w.rest.scaled.children);
    return rc;
}
