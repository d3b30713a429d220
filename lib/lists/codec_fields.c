#include "base/alloc.h"
#include "base/hash.h"
#include "lists/codec_inner.h"

static void key_set(struct ek_key *k, const char *name, size_t length)
{
    uint8_t bytes[EK_FIELD_KEY_BYTES] = {0}, mask[EK_FIELD_KEY_BYTES] = {0};
    memset(k, 0, sizeof *k);
    if (length >= EK_FIELD_KEY_BYTES)
        return;
    bytes[0] = (uint8_t)(EK_TAG_SHORT_TEXT | length);
    memcpy(bytes + 1, name, length);
    memset(mask, 0xff, length + 1);
    memcpy(k->word, bytes, sizeof bytes);
    memcpy(k->mask, mask, sizeof mask);
    k->length = length + 1;
}

/* Appends a field behind the last of the list at *first, so that the usual order is met first. */
static int append(struct ek_codec *c, int *first, enum ek_field_id id, const char *path,
                  const char *name, size_t length, struct ek_error *e)
{
    size_t prefix = (size_t)(name - path) + length;
    if (c->field_count == EK_FIELDS_MAX)
        return ek_fail(e, EK_ECONFIG, "field path '%s': the mapping has too many parts", path);
    char *copy = ek_strndup(path, prefix);
    if (!copy)
        return ek_fail(e, EK_ENOMEM, "no memory for the message mapping");
    int number = c->field_count++;
    c->fields[number] = (struct ek_field){.id = id,
                                          .path = copy,
                                          .name = copy + (name - path),
                                          .length = length,
                                          .next = -1,
                                          .child = -1};
    key_set(&c->fields[number].key, name, length);
    while (*first >= 0)
        first = &c->fields[*first].next;
    *first = number;
    return EK_OK;
}

static int add_path(struct ek_codec *c, int *first, enum ek_field_id id, const char *path,
                    struct ek_error *e)
{
    const char *name = path;
    for (int depth = 0; depth < EK_FIELD_DEPTH_MAX; depth++) {
        size_t length = strcspn(name, ".");
        bool last = !name[length];
        int found = ek_field_find(c, *first, (struct ek_text){name, length}), rc = EK_OK;
        if (!length)
            return ek_fail(e, EK_ECONFIG, "field path '%s' has an empty part", path);
        if (found >= 0 && (last || c->fields[found].id != EK_FIELD_GROUP))
            return ek_fail(e, EK_ECONFIG, "field path '%s' meets another field at '%s'", path,
                           c->fields[found].path);
        if (found < 0)
            rc = append(c, first, last ? id : EK_FIELD_GROUP, path, name, length, e);
        if (rc || last)
            return rc;
        first = &c->fields[found < 0 ? c->field_count - 1 : found].child;
        name += length + 1;
    }
    return ek_fail(e, EK_ECONFIG, "field path '%s' has more than %d parts", path,
                   EK_FIELD_DEPTH_MAX);
}

struct wanted {
    enum ek_field_id id;
    const char *path, *usual;
};

static int add_paths(struct ek_codec *c, int *first, const struct wanted *wanted, size_t count,
                     struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = add_path(c, first, wanted[i].id, wanted[i].path ? wanted[i].path : wanted[i].usual, e);
    return rc;
}

int ek_fields_build(struct ek_codec *c, const struct ek_mapping *mapping, struct ek_error *e)
{
    static const struct ek_mapping usual = {0};
    const struct ek_mapping *m = mapping ? mapping : &usual;
    bool item_wise = c->layout == EK_LAYOUT_ITEM;
    const struct wanted top[] = {
        {EK_FIELD_QUERY, m->query, "query"},
        {EK_FIELD_TIME, m->time_ms, "time_ms"},
        {EK_FIELD_SEGMENTS, m->segments, "segments"},
        {EK_FIELD_MANIFEST, m->manifest, "manifest"},
        {EK_FIELD_QUERY_FEATURES, m->query_features, "query_features"},
        {EK_FIELD_LIST_ITEMS, m->list_items, "list_items"},
        {EK_FIELD_LOG_MEANS, m->log_means, "log_means"},
        item_wise ? (struct wanted){EK_FIELD_ITEM, m->item, "item"}
                  : (struct wanted){EK_FIELD_ITEMS, m->items, "items"},
    };
    const struct wanted item[] = {
        {EK_FIELD_ITEM_ID, m->item_id, "id"},         {EK_FIELD_SCORE, m->score, "score"},
        {EK_FIELD_FEATURES, m->features, "features"}, {EK_FIELD_LABEL, m->label, "label"},
        {EK_FIELD_SOURCE, m->source, "source"},
    };
    c->top = c->item = -1;
    int rc = add_paths(c, &c->top, top, sizeof top / sizeof *top, e);
    int of_message = c->field_count;
    if (!rc)
        rc = add_paths(c, &c->item, item, sizeof item / sizeof *item, e);
    for (int i = 0; i < c->field_count; i++) {
        const struct ek_field *f = &c->fields[i];
        if (i >= of_message)
            c->item_fields |= ek_field_bit(c, f);
        if (f->id == EK_FIELD_ITEMS || f->id == EK_FIELD_ITEM)
            c->items = f;
        else if (f->id == EK_FIELD_LIST_ITEMS)
            c->list_items = f;
        else if (f->id == EK_FIELD_FEATURES)
            c->features = f;
        else if (f->id == EK_FIELD_QUERY)
            c->query = f;
        else if (f->id == EK_FIELD_QUERY_FEATURES)
            c->query_features = f;
    }
    return rc;
}

void ek_fields_release(struct ek_codec *c)
{
    for (int i = 0; i < c->field_count; i++)
        ek_free(c->fields[i].path);
}

int ek_names_build(struct ek_names *n, const struct ek_feature *const *features, int count)
{
    size_t size = 4;
    while (size < 2 * (size_t)count)
        size *= 2;
    n->slots = ek_calloc(size, sizeof *n->slots);
    n->lengths = ek_calloc((size_t)count, sizeof *n->lengths);
    n->keys = ek_calloc((size_t)count, sizeof *n->keys);
    if (!n->slots || !n->lengths || !n->keys)
        return EK_ENOMEM;
    n->features = features;
    n->count = count;
    n->mask = size - 1;
    for (int i = 0; i < count; i++) {
        n->lengths[i] = strlen(features[i]->name);
        key_set(&n->keys[i], features[i]->name, n->lengths[i]);
        size_t at = ek_hash(features[i]->name, n->lengths[i], 0) & n->mask;
        while (n->slots[at])
            at = (at + 1) & n->mask;
        n->slots[at] = (uint16_t)(i + 1);
    }
    return EK_OK;
}

void ek_names_release(struct ek_names *n)
{
    ek_free(n->slots);
    ek_free(n->lengths);
    ek_free(n->keys);
}

static bool is_name(const struct ek_names *n, int i, struct ek_text name)
{
    return n->lengths[i] == name.length && !memcmp(n->features[i]->name, name.text, name.length);
}

int ek_names_find(const struct ek_names *n, struct ek_text name)
{
    size_t at = ek_hash(name.text, name.length, 0) & n->mask;
    for (; n->slots[at]; at = (at + 1) & n->mask)
        if (is_name(n, n->slots[at] - 1, name))
            return n->slots[at] - 1;
    return -1;
}
