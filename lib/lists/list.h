/* One ranked list as numbers: what a LETOR reader or the message codec fills, and what statistics,
 * detector and scorer read.
 *
 * Shapes: n items, F item features, M query features. `x` is row-major [n, F].
 * NaN is a missing value. Zeros, negatives, infinities and denormals are kept as they came.
 * Texts are views into the message that was decoded, or into this list where the message has a
 * number or is JSON; they die with either.
 * Owner: the caller; memory is reused from list to list and grows only.
 */
#ifndef EK_LISTS_LIST_H
#define EK_LISTS_LIST_H

#include "base/error.h"
#include "base/text.h"
#include "schema/manifest.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_SOURCES_MAX = 16 }; /* in one list */
enum { EK_SEGMENTS_MAX = 16, EK_ITEMS_DEFAULT_MAX = 10000, EK_NUMBER_TEXT = 20 };

struct ek_segment {
    struct ek_text name, value;
};

/* Where an item's score stands in the message, so that only it is replaced. */
struct ek_place {
    uint32_t offset; /* of the first byte of the value, its type tag included */
    uint32_t length; /* of the value in the message */
};

struct ek_json;

struct ek_list {
    struct ek_text id;
    int64_t time_ms; /* -1 when the message does not say */
    int segment_count;
    struct ek_segment segments[EK_SEGMENTS_MAX];
    int items, item_features, query_features; /* n, F, M */
    int list_items; /* of the whole list, where these are said to be a part of it; else 0 */
    bool one_item;  /* the message holds one item, and its list has list_items, 0: who knows */
    float *x;       /* [n, F] */
    float *query;   /* [M], derived ones included */
    double *score;  /* [n] upstream, NaN when absent */
    float *label;   /* [n]; meaningful when has_label */
    struct ek_text *item_id; /* [n] */
    struct ek_place *place;  /* [n] */
    bool has_label;
    uint8_t *source; /* [n] which of `sources` an item comes from */
    int sources;     /* 0 unless every item says its own, and there are at most EK_SOURCES_MAX */
    /* [K] mean ln|x| of the whole list over its usable values, NaN where it has none; in the order
     * of the routable features; meaningful when has_log_means. */
    double *log_mean;
    bool has_log_means;
    size_t mean_capacity;
    size_t item_capacity, value_capacity, query_capacity;  /* of the arrays above */
    char number_text[EK_SEGMENTS_MAX + 1][EK_NUMBER_TEXT]; /* segments and id that are integers */
    char *item_text;                                       /* [n][EK_NUMBER_TEXT], or NULL */
    size_t item_text_capacity;
    bool from_json;       /* the message was JSON: scores are put in as text */
    struct ek_json *json; /* what it was read with; NULL before the first */
};

void ek_list_init(struct ek_list *q);
void ek_list_release(struct ek_list *q);
/* Room for n items of F features and M query features; contents of x are undefined afterwards. It
 * is a whole list until list_items says otherwise. */
int ek_list_resize(struct ek_list *q, int items, int item_features, int query_features);
/* Whether the items are fewer than those of their list, as far as is known. */
bool ek_list_is_partial(const struct ek_list *q);
/* Room for log_mean of K routable features. EK_ENOMEM. */
int ek_list_reserve_means(struct ek_list *q, int routable);
/* EK_NUMBER_TEXT bytes for the id of item i; NULL without memory. What was handed out since the
 * last resize stays. */
char *ek_list_item_id_buffer(struct ek_list *q, int i);
/* Value of a segment dimension; text NULL when the list does not have it. */
struct ek_text ek_list_segment(const struct ek_list *q, const char *name);

/* Bytes of its arrays now. */
size_t ek_list_bytes(const struct ek_list *q);

/* Fill the derived query features of `q` (its last derived_count): log_list_size = ln(items) of
 * the whole list, 0 for an empty one. `items`, `list_items` and the shape must be set. */
void ek_list_derive(struct ek_list *q, const struct ek_manifest *m);

#endif
