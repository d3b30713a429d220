/* A list on its way: the items that have come, and what the first said of the list. Internal to the
 * assembly. Owner: the caller. */
#ifndef EK_SERVE_ASSEMBLY_LIST_H
#define EK_SERVE_ASSEMBLY_LIST_H

#include "lists/list.h"

#include <stdbool.h>

struct ek_item_note {
    uint64_t id; /* hash of it, never 0; 0: none */
    double score;
};

struct ek_partial_list {
    int items, room;           /* rows: that have come, that there is memory for */
    float *x;                  /* [room, F] */
    struct ek_item_note *note; /* [room] */
    float *query;              /* [M] */
    int segment_count;
    uint32_t length[EK_SEGMENTS_MAX][2]; /* of the texts of each segment */
    char *text;                          /* one behind the other */
    size_t text_room;
    int64_t time_ms;
    struct ek_partial_list *next; /* of those that wait to be used again */
};

/* query_features: of the list. EK_ENOMEM. */
int ek_partial_new(struct ek_partial_list **out, int query_features);
void ek_partial_free(struct ek_partial_list *l);
/* What it takes in memory. */
size_t ek_partial_bytes(const struct ek_partial_list *l, int features, int query_features);
/* Begins anew with what a message says of its list. EK_ENOMEM. */
int ek_partial_start(struct ek_partial_list *l, const struct ek_list *item, int64_t time_ms);
bool ek_partial_has(const struct ek_partial_list *l, uint64_t id);
/* Adds the item of a message; EK_ENOMEM: it is as before. */
int ek_partial_add(struct ek_partial_list *l, const struct ek_list *item, uint64_t id);
/* Puts it into *q, whose segments are views of it; list_items as in struct ek_list. EK_ENOMEM. */
int ek_partial_get(const struct ek_partial_list *l, int features, int query_features,
                   int list_items, struct ek_list *q);

#endif
