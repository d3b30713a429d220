/* Ranked list: filled by the message codec or the LETOR reader; input of statistics, detector and
 * scorer.
 *
 * Shapes: n items, F item features, M query features. `x` is row-major [n, F]. NaN is a missing
 * value. Zeros, negatives, infinities and denormals are unchanged. Strings point into the decoded
 * message, or into this list for integers, JSON and messages with a schema; they are valid while
 * both are. Memory is reused and only grows.
 */
#ifndef EK_LISTS_LIST_H
#define EK_LISTS_LIST_H

#include "base/error.h"
#include "base/text.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_SOURCES_MAX = 16 }; /* per list */
enum { EK_SEGMENTS_MAX = 16, EK_ITEMS_DEFAULT_MAX = 10000, EK_NUMBER_TEXT = 20 };

enum { EK_UNREADABLE_BYTES = 200 };

/* Optional fields of a message: a value that cannot be read counts as absent. */
enum ek_optional_field { EK_OPTIONAL_TIME, EK_OPTIONAL_SEGMENTS, EK_OPTIONAL_FIELDS };

struct ek_segment {
    struct ek_text name, value;
};

/* Position of an item's score in the message, for patching. */
struct ek_place {
    uint32_t offset; /* of the value, its type tag included */
    uint32_t length; /* of the value */
};

struct ek_json;
struct ek_schema_message;

struct ek_list {
    struct ek_text id;
    int64_t time_ms; /* -1 if not set */
    int segment_count;
    struct ek_segment segments[EK_SEGMENTS_MAX];
    int items, item_features, query_features; /* n, F, M */
    int list_items; /* length of the whole list if it has more items than the message; else 0 */
    bool one_item;  /* the message has one item of a list of list_items, 0: unknown */
    float *x;       /* [n, F] */
    float *query;   /* [M], derived ones included */
    double *score;  /* [n] upstream, NaN if absent */
    float *label;   /* [n]; valid if has_label */
    struct ek_text *item_id; /* [n] */
    struct ek_place *place;  /* [n] */
    bool has_label;
    uint8_t *source; /* [n] index of the item's source */
    int sources;     /* number of sources; 0 if an item has none, or the list has more than
                      * EK_SOURCES_MAX */
    /* [K] mean ln|x| over the usable values of the whole list, NaN if it has none; in the order of
     * routable features; valid if has_log_means. */
    double *log_mean;
    bool has_log_means;
    size_t mean_capacity;
    size_t item_capacity, value_capacity, query_capacity;  /* of the arrays above */
    char number_text[EK_SEGMENTS_MAX + 1][EK_NUMBER_TEXT]; /* integer segment values and id */
    char *item_text;                                       /* [n][EK_NUMBER_TEXT], or NULL */
    size_t item_text_capacity;
    uint8_t unreadable;                        /* bits of ek_optional_field: counted as absent */
    char unreadable_text[EK_UNREADABLE_BYTES]; /* why, with the path of the last one */
    bool from_json;       /* the message was JSON, so scores are patched as text */
    struct ek_json *json; /* parser; NULL before the first JSON message */
    bool from_schema;     /* the message has a schema: values are patched in their width */
    struct ek_schema_message *converted; /* NULL before the first message with a schema */
};

/* Initialize an empty list, without allocating. */
void ek_list_init(struct ek_list *q);
/* Free the memory. Initialize the list before it is used again. */
void ek_list_release(struct ek_list *q);
/* Resize to n items of F features and M query features, as a whole list. Contents of x are
 * undefined afterwards. Return 0, EK_ENOMEM, or EK_ELIMIT for a number that is negative or whose
 * arrays are too large. */
int ek_list_resize(struct ek_list *q, int items, int item_features, int query_features);
/* Return true if the whole list is known or assumed to have more items. */
bool ek_list_is_partial(const struct ek_list *q);
/* Reserve log_mean for `routable` features; its values are undefined. Return 0 or EK_ENOMEM. */
int ek_list_reserve_means(struct ek_list *q, int routable);
/* Return EK_NUMBER_TEXT bytes for the id of item i, or NULL if out of memory. Buffers stay valid
 * until the next resize. */
char *ek_list_item_id_buffer(struct ek_list *q, int i);
/* Return the value of a segment dimension, valid as long as the strings of the list; its text is
 * NULL if the list lacks the dimension. */
struct ek_text ek_list_segment(const struct ek_list *q, const char *name);

/* Return the value of a watched feature in an item; a query feature has one value for all items. */
static inline float ek_list_value(const struct ek_list *q, const struct ek_manifest *m, int item,
                                  int feature)
{
    int query = ek_manifest_query_of(m, feature);
    return query < 0 ? q->x[(size_t)item * (size_t)q->item_features + (size_t)feature]
                     : q->query[query];
}

/* Return the bytes allocated for the arrays of items. */
size_t ek_list_bytes(const struct ek_list *q);

/* Compute the derived query features of `q` (its last derived_count): log_list_size = ln(items) of
 * the whole list, 0 for an empty one. `items`, `list_items` and the shape must be set. */
void ek_list_derive(struct ek_list *q, const struct ek_manifest *m);

#endif
