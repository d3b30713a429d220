/* Types and steps of a compiled Avro schema.
 *
 * `type` is the graph of types: a record, union, array or map has `count` links from `first` to its
 * fields, branches or elements. `step` is the tree of conversion, which follows the mapped paths: a
 * step converts a value, skips it, or enters it with one step per link. Numbers are indexes, so
 * that arrays can grow while a schema is read.
 */
#ifndef EK_LISTS_AVRO_INTERNAL_H
#define EK_LISTS_AVRO_INTERNAL_H

#include "lists/avro_schema.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_avro_kind {
    EK_AVRO_NULL,
    EK_AVRO_BOOLEAN,
    EK_AVRO_INT,
    EK_AVRO_LONG,
    EK_AVRO_FLOAT,
    EK_AVRO_DOUBLE,
    EK_AVRO_BYTES,
    EK_AVRO_STRING, /* the primitive types have these indexes in `type` */
    EK_AVRO_RECORD,
    EK_AVRO_ENUM,
    EK_AVRO_ARRAY,
    EK_AVRO_MAP,
    EK_AVRO_UNION,
    EK_AVRO_FIXED
};

enum { EK_AVRO_PRIMITIVES = EK_AVRO_STRING + 1 };

enum { EK_AVRO_FLOAT_BYTES = 4, EK_AVRO_DOUBLE_BYTES = 8 };

enum ek_avro_logical {
    EK_AVRO_PLAIN,
    EK_AVRO_MILLIS,
    EK_AVRO_MICROS,
    EK_AVRO_NANOS,
    EK_AVRO_DATE, /* days */
    EK_AVRO_DECIMAL
};

/* A field, branch or element. The name of a field has a msgpack tag, as its key. */
struct ek_avro_link {
    uint32_t type;
    uint32_t key; /* in `words` */
    uint16_t key_length, name_length;
};

struct ek_avro_type {
    uint8_t kind, logical;
    uint32_t first, count;    /* links; of an enum: symbols, in `text` */
    uint64_t size;            /* of a fixed */
    uint64_t least;           /* bytes of its shortest value, at most EK_AVRO_LEAST_TOP */
    struct ek_avro_link word; /* name of a record, enum or fixed */
};

enum { EK_AVRO_LEAST_TOP = 1 << 20, EK_AVRO_KEY_SLACK = 32 };

enum ek_avro_mode { EK_AVRO_SKIP, EK_AVRO_CONVERT, EK_AVRO_ENTER };
/* Use of a converted value. Numbers of features become float32 at once. */
enum ek_avro_role { EK_AVRO_ANY, EK_AVRO_TIME, EK_AVRO_FEATURES, EK_AVRO_SCORE };

struct ek_avro_step {
    uint32_t type;
    uint8_t mode, role;
    uint32_t first;  /* steps of the links, with EK_AVRO_ENTER */
    uint32_t wanted; /* fields of a record that are not skipped */
};

struct ek_avro {
    struct ek_avro_type *type;
    struct ek_avro_link *link;
    struct ek_avro_step *step; /* of the message: 0 */
    uint8_t *words;            /* names and symbols, each with its msgpack tag; and a slack */
    size_t types, links, steps, word_bytes;
    size_t type_capacity, link_capacity, step_capacity, word_capacity;
    uint32_t score_type; /* a type whose score cannot be replaced; 0: none */
};

/* A value whose bytes can be replaced. length 0: a row of features of this type. */
struct ek_avro_noted {
    uint32_t wire, at, length, type;
};

struct ek_avro_message {
    const struct ek_avro *schema;
    uint8_t *wire;
    size_t length, capacity;
    struct ek_avro_noted *places;
    size_t place_count, place_capacity;
};

/* Return the type of a link. */
static inline const struct ek_avro_type *ek_avro_linked(const struct ek_avro *s,
                                                        const struct ek_avro_type *t, uint32_t i)
{
    return &s->type[s->link[t->first + i].type];
}

/* Return the text of a word: its bytes after the msgpack tag. */
static inline struct ek_text ek_avro_name(const struct ek_avro *s, const struct ek_avro_link *l)
{
    return (struct ek_text){(const char *)s->words + l->key + (l->key_length - l->name_length),
                            l->name_length};
}

/* Read a number in zigzag code, seven bits a byte, from *p on. Return false past `end`, or for more
 * than 64 bits. */
bool ek_avro_varint(const uint8_t **p, const uint8_t *end, int64_t *out);

/* Reserve `more` elements of `size` bytes after `count`. Return 0 or EK_ENOMEM. */
int ek_avro_reserve(void **array, size_t count, size_t more, size_t *capacity, size_t size);
/* Return the name of a type for errors: "string", "record Item", "decimal". `text` is used for
 * names. */
const char *ek_avro_describe(const struct ek_avro *s, uint32_t type, char *text, size_t size);

/* Add the steps that convert the fields of a mapping; NULL: all. Return 0, EK_ECONFIG for a path
 * without a field, EK_ELIMIT or EK_ENOMEM. */
int ek_avro_plan(struct ek_avro *s, uint32_t root, const struct ek_mapping *mapping,
                 struct ek_error *e);

#endif
