#include "score/tree_scorer.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* Items that walk a tree together: the loads of one item hide the latency of the others. */
enum { BLOCK = 16 };

/* XGBoost's limits of the logistic function. */
static const float LOGISTIC_MAX = 88.7f, LOGISTIC_EPSILON = 1e-16f;

struct ek_tree_scorer {
    const struct ek_trees *trees;
    double *row; /* [BLOCK, columns] */
};

int ek_tree_scorer_new(struct ek_tree_scorer **out, const struct ek_trees *t)
{
    struct ek_tree_scorer *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    s->trees = t;
    s->row = ek_calloc_aligned(BLOCK * (size_t)t->columns.count, sizeof *s->row);
    if (!s->row) {
        ek_tree_scorer_free(s);
        return EK_ENOMEM;
    }
    *out = s;
    return EK_OK;
}

void ek_tree_scorer_free(struct ek_tree_scorer *s)
{
    if (!s)
        return;
    ek_free(s->row);
    ek_free(s);
}

/* ----------------------------------------------------------------- walk */

/* Return the next node if no split has zeros as missing values or categories. */
static inline uint32_t step(const struct ek_tree_node *n, const double *row)
{
    double x = row[n->split & EK_NODE_COLUMN];
    bool is_missing = x != x;
    bool missing_right = !(n->split & EK_NODE_MISSING_LEFT);
    return n->left + (is_missing ? missing_right : !(x <= n->threshold));
}

static bool has_category(const struct ek_trees *t, const struct ek_tree_node *n, double x)
{
    const struct ek_category_set *set = &t->category[(size_t)n->threshold];
    uint32_t category = (uint32_t)x;
    return category / 32 < set->words &&
           t->category_word[set->first + category / 32] >> category % 32 & 1;
}

/* LightGBM sends the categories of the set to the left, XGBoost to the right. LightGBM truncates a
 * value to an integer. */
static bool goes_right_by_category(const struct ek_trees *t, const struct ek_tree_node *n, double x)
{
    if (t->library == EK_LIGHTGBM)
        return !(x > -1 && x <= INT32_MAX && has_category(t, n, x));
    return x >= 0 && x < 0x1p24 && has_category(t, n, x);
}

static uint32_t step_any(const struct ek_trees *t, const struct ek_tree_node *n, const double *row)
{
    double x = row[n->split & EK_NODE_COLUMN];
    bool is_zero = n->split & EK_NODE_ZERO_MISSING && fabs(x) <= EK_TREE_ZERO;
    if (isnan(x) || is_zero)
        return n->left + !(n->split & EK_NODE_MISSING_LEFT);
    if (n->split & EK_NODE_CATEGORY)
        return n->left + goes_right_by_category(t, n, x);
    return n->left + !(x <= n->threshold);
}

/* Set at [BLOCK] to the leaves of the rows. A full block has a constant count for the compiler. */
static inline void walk(const struct ek_tree_scorer *s, int tree, int count, uint32_t *at)
{
    const struct ek_trees *t = s->trees;
    size_t columns = (size_t)t->columns.count;
    for (int i = 0; i < count; i++)
        at[i] = t->root[tree];
    for (int level = 0; level < t->depth[tree]; level++) {
        uint32_t moved = 0;
        for (int i = 0; i < count; i++) {
            uint32_t next = step(&t->node[at[i]], s->row + (size_t)i * columns);
            moved |= next ^ at[i];
            at[i] = next;
        }
        if (!moved) /* all rows are at leaves */
            return;
    }
}

static void walk_any(const struct ek_tree_scorer *s, int tree, int count, uint32_t *at)
{
    const struct ek_trees *t = s->trees;
    for (int i = 0; i < count; i++) {
        at[i] = t->root[tree];
        while (!(t->node[at[i]].split & EK_NODE_LEAF))
            at[i] = step_any(t, &t->node[at[i]], s->row + (size_t)i * (size_t)t->columns.count);
    }
}

static void find_leaves(const struct ek_tree_scorer *s, int tree, int count, uint32_t *at)
{
    if (s->trees->has_zero_missing || s->trees->has_categories)
        walk_any(s, tree, count, at);
    else if (count == BLOCK)
        walk(s, tree, BLOCK, at);
    else
        walk(s, tree, count, at);
}

/* ----------------------------------------------------------------- scores */

static void read_rows(struct ek_tree_scorer *s, const struct ek_list *q, const double *x, int first,
                      int count)
{
    const struct ek_trees *t = s->trees;
    bool is_narrow = t->library == EK_XGBOOST;
    for (int i = 0; i < count; i++) {
        double *row = s->row + (size_t)i * (size_t)t->columns.count;
        size_t item = (size_t)(first + i) * (size_t)q->item_features;
        for (int c = 0; c < t->columns.count; c++) {
            int f = t->columns.feature[c];
            double value = f < 0 ? (double)q->query[~f]
                           : x   ? x[item + (size_t)f]
                                 : (double)q->x[item + (size_t)f];
            row[c] = is_narrow ? (double)(float)value : value;
        }
    }
}

static void score_lightgbm(const struct ek_tree_scorer *s, int count, double *scores)
{
    const struct ek_trees *t = s->trees;
    uint32_t at[BLOCK];
    for (int i = 0; i < count; i++)
        scores[i] = 0;
    for (int tree = 0; tree < t->tree_count; tree++) {
        find_leaves(s, tree, count, at);
        for (int i = 0; i < count; i++)
            scores[i] += t->value[at[i]];
    }
    for (int i = 0; i < count && t->link == EK_LINK_LOGISTIC; i++)
        scores[i] = 1 / (1 + exp(-t->sigmoid * scores[i]));
}

static float logistic(float x)
{
    return 1.0f / (expf(fminf(-x, LOGISTIC_MAX)) + 1.0f + LOGISTIC_EPSILON);
}

static void score_xgboost(const struct ek_tree_scorer *s, int count, double *scores)
{
    const struct ek_trees *t = s->trees;
    uint32_t at[BLOCK];
    float sum[BLOCK];
    for (int i = 0; i < count; i++)
        sum[i] = t->base_score;
    for (int tree = 0; tree < t->tree_count; tree++) {
        find_leaves(s, tree, count, at);
        for (int i = 0; i < count; i++) {
            float leaf = (float)t->value[at[i]];
            sum[i] += t->weight ? leaf * t->weight[tree] : leaf;
        }
    }
    for (int i = 0; i < count; i++)
        scores[i] = (double)(t->link == EK_LINK_LOGISTIC ? logistic(sum[i]) : sum[i]);
}

void ek_tree_scorer_score(struct ek_tree_scorer *s, const struct ek_list *q, const double *x,
                          double *scores)
{
    for (int first = 0; first < q->items; first += BLOCK) {
        int count = q->items - first < BLOCK ? q->items - first : BLOCK;
        read_rows(s, q, x, first, count);
        if (s->trees->library == EK_LIGHTGBM)
            score_lightgbm(s, count, scores + first);
        else
            score_xgboost(s, count, scores + first);
    }
}
