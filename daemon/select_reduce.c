#include "daemon/select_reduce.h"

#include "base/alloc.h"
#include "data/yaml.h"

#include <string.h>

enum { NUMBERS_A_LINE = 20 };

struct work {
    const struct ek_manifest *m;
    const struct ek_buf *text;
    const bool *keep;
    struct ek_buf *out;
    int *unused; /* [count], rising */
    int count;
};

static bool kept(const struct work *w, const char *name)
{
    int item = ek_manifest_item(w->m, name);
    return item < 0 || w->keep[item];
}

/* Columns left out now and before, both rising. */
static int list_unused(struct work *w)
{
    const struct ek_manifest *m = w->m;
    int before = 0;
    w->unused = ek_calloc((size_t)(m->item_count + m->unused_count), sizeof *w->unused);
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

static int put_unused(const struct work *w)
{
    int rc = w->count ? ek_buf_text(w->out, "unused: [") : EK_OK;
    for (int i = 0; i < w->count && !rc; i++)
        rc = ek_buf_printf(w->out, "%s%d",
                           !i                   ? ""
                           : i % NUMBERS_A_LINE ? ", "
                                                : ",\n         ",
                           w->unused[i]);
    return rc || !w->count ? rc : ek_buf_text(w->out, "]\n");
}

/* Amounts of money among the features that stay. */
static int put_money(const struct work *w)
{
    const char *before = "currency_features: [";
    int rc = EK_OK;
    for (int i = 0; i < w->m->item_count && !rc; i++)
        if (w->m->item[i]->is_money && w->keep[i]) {
            rc = ek_buf_text(w->out, before);
            if (!rc)
                rc = ek_buf_text(w->out, w->m->item[i]->name);
            before = ", ";
        }
    return rc || before[0] == 'c' ? rc : ek_buf_text(w->out, "]\n");
}

/* The lines of a text, from 1. */
struct lines {
    const char **at; /* [count + 2]: the last one is the end */
    bool *gone;      /* [count + 2] */
    long count;
};

static int split(struct lines *l, const struct ek_buf *text)
{
    const char *start = (const char *)text->data, *end = start + text->length;
    *l = (struct lines){NULL, NULL, 0};
    for (const char *p = start; p < end; p++)
        l->count += *p == '\n' || p + 1 == end;
    l->at = ek_calloc((size_t)l->count + 2, sizeof *l->at);
    l->gone = ek_calloc((size_t)l->count + 2, sizeof *l->gone);
    if (!l->at || !l->gone)
        return EK_ENOMEM;
    const char *p = start;
    for (long i = 1; i <= l->count; i++) {
        l->at[i] = p;
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        p = stop ? stop + 1 : end;
    }
    l->at[l->count + 1] = end;
    return EK_OK;
}

static char first_sign(const struct lines *l, long line)
{
    const char *p = l->at[line];
    while (p < l->at[line + 1] && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p < l->at[line + 1] ? *p : '\n';
}

/* What is between two things belongs to the second, as far as it is comments and empty lines. */
static long without_comments(const struct lines *l, long first, long end)
{
    while (end - 1 > first && strchr("#\n", first_sign(l, end - 1)))
        end--;
    return end;
}

static void take_away(struct lines *l, long first, long end)
{
    for (long i = first; i < end; i++)
        l->gone[i] = true;
}

/* The line of the next key of the root behind `line`, or the end. */
static long next_key(const struct ek_node *root, long line, long end)
{
    for (size_t i = 0; i < root->count; i++) {
        long at = root->children[2 * i].line;
        if (at > line && at < end)
            end = at;
    }
    return end;
}

/* Takes away the features that do not stay. False when they do not stand on lines of their own. */
static bool cut_features(const struct work *w, struct lines *l, const struct ek_node *root)
{
    const struct ek_node *list = ek_node_get(root, "features");
    for (size_t i = 0; i < list->count; i++) {
        const struct ek_node *n = &list->children[i];
        long end = i + 1 < list->count ? list->children[i + 1].line
                                       : next_key(root, n->line, l->count + 1);
        if (end <= n->line || first_sign(l, n->line) != '-')
            return false;
        if (!kept(w, ek_node_get(n, "name")->text))
            take_away(l, n->line, without_comments(l, n->line, end));
    }
    return true;
}

/* Takes away a key of the root, and tells its line; 0 where it is not there. -1 when it shares its
 * line with others. */
static long cut_key(struct lines *l, const struct ek_node *root, const char *key)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct ek_node *k = &root->children[2 * i];
        if (strcmp(k->text, key) != 0)
            continue;
        if (k->column != 1)
            return -1;
        take_away(l, k->line, without_comments(l, k->line, next_key(root, k->line, l->count + 1)));
        return k->line;
    }
    return 0;
}

static long line_of_key(const struct ek_node *root, const char *key)
{
    for (size_t i = 0; i < root->count; i++)
        if (!strcmp(root->children[2 * i].text, key))
            return root->children[2 * i].line;
    return 0;
}

static int copy_lines(const struct work *w, const struct lines *l, long money, long features)
{
    int rc = EK_OK;
    for (long i = 1; i <= l->count && !rc; i++) {
        if (i == money)
            rc = put_money(w);
        if (i == features && !rc)
            rc = put_unused(w);
        if (!rc && !l->gone[i])
            rc = ek_buf_add(w->out, l->at[i], (size_t)(l->at[i + 1] - l->at[i]));
    }
    return rc;
}

/* *done tells whether it could be. */
static int edit(const struct work *w, const struct ek_node *root, bool *done)
{
    struct lines l;
    int rc = split(&l, w->text);
    long money = 0, old = 0, main = 0;
    *done = !rc && cut_features(w, &l, root);
    if (*done) {
        money = cut_key(&l, root, "currency_features");
        old = cut_key(&l, root, "unused");
        if (w->m->main_feature && !kept(w, w->m->main_feature))
            main = cut_key(&l, root, "main_feature");
        *done = money >= 0 && old >= 0 && main >= 0;
    }
    if (*done)
        rc = copy_lines(w, &l, money, line_of_key(root, "features"));
    ek_free(l.at);
    ek_free(l.gone);
    return rc;
}

/* Whether the text is read as what it shall be. */
static bool is_right(const struct work *w)
{
    struct ek_manifest *n;
    int i = 0;
    if (ek_manifest_parse(&n, "reduced", (const char *)w->out->data, w->out->length, NULL))
        return false;
    bool right = n->unused_count == w->count && n->query_count == w->m->query_count;
    for (int k = 0; k < w->m->item_count && right; k++)
        if (w->keep[k]) {
            right = i < n->item_count && !strcmp(n->item[i]->name, w->m->item[k]->name) &&
                    n->item[i]->index == w->m->item[k]->index &&
                    n->item[i]->is_money == w->m->item[k]->is_money;
            i++;
        }
    right = right && i == n->item_count;
    ek_manifest_free(n);
    return right;
}

static int put_text(struct ek_buf *out, const char *key, const char *text)
{
    int rc = text ? ek_buf_printf(out, ", %s: ", key) : EK_OK;
    return rc || !text ? rc : ek_buf_json(out, text, strlen(text));
}

static int put_feature(struct ek_buf *out, const struct ek_feature *f)
{
    int rc = ek_buf_text(out, "  - {name: ");
    if (!rc)
        rc = ek_buf_json(out, f->name, strlen(f->name));
    if (!rc)
        rc = ek_buf_printf(out, ", index: %d, role: %s%s%s%s%s", f->index,
                           f->role == EK_ROLE_ITEM ? "item" : "query",
                           f->type == EK_TYPE_CATEGORY ? ", type: category" : "",
                           f->routable ? ", routable: true" : "",
                           f->positive ? ", positive: true" : "",
                           f->missing_expected ? ", missing: expected" : "");
    if (!rc)
        rc = put_text(out, "unit", f->unit);
    if (!rc)
        rc = put_text(out, "note", f->note);
    return rc ? rc : ek_buf_text(out, "}\n");
}

static int put_training(struct ek_buf *out, const struct ek_training_hints *t)
{
    const char *comma = "";
    int rc = ek_buf_text(out, "training: {");
    if (t->hidden_count && !rc)
        rc = ek_buf_text(out, "hidden: [");
    for (int i = 0; i < t->hidden_count && !rc; i++)
        rc = ek_buf_printf(out, "%s%d", i ? ", " : "", t->hidden[i]);
    if (t->hidden_count && !rc) {
        rc = ek_buf_text(out, "]");
        comma = ", ";
    }
    const struct {
        const char *key;
        double value;
    } numbers[] = {{"epochs", t->epochs},
                   {"batch_size", t->batch_size},
                   {"learning_rate", t->learning_rate},
                   {"weight_decay", t->weight_decay}};
    for (size_t i = 0; i < 4 && !rc; i++)
        if (numbers[i].value >= 0) {
            rc = ek_buf_printf(out, "%s%s: %.17g", comma, numbers[i].key, numbers[i].value);
            comma = ", ";
        }
    return rc ? rc : ek_buf_text(out, "}\n");
}

static int put_name(struct ek_buf *out, const char *key, const char *name)
{
    int rc = name ? ek_buf_printf(out, "%s: ", key) : EK_OK;
    if (name && !rc)
        rc = ek_buf_json(out, name, strlen(name));
    return rc || !name ? rc : ek_buf_text(out, "\n");
}

static int write_head(const struct work *w)
{
    const struct ek_manifest *m = w->m;
    int rc = ek_buf_text(w->out, "version: 1\n");
    if (!rc)
        rc = put_name(w->out, "set", m->set);
    if (!rc && m->main_feature && kept(w, m->main_feature))
        rc = put_name(w->out, "main_feature", m->main_feature);
    if (!rc)
        rc = put_name(w->out, "nights_feature", m->nights_feature);
    if (!rc)
        rc = put_money(w);
    if (!rc && m->derived_count)
        rc = ek_buf_text(w->out, "derived_query_features: [log_list_size]\n");
    if (!rc)
        rc = put_training(w->out, &m->training);
    return rc ? rc : put_unused(w);
}

static int write_anew(const struct work *w)
{
    int rc = write_head(w);
    if (!rc)
        rc = ek_buf_text(w->out, "features:\n");
    for (int i = 0; i < w->m->feature_count - w->m->derived_count && !rc; i++)
        if (kept(w, w->m->features[i].name))
            rc = put_feature(w->out, &w->m->features[i]);
    return rc;
}

static int reduce(const struct work *w, bool *anew, struct ek_error *e)
{
    struct ek_yaml *y;
    bool edited = false;
    int rc = ek_yaml_parse(&y, "manifest", (const char *)w->text->data, w->text->length, e);
    if (rc)
        return rc;
    rc = edit(w, ek_yaml_root(y), &edited);
    ek_yaml_free(y);
    *anew = !edited || !is_right(w);
    if (!rc && *anew) {
        ek_buf_clear(w->out);
        rc = write_anew(w);
    }
    return rc ? ek_fail(e, rc, "no memory for the reduced manifest") : EK_OK;
}

int ek_manifest_reduce(const struct ek_manifest *m, const struct ek_buf *text, const bool *keep,
                       struct ek_buf *out, bool *anew, struct ek_error *e)
{
    struct work w = {m, text, keep, out, NULL, 0};
    ek_buf_clear(out);
    int rc = list_unused(&w);
    rc = rc ? ek_fail(e, rc, "no memory for the reduced manifest") : reduce(&w, anew, e);
    ek_free(w.unused);
    return rc;
}
