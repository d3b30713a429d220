/* Construction of trees, shared by the readers of LightGBM and XGBoost files. */
#ifndef EK_ASSETS_TREES_INTERNAL_H
#define EK_ASSETS_TREES_INTERNAL_H

#include "assets/trees.h"

/* Node of a tree in the order of its file; node 0 is the root. */
struct ek_raw_node {
    double threshold; /* value of a leaf */
    uint32_t split;   /* as struct ek_tree_node */
    int64_t left, right;
};

struct ek_trees_builder {
    struct ek_trees *trees;
    size_t node_capacity, value_capacity, root_capacity, depth_capacity, set_capacity,
        word_capacity;
    struct ek_raw_node *raw; /* next tree, ek_trees_builder_reserve */
    size_t raw_capacity;
    uint32_t *order; /* [raw_capacity] scratch of ek_trees_add */
    bool *placed;    /* [raw_capacity] */
    struct ek_error *e;
};

/* Reserve b->raw for a tree of `nodes` nodes. Return 0 or EK_ENOMEM. */
int ek_trees_builder_reserve(struct ek_trees_builder *b, size_t nodes);
/* Append the tree in `raw`. with_unused: nodes that the root does not reach are allowed. Return 0,
 * EK_EFORMAT if it is no tree or has a value that is not finite or a column out of range, EK_ELIMIT
 * beyond EK_TREES_MAX trees, or EK_ENOMEM. */
int ek_trees_add(struct ek_trees_builder *b, size_t nodes, bool with_unused);
/* Append an empty category set. Return its number, or -1 if out of memory. */
int64_t ek_trees_add_set(struct ek_trees_builder *b);
/* Append a word to the last category set. Return 0 or EK_ENOMEM. */
int ek_trees_add_word(struct ek_trees_builder *b, uint32_t word);

/* Read a text file of LightGBM into b->trees. Return 0, EK_EFORMAT, EK_ELIMIT or EK_ENOMEM, with a
 * message in the builder's error. */
int ek_trees_read_lightgbm(struct ek_trees_builder *b, const char *text, size_t length);
/* Read a JSON file of XGBoost into b->trees. Return 0, EK_EFORMAT, EK_ELIMIT or EK_ENOMEM, with a
 * message in the builder's error. */
int ek_trees_read_xgboost(struct ek_trees_builder *b, const char *text, size_t length);

#endif
