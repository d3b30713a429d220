/* Packed dataset of many lists, for training, evaluation, profiles and the generator.
 *
 * Shapes: Q lists, N items, F item features, M query features (derived ones included). List q has
 * the items offset[q] .. offset[q+1]-1. NaN is a missing value.
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
    float *label;                      /* [N], 0 without labels */
    uint64_t *id;                      /* [Q] hash of the query id, without one of the number */
    uint8_t *source;                   /* [N] index of the item's source within its list */
    uint8_t *sources;                  /* [Q] number of sources; 0: unknown */
    size_t list_capacity, item_capacity;
};

/* Initialize an empty dataset with these numbers of features, without allocating. */
void ek_dataset_init(struct ek_dataset *d, int item_features, int query_features);
/* Free the memory. The dataset is then empty and keeps its numbers of features. */
void ek_dataset_release(struct ek_dataset *d);
/* Append a copy of a list. Return 0, EK_ENOMEM, or EK_ESTATE if the shapes differ; on error the
 * dataset is unchanged. */
int ek_dataset_add(struct ek_dataset *d, const struct ek_list *q, struct ek_error *e);
/* Initialize `view` as list i. x, query, label and source point into the dataset; score and item_id
 * are NULL. The view must not be resized or released, and is valid as long as the dataset is
 * unchanged. */
void ek_dataset_view(const struct ek_dataset *d, size_t i, struct ek_list *view);
/* Append the lists of a LETOR file to an initialized dataset with the shapes of the manifest.
 * Return 0, EK_EFORMAT, EK_ESTATE for lists of another manifest, EK_ELIMIT, EK_ENOMEM or EK_EIO. On
 * error the lists before it stay appended. */
int ek_dataset_read_letor(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                          struct ek_error *e);

#endif
