/* Types and steps of a compiled message schema.
 *
 * `type` is the graph of types: a record, union, array or map has `count` links from `first` to its
 * fields, branches or elements. `step` is the tree of conversion, which follows the mapped paths: a
 * step converts a value, skips it, or enters it with one step per link. Numbers are indexes, so
 * that arrays can grow while a schema is read.
 */
#ifndef EK_LISTS_SCHEMA_GRAPH_H
#define EK_LISTS_SCHEMA_GRAPH_H

#include "lists/message_schema.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_schema_kind {
    EK_TYPE_NULL,
    EK_TYPE_BOOLEAN,
    EK_TYPE_INT,
    EK_TYPE_LONG,
    EK_TYPE_FLOAT,
    EK_TYPE_DOUBLE,
    EK_TYPE_BYTES,
    EK_TYPE_STRING, /* the primitive types have these indexes in `type` */
    EK_TYPE_RECORD,
    EK_TYPE_ENUM,
    EK_TYPE_ARRAY,
    EK_TYPE_MAP,
    EK_TYPE_UNION,
    EK_TYPE_FIXED,
    EK_TYPE_WRAPPER,  /* google.protobuf.DoubleValue and similar: the value is the one link */
    EK_TYPE_TIMESTAMP /* google.protobuf.Timestamp: milliseconds */
};

enum { EK_TYPE_PRIMITIVES = EK_TYPE_STRING + 1 };

enum { EK_SCHEMA_FLOAT_BYTES = 4, EK_SCHEMA_DOUBLE_BYTES = 8 };

enum ek_schema_logical {
    EK_LOGICAL_PLAIN,
    EK_LOGICAL_MILLIS,
    EK_LOGICAL_MICROS,
    EK_LOGICAL_NANOS,
    EK_LOGICAL_DATE, /* days */
    EK_LOGICAL_DECIMAL
};

/* A field, branch or element; of a Protobuf map first its values, then its keys. The name of a
 * field has a msgpack tag, as its key. */
struct ek_schema_link {
    uint32_t type;
    uint32_t key; /* in `words` */
    uint16_t key_length, name_length;
    int32_t number; /* Protobuf: of a field or symbol; the fields of a record ascend */
    uint8_t code; /* Protobuf: type of descriptor.proto, of a repeated field that of its elements */
    bool is_repeated; /* Protobuf */
    bool is_implicit; /* Protobuf: a number, boolean or enum that is 0 is left out */
};

struct ek_schema_type {
    uint8_t kind, logical;
    uint32_t first, count;      /* links; of an enum: symbols, in `text` */
    uint64_t size;              /* of a fixed */
    uint64_t least;             /* bytes of its shortest value, at most EK_SCHEMA_LEAST_TOP */
    struct ek_schema_link word; /* name of a record, enum or fixed */
};

enum { EK_SCHEMA_LEAST_TOP = 1 << 20, EK_SCHEMA_KEY_SLACK = 32 };

enum ek_schema_mode { EK_STEP_SKIP, EK_STEP_CONVERT, EK_STEP_ENTER };
/* Use of a converted value. Numbers of features become float32 at once; an absent value of
 * EK_ROLE_OPTIONAL is not 0. */
enum ek_schema_role {
    EK_ROLE_ANY,
    EK_ROLE_TIME,
    EK_ROLE_FEATURES,
    EK_ROLE_SCORE,
    EK_ROLE_OPTIONAL
};

struct ek_schema_step {
    uint32_t type;
    uint8_t mode, role;
    uint32_t first;  /* steps of the links, with EK_STEP_ENTER */
    uint32_t wanted; /* fields of a record that are not skipped */
};

struct ek_message_schema {
    struct ek_schema_type *type;
    struct ek_schema_link *link;
    struct ek_schema_step *step; /* of the message: 0 */
    uint8_t *words;              /* names and symbols, each with its msgpack tag; and a slack */
    size_t types, links, steps, word_bytes;
    size_t type_capacity, link_capacity, step_capacity, word_capacity;
    bool is_proto;
    uint32_t score_type; /* a type whose score cannot be replaced; 0: none */
};

/* A value whose bytes can be replaced. length 0: a row of features of this type; EK_TYPE_NULL: its
 * values are in several parts of the message. */
struct ek_schema_noted {
    uint32_t wire, at, length, type;
};

struct ek_schema_message {
    const struct ek_message_schema *schema;
    uint8_t *wire;
    size_t length, capacity;
    struct ek_schema_noted *places;
    size_t place_count, place_capacity;
    size_t found;   /* place that was looked up last */
    uint32_t *last; /* stack of the conversion of Protobuf */
    size_t last_capacity;
};

/* Return the type of a link. */
static inline const struct ek_schema_type *
ek_schema_linked(const struct ek_message_schema *s, const struct ek_schema_type *t, uint32_t i)
{
    return &s->type[s->link[t->first + i].type];
}

/* Return the text of a word: its bytes after the msgpack tag. */
static inline struct ek_text ek_schema_name(const struct ek_message_schema *s,
                                            const struct ek_schema_link *l)
{
    return (struct ek_text){(const char *)s->words + l->key + (l->key_length - l->name_length),
                            l->name_length};
}

/* Read a number in zigzag code, seven bits a byte, from *p on. Return false past `end`, or for more
 * than 64 bits. */
bool ek_avro_varint(const uint8_t **p, const uint8_t *end, int64_t *out);

/* Names of the kinds, for errors. */
extern const char *const ek_schema_kinds[];
/* Append a type. Return 0 or EK_ENOMEM. */
int ek_schema_add_type(struct ek_message_schema *s, enum ek_schema_kind kind, uint32_t *out,
                       struct ek_error *e);
/* Append the primitive types, before all others. Return 0 or EK_ENOMEM. */
int ek_schema_add_primitives(struct ek_message_schema *s, struct ek_error *e);
/* Append `count` links, the only ones of a type, as zeros. Return 0 or EK_ENOMEM. */
int ek_schema_add_links(struct ek_message_schema *s, uint32_t type, size_t count,
                        struct ek_error *e);
/* Append a name or symbol with its msgpack tag, and set its members of *out. Return 0, EK_ECONFIG
 * for one that is empty or too long, or EK_ENOMEM. */
int ek_schema_add_word(struct ek_message_schema *s, struct ek_text name, struct ek_schema_link *out,
                       struct ek_error *e);
/* Reserve `more` elements of `size` bytes after `count`. Return 0 or EK_ENOMEM. */
int ek_schema_reserve(void **array, size_t count, size_t more, size_t *capacity, size_t size);
/* Return the name of a type for errors: "string", "record Item", "decimal". `text` is used for
 * names. */
const char *ek_schema_describe(const struct ek_message_schema *s, uint32_t type, char *text,
                               size_t size);

/* Add the steps that convert the fields of a mapping; NULL: all. Return 0, EK_ECONFIG for a path
 * without a field, EK_ELIMIT or EK_ENOMEM. */
int ek_schema_plan(struct ek_message_schema *s, uint32_t root, const struct ek_mapping *mapping,
                   struct ek_error *e);

#endif
