/* Message codec: MessagePack, JSON, Avro or Protobuf bytes to lists and back
 * (docs/format/message.md). The only module that uses msgpack and simdjson. Maps and nil include
 * JSON objects and null.
 *
 * The decoder checks every bound before it reads. On error `q` is undefined but can be released,
 * and the error contains the path of the field ("items[3].features: 135 values, the manifest has
 * 136"). Unknown fields are skipped; duplicate fields are errors. Patching copies the input bytes
 * and replaces only the scores.
 *
 * Features are an array of float32 / float64 / integers / nil, `bin` of little-endian float32, a
 * map name -> number, an array of {name, value} maps, or each at its own path. Nil, NaN and absent
 * entries are missing values, booleans are 0 and 1. Values beyond float32 become infinite. No
 * allocation once the list has the size of the messages. A codec is read-only after ek_codec_new
 * and thread-safe.
 */
#ifndef EK_LISTS_CODEC_H
#define EK_LISTS_CODEC_H

#include "base/buf.h"
#include "lists/list.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

/* Message encoding. The first two are unambiguous: JSON begins with white space or a brace, which
 * no msgpack map does. */
enum ek_message_encoding {
    EK_MESSAGES_EITHER,
    EK_MESSAGES_MSGPACK,
    EK_MESSAGES_JSON,
    EK_MESSAGES_AVRO, /* never detected: its schemas are needed; likewise the next one */
    EK_MESSAGES_PROTOBUF
};

/* Return whether messages of an encoding need schemas. */
static inline bool ek_encoding_has_schemas(enum ek_message_encoding encoding)
{
    return encoding >= EK_MESSAGES_AVRO;
}

struct ek_message_schema;

/* Frame of a schema registry before a message: a zero byte, an id in big endian, and with Protobuf
 * the indexes of the message type. A small message may fit its schema with and without, so
 * EK_FRAME_EITHER is for proposals only. */
enum ek_schema_frame { EK_FRAME_ALWAYS, EK_FRAME_NEVER, EK_FRAME_EITHER };
enum { EK_SCHEMA_FRAME_BYTES = 5 };

/* Key of a schema: its id in the low 32 bits, and the indexes of a Protobuf message above
 * (ek_proto_type). -1: of messages without a frame. */
static inline int64_t ek_schema_key(uint32_t id, uint32_t indexes)
{
    return (int64_t)((uint64_t)indexes << 32 | id);
}
static inline uint32_t ek_schema_key_id(int64_t key)
{
    return (uint32_t)key;
}
static inline uint32_t ek_schema_key_indexes(int64_t key)
{
    return (uint32_t)((uint64_t)key >> 32);
}

/* Schemas of messages. Outlives the codecs that use it. */
struct ek_schema_set {
    /* Return the schema with a key, compiled for the mapping of the codec and valid as long as the
     * set. NULL: unknown, with *e set (not NULL). May block. Any thread. */
    const struct ek_message_schema *(*find)(void *context, int64_t key, struct ek_error *e);
    void *context;
    enum ek_schema_frame frame;
    bool is_proto;
};

/* Content of a message: a list, one item with the query id of its list, or a list whose fields of
 * items are arrays, aligned by position. */
enum ek_message_layout { EK_LAYOUT_LIST, EK_LAYOUT_ITEM, EK_LAYOUT_COLUMNS };

/* Path of one segment dimension or feature. */
struct ek_named_path {
    const char *name, *path;
};

struct ek_named_paths {
    const struct ek_named_path *items;
    size_t count; /* 0: unused */
};

/* Encoding, layout and dotted field paths ("search.id"). NULL selects the default name. A part of a
 * path that is a number also selects the element of an array, from 0. */
struct ek_mapping {
    enum ek_message_encoding encoding;
    enum ek_message_layout layout;
    bool numeric_strings; /* features, scores, labels and times may be numbers as text */
    const struct ek_schema_set *schemas; /* for encodings with schemas; not copied */
    const char *query, *time_ms, *segments, *query_features, *manifest; /* relative to the
                                                                         * message */
    const char *items, *item;           /* relative to the message; the layout selects one */
    const char *list_items, *log_means; /* relative to the message */
    /* Relative to an item, or with EK_LAYOUT_COLUMNS to the message, where the default names of all
     * but the features end in s. Features "*": each at its name. */
    const char *item_id, *score, *features, *label, *source;
    /* Each replaces the path of the same field. Names are dimensions, or features of the manifest,
     * which must all have a path. */
    struct ek_named_paths segment_paths, query_feature_paths, feature_paths;
};

enum { EK_MESSAGE_BYTES_DEFAULT = 4 << 20, EK_MESSAGE_BYTES_MAX = 512 << 20 };

/* 0 selects the default. */
struct ek_codec_limits {
    uint32_t message_bytes; /* default EK_MESSAGE_BYTES_DEFAULT */
    int items;              /* default EK_ITEMS_DEFAULT_MAX */
    int depth;              /* default 32, at most 1024: nesting of skipped fields */
};

struct ek_codec;

/* Create a codec. mapping and limits may be NULL for the defaults. The manifest must outlive it.
 * Return 0, EK_ENOMEM, or EK_ECONFIG for an invalid mapping with 'message.KEY' as first word. */
int ek_codec_new(struct ek_codec **out, const struct ek_manifest *m,
                 const struct ek_mapping *mapping, const struct ek_codec_limits *limits,
                 struct ek_error *e);
void ek_codec_free(struct ek_codec *c);
/* Return the layout of messages. */
enum ek_message_layout ek_codec_layout(const struct ek_codec *c);

/* Decode one message and compute derived query features. A missing time is -1, a missing score NaN;
 * has_label is set if every item has a finite label. Integer ids and segment values become strings.
 * An item message must have the query id and, with a derived list length in the manifest,
 * list_items. Return 0, EK_EFORMAT for an invalid message, EK_ELIMIT beyond ek_codec_limits,
 * EK_ESTATE for another manifest hash, or EK_ENOMEM. */
int ek_codec_decode(const struct ek_codec *c, const void *bytes, size_t length, struct ek_list *q,
                    struct ek_error *e);

/* Check that every item had a score field, which patching requires. Return 0, or EK_EFORMAT naming
 * the first item without one. */
int ek_codec_has_scores(const struct ek_list *q, struct ek_error *e);
/* Write the message decoded into `q` with new scores [n] to `out`, which is cleared first. float32
 * scores stay float32; float64, integers and nil become float64, text remains text. Decimals in
 * JSON and text are the shortest that parse to the same double. Return 0, EK_EFORMAT if an item had
 * no score field, EK_ESTATE for a decimal that is not finite, EK_ENOMEM, or EK_ELIMIT beyond the
 * limit of `out`. */
int ek_codec_patch(const struct ek_list *q, const void *bytes, size_t length, const double *scores,
                   struct ek_buf *out, struct ek_error *e);

/* Patch of the feature values of a message. float32, float64 and `bin` keep their width, with NaN
 * for missing. An integer stays one if the result is whole, else it becomes float64, or nil if
 * missing; nil becomes float64. A boolean remains one if the result is 0 or 1, else it becomes a
 * number; text remains text. JSON numbers are the shortest decimals that parse to the same double,
 * with the `.0` of the value before, or null. Absent values stay absent. */
struct ek_feature_patch {
    const uint8_t *wanted; /* [W] nonzero: features to patch, watched query features too */
    /* Return the new value of a feature, NaN: missing. `item` is -1 for a query feature. `narrow`:
     * the message has a float32. Other numbers are float64; integers and nil too. */
    double (*value)(void *context, int item, int feature, double value, bool narrow);
    void *context;
    /* Columns to append to the features of each item, after them in an array or `bin`: float32 in
     * msgpack. Features with a path of their own, columns and messages with a schema cannot grow:
     * they get none. */
    int columns;             /* 0: none */
    const char *const *name; /* [columns] for maps and arrays of {name, value} */
    const double *column;    /* [n, columns] NaN: missing */
    size_t changed;          /* set to the number of changed values */
};

/* Write the message decoded into `q` with patched feature values to `out`, which is cleared first;
 * it is empty if no value changed and no column was appended. Unchanged values and all other bytes
 * stay. Return 0, EK_ESTATE if `bytes` are not the decoded message, or EK_ENOMEM. */
int ek_codec_patch_features(const struct ek_codec *c, const struct ek_list *q, const void *bytes,
                            size_t length, struct ek_feature_patch *p, struct ek_buf *out,
                            struct ek_error *e);

/* The first three encode msgpack, the others JSON. */
enum ek_feature_encoding {
    EK_FEATURES_ARRAY,
    EK_FEATURES_BIN,
    EK_FEATURES_MAP,
    EK_FEATURES_JSON,    /* an array */
    EK_FEATURES_JSON_MAP /* an object */
};

/* Append a list as one message with default field names. NaN is nil (array), NaN (bin) or omitted
 * (map), in JSON null or omitted; infinities are 1e39 in JSON. Labels are written if has_label,
 * sources by number. Invalid UTF-8 becomes U+FFFD in JSON. Return 0, EK_ESTATE for a list of
 * another manifest, or EK_ENOMEM. */
int ek_codec_encode(const struct ek_manifest *m, const struct ek_list *q,
                    enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e);

/* Append item i as a message, with the fields of the list and the number of its items. Return 0,
 * EK_ESTATE for a list of another manifest, or EK_ENOMEM. */
int ek_codec_encode_item(const struct ek_manifest *m, const struct ek_list *q, int i,
                         enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e);

/* Return `time_ms` of a message with default field names; -1 if it has none or is invalid. Needs no
 * manifest. */
int64_t ek_codec_time(const void *bytes, size_t length);

/* Return true if the bytes begin like a JSON message. */
bool ek_codec_is_json(const void *bytes, size_t length);
/* Return whether bytes begin like a JSON message: an object, also after the frame of a schema
 * registry. */
bool ek_codec_has_json(const void *bytes, size_t length);

/* Return a static text for an error message if the bytes have the other encoding than expected,
 * else NULL. The caller sets EK_ERR_ENCODING in its error. */
const char *ek_codec_other_encoding(enum ek_message_encoding expected, const void *bytes,
                                    size_t length);

/* Set *extent to the length of the msgpack object at the start of `bytes`; 0 if truncated. Return
 * 0, or EK_EFORMAT if it is not msgpack. For concatenated messages. */
int ek_codec_extent(const void *bytes, size_t length, size_t *extent, struct ek_error *e);

#endif
