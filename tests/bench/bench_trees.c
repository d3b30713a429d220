/* Scoring a list of 20 items and 136 features with trees of 31 leaves, and with one walk per item,
 * as LightGBM does. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/rng.h"
#include "score/tree_scorer.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FEATURES = 136, ITEMS = 20, LISTS = 100, LEAVES = 31 };

struct work {
    struct ek_trees *trees;
    struct ek_tree_scorer *scorer;
    struct ek_list list[LISTS];
};

struct shape {
    int feature[LEAVES], left[LEAVES], right[LEAVES];
    double threshold[LEAVES];
};

/* Split random leaves, as the growth by leaves does. A child below 0 is ~leaf. */
static void grow(struct shape *s, struct ek_rng *r)
{
    int *place[LEAVES] = {NULL};
    for (int i = 0; i < LEAVES - 1; i++) {
        int leaf = (int)ek_rng_uniform_int(r, (uint64_t)i + 1);
        if (place[leaf])
            *place[leaf] = i;
        s->feature[i] = (int)ek_rng_uniform_int(r, FEATURES);
        s->threshold[i] = ek_rng_normal(r);
        s->left[i] = ~leaf;
        s->right[i] = ~(i + 1);
        place[leaf] = &s->left[i];
        place[i + 1] = &s->right[i];
    }
}

static void add_row(struct ek_buf *b, const char *key, const int *values)
{
    ek_buf_printf(b, "%s=", key);
    for (int i = 0; i < LEAVES - 1; i++)
        ek_buf_printf(b, "%d ", values[i]);
    ek_buf_text(b, "\n");
}

static void add_tree(struct ek_buf *b, int number, struct ek_rng *r)
{
    struct shape s;
    grow(&s, r);
    ek_buf_printf(b, "Tree=%d\nnum_leaves=%d\nnum_cat=0\n", number, LEAVES);
    add_row(b, "split_feature", s.feature);
    add_row(b, "left_child", s.left);
    add_row(b, "right_child", s.right);
    ek_buf_text(b, "threshold=");
    for (int i = 0; i < LEAVES - 1; i++)
        ek_buf_printf(b, "%.17g ", s.threshold[i]);
    ek_buf_text(b, "\ndecision_type=");
    for (int i = 0; i < LEAVES - 1; i++)
        ek_buf_text(b, "8 ");
    ek_buf_text(b, "\nleaf_value=");
    for (int i = 0; i < LEAVES; i++)
        ek_buf_printf(b, "%.17g ", ek_rng_normal(r));
    ek_buf_text(b, "\n\n");
}

static void start(struct work *w, int trees)
{
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_rng r;
    struct ek_buf text;
    ek_rng_seed(&r, 4);
    ek_buf_init(&text, 0);
    ek_buf_printf(&text, "tree\nversion=v4\nmax_feature_idx=%d\n", FEATURES - 1);
    for (int i = 0; i < trees; i++)
        add_tree(&text, i, &r);
    ek_buf_text(&text, "end of trees\n");
    if (ek_trees_parse(&w->trees, "trees", (const char *)text.data, text.length, NULL) ||
        ek_columns_bind(&w->trees->columns, m, NULL) || ek_tree_scorer_new(&w->scorer, w->trees))
        abort();
    for (int i = 0; i < LISTS; i++) {
        ek_list_init(&w->list[i]);
        if (ek_list_resize(&w->list[i], ITEMS, FEATURES, 1))
            abort();
        for (int k = 0; k < ITEMS * FEATURES; k++)
            w->list[i].x[k] = (float)ek_rng_normal(&r);
    }
    ek_buf_release(&text);
    ek_manifest_free(m);
}

static void release(struct work *w)
{
    for (int i = 0; i < LISTS; i++)
        ek_list_release(&w->list[i]);
    ek_tree_scorer_free(w->scorer);
    ek_trees_free(w->trees);
}

static void score(void *context)
{
    struct work *w = context;
    double scores[ITEMS];
    for (int i = 0; i < LISTS; i++) {
        ek_tree_scorer_score(w->scorer, &w->list[i], NULL, scores);
        ek_bench_use(scores);
    }
}

/* Return the leaf of an item by a branch per node. */
static uint32_t walk(const struct ek_trees *t, int tree, const float *x)
{
    uint32_t at = t->root[tree];
    while (!(t->node[at].split & EK_NODE_LEAF)) {
        const struct ek_tree_node *n = &t->node[at];
        double value = (double)x[n->split & EK_NODE_COLUMN];
        if (isnan(value))
            at = n->left + !(n->split & EK_NODE_MISSING_LEFT);
        else if (value <= n->threshold)
            at = n->left;
        else
            at = n->left + 1;
    }
    return at;
}

static void walk_each(void *context)
{
    struct work *w = context;
    double scores[ITEMS];
    for (int i = 0; i < LISTS; i++) {
        for (int k = 0; k < ITEMS; k++) {
            scores[k] = 0;
            for (int t = 0; t < w->trees->tree_count; t++)
                scores[k] +=
                    w->trees->value[walk(w->trees, t, w->list[i].x + (size_t)k * FEATURES)];
        }
        ek_bench_use(scores);
    }
}

void bench_trees(struct ek_bench *b)
{
    static const int trees[] = {166, 500};
    for (int i = 0; i < 2; i++) {
        struct work w;
        char name[80];
        start(&w, trees[i]);
        const struct ek_contender all[] = {{NULL, score, &w}, {"a walk per item", walk_each, &w}};
        snprintf(name, sizeof name, "136 features, 20 items, %d trees", trees[i]);
        ek_bench_case(b, name, "us/list", LISTS, all, 2);
        release(&w);
    }
}
