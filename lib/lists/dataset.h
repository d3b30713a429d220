/* Many lists in memory, packed: for training, evaluation, profiles, the generator.
 *
 * Shapes: Q lists, N items in all, F item features, M query features (derived ones included).
 * List q has the items offset[q] .. offset[q+1]-1. NaN is a missing value.
 * Owner: the caller, ek_dataset_release.
 */
#ifndef EK_LISTS_DATASET_H
#define EK_LISTS_DATASET_H

#include "schema/manifest.h"
#include "lists/list.h"

struct ek_dataset {
    size_t lists, items;               /* Q, N */
    int item_features, query_features; /* F, M */
    size_t *offset;                    /* [Q + 1] */
    float *x;                          /* [N, F] */
    float *query;                      /* [Q, M] */
    float *label;                      /* [N], 0 when the data has none */
    uint64_t *id;                      /* [Q] hash of the query id, for messages and errors */
    uint8_t *source;                   /* [N] which of the list's sources an item comes from */
    uint8_t *sources;                  /* [Q] how many these are; 0: the items do not say */
    size_t list_capacity, item_capacity;
};

void ek_dataset_init(struct ek_dataset *d, int item_features, int query_features);
void ek_dataset_release(struct ek_dataset *d);
/* Appends a copy of a list. Shapes must agree (EK_ESTATE). */
int ek_dataset_add(struct ek_dataset *d, const struct ek_list *q, struct ek_error *e);
/* A view of list i as a query: x, query, label and source point into the dataset, `view` must have
 * come from ek_list_init, must not be resized or released, and lives as long as the dataset. score
 * and item_id are NULL. */
void ek_dataset_view(const struct ek_dataset *d, size_t i, struct ek_list *view);
/* Reads LETOR files one after the other into the dataset (initialised, shapes of the manifest). */
int ek_dataset_read_letor(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                          struct ek_error *e);

#endif
