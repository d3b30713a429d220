#include "assets/columns.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

static void free_names(struct ek_columns *c)
{
    for (int i = 0; c->name && i < c->count; i++)
        ek_free(c->name[i]);
    ek_free(c->name);
    c->name = NULL;
}

void ek_columns_release(struct ek_columns *c)
{
    free_names(c);
    ek_free(c->feature);
    c->feature = NULL;
}

int ek_columns_name(struct ek_columns *c, int column, const char *name, size_t length)
{
    if (!c->name)
        c->name = ek_calloc((size_t)c->count, sizeof *c->name);
    if (!c->name || !(c->name[column] = ek_strndup(name, length)))
        return EK_ENOMEM;
    return EK_OK;
}

void ek_columns_drop_default_names(struct ek_columns *c, const char *prefix)
{
    char name[32];
    for (int i = 0; c->name && i < c->count; i++) {
        snprintf(name, sizeof name, "%s%d", prefix, i);
        if (strcmp(name, c->name[i]) != 0)
            return;
    }
    free_names(c);
}

enum { LISTED_BYTES = 140 };

/* Append a name, or "..." once it does not fit. */
static void list_name(char *text, const char *name, bool *full)
{
    static const char rest[] = ", ...";
    size_t used = strlen(text);
    if (*full)
        return;
    *full = used + strlen(name) + 2 + sizeof rest > LISTED_BYTES;
    snprintf(text + used, LISTED_BYTES - used, "%s%s",
             *full  ? rest
             : used ? ", "
                    : "",
             *full ? "" : name);
}

static int mismatch(const struct ek_columns *c, const struct ek_manifest *m, int column,
                    struct ek_error *e)
{
    char model[LISTED_BYTES] = "", manifest[LISTED_BYTES] = "";
    bool full = false;
    for (int i = 0; i < c->count; i++)
        list_name(model, c->name[i], &full);
    full = false;
    for (int i = 0; i < m->feature_count; i++)
        list_name(manifest, m->features[i].name, &full);
    return ek_fail(e, EK_ESTATE,
                   "feature '%.40s' of the model is not in the manifest; model: %s; manifest: %s",
                   c->name[column], model, manifest);
}

static int bind_names(struct ek_columns *c, const struct ek_manifest *m, struct ek_error *e)
{
    for (int i = 0; i < c->count; i++) {
        int item = ek_manifest_item(m, c->name[i]);
        int query = item < 0 ? ek_manifest_query(m, c->name[i]) : -1;
        if (item < 0 && query < 0)
            return mismatch(c, m, i, e);
        c->feature[i] = item >= 0 ? item : ~query;
    }
    return EK_OK;
}

/* Set the features in the order of their index, item and query features together. */
static void bind_in_order(struct ek_columns *c, const struct ek_manifest *m)
{
    int item = 0, query = 0, messages = m->query_count - m->derived_count;
    for (int i = 0; i < c->count; i++) {
        bool is_item = item < m->item_count &&
                       (query >= messages || m->item[item]->index < m->query[query]->index);
        c->feature[i] = is_item ? item++ : ~query++;
    }
}

static int bind_positions(struct ek_columns *c, const struct ek_manifest *m, struct ek_error *e)
{
    int all = m->item_count + m->query_count;
    if (c->count != m->item_count && c->count != all && c->count != all - m->derived_count)
        return ek_fail(e, EK_ESTATE,
                       "the model has %d features without names, the manifest %d item and %d query "
                       "features; train with feature names",
                       c->count, m->item_count, m->query_count);
    if (c->count != m->item_count)
        bind_in_order(c, m);
    else
        for (int i = 0; i < c->count; i++)
            c->feature[i] = i;
    return EK_OK;
}

int ek_columns_bind(struct ek_columns *c, const struct ek_manifest *m, struct ek_error *e)
{
    if (!c->feature && !(c->feature = ek_calloc((size_t)c->count, sizeof *c->feature)))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return c->name ? bind_names(c, m, e) : bind_positions(c, m, e);
}
