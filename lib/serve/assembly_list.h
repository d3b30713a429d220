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

/* Create a list. Return 0, or EK_ENOMEM. */
int ek_partial_new(struct ek_partial_list **out, int query_features);
void ek_partial_free(struct ek_partial_list *l);
/* Return the memory of the list in bytes. */
size_t ek_partial_bytes(const struct ek_partial_list *l, int features, int query_features);
/* Restart with the list fields of a message. Return 0, or EK_ENOMEM. */
int ek_partial_start(struct ek_partial_list *l, const struct ek_list *item, int64_t time_ms);
/* Return whether the list has an item with this id hash; 0: no. */
bool ek_partial_has(const struct ek_partial_list *l, uint64_t id);
/* Add the item of a message. Return 0, or EK_ENOMEM; on error the list is unchanged. */
int ek_partial_add(struct ek_partial_list *l, const struct ek_list *item, uint64_t id);
/* Copy the list to *q; its segments are views. `list_items`: as in struct ek_list. Return 0, or
 * EK_ENOMEM. */
int ek_partial_get(const struct ek_partial_list *l, int features, int query_features,
                   int list_items, struct ek_list *q);

#endif
