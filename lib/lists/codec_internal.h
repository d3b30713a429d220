/* Internals of the codec: compiled mapping, feature names and decoder state.
 *
 * A mapping is a tree of fields for the message and one for an item. Siblings and children are
 * linked by index (-1 ends a list). Each leading part of a dotted path is a group; the two roots
 * are groups without a name. Read-only after ek_codec_new.
 */
#ifndef EK_LISTS_CODEC_INTERNAL_H
#define EK_LISTS_CODEC_INTERNAL_H

#include "lists/codec.h"
#include "lists/codec_wire.h"

enum { EK_FIELD_DEPTH_MAX = 5, EK_FIELD_TOP = 0, EK_FIELD_OF_ITEM = 1 }; /* the roots */

enum ek_field_id {
    EK_FIELD_GROUP, /* a map or array within a dotted path */
    EK_FIELD_QUERY,
    EK_FIELD_TIME,
    EK_FIELD_SEGMENTS,
    EK_FIELD_QUERY_FEATURES,
    EK_FIELD_MANIFEST,
    EK_FIELD_LIST_ITEMS,
    EK_FIELD_LOG_MEANS,
    EK_FIELD_ITEMS,
    EK_FIELD_ITEM,
    EK_FIELD_ITEM_ID,
    EK_FIELD_SCORE,
    EK_FIELD_FEATURES,
    EK_FIELD_LABEL,
    EK_FIELD_SOURCE,
    EK_FIELD_SEGMENT,       /* one dimension */
    EK_FIELD_QUERY_FEATURE, /* one feature, likewise the next one */
    EK_FIELD_FEATURE,
    EK_FIELD_COLUMN, /* array of a field of all items */
    EK_FIELD_IDS
};

/* Encoded name of at most 31 bytes, tag included, matched by one fixed-length comparison. `length`
 * is 0 for longer names, which use the slow path. */
struct ek_key {
    uint64_t word[4], mask[4];
    size_t length; /* tag included */
};

enum { EK_FIELD_KEY_BYTES = 32 };

/* Skip the key and return true if it is next in the message. Returns false near the end of the
 * message. */
static inline bool ek_key_match(const struct ek_key *k, struct ek_wire *w)
{
    const uint8_t *p = w->p;
    if (w->end - p < EK_FIELD_KEY_BYTES || !k->length)
        return false;
    uint64_t differ = ((ek_load_word(p) ^ k->word[0]) & k->mask[0]) |
                      ((ek_load_word(p + 8) ^ k->word[1]) & k->mask[1]);
    if (k->length > 16)
        differ |= ((ek_load_word(p + 16) ^ k->word[2]) & k->mask[2]) |
                  ((ek_load_word(p + 24) ^ k->word[3]) & k->mask[3]);
    if (differ)
        return false;
    w->p += k->length;
    return true;
}

struct ek_field {
    enum ek_field_id id, of; /* of: field of an item, for EK_FIELD_COLUMN */
    struct ek_key key;
    const char *of_key; /* key of the mapping, of a group that of its first field */
    char *path;         /* dotted, from the message or the item; owned */
    const char *name;   /* last part of path */
    size_t length;      /* length of name */
    uint64_t bit;       /* in ek_decode.seen, to find duplicates; 0: found by other means */
    int tree;           /* EK_FIELD_TOP or EK_FIELD_OF_ITEM */
    int number;         /* feature or dimension */
    int element;        /* name as the index of an array, else -1 */
    int parent, next, child, last; /* last: last child */
    int children;
};

/* Hash table of names with open addressing. */
struct ek_names {
    const struct ek_feature *const *features;
    struct ek_key *keys; /* [count] */
    size_t *lengths;     /* [count] */
    int count;
    uint16_t *slots; /* index + 1, 0 is free */
    size_t mask;
};

/* Read elements of a row from *p, at most `count`, until another type or truncation. Advance *p and
 * return the number read. Never reads at or after `end` or writes after out[count - 1]; unread
 * elements of `out` are undefined. All versions return the same. */
typedef size_t ek_swap_fn(const uint8_t **p, const uint8_t *end, float *out, size_t count);
/* float32, integers and nil; float64, integers and nil. Integers of any width; those beyond 2^53
 * are rounded twice, as by ek_head_number. */
ek_swap_fn ek_swap_portable, ek_swap_avx2, ek_swap64_portable, ek_swap64_avx2;
/* Return the fastest conversion of big-endian floats for this CPU. */
ek_swap_fn *ek_swap_best(void);
/* Return the fastest conversion of big-endian doubles for this CPU. */
ek_swap_fn *ek_swap64_best(void);

/* Type names of an encoding, for errors. */
struct ek_words {
    const char *map, *nil, *number, *id, *values;
};

struct ek_codec {
    const struct ek_manifest *manifest;
    enum ek_message_encoding encoding;
    enum ek_message_layout layout;
    const struct ek_schema_set *schemas;
    struct ek_codec_limits limits;
    bool numeric_strings;
    bool has_seconds;  /* a small time is in seconds */
    bool has_features; /* features have paths of their own, likewise the query features */
    bool has_query_features;
    struct ek_field *fields;
    int field_count;
    size_t field_capacity;
    int parts[2];    /* bits in use, by tree */
    uint32_t *slots; /* hash table of the fields of large groups: index + 1, 0 is free */
    size_t slot_mask;
    char *dimension[EK_SEGMENTS_MAX]; /* with paths of their own */
    int dimensions;
    /* pointers into fields; items: array or single item, by layout; NULL: not in this mapping */
    const struct ek_field *items, *features, *query, *query_features, *list_items;
    struct ek_names item_names, query_names;
    ek_swap_fn *swap, *swap64;
};

/* Message to encode: all items of a list, or one. */
struct ek_codec_encode_state {
    const struct ek_manifest *m;
    const struct ek_list *q;
    enum ek_feature_encoding encoding;
    int item; /* -1: all */
};

/* Return `list_items` of the message; 0: none. */
static inline int ek_encode_list_items(const struct ek_codec_encode_state *w)
{
    if (w->item >= 0)
        return ek_list_is_partial(w->q) ? w->q->list_items : w->q->items;
    return ek_list_is_partial(w->q) ? w->q->list_items : 0;
}

/* Return the index of a feature name, or -1. */
int ek_names_find(const struct ek_names *n, struct ek_text name);

enum { EK_FIELD_GROUP_SMALL = 8 }; /* children that are searched one by one */

/* Return the index of the field with that name in a large group, or -1. */
int ek_field_find_hashed(const struct ek_codec *c, int group, struct ek_text name);

/* Return whether the field has this name. */
static inline bool ek_field_is(const struct ek_field *f, struct ek_text name)
{
    return f->length == name.length && !memcmp(f->name, name.text, name.length);
}

/* Return the index of the field with that name in a group, or -1. */
static inline int ek_field_find(const struct ek_codec *c, int group, struct ek_text name)
{
    if (c->fields[group].children > EK_FIELD_GROUP_SMALL && c->slots)
        return ek_field_find_hashed(c, group, name);
    for (int i = c->fields[group].child; i >= 0; i = c->fields[i].next)
        if (ek_field_is(&c->fields[i], name))
            return i;
    return -1;
}

/* Return the field of an element of an array, or -1. */
static inline int ek_field_element(const struct ek_codec *c, int group, uint32_t element)
{
    for (int i = c->fields[group].child; i >= 0; i = c->fields[i].next)
        if (c->fields[i].element == (int)element)
            return i;
    return -1;
}

/* Return whether the next value is a map, which begins an array of {name, value}. */
static inline bool ek_wire_at_map(const struct ek_wire *w)
{
    return ek_wire_left(w) && ((*w->p & 0xf0) == EK_TAG_SHORT_MAP || *w->p == EK_TAG_MAP32 ||
                               *w->p == EK_TAG_MAP32 - 1);
}

/* One {name, value} of an array of features. */
struct ek_pair {
    struct ek_text name;  /* text NULL: it has none */
    const uint8_t *value; /* NULL: it has none */
};

/* Read the pairs of a map after its header, and skip other keys. Return 0, or the error. */
enum ek_wire_result ek_pair_read(struct ek_wire *w, uint32_t keys, int depth, struct ek_pair *out);

/* Parse a number as text. Return false if it is none; NaN for an empty text. */
bool ek_text_number(struct ek_text text, double *out);

/* Decoder state, including the current position for the path in errors. */
struct ek_decode {
    const struct ek_codec *c;
    struct ek_wire w;
    struct ek_list *q;
    struct ek_error *e;
    const struct ek_words *words;
    const uint8_t *text;                   /* a JSON message; NULL: msgpack */
    uint64_t seen[2];                      /* bits of the fields that were read, by tree */
    int columns;                           /* length of the columns, -1 before the first */
    int item;                              /* -1 outside of the items */
    const struct ek_field *field;          /* NULL: the message or the item itself */
    int number;                            /* feature of the field or column */
    struct ek_text key;                    /* current segment, feature or unknown field */
    int index;                             /* element of an array of values, or -1 */
    int list_items;                        /* length of the whole list, -1 if not set */
    struct ek_text source[EK_SOURCES_MAX]; /* distinct sources, `sources` of them */
    char source_text[EK_SOURCES_MAX][EK_NUMBER_TEXT]; /* digits of integer sources */
    int sources;
    int sourced; /* items with a source */
};

/* Set d's error, with the path of the field as prefix. Return `code`. */
int ek_decode_fail(struct ek_decode *d, enum ek_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
extern const struct ek_words ek_words_msgpack, ek_words_json, ek_words_avro, ek_words_proto;
/* Replace a message with a schema by its msgpack form. Return 0, EK_EFORMAT for an unknown schema
 * or other bytes than its messages, EK_ELIMIT or EK_ENOMEM. */
int ek_decode_open_schema(struct ek_decode *d);
/* Levels of the mapped fields, in addition to those of skipped fields. */
enum { EK_FIELD_LEVELS = 2 * EK_FIELD_DEPTH_MAX + 4 };
/* Set d's error for a value of another type than expected. Return EK_EFORMAT. */
int ek_decode_wrong_kind(struct ek_decode *d, const struct ek_head *h, const char *expected);
/* Return the name of a type in the encoding, a static string: "a map" or "an object", ... */
const char *ek_decode_kind(const struct ek_decode *d, enum ek_wire_kind kind);
/* Set d's error for the result of a wire function. Return EK_EFORMAT or EK_ELIMIT. */
int ek_decode_wire_fail(struct ek_decode *d, enum ek_wire_result result);

/* Read a header. */
static inline int ek_decode_head(struct ek_decode *d, struct ek_head *h)
{
    enum ek_wire_result result = ek_wire_head(&d->w, h);
    return result ? ek_decode_wire_fail(d, result) : EK_OK;
}

/* Return the payload of a header and move past it. */
static inline struct ek_text ek_decode_text(struct ek_decode *d, const struct ek_head *h)
{
    struct ek_text text = {(const char *)d->w.p, h->count};
    d->w.p += h->count;
    return text;
}

/* Skip a value. */
int ek_decode_skip(struct ek_decode *d);
/* Read a map key, which must be a string. */
int ek_decode_key(struct ek_decode *d, struct ek_text *key);
/* Read a key as a feature's index, or -1 for an unknown name, which is then in d->key. Tries
 * `guess` first, because most writers use the manifest's order. */
int ek_decode_name(struct ek_decode *d, const struct ek_names *names, int guess, int *number);
/* Set *out to the number of a header and move past it, also as text if mapped so. Return false if
 * it has none. */
bool ek_decode_number(struct ek_decode *d, const struct ek_head *h, double *out);
/* Mark `count` entries as unset. */
void ek_row_begin(float *row, size_t count);
/* Set the unset entries to NaN. */
void ek_row_end(float *row, size_t count);
/* Read a number into an entry that must be unset. */
int ek_decode_once(struct ek_decode *d, float *out);
/* Read an array, bin, map or array of {name, value} into the row of all names. */
int ek_decode_values(struct ek_decode *d, const struct ek_names *names, float *row);

#endif
