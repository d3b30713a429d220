/* Gradient boosted trees of LightGBM (text) or XGBoost (JSON), the user's own ranker.
 *
 * One node format for both libraries: a value goes left if it is at most the threshold, compared in
 * double. XGBoost compares `x < t` in float32, which equals `x <= the float32 before t`. A missing
 * value (NaN) goes left if EK_NODE_MISSING_LEFT is set. Children are adjacent, and a leaf is its
 * own left child, so a walk needs no test for leaves. score/tree_scorer.h computes the scores.
 * Read-only after ek_columns_bind.
 */
#ifndef EK_ASSETS_TREES_H
#define EK_ASSETS_TREES_H

#include "assets/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_TREES_MAX = 100000, EK_TREES_BYTES_MAX = 128 << 20 };

enum ek_tree_library { EK_LIGHTGBM, EK_XGBOOST };

/* Bits of `split`; the others are the column. */
enum {
    EK_NODE_COLUMN = 0xffff,
    EK_NODE_MISSING_LEFT = 1 << 16, /* direction of missing values */
    EK_NODE_ZERO_MISSING = 1 << 17, /* values of at most EK_TREE_ZERO are missing (LightGBM) */
    EK_NODE_CATEGORY = 1 << 18,     /* `threshold` is the number of a category set */
    EK_NODE_LEAF = 1 << 19
};

/* LightGBM's kZeroThreshold. */
#define EK_TREE_ZERO ((double)1e-35f)

struct ek_tree_node {
    double threshold; /* +inf in leaves */
    uint32_t split;
    uint32_t left; /* the right child follows */
};

/* Set of categories as bits, in `category_word`. */
struct ek_category_set {
    size_t first;
    uint32_t words;
};

/* Function from the sum of the leaves to the score, as the library's predict. */
enum ek_tree_link { EK_LINK_IDENTITY, EK_LINK_LOGISTIC };

struct ek_trees {
    enum ek_tree_library library;
    char version[24], objective[40]; /* as in the file; objective empty: unknown */
    int tree_count;
    uint32_t *root;            /* [trees] */
    int *depth;                /* [trees] */
    float *weight;             /* [trees] of XGBoost's dart; NULL: 1 */
    struct ek_tree_node *node; /* [nodes] */
    double *value;             /* [nodes] of leaves */
    size_t node_count;
    bool has_zero_missing, has_categories;
    struct ek_category_set *category;
    size_t category_count;
    uint32_t *category_word;
    size_t category_words;
    enum ek_tree_link link;
    double sigmoid;            /* LightGBM: factor in the logistic function */
    float base_score;          /* XGBoost: score before the first tree */
    struct ek_columns columns; /* without default names such as Column_0 */
};

enum { EK_TREES_HEAD = 64 };
/* Return whether a file begins like a tree model, including forms that ek_trees_load rejects with a
 * remedy. At least EK_TREES_HEAD bytes, unless the file is shorter. */
bool ek_trees_begins(const void *bytes, size_t length);
/* Read a model file; the caller frees *out. Return 0, EK_EIO, EK_EFORMAT, EK_ELIMIT beyond
 * EK_TREES_MAX trees or EK_TREES_BYTES_MAX bytes, or EK_ENOMEM.
 */
int ek_trees_load(struct ek_trees **out, const char *path, struct ek_error *e);
/* Read a model from memory, which is not kept; `name` is the file name in errors. Return 0,
 * EK_EFORMAT, EK_ELIMIT beyond EK_TREES_MAX trees, or EK_ENOMEM. The caller frees *out. */
int ek_trees_parse(struct ek_trees **out, const char *name, const char *text, size_t length,
                   struct ek_error *e);
void ek_trees_free(struct ek_trees *t);

/* Return "LightGBM" or "XGBoost", a static string. */
const char *ek_tree_library_name(enum ek_tree_library library);
/* Return the mean number of nodes that an item visits, at most, over all trees. */
double ek_trees_cost(const struct ek_trees *t);

#endif
