/* Messages: bytes <-> lists (docs/format/message.md). The only module that includes msgpack and
 * simdjson. A message is MessagePack or JSON; what is said of maps and nil holds for objects and
 * null.
 *
 * Decoding checks every bound before it reads; a message that decodes gives a full list, one that
 * does not leaves `q` in an undefined but releasable state and says why, with the path of the field
 * ("items[3].features: 135 values, the manifest has 136"). Unknown fields are skipped.
 * Patching never re-encodes: input bytes are copied and only the scores differ.
 * Features come as an array of float32 / float64 / integers / nil, as `bin` of little-endian
 * float32, or as a map name -> number; nil and NaN are missing, an absent map entry too. Values
 * beyond the range of float32 become infinite. A field given twice is an error.
 * Nothing allocates once the list has grown to the size of the messages.
 * Threads: a codec is read-only after ek_codec_new and may be shared.
 */
#ifndef EK_LISTS_CODEC_H
#define EK_LISTS_CODEC_H

#include "base/buf.h"
#include "lists/list.h"
#include "schema/manifest.h"

/* How messages are written. The two cannot be mistaken for each other: JSON begins with a space or
 * a brace, which no map of msgpack does. */
enum ek_message_encoding { EK_MESSAGES_EITHER, EK_MESSAGES_MSGPACK, EK_MESSAGES_JSON };

/* What a message holds: a list, or one item of a list, which has the id of the query. */
enum ek_message_layout { EK_LAYOUT_LIST, EK_LAYOUT_ITEM };

/* Encoding, layout and field paths, dotted for depth ("search.id"). NULL members mean the default
 * name. */
struct ek_mapping {
    enum ek_message_encoding encoding;
    enum ek_message_layout layout;
    const char *query, *time_ms, *segments, *query_features, *manifest; /* from the top */
    const char *items, *item; /* from the top: which of them counts is a matter of the layout */
    const char *list_items, *log_means;                      /* from the top */
    const char *item_id, *score, *features, *label, *source; /* from an item */
};

enum { EK_MESSAGE_BYTES_DEFAULT = 4 << 20 };

/* 0 means the default. */
struct ek_codec_limits {
    uint32_t message_bytes; /* default EK_MESSAGE_BYTES_DEFAULT */
    int items;              /* default EK_ITEMS_DEFAULT_MAX */
    int depth;              /* default 32, at most 1024: nesting of skipped fields */
};

struct ek_codec;

/* mapping and limits may be NULL for the defaults. The manifest must outlive the codec. */
int ek_codec_new(struct ek_codec **out, const struct ek_manifest *m,
                 const struct ek_mapping *mapping, const struct ek_codec_limits *limits,
                 struct ek_error *e);
void ek_codec_free(struct ek_codec *c);
enum ek_message_layout ek_codec_layout(const struct ek_codec *c);

/* Decodes one message. Derived query features are filled in; missing time is -1; absent score NaN;
 * has_label when every item has a finite one. Ids and segments may be integers, which become text.
 * EK_EFORMAT, EK_ELIMIT, EK_ESTATE (another manifest's hash), EK_ENOMEM. A message of one item must
 * have the id of its query and, where the manifest has a query feature that is derived from the
 * length of the list, list_items. */
int ek_codec_decode(const struct ek_codec *c, const void *bytes, size_t length, struct ek_list *q,
                    struct ek_error *e);

/* Whether every item of the list had a score field in its message (EK_EFORMAT otherwise), without
 * which no other can be put in. */
int ek_codec_has_scores(const struct ek_list *q, struct ek_error *e);
/* Writes the message that `q` was decoded from with other scores [n] to `out` (cleared first). A
 * float32 score stays a float32 and a float64 one a float64; integers and nil become float64. In
 * JSON a score is the shortest decimal that is read back as the same double. Every item must have
 * had a score field (EK_EFORMAT otherwise); JSON has no score that is no finite number (EK_ESTATE).
 */
int ek_codec_patch(const struct ek_list *q, const void *bytes, size_t length, const double *scores,
                   struct ek_buf *out, struct ek_error *e);

/* The first three make msgpack, the others JSON. */
enum ek_feature_encoding {
    EK_FEATURES_ARRAY,
    EK_FEATURES_BIN,
    EK_FEATURES_MAP,
    EK_FEATURES_JSON,    /* an array */
    EK_FEATURES_JSON_MAP /* an object */
};

/* Encodes a list as one message in the default field names, appended to `out`. NaN is written as
 * nil (array), NaN (bin) or left out (map), in JSON likewise; an infinite value as 1e39 there.
 * Labels are written when has_label, sources by their numbers. JSON has no bytes that are no UTF-8
 * in its texts: they become U+FFFD. */
int ek_codec_encode(const struct ek_manifest *m, const struct ek_list *q,
                    enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e);

/* Encodes item i of the list as a message of its own: all that is said of the list, how many items
 * it has, and the item. */
int ek_codec_encode_item(const struct ek_manifest *m, const struct ek_list *q, int i,
                         enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e);

/* `time_ms` of a message in the default fields, for which no manifest is needed; -1 when it has
 * none or is no such message. */
int64_t ek_codec_time(const void *bytes, size_t length);

/* Whether bytes begin as a JSON message does, be it one or not. */
bool ek_codec_is_json(const void *bytes, size_t length);

/* What is wrong with bytes of the other encoding than is expected, for an error that then has
 * EK_ERR_ENCODING; NULL: nothing is known to be. */
const char *ek_codec_other_encoding(enum ek_message_encoding expected, const void *bytes,
                                    size_t length);

/* Length of the msgpack object at the start of `bytes`: 0 when it is cut short, EK_EFORMAT when it
 * is no msgpack. For concatenated messages. */
int ek_codec_extent(const void *bytes, size_t length, size_t *extent, struct ek_error *e);

#endif
