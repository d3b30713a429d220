/* Partial list of an assembly: items so far, and list fields of the first item. */
#ifndef EK_SERVE_ASSEMBLY_LIST_H
#define EK_SERVE_ASSEMBLY_LIST_H

#include "lists/list.h"

#include <stdbool.h>

struct ek_item_note {
    uint64_t id; /* hash of the item id; 0: none */
    double score;
};

struct ek_partial_list {
    int items, capacity;       /* rows: used, allocated */
    float *x;                  /* [room, item features] */
    struct ek_item_note *note; /* [room] */
    float *query;              /* [query features] */
    int segment_count;
    uint32_t length[EK_SEGMENTS_MAX][2]; /* of name and value of each segment */
    char *text;                          /* concatenated strings of segments */
    size_t text_capacity;
    int64_t time_ms;
    struct ek_partial_list *next; /* of the reusable lists */
};

/* Create an empty list; call ek_partial_start before items are added. Return 0 or EK_ENOMEM. */
int ek_partial_new(struct ek_partial_list **out, int query_features);
void ek_partial_free(struct ek_partial_list *l);
/* Return the memory of a list with these numbers of features in bytes. */
size_t ek_partial_bytes(const struct ek_partial_list *l, int features, int query_features);
/* Remove all items and copy the list fields of a message. Return 0, or EK_ENOMEM with the list
 * unchanged. */
int ek_partial_start(struct ek_partial_list *l, const struct ek_list *item, int64_t time_ms);
/* Return whether the list has an item with this id hash; false for hash 0, an item without id. */
bool ek_partial_has(const struct ek_partial_list *l, uint64_t id);
/* Append a copy of the item of a message, with the hash of its id (0: none). Return 0, or
 * EK_ENOMEM; on error the list is unchanged. */
int ek_partial_add(struct ek_partial_list *l, const struct ek_list *item, uint64_t id);
/* Copy the list to *q, which is resized; its segments are views of this list. `list_items`: as in
 * struct ek_list. Return 0, or an error of ek_list_resize. */
int ek_partial_get(const struct ek_partial_list *l, int features, int query_features,
                   int list_items, struct ek_list *q);

#endif
