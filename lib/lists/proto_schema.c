/* Protobuf message schema: descriptors (descriptor.proto) of protoc or of a schema registry, of
 * which only names, types, numbers and presence are read. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/parse.h"
#include "lists/message_schema.h"
#include "lists/proto_wire.h"
#include "lists/schema_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, FULL_NAME_MAX = 600, SHOWN = 100, SHOWN_NAMES = 12, NAMES_BYTES = 300 };

/* Field types of descriptor.proto, and its numbers of fields. */
enum { TYPE_NONE, TYPE_GROUP = 10, TYPE_MESSAGE, TYPE_ENUM = 14, TYPES_END = 19 };
enum { LABEL_REPEATED = 3, PRESENCE_EXPLICIT = 1, PRESENCE_IMPLICIT = 2 };

/* Kinds of the scalar types, by field type. */
static const uint8_t KIND[TYPES_END] = {
    [1] = EK_TYPE_DOUBLE, [2] = EK_TYPE_FLOAT,  [3] = EK_TYPE_LONG, [4] = EK_TYPE_LONG,
    [5] = EK_TYPE_INT,    [6] = EK_TYPE_LONG,   [7] = EK_TYPE_INT,  [8] = EK_TYPE_BOOLEAN,
    [9] = EK_TYPE_STRING, [12] = EK_TYPE_BYTES, [13] = EK_TYPE_INT, [14] = EK_TYPE_INT,
    [15] = EK_TYPE_INT,   [16] = EK_TYPE_LONG,  [17] = EK_TYPE_INT, [18] = EK_TYPE_LONG,
};

/* Messages with a value of their own, which need no descriptor. */
static const struct {
    const char *name;
    uint8_t code; /* of the value of a wrapper; 0: a timestamp */
} KNOWN[] = {{"google.protobuf.Timestamp", 0},   {"google.protobuf.DoubleValue", 1},
             {"google.protobuf.FloatValue", 2},  {"google.protobuf.Int64Value", 3},
             {"google.protobuf.UInt64Value", 4}, {"google.protobuf.Int32Value", 5},
             {"google.protobuf.BoolValue", 8},   {"google.protobuf.StringValue", 9},
             {"google.protobuf.BytesValue", 12}, {"google.protobuf.UInt32Value", 13}};

enum { KNOWN_COUNT = sizeof KNOWN / sizeof *KNOWN };

/* A message or enum of a file. */
struct declared {
    uint64_t hash;       /* of the full name */
    struct ek_text body; /* its descriptor */
    size_t name;         /* offset of the full name in `names` */
    uint32_t name_length;
    uint32_t type; /* 0: not used so far */
    bool is_enum, is_entry /* of a map */, is_implicit /* presence of its fields by default */;
};

struct compiler {
    struct ek_message_schema *s;
    struct declared *declared;
    size_t count, capacity;
    struct ek_buf names;
    uint32_t *queue; /* declared types to compile, in order of use */
    size_t queued, queue_capacity;
    uint32_t known[KNOWN_COUNT]; /* types; 0: not used so far */
    struct ek_error *e;
};

/* A field of a message. */
struct field {
    struct ek_text name, type_name;
    uint64_t number, label, type;
    uint64_t presence; /* of its features; 0: that of the file */
    bool in_oneof, is_optional;
};

static int out_of_memory(struct compiler *b)
{
    return ek_fail(b->e, EK_ENOMEM, "out of memory");
}

static int shown(struct ek_text text)
{
    return (int)(text.length < SHOWN ? text.length : SHOWN);
}

/* Iteration over the fields of a descriptor. */
struct cursor {
    const uint8_t *p, *end;
    bool is_bad;
};

static struct cursor over(struct ek_text text)
{
    const uint8_t *p = (const uint8_t *)text.text;
    return (struct cursor){p, p + text.length, false};
}

static bool next(struct cursor *c, struct ek_proto_field *f)
{
    if (c->p == c->end)
        return false;
    c->is_bad = ek_proto_next(&c->p, c->end, DEPTH_MAX, f) != NULL;
    return !c->is_bad;
}

static bool is_text(const struct ek_proto_field *f, uint32_t number)
{
    return f->number == number && f->wire == EK_PROTO_BYTES;
}

static bool is_number(const struct ek_proto_field *f, uint32_t number)
{
    return f->number == number && f->wire == EK_PROTO_VARINT;
}

static struct ek_text text_of(const struct ek_proto_field *f)
{
    return (struct ek_text){(const char *)f->bytes, f->length};
}

static int fail_set(struct compiler *b)
{
    return ek_fail(b->e, EK_ECONFIG,
                   "it has no valid descriptors; write it with `protoc --include_imports "
                   "--descriptor_set_out=FILE`");
}

/* Set *out to the last field with a number that is text; unchanged if there is none. */
static int find_text(struct compiler *b, struct ek_text body, uint32_t number, struct ek_text *out)
{
    struct cursor c = over(body);
    struct ek_proto_field f;
    while (next(&c, &f))
        if (is_text(&f, number))
            *out = text_of(&f);
    return c.is_bad ? fail_set(b) : EK_OK;
}

static int find_number(struct compiler *b, struct ek_text body, uint32_t number, uint64_t *out)
{
    struct cursor c = over(body);
    struct ek_proto_field f;
    while (next(&c, &f))
        if (is_number(&f, number))
            *out = f.bits;
    return c.is_bad ? fail_set(b) : EK_OK;
}

/* Read `options.features.field_presence`, whose features have this number in the options. */
static int find_presence(struct compiler *b, struct ek_text options, uint32_t number,
                         uint64_t *presence)
{
    struct ek_text features = {"", 0};
    int rc = find_text(b, options, number, &features);
    return rc ? rc : find_number(b, features, 1, presence);
}

/* Append `scope.name` to `names`, and hash it. */
static int add_name(struct compiler *b, struct ek_text scope, struct ek_text name,
                    struct declared *d)
{
    char full[FULL_NAME_MAX];
    size_t length = scope.length + (scope.length > 0) + name.length;
    if (!name.length || length > sizeof full)
        return ek_fail(b->e, EK_ECONFIG, "the name '%.*s' is empty or longer than %d bytes",
                       shown(name), name.text, FULL_NAME_MAX);
    if (scope.length)
        memcpy(full, scope.text, scope.length);
    full[scope.length] = '.';
    memcpy(full + length - name.length, name.text, name.length);
    d->hash = ek_hash(full, length, 0);
    d->name = b->names.length;
    d->name_length = (uint32_t)length;
    return ek_buf_add(&b->names, full, length) ? out_of_memory(b) : EK_OK;
}

static struct ek_text name_of(const struct compiler *b, const struct declared *d)
{
    return (struct ek_text){(const char *)b->names.data + d->name, d->name_length};
}

static bool find_declared(const struct compiler *b, struct ek_text name, uint32_t *out)
{
    uint64_t hash = ek_hash(name.text, name.length, 0);
    for (size_t i = 0; i < b->count; i++)
        if (b->declared[i].hash == hash) {
            *out = (uint32_t)i;
            return true;
        }
    return false;
}

static int is_map_entry(struct compiler *b, struct ek_text body, bool *out)
{
    struct ek_text options = {"", 0};
    uint64_t is_entry = 0;
    int rc = find_text(b, body, 7, &options);
    if (!rc)
        rc = find_number(b, options, 7, &is_entry);
    *out = is_entry != 0;
    return rc;
}

/* Note a message with those within it, or an enum. */
static int declare(struct compiler *b, struct ek_text scope, struct ek_text body, bool is_enum,
                   bool is_implicit, int depth)
{
    struct declared d = {.body = body, .is_enum = is_enum, .is_implicit = is_implicit};
    struct ek_text name = {"", 0};
    struct cursor c = over(body);
    struct ek_proto_field f;
    char full[FULL_NAME_MAX];
    int rc = find_text(b, body, 1, &name);
    if (!rc)
        rc = add_name(b, scope, name, &d);
    if (!rc && !is_enum)
        rc = is_map_entry(b, body, &d.is_entry);
    if (!rc && (b->count == EK_SCHEMA_NAMED_MAX || !depth))
        rc = ek_fail(b->e, EK_ELIMIT, "more than %d types, or nested deeper than %d levels",
                     EK_SCHEMA_NAMED_MAX, DEPTH_MAX);
    struct declared *more = rc ? NULL : ek_grow(b->declared, b->count, &b->capacity, sizeof *more);
    if (rc || !more)
        return rc ? rc : out_of_memory(b);
    b->declared = more;
    b->declared[b->count++] = d;
    struct ek_text within = name_of(b, &d);
    memcpy(full, within.text, within.length); /* `names` moves as it grows */
    within.text = full;
    while (!rc && !is_enum && next(&c, &f))
        if (is_text(&f, 3) || is_text(&f, 4))
            rc = declare(b, within, text_of(&f), f.number == 4, is_implicit, depth - 1);
    return rc;
}

/* Note the messages and enums of a FileDescriptorProto. */
static int declare_file(struct compiler *b, struct ek_text file)
{
    struct ek_text package = {"", 0}, syntax = {"", 0}, options = {"", 0};
    struct cursor c = over(file);
    struct ek_proto_field f;
    uint64_t presence = PRESENCE_EXPLICIT;
    int rc = find_text(b, file, 2, &package);
    if (!rc)
        rc = find_text(b, file, 12, &syntax);
    if (!rc)
        rc = find_text(b, file, 8, &options);
    if (!rc)
        rc = find_presence(b, options, 50, &presence);
    bool is_implicit = !ek_text_compare(syntax, "proto3") || presence == PRESENCE_IMPLICIT;
    while (!rc && next(&c, &f))
        if (is_text(&f, 4) || is_text(&f, 5))
            rc = declare(b, package, text_of(&f), f.number == 5, is_implicit, DEPTH_MAX);
    return rc;
}

/* Set *last to the last file of a FileDescriptorSet, after the declarations of all. */
static int declare_set(struct compiler *b, struct ek_text set, struct ek_text *last)
{
    struct cursor c = over(set);
    struct ek_proto_field f;
    int rc = EK_OK;
    if (!ek_proto_is_set(set))
        return fail_set(b);
    while (!rc && next(&c, &f)) {
        *last = text_of(&f);
        rc = declare_file(b, *last);
    }
    return rc;
}

bool ek_proto_is_set(struct ek_text set)
{
    struct cursor c = over(set);
    struct ek_proto_field f;
    while (next(&c, &f))
        if (!is_text(&f, 1))
            return false;
    return set.length && !c.is_bad;
}

/* Create the type of a declared message or enum at its first use; its fields follow later. */
static int use_declared(struct compiler *b, uint32_t index, uint32_t *type)
{
    struct declared *d = &b->declared[index];
    struct ek_text name = name_of(b, d);
    int rc = EK_OK;
    *type = d->type;
    if (d->type)
        return EK_OK;
    for (size_t i = name.length; i-- > 0;)
        if (name.text[i] == '.') {
            name = (struct ek_text){name.text + i + 1, name.length - i - 1};
            break;
        }
    rc = ek_schema_add_type(b->s, d->is_enum ? EK_TYPE_ENUM : EK_TYPE_RECORD, type, b->e);
    if (!rc)
        rc = ek_schema_add_word(b->s, name, &b->s->type[*type].word, b->e);
    if (rc)
        return rc;
    uint32_t *more = ek_grow(b->queue, b->queued, &b->queue_capacity, sizeof *more);
    if (!more)
        return out_of_memory(b);
    b->queue = more;
    b->queue[b->queued++] = index;
    d->type = *type;
    return EK_OK;
}

/* Create the type of a timestamp or wrapper at its first use. */
static int use_known(struct compiler *b, size_t i, uint32_t *type)
{
    uint8_t code = KNOWN[i].code;
    int rc = EK_OK;
    if (!b->known[i]) {
        rc = ek_schema_add_type(b->s, code ? EK_TYPE_WRAPPER : EK_TYPE_TIMESTAMP, &b->known[i],
                                b->e);
        if (!rc && code)
            rc = ek_schema_add_links(b->s, b->known[i], 1, b->e);
        if (!rc && code)
            b->s->link[b->s->type[b->known[i]].first] =
                (struct ek_schema_link){.type = KIND[code], .code = code};
    }
    *type = b->known[i];
    return rc;
}

/* Find a type from the scope of a message outwards; a name with a dot in front is a full one. */
static bool find_type(const struct compiler *b, struct ek_text scope, struct ek_text name,
                      uint32_t *out)
{
    char full[2 * FULL_NAME_MAX];
    if (name.length && *name.text == '.')
        return find_declared(b, (struct ek_text){name.text + 1, name.length - 1}, out);
    if (name.length + 1 > FULL_NAME_MAX)
        return false;
    for (;;) {
        memcpy(full, scope.text, scope.length);
        full[scope.length] = '.';
        memcpy(full + scope.length + 1, name.text, name.length);
        if (find_declared(b, (struct ek_text){full, scope.length + 1 + name.length}, out))
            return true;
        while (scope.length && scope.text[scope.length - 1] != '.')
            scope.length--;
        if (!scope.length)
            return find_declared(b, name, out);
        scope.length--;
    }
}

static bool has_prefix(struct ek_text name, const char *prefix)
{
    size_t length = strlen(prefix);
    return name.length > length && !memcmp(name.text, prefix, length);
}

/* Resolve the type of a message or enum. Types of Google's and Confluent's own files, which a
 * registry leaves out, are bytes or numbers. */
static int resolve(struct compiler *b, struct ek_text scope, struct field *f, uint32_t *type)
{
    struct ek_text name = f->type_name;
    uint32_t index;
    size_t dot = name.length && *name.text == '.';
    struct ek_text full = {name.text + dot, name.length - dot};
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if (!ek_text_compare(full, KNOWN[i].name)) {
            f->type = TYPE_MESSAGE;
            return use_known(b, i, type);
        }
    if (find_type(b, scope, name, &index)) {
        if (!f->type)
            f->type = b->declared[index].is_enum ? TYPE_ENUM : TYPE_MESSAGE;
        if (b->declared[index].is_enum == (f->type == TYPE_ENUM))
            return use_declared(b, index, type);
    }
    if (!has_prefix(full, "google.protobuf.") && !has_prefix(full, "confluent."))
        return ek_fail(b->e, EK_ECONFIG,
                       "unknown type '%.*s' of field '%.*s'; write the file with `protoc "
                       "--include_imports`",
                       shown(full), full.text, shown(f->name), f->name.text);
    f->type = f->type ? f->type : TYPE_MESSAGE;
    *type = f->type == TYPE_ENUM ? EK_TYPE_INT : EK_TYPE_BYTES;
    return EK_OK;
}

static int read_field(struct compiler *b, struct ek_text body, struct field *out)
{
    struct cursor c = over(body);
    struct ek_proto_field f;
    struct ek_text options = {"", 0};
    *out = (struct field){.name = {"", 0}, .type_name = {"", 0}};
    while (next(&c, &f)) {
        if (is_text(&f, 1))
            out->name = text_of(&f);
        else if (is_number(&f, 3))
            out->number = f.bits;
        else if (is_number(&f, 4))
            out->label = f.bits;
        else if (is_number(&f, 5))
            out->type = f.bits;
        else if (is_text(&f, 6))
            out->type_name = text_of(&f);
        else if (is_text(&f, 8))
            options = text_of(&f);
        else if (is_number(&f, 9))
            out->in_oneof = true;
        else if (is_number(&f, 17))
            out->is_optional = f.bits != 0;
    }
    if (c.is_bad || !out->number || out->number > EK_PROTO_NUMBER_MAX || out->type >= TYPES_END ||
        (!out->type && !out->type_name.length))
        return fail_set(b);
    return find_presence(b, options, 21, &out->presence);
}

/* Create the type of a repeated field or of a map from that of its elements or entries. */
static int repeat(struct compiler *b, const struct field *f, struct ek_schema_link *l)
{
    uint32_t type;
    int rc = ek_schema_add_type(b->s, EK_TYPE_ARRAY, &type, b->e);
    if (!rc)
        rc = ek_schema_add_links(b->s, type, 1, b->e);
    if (rc)
        return rc;
    b->s->link[b->s->type[type].first] =
        (struct ek_schema_link){.type = l->type, .code = (uint8_t)f->type};
    l->type = type;
    return EK_OK;
}

static int make_link(struct compiler *b, const struct declared *d, struct field *f,
                     struct ek_schema_link *l);

/* Create the type of a map: links to its values and to its keys. */
static int make_map(struct compiler *b, uint32_t entry, struct ek_schema_link *l)
{
    const struct declared d = b->declared[entry];
    struct cursor c = over(d.body);
    struct ek_proto_field p;
    struct field f;
    uint32_t type;
    int rc = ek_schema_add_type(b->s, EK_TYPE_MAP, &type, b->e);
    if (!rc)
        rc = ek_schema_add_links(b->s, type, 2, b->e);
    while (!rc && next(&c, &p)) {
        struct ek_schema_link one = {0};
        if (!is_text(&p, 2))
            continue;
        rc = read_field(b, text_of(&p), &f);
        if (!rc && (f.number > 2 || f.label == LABEL_REPEATED))
            rc = fail_set(b);
        if (!rc)
            rc = make_link(b, &d, &f, &one);
        if (!rc)
            b->s->link[b->s->type[type].first + (f.number == 1)] = one;
    }
    if (!rc) {
        const struct ek_schema_link *made = &b->s->link[b->s->type[type].first];
        if (!made[0].code || !made[1].code || made[1].code == TYPE_MESSAGE)
            rc = fail_set(b);
    }
    l->type = type;
    return rc;
}

/* Make the link of a field; its name is added by the caller. */
static int make_link(struct compiler *b, const struct declared *d, struct field *f,
                     struct ek_schema_link *l)
{
    uint32_t entry;
    struct ek_text scope = name_of(b, d);
    int rc = EK_OK;
    l->is_repeated = f->label == LABEL_REPEATED;
    if (l->is_repeated && f->type_name.length && find_type(b, scope, f->type_name, &entry) &&
        b->declared[entry].is_entry && !d->is_entry) {
        l->code = TYPE_MESSAGE;
        l->number = (int32_t)f->number;
        return make_map(b, entry, l);
    }
    if (f->type_name.length && (!f->type || f->type == TYPE_MESSAGE || f->type == TYPE_ENUM))
        rc = resolve(b, scope, f, &l->type);
    else
        l->type = KIND[f->type];
    bool has_presence = f->in_oneof || f->is_optional || f->type == TYPE_MESSAGE;
    l->code = (uint8_t)f->type;
    l->number = (int32_t)f->number;
    l->is_implicit = !l->is_repeated && !has_presence &&
                     (f->presence ? f->presence == PRESENCE_IMPLICIT : d->is_implicit);
    return rc || !l->is_repeated ? rc : repeat(b, f, l);
}

static int by_number(const void *a, const void *b)
{
    const struct ek_schema_link *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* Count the fields of a message, or the values of an enum. */
static size_t count_members(struct ek_text body)
{
    struct cursor c = over(body);
    struct ek_proto_field f;
    size_t count = 0;
    while (next(&c, &f))
        count += is_text(&f, 2);
    return count;
}

/* Add the links of a message, in the order of their numbers. Groups have none and are skipped. */
static int read_fields(struct compiler *b, const struct declared *d)
{
    struct cursor c = over(d->body);
    struct ek_proto_field p;
    uint32_t used = 0, first;
    int rc = ek_schema_add_links(b->s, d->type, count_members(d->body), b->e);
    first = b->s->type[d->type].first;
    while (!rc && next(&c, &p)) {
        struct ek_schema_link link = {0};
        struct field f;
        if (!is_text(&p, 2))
            continue;
        rc = read_field(b, text_of(&p), &f);
        if (rc || f.type == TYPE_GROUP)
            continue;
        rc = ek_schema_add_word(b->s, f.name, &link, b->e);
        if (!rc)
            rc = make_link(b, d, &f, &link);
        b->s->link[first + used++] = link;
    }
    if (rc)
        return rc;
    b->s->type[d->type].count = used;
    if (used)
        qsort(b->s->link + first, used, sizeof *b->s->link, by_number);
    return EK_OK;
}

static int read_symbols(struct compiler *b, const struct declared *d)
{
    struct cursor c = over(d->body);
    struct ek_proto_field p;
    uint32_t i = 0;
    int rc = ek_schema_add_links(b->s, d->type, count_members(d->body), b->e);
    while (!rc && next(&c, &p)) {
        struct ek_schema_link link = {0};
        struct ek_text name = {"", 0};
        uint64_t number = 0;
        if (!is_text(&p, 2))
            continue;
        rc = find_text(b, text_of(&p), 1, &name);
        if (!rc)
            rc = find_number(b, text_of(&p), 2, &number);
        if (!rc)
            rc = ek_schema_add_word(b->s, name, &link, b->e);
        link.number = (int32_t)number;
        b->s->link[b->s->type[d->type].first + i++] = link;
    }
    return rc;
}

/* Compile the types that are used, which may use others. */
static int read_used(struct compiler *b)
{
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < b->queued; i++) {
        const struct declared d = b->declared[b->queue[i]];
        rc = d.is_enum ? read_symbols(b, &d) : read_fields(b, &d);
    }
    return rc;
}

/* Write the full names of the first messages. */
static void list_messages(const struct compiler *b, char *out)
{
    size_t at = 0;
    int count = 0;
    *out = 0;
    for (size_t i = 0; i < b->count && at < NAMES_BYTES && count <= SHOWN_NAMES; i++) {
        struct ek_text name = name_of(b, &b->declared[i]);
        bool is_last = count == SHOWN_NAMES || at + name.length + 8 > NAMES_BYTES;
        if (b->declared[i].is_enum || b->declared[i].is_entry)
            continue;
        at += (size_t)snprintf(out + at, NAMES_BYTES - at, "%s%.*s", count++ ? ", " : "",
                               is_last ? 3 : (int)name.length, is_last ? "..." : name.text);
        if (is_last)
            return;
    }
}

static int find_named(struct compiler *b, const char *type, uint32_t *out)
{
    char names[NAMES_BYTES];
    if (find_declared(b, ek_text_from(type), out) && !b->declared[*out].is_enum)
        return EK_OK;
    list_messages(b, names);
    return ek_fail(b->e, EK_ECONFIG, "the schema has no message '%.*s'; it has: %s", SHOWN, type,
                   names);
}

/* Return the message at a position, those of maps not counted; of a file its field is 4, of a
 * message 3. Text NULL: there is none. */
static struct ek_text message_at(struct ek_text body, uint32_t field, uint32_t position)
{
    struct cursor c = over(body);
    struct ek_proto_field f;
    while (next(&c, &f)) {
        struct compiler none = {0};
        bool is_entry = false;
        if (is_text(&f, field) && !is_map_entry(&none, text_of(&f), &is_entry) && !is_entry &&
            !position--)
            return text_of(&f);
    }
    return (struct ek_text){NULL, 0};
}

/* Find the message of a path of indexes, as in the frame of a registry. */
static int find_indexed(struct compiler *b, struct ek_text file, uint32_t path, uint32_t *out)
{
    struct ek_text body = file;
    uint32_t field = 4;
    for (uint32_t i = 0; i <= path >> 24 && body.text; i++, field = 3)
        body = message_at(body, field, path >> (16 - 8 * i) & 0xff);
    for (size_t i = 0; i < b->count; i++)
        if (body.text && b->declared[i].body.text == body.text) {
            *out = (uint32_t)i;
            return EK_OK;
        }
    return ek_fail(b->e, EK_ECONFIG, "the schema has no message with the indexes of the frame");
}

static int compile(struct compiler *b, struct ek_text set, const struct ek_proto_type *type,
                   const struct ek_mapping *mapping)
{
    struct ek_text file = {"", 0};
    uint32_t root = 0, index = 0;
    int rc = EK_OK;
    if (set.length > EK_SCHEMA_BYTES_MAX)
        return ek_fail(b->e, EK_ELIMIT, "the schema has %zu bytes, the limit is %d", set.length,
                       EK_SCHEMA_BYTES_MAX);
    b->s->is_proto = true;
    rc = ek_schema_add_primitives(b->s, b->e);
    if (!rc)
        rc = declare_set(b, set, &file);
    if (!rc)
        rc = type->name ? find_named(b, type->name, &index)
                        : find_indexed(b, file, type->indexes, &index);
    if (!rc)
        rc = use_declared(b, index, &root);
    if (!rc)
        rc = read_used(b);
    return rc ? rc : ek_schema_plan(b->s, root, mapping, b->e);
}

int ek_proto_new(struct ek_message_schema **out, struct ek_text set,
                 const struct ek_proto_type *type, const struct ek_mapping *mapping,
                 struct ek_error *e)
{
    struct ek_message_schema *s = ek_calloc(1, sizeof *s);
    struct compiler b = {.s = s, .e = e};
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_init(&b.names, 0);
    int rc = compile(&b, set, type, mapping);
    ek_buf_release(&b.names);
    ek_free(b.declared);
    ek_free(b.queue);
    if (rc)
        ek_message_schema_free(s);
    else
        *out = s;
    return rc;
}
