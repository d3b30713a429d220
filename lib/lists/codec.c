/* Field mapping, name tables and decoder errors of the codec. */
#include "lists/codec.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"
#include "lists/codec_wire.h"

#include <stdarg.h>
#include <stdio.h>

enum { DEPTH_DEFAULT = 32 };

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

/* Append a field after its siblings, so that the default order matches first. */
static int append(struct ek_codec *c, int *first, enum ek_field_id id, const char *path,
                  const char *name, size_t length, struct ek_error *e)
{
    size_t prefix = (size_t)(name - path) + length;
    if (c->field_count == EK_FIELDS_MAX)
        return ek_fail(e, EK_ECONFIG, "field path '%s': the mapping has too many parts", path);
    char *copy = ek_strndup(path, prefix);
    if (!copy)
        return ek_fail(e, EK_ENOMEM, "out of memory");
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

struct desired {
    enum ek_field_id id;
    const char *path, *usual;
};

static int add_paths(struct ek_codec *c, int *first, const struct desired *desired, size_t count,
                     struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < count; i++)
        rc = add_path(c, first, desired[i].id, desired[i].path ? desired[i].path : desired[i].usual,
                      e);
    return rc;
}

static int fields_build(struct ek_codec *c, const struct ek_mapping *mapping, struct ek_error *e)
{
    static const struct ek_mapping usual = {0};
    const struct ek_mapping *m = mapping ? mapping : &usual;
    bool item_wise = c->layout == EK_LAYOUT_ITEM;
    const struct desired top[] = {
        {EK_FIELD_QUERY, m->query, "query"},
        {EK_FIELD_TIME, m->time_ms, "time_ms"},
        {EK_FIELD_SEGMENTS, m->segments, "segments"},
        {EK_FIELD_MANIFEST, m->manifest, "manifest"},
        {EK_FIELD_QUERY_FEATURES, m->query_features, "query_features"},
        {EK_FIELD_LIST_ITEMS, m->list_items, "list_items"},
        {EK_FIELD_LOG_MEANS, m->log_means, "log_means"},
        item_wise ? (struct desired){EK_FIELD_ITEM, m->item, "item"}
                  : (struct desired){EK_FIELD_ITEMS, m->items, "items"},
    };
    const struct desired item[] = {
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

static void fields_release(struct ek_codec *c)
{
    for (int i = 0; i < c->field_count; i++)
        ek_free(c->fields[i].path);
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
    if (!rc)
        rc = fields_build(c, mapping, e);
    if (!rc && (names_build(&c->item_names, m->item, m->item_count) ||
                names_build(&c->query_names, m->query, m->query_count - m->derived_count)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
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

/* Write `items[3].features.price`, or `message` for the message itself. */
static void write_path(const struct ek_decode *d, struct path *p)
{
    if (d->item >= 0 && d->c->layout == EK_LAYOUT_ITEM)
        add(p, "%s", d->c->items->path);
    else if (d->item >= 0)
        add(p, "%s[%d]", d->c->items->path, d->item);
    if (d->field)
        add(p, "%s%s", p->length ? "." : "", d->field->path);
    if (d->key.text)
        add_key(p, d->key);
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

const char *ek_decode_kind(const struct ek_decode *d, enum ek_wire_kind kind)
{
    if (kind == EK_WIRE_NIL)
        return d->words->nil;
    return kind == EK_WIRE_MAP ? d->words->map : ek_wire_kind_name(kind);
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

static int64_t time_of(const struct ek_head *h)
{
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
            return ek_wire_head(&w, &key) == EK_WIRE_OK ? time_of(&key) : -1;
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
    if (!ek_codec_is_json(bytes, length))
        return find_time(bytes, length);
    if (!ek_json_read(&json, bytes, length, EK_JSON_DEPTH_MAX, &fault)) {
        const uint8_t *wire = ek_json_wire(json, &length);
        time = find_time(wire, length);
    }
    ek_json_free(json);
    return time;
}
