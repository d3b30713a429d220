/* Field mapping, name tables and decoder errors of the codec. */
#include "lists/codec.h"

#include "base/alloc.h"
#include "base/date.h"
#include "base/hash.h"
#include "base/parse.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { DEPTH_DEFAULT = 32, WHAT_BYTES = 300 };

static int check_limits(struct ek_codec_limits *l, struct ek_error *e)
{
    if (!l->message_bytes)
        l->message_bytes = EK_MESSAGE_BYTES_DEFAULT;
    if (!l->items)
        l->items = EK_ITEMS_DEFAULT_MAX;
    if (!l->depth)
        l->depth = DEPTH_DEFAULT;
    if (l->items < 0)
        return ek_fail(e, EK_ECONFIG, "limit 'items' is %d, it must be positive", l->items);
    if (l->depth < 0 || l->depth > EK_WIRE_DEPTH_MAX)
        return ek_fail(e, EK_ECONFIG, "limit 'depth' is %d, it must lie in 1 .. %d", l->depth,
                       EK_WIRE_DEPTH_MAX);
    return EK_OK;
}

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

/* Return the index of an array element, or -1 for a name that is none. */
static int element_of(const char *name, size_t length)
{
    uint64_t element;
    bool is_short = length < 2 || *name != '0';
    return is_short && !ek_parse_u64(name, length, &element) && element < INT32_MAX ? (int)element
                                                                                    : -1;
}

/* Field to add to the tree of its root. */
struct desired {
    enum ek_field_id id, of;
    const char *key, *name; /* key of the mapping, and name below it or NULL */
    const char *path, *usual;
    int number;
};

static int path_fail(const struct desired *d, struct ek_error *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int path_fail(const struct desired *d, struct ek_error *e, const char *format, ...)
{
    char what[WHAT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return ek_fail(e, EK_ECONFIG, "'message.%s%s%.60s': path '%.100s' %s", d->key,
                   d->name ? "." : "", d->name ? d->name : "", d->path, what);
}

/* Append a child, so that the default order matches first. */
static int append(struct ek_codec *c, int group, enum ek_field_id id, const struct desired *d,
                  const char *name, size_t length, struct ek_error *e)
{
    struct ek_field *fields =
        ek_grow(c->fields, (size_t)c->field_count, &c->field_capacity, sizeof *fields);
    char *copy = fields ? ek_strndup(d->path, (size_t)(name - d->path) + length) : NULL;
    c->fields = fields ? fields : c->fields;
    if (!copy)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int number = c->field_count++, tree = group < 0 ? number : fields[group].tree;
    bool has_bit = id != EK_FIELD_SEGMENT && id != EK_FIELD_FEATURE &&
                   id != EK_FIELD_QUERY_FEATURE && d->of != EK_FIELD_FEATURE && c->parts[tree] < 64;
    fields[number] = (struct ek_field){.id = id,
                                       .of = d->of,
                                       .of_key = d->key,
                                       .path = copy,
                                       .name = copy + (name - d->path),
                                       .length = length,
                                       .bit = has_bit ? UINT64_C(1) << c->parts[tree]++ : 0,
                                       .tree = tree,
                                       .number = d->number,
                                       .element = element_of(name, length),
                                       .parent = group,
                                       .next = -1,
                                       .child = -1,
                                       .last = -1};
    key_set(&fields[number].key, name, length);
    if (group < 0)
        return EK_OK;
    struct ek_field *parent = &fields[group];
    if (parent->last >= 0)
        fields[parent->last].next = number;
    else
        parent->child = number;
    parent->last = number;
    parent->children++;
    return EK_OK;
}

static int met_field(const struct ek_codec *c, const struct desired *d, int found,
                     struct ek_error *e)
{
    return path_fail(d, e, "meets '%.100s' of 'message.%s'; map one of them to another path",
                     c->fields[found].path, c->fields[found].of_key);
}

static int add_path(struct ek_codec *c, int group, const struct desired *d, struct ek_error *e)
{
    const char *name = d->path;
    for (int depth = 0; depth < EK_FIELD_DEPTH_MAX; depth++) {
        size_t length = strcspn(name, ".");
        bool last = !name[length];
        int found = ek_field_find(c, group, (struct ek_text){name, length}), rc = EK_OK;
        if (!length)
            return path_fail(d, e, "has an empty part");
        if (found >= 0 && (last || c->fields[found].id != EK_FIELD_GROUP))
            return met_field(c, d, found, e);
        if (found < 0)
            rc = append(c, group, last ? d->id : EK_FIELD_GROUP, d, name, length, e);
        if (rc || last)
            return rc;
        group = found < 0 ? c->field_count - 1 : found;
        name += length + 1;
    }
    return path_fail(d, e, "has more than %d parts", EK_FIELD_DEPTH_MAX);
}

static int add_paths(struct ek_codec *c, int group, struct desired *desired, size_t count,
                     struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        desired[i].path = desired[i].path ? desired[i].path : desired[i].usual;
        if (desired[i].key)
            rc = add_path(c, group, &desired[i], e);
    }
    return rc;
}

static int add_dimensions(struct ek_codec *c, const struct ek_named_paths *paths,
                          struct ek_error *e)
{
    int rc = EK_OK;
    if (paths->count > EK_SEGMENTS_MAX)
        return ek_fail(e, EK_ECONFIG, "'message.segments' has %zu dimensions, the maximum is %d",
                       paths->count, EK_SEGMENTS_MAX);
    for (size_t i = 0; !rc && i < paths->count; i++) {
        const struct ek_named_path *p = &paths->items[i];
        struct desired d = {EK_FIELD_SEGMENT, 0, "segments", p->name, p->path, NULL, (int)i};
        c->dimension[i] = ek_strdup(p->name);
        if (!c->dimension[i])
            return ek_fail(e, EK_ENOMEM, "out of memory");
        c->dimensions++;
        rc = add_path(c, EK_FIELD_TOP, &d, e);
    }
    return rc;
}

static int unknown_feature(const struct ek_names *names, const struct desired *d,
                           struct ek_error *e)
{
    const char *candidates[EK_FEATURES_MAX];
    for (int i = 0; i < names->count; i++)
        candidates[i] = names->features[i]->name;
    const char *near = ek_nearest_name(d->name, candidates, (size_t)names->count);
    return ek_fail(e, EK_ECONFIG, "'message.%s': the manifest has no %s feature '%.60s'%s%.60s%s",
                   d->key, d->id == EK_FIELD_QUERY_FEATURE ? "query" : "item", d->name,
                   near ? ", did you mean '" : "; remove it", near ? near : "", near ? "'?" : "");
}

static bool has_path(const struct ek_named_paths *paths, const char *name)
{
    for (size_t i = 0; i < paths->count; i++)
        if (!strcmp(paths->items[i].name, name))
            return true;
    return false;
}

/* Add a path for each feature. */
static int add_features(struct ek_codec *c, int group, const struct ek_names *names,
                        const struct ek_named_paths *paths, struct desired d, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < paths->count; i++) {
        d.name = paths->items[i].name;
        d.path = paths->items[i].path;
        d.number = ek_names_find(names, (struct ek_text){d.name, strlen(d.name)});
        rc = d.number < 0 ? unknown_feature(names, &d, e) : add_path(c, group, &d, e);
    }
    for (int i = 0; !rc && i < names->count; i++)
        if (!has_path(paths, names->features[i]->name))
            rc = ek_fail(e, EK_ECONFIG, "'message.%s' has no path for the feature '%.100s'; add it",
                         d.key, names->features[i]->name);
    return rc;
}

/* Add each feature of the manifest as a field of the item. A name with dots is one field. */
static int add_all_features(struct ek_codec *c, int group, const struct ek_names *names,
                            struct desired d, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < names->count; i++) {
        struct ek_text name = {names->features[i]->name, names->lengths[i]};
        d.name = d.path = name.text;
        d.number = i;
        int found = ek_field_find(c, group, name);
        rc = found >= 0 ? met_field(c, &d, found, e)
                        : append(c, group, d.id, &d, name.text, name.length, e);
    }
    return rc;
}

int ek_field_find_hashed(const struct ek_codec *c, int group, struct ek_text name)
{
    size_t at = ek_hash(name.text, name.length, (uint64_t)group) & c->slot_mask;
    for (; c->slots[at]; at = (at + 1) & c->slot_mask) {
        const struct ek_field *f = &c->fields[c->slots[at] - 1];
        if (f->parent == group && ek_field_is(f, name))
            return (int)c->slots[at] - 1;
    }
    return -1;
}

/* Make the hash table, after the last field. */
static int hash_fields(struct ek_codec *c, struct ek_error *e)
{
    size_t size = 4;
    while (size < 2 * (size_t)c->field_count)
        size *= 2;
    c->slots = ek_calloc(size, sizeof *c->slots);
    if (!c->slots)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->slot_mask = size - 1;
    for (int i = 0; i < c->field_count; i++) {
        const struct ek_field *f = &c->fields[i];
        size_t at = ek_hash(f->name, f->length, (uint64_t)f->parent) & c->slot_mask;
        while (c->slots[at])
            at = (at + 1) & c->slot_mask;
        c->slots[at] = (uint32_t)i + 1;
    }
    return EK_OK;
}

static int add_message_fields(struct ek_codec *c, const struct ek_mapping *m, struct ek_error *e)
{
    bool one = c->layout == EK_LAYOUT_ITEM;
    struct desired top[] = {
        {EK_FIELD_QUERY, 0, "query", NULL, m->query, "query", 0},
        {EK_FIELD_TIME, 0, "time_ms", NULL, m->time_ms, "time_ms", 0},
        {EK_FIELD_SEGMENTS, 0, m->segment_paths.count ? NULL : "segments", NULL, m->segments,
         "segments", 0},
        {EK_FIELD_MANIFEST, 0, "manifest", NULL, m->manifest, "manifest", 0},
        {EK_FIELD_QUERY_FEATURES, 0, m->query_feature_paths.count ? NULL : "query_features", NULL,
         m->query_features, "query_features", 0},
        {EK_FIELD_LIST_ITEMS, 0, "list_items", NULL, m->list_items, "list_items", 0},
        {EK_FIELD_LOG_MEANS, 0, "log_means", NULL, m->log_means, "log_means", 0},
        {one ? EK_FIELD_ITEM : EK_FIELD_ITEMS, 0,
         c->layout == EK_LAYOUT_COLUMNS ? NULL
         : one                          ? "item"
                                        : "items",
         NULL, one ? m->item : m->items, one ? "item" : "items", 0},
    };
    int rc = add_paths(c, EK_FIELD_TOP, top, sizeof top / sizeof *top, e);
    if (!rc)
        rc = add_dimensions(c, &m->segment_paths, e);
    if (!rc && m->query_feature_paths.count)
        rc = add_features(c, EK_FIELD_TOP, &c->query_names, &m->query_feature_paths,
                          (struct desired){.id = EK_FIELD_QUERY_FEATURE, .key = "query_features"},
                          e);
    return rc;
}

/* Add the fields of an item, with columns to the message. */
static int add_item_fields(struct ek_codec *c, const struct ek_mapping *m, struct ek_error *e)
{
    bool columns = c->layout == EK_LAYOUT_COLUMNS, all = m->features && !strcmp(m->features, "*");
    int group = columns ? EK_FIELD_TOP : EK_FIELD_OF_ITEM;
    struct desired item[] = {
        {EK_FIELD_ITEM_ID, 0, "item_id", NULL, m->item_id, columns ? "ids" : "id", 0},
        {EK_FIELD_SCORE, 0, "score", NULL, m->score, columns ? "scores" : "score", 0},
        {EK_FIELD_FEATURES, 0, m->feature_paths.count || all ? NULL : "features", NULL, m->features,
         "features", 0},
        {EK_FIELD_LABEL, 0, "label", NULL, m->label, columns ? "labels" : "label", 0},
        {EK_FIELD_SOURCE, 0, "source", NULL, m->source, columns ? "sources" : "source", 0},
    };
    struct desired feature = {.id = EK_FIELD_FEATURE, .key = "features"};
    for (size_t i = 0; columns && i < sizeof item / sizeof *item; i++) {
        item[i].of = item[i].id;
        item[i].id = EK_FIELD_COLUMN;
    }
    if (columns)
        feature =
            (struct desired){.id = EK_FIELD_COLUMN, .of = EK_FIELD_FEATURE, .key = "features"};
    int rc = add_paths(c, group, item, sizeof item / sizeof *item, e);
    if (!rc && m->feature_paths.count)
        rc = add_features(c, group, &c->item_names, &m->feature_paths, feature, e);
    else if (!rc && all)
        rc = add_all_features(c, group, &c->item_names, feature, e);
    c->has_features = columns || m->feature_paths.count || all;
    return rc;
}

static void note_fields(struct ek_codec *c)
{
    for (int i = 0; i < c->field_count; i++) {
        const struct ek_field *f = &c->fields[i];
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
}

/* Times in a field whose name ends with its unit are never seconds. */
static bool is_in_ms(const char *path)
{
    static const char *const ends[] = {"_ms", "Ms", "millis", "Millis"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (length >= end && !strcmp(path + length - end, ends[i]))
            return true;
    }
    return false;
}

static int fields_build(struct ek_codec *c, const struct ek_mapping *mapping, struct ek_error *e)
{
    static const struct ek_mapping usual = {0};
    const struct ek_mapping *m = mapping ? mapping : &usual;
    const struct desired root = {.path = ""};
    int rc = append(c, -1, EK_FIELD_GROUP, &root, root.path, 0, e);
    if (!rc)
        rc = append(c, -1, EK_FIELD_GROUP, &root, root.path, 0, e);
    if (!rc)
        rc = add_message_fields(c, m, e);
    if (!rc)
        rc = add_item_fields(c, m, e);
    if (!rc)
        rc = hash_fields(c, e);
    c->has_query_features = m->query_feature_paths.count > 0;
    c->numeric_strings = m->numeric_strings;
    c->has_seconds = m->time_ms && !is_in_ms(m->time_ms);
    note_fields(c);
    return rc;
}

static void fields_release(struct ek_codec *c)
{
    for (int i = 0; i < c->field_count; i++)
        ek_free(c->fields[i].path);
    for (int i = 0; i < c->dimensions; i++)
        ek_free(c->dimension[i]);
    ek_free(c->fields);
    ek_free(c->slots);
}

static int names_build(struct ek_names *n, const struct ek_feature *const *features, int count)
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

static int build(struct ek_codec *c, const struct ek_mapping *mapping, struct ek_error *e)
{
    const struct ek_manifest *m = c->manifest;
    int rc = check_limits(&c->limits, e);
    if (!rc && (names_build(&c->item_names, m->item, m->item_count) ||
                names_build(&c->query_names, m->query, m->query_count - m->derived_count)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc ? rc : fields_build(c, mapping, e);
}

int ek_codec_new(struct ek_codec **out, const struct ek_manifest *m,
                 const struct ek_mapping *mapping, const struct ek_codec_limits *limits,
                 struct ek_error *e)
{
    struct ek_codec *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c->manifest = m;
    c->encoding = mapping ? mapping->encoding : EK_MESSAGES_EITHER;
    c->layout = mapping ? mapping->layout : EK_LAYOUT_LIST;
    c->schemas = mapping ? mapping->schemas : NULL;
    c->swap = ek_swap_best();
    c->swap64 = ek_swap64_best();
    if (limits)
        c->limits = *limits;
    int rc = build(c, mapping, e);
    if (rc)
        ek_codec_free(c);
    else
        *out = c;
    return rc;
}

static void names_release(struct ek_names *n)
{
    ek_free(n->slots);
    ek_free(n->lengths);
    ek_free(n->keys);
}

void ek_codec_free(struct ek_codec *c)
{
    if (!c)
        return;
    fields_release(c);
    names_release(&c->item_names);
    names_release(&c->query_names);
    ek_free(c);
}

enum ek_message_layout ek_codec_layout(const struct ek_codec *c)
{
    return c->layout;
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

enum { PATH_BYTES = 256, SHOWN_KEY_BYTES = 60, MESSAGE_BYTES = 400 };

struct path {
    char text[PATH_BYTES];
    size_t length;
};

static void add(struct path *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct path *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(p->text + p->length, sizeof p->text - p->length, format, args);
    va_end(args);
    if (more > 0)
        p->length += (size_t)more;
    if (p->length >= sizeof p->text)
        p->length = sizeof p->text - 1;
}

/* Append an untrusted key, truncated and without control characters. */
static void add_key(struct path *p, struct ek_text key)
{
    add(p, "%s", p->length ? "." : "");
    for (size_t i = 0; i < key.length && i < SHOWN_KEY_BYTES; i++) {
        unsigned char byte = (unsigned char)key.text[i];
        add(p, "%c", byte < 0x20 || byte == 0x7f ? '?' : byte);
    }
    if (key.length > SHOWN_KEY_BYTES)
        add(p, "...");
}

/* Write `items[3].features.price`, with columns `features.price[3]`, or `message` for the message
 * itself. */
static void write_path(const struct ek_decode *d, struct path *p)
{
    bool columns = d->c->layout == EK_LAYOUT_COLUMNS;
    if (d->item >= 0 && d->c->layout == EK_LAYOUT_ITEM)
        add(p, "%s", d->c->items->path);
    else if (d->item >= 0 && !columns)
        add(p, "%s[%d]", d->c->items->path, d->item);
    if (d->field)
        add(p, "%s%s", p->length ? "." : "", d->field->path);
    if (d->key.text)
        add_key(p, d->key);
    if (d->item >= 0 && columns)
        add(p, "[%d]", d->item);
    if (d->index >= 0)
        add(p, "[%d]", d->index);
    if (!p->length)
        add(p, "message");
}

int ek_decode_fail(struct ek_decode *d, enum ek_code code, const char *format, ...)
{
    struct path path = {"", 0};
    char what[MESSAGE_BYTES];
    va_list args;
    if (!d->e)
        return (int)code;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    write_path(d, &path);
    return ek_fail(d->e, code, "%s: %s", path.text, what);
}

const struct ek_words ek_words_msgpack = {
    .map = "a map",
    .nil = "nil",
    .number = "a number or nil",
    .id = "text, bin or an integer",
    .values = "an array, bin or a map",
};
const struct ek_words ek_words_json = {
    .map = "an object",
    .nil = "null",
    .number = "a number or null",
    .id = "text or an integer",
    .values = "an array or an object",
};

const struct ek_words ek_words_avro = {
    .map = "a record or a map",
    .nil = "null",
    .number = "a number or null",
    .id = "a string, bytes or an integer",
    .values = "an array, bytes, a map or a record",
};

const struct ek_words ek_words_proto = {
    .map = "a message or a map",
    .nil = "null",
    .number = "a number",
    .id = "a string, bytes or an integer",
    .values = "a repeated field, bytes, a map or a message",
};

const char *ek_decode_kind(const struct ek_decode *d, enum ek_wire_kind kind)
{
    if (kind == EK_WIRE_NIL)
        return d->words->nil;
    return kind == EK_WIRE_MAP ? d->words->map : ek_wire_kind_name(kind);
}

int ek_decode_wrong_kind(struct ek_decode *d, const struct ek_head *h, const char *expected)
{
    return ek_decode_fail(d, EK_EFORMAT, "%s, expected %s", ek_decode_kind(d, h->kind), expected);
}

int ek_decode_wire_fail(struct ek_decode *d, enum ek_wire_result result)
{
    if (result == EK_WIRE_TRUNCATED)
        return ek_decode_fail(d, EK_EFORMAT, "the message of %zu bytes is cut short",
                              (size_t)(d->w.end - d->w.start));
    if (result == EK_WIRE_DEEP)
        return ek_decode_fail(d, EK_ELIMIT, "nested deeper than %d levels", d->c->limits.depth);
    return ek_decode_fail(d, EK_EFORMAT, "byte %zu is 0xc1, which no msgpack has",
                          (size_t)(d->w.p - d->w.start));
}

enum { DEPTH = 32 };

static int64_t time_of(const struct ek_wire *w, const struct ek_head *h)
{
    int64_t ms = -1;
    if (h->kind == EK_WIRE_TEXT)
        return ek_parse_time_ms((const char *)w->p, h->count, &ms) ? -1 : ms;
    bool whole = h->kind == EK_WIRE_UINT || h->kind == EK_WIRE_INT;
    return whole && h->bits <= INT64_MAX ? (int64_t)h->bits : -1;
}

static int64_t find_time(const void *bytes, size_t length)
{
    static const char name[] = "time_ms";
    struct ek_wire w = {bytes, bytes, (const uint8_t *)bytes + length};
    struct ek_head map, key;
    if (ek_wire_head(&w, &map) != EK_WIRE_OK || map.kind != EK_WIRE_MAP)
        return -1;
    for (uint32_t i = 0; i < map.count; i++) {
        if (ek_wire_head(&w, &key) != EK_WIRE_OK || key.kind != EK_WIRE_TEXT)
            return -1;
        bool found = key.count == sizeof name - 1 && !memcmp(w.p, name, key.count);
        w.p += key.count;
        if (found)
            return ek_wire_head(&w, &key) == EK_WIRE_OK ? time_of(&w, &key) : -1;
        if (ek_wire_skip(&w, DEPTH) != EK_WIRE_OK)
            return -1;
    }
    return -1;
}

int64_t ek_codec_time(const void *bytes, size_t length)
{
    struct ek_json *json = NULL;
    struct ek_json_fault fault;
    int64_t time = -1;
    if (!ek_codec_has_json(bytes, length))
        return find_time(bytes, length);
    if (!ek_json_read(&json, bytes, length, EK_JSON_DEPTH_MAX, &fault)) {
        const uint8_t *wire = ek_json_wire(json, &length);
        time = find_time(wire, length);
    }
    ek_json_free(json);
    return time;
}

enum ek_wire_result ek_pair_read(struct ek_wire *w, uint32_t keys, int depth, struct ek_pair *out)
{
    static const struct ek_text name = {"name", 4}, value = {"value", 5};
    *out = (struct ek_pair){{NULL, 0}, NULL};
    for (uint32_t i = 0; i < keys; i++) {
        struct ek_head h;
        const uint8_t *start = w->p;
        enum ek_wire_result result = ek_wire_head(w, &h);
        bool text = !result && h.kind == EK_WIRE_TEXT;
        struct ek_text key = {(const char *)w->p, text ? h.count : 0};
        if (text)
            w->p += h.count;
        else if (!result)
            w->p = start;
        result = result || text ? result : ek_wire_skip(w, depth);
        start = w->p;
        if (!result && ek_text_same(key, name) && !ek_wire_head(w, &h) && h.kind == EK_WIRE_TEXT)
            out->name = (struct ek_text){(const char *)w->p, h.count};
        w->p = start;
        if (ek_text_same(key, value))
            out->value = start;
        result = result ? result : ek_wire_skip(w, depth);
        if (result)
            return result;
    }
    return EK_WIRE_OK;
}

bool ek_text_number(struct ek_text text, double *out)
{
    *out = (double)NAN;
    return !text.length || !ek_parse_finite(text.text, text.length, out);
}
