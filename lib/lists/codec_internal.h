/* Internals of the codec: compiled mapping, feature names and decoder state.
 *
 * A mapping is a forest: the fields of a message are below `top`, those of an item below `item`.
 * Siblings and children are linked by index (-1 ends a list). Each leading part of a dotted path is
 * a group. Read-only after ek_codec_new.
 */
#ifndef EK_LISTS_CODEC_INTERNAL_H
#define EK_LISTS_CODEC_INTERNAL_H

#include "lists/codec.h"
#include "lists/codec_wire.h"

enum { EK_FIELDS_MAX = 64, EK_FIELD_DEPTH_MAX = 5 };

enum ek_field_id {
    EK_FIELD_GROUP, /* a map within a dotted path */
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
    EK_FIELD_SOURCE
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
    enum ek_field_id id;
    struct ek_key key;
    char *path;       /* dotted, from the message or the item; owned */
    const char *name; /* last part of path */
    size_t length;    /* length of name */
    int next, child;
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
    struct ek_codec_limits limits;
    struct ek_field fields[EK_FIELDS_MAX];
    int field_count, top, item;
    uint64_t item_fields; /* bit i: fields[i] belongs to items */
    /* pointers into fields; items: array or single item, by layout */
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

/* Return the index of the field with that name among the siblings from `first`, or -1. */
static inline int ek_field_find(const struct ek_codec *c, int first, struct ek_text name)
{
    for (int i = first; i >= 0; i = c->fields[i].next)
        if (c->fields[i].length == name.length &&
            !memcmp(c->fields[i].name, name.text, name.length))
            return i;
    return -1;
}

/* Return the bit of a field in the set of fields that were decoded, to find duplicates. */
static inline uint64_t ek_field_bit(const struct ek_codec *c, const struct ek_field *f)
{
    return UINT64_C(1) << (f - c->fields);
}

/* Decoder state, including the current position for the path in errors. */
struct ek_decode {
    const struct ek_codec *c;
    struct ek_wire w;
    struct ek_list *q;
    struct ek_error *e;
    const struct ek_words *words;
    uint64_t seen;                         /* bit i: fields[i] was read */
    int item;                              /* -1 outside of the items */
    const struct ek_field *field;          /* NULL: the message or the item itself */
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
extern const struct ek_words ek_words_msgpack, ek_words_json;
/* Return the name of a type in the encoding, a static string: "a map" or "an object", ... */
const char *ek_decode_kind(const struct ek_decode *d, enum ek_wire_kind kind);
/* Set d's error for the result of a wire function. Return EK_EFORMAT or EK_ELIMIT. */
int ek_decode_wire_fail(struct ek_decode *d, enum ek_wire_result result);

#endif
