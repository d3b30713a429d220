/* Manifest lookups and feature orders; manifest_read.c parses. */
#include "schema/manifest_read.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/parse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ek_manifest_free(struct ek_manifest *m)
{
    if (!m)
        return;
    for (int i = 0; m->features && i < m->feature_count; i++) {
        ek_free(m->features[i].name);
        ek_free(m->features[i].unit);
        ek_free(m->features[i].note);
        ek_free(m->features[i].scale_why);
    }
    ek_free(m->set);
    ek_free(m->features);
    ek_free(m->item);
    ek_free(m->query);
    ek_free(m->routable);
    ek_free(m->routable_of_item);
    ek_free(m->watched_query);
    ek_free(m->watched_of_query);
    ek_free(m->by_name);
    ek_free(m->unused);
    ek_free(m->main_feature);
    ek_free(m->nights_feature);
    ek_free(m->scale_method);
    ek_free(m);
}

static int find(const struct ek_feature *const *features, int count, struct ek_text name)
{
    for (int i = 0; i < count; i++)
        if (!ek_text_compare(name, features[i]->name))
            return i;
    return -1;
}

int ek_manifest_find_query(const struct ek_manifest *m, struct ek_text name)
{
    return find(m->query, m->query_count, name);
}

int ek_manifest_find_watched(const struct ek_manifest *m, struct ek_text name)
{
    return find(m->item, m->watched_count, name);
}

int ek_manifest_watched(const struct ek_manifest *m, const char *name)
{
    return ek_manifest_find_watched(m, ek_text_from(name));
}

int ek_manifest_item(const struct ek_manifest *m, const char *name)
{
    return find(m->item, m->item_count, ek_text_from(name));
}

int ek_manifest_query(const struct ek_manifest *m, const char *name)
{
    return ek_manifest_find_query(m, ek_text_from(name));
}

static int by_name(const void *a, const void *b)
{
    const struct ek_feature *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

int ek_manifest_feature(const struct ek_manifest *m, const char *name)
{
    struct ek_feature desired = {.name = (char *)(uintptr_t)name};
    const struct ek_feature *key = &desired,
                            **found = bsearch(&key, m->by_name, (size_t)m->feature_count,
                                              sizeof *m->by_name, by_name);
    return found ? (int)(*found - m->features) : -1;
}

const char *ek_manifest_suggest(const struct ek_manifest *m, enum ek_role role, const char *word)
{
    int count = role == EK_ROLE_ITEM ? m->item_count : m->query_count;
    const struct ek_feature **of_role = role == EK_ROLE_ITEM ? m->item : m->query;
    const char **names = ek_calloc((size_t)count, sizeof *names);
    if (!names)
        return NULL;
    for (int i = 0; i < count; i++)
        names[i] = of_role[i]->name;
    const char *near = ek_nearest_name(word, names, (size_t)count);
    ek_free(names);
    return near;
}

static int by_index(const void *a, const void *b)
{
    const struct ek_feature *const *x = a, *const *y = b;
    return ((*x)->index > (*y)->index) - ((*x)->index < (*y)->index);
}

/* Return the features by rising index, without derived ones. */
static const struct ek_feature **sorted(const struct ek_manifest *m)
{
    int count = m->feature_count - m->derived_count;
    const struct ek_feature **order = ek_calloc((size_t)count, sizeof *order);
    if (!order)
        return NULL;
    for (int i = 0; i < count; i++)
        order[i] = &m->features[i];
    qsort(order, (size_t)count, sizeof *order, by_index);
    return order;
}

static int allocate_orders(struct ek_manifest *m)
{
    for (int i = 0; i < m->feature_count; i++) {
        m->item_count += m->features[i].role == EK_ROLE_ITEM;
        m->watched_count += m->features[i].role == EK_ROLE_ITEM || m->features[i].watched;
        m->query_count += m->features[i].role == EK_ROLE_QUERY;
        m->routable_count += m->features[i].routable;
    }
    m->item = ek_calloc((size_t)m->watched_count, sizeof *m->item);
    m->query = ek_calloc((size_t)m->query_count, sizeof *m->query);
    m->routable = ek_calloc((size_t)m->routable_count, sizeof *m->routable);
    m->routable_of_item = ek_calloc((size_t)m->watched_count, sizeof *m->routable_of_item);
    m->watched_query =
        ek_calloc((size_t)(m->watched_count - m->item_count), sizeof *m->watched_query);
    m->watched_of_query = ek_calloc((size_t)m->query_count, sizeof *m->watched_of_query);
    m->by_name = ek_calloc((size_t)m->feature_count, sizeof *m->by_name);
    return m->item && m->query && m->routable && m->routable_of_item && m->watched_query &&
                   m->watched_of_query && m->by_name
               ? EK_OK
               : EK_ENOMEM;
}

static void place_item(struct ek_manifest *m, const struct ek_feature *f, int item, int *routable)
{
    m->item[item] = f;
    m->routable_of_item[item] = f->routable ? *routable : -1;
    if (f->routable)
        m->routable[(*routable)++] = item;
}

/* Number the watched query features after the item features. */
static void place_watched(struct ek_manifest *m)
{
    int at = m->item_count;
    for (int i = 0; i < m->query_count; i++) {
        m->watched_of_query[i] = m->query[i]->watched ? at : -1;
        if (!m->query[i]->watched)
            continue;
        m->watched_query[at - m->item_count] = i;
        m->routable_of_item[at] = -1;
        m->item[at++] = m->query[i];
    }
}

static int hash_features(struct ek_manifest *m, const struct ek_feature *const *order, int count)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = EK_OK;
    for (int i = 0; !rc && i < count; i++)
        rc = ek_buf_printf(&text, "%s %d %s\n", order[i]->name, order[i]->index,
                           order[i]->role == EK_ROLE_ITEM ? "item" : "query");
    if (!rc)
        m->hash = ek_hash(text.data, text.length, 0);
    ek_buf_release(&text);
    return rc;
}

int ek_manifest_arrange(struct ek_manifest *m)
{
    const struct ek_feature **order = sorted(m);
    int count = m->feature_count - m->derived_count, item = 0, query = 0, routable = 0;
    int rc = order ? allocate_orders(m) : EK_ENOMEM;
    for (int i = 0; !rc && i < count; i++) {
        if (order[i]->role == EK_ROLE_ITEM)
            place_item(m, order[i], item++, &routable);
        else
            m->query[query++] = order[i];
        m->width = order[i]->index;
    }
    for (int i = count; !rc && i < m->feature_count; i++)
        m->query[query++] = &m->features[i];
    if (!rc)
        place_watched(m);
    for (int i = 0; !rc && i < m->feature_count; i++)
        m->by_name[i] = &m->features[i];
    if (!rc) {
        qsort(m->by_name, (size_t)m->feature_count, sizeof *m->by_name, by_name);
        rc = hash_features(m, order, count);
    }
    ek_free(order);
    return rc;
}
