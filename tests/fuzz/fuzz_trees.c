/* Tree models: one that is read is a set of trees, and scores any list. */
#include "base/alloc.h"
#include "score/tree_scorer.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum { ITEMS = 20 };

/* Each node is the root of its tree, or the child of one node; so a walk ends. */
static void check_nodes(const struct ek_trees *t)
{
    uint8_t *parents = calloc(t->node_count, 1);
    ek_fuzz_require(parents != NULL, "no memory");
    for (int i = 0; i < t->tree_count; i++)
        parents[t->root[i]]++;
    for (size_t i = 0; i < t->node_count; i++) {
        const struct ek_tree_node *n = &t->node[i];
        if (n->split & EK_NODE_LEAF) {
            ek_fuzz_require(n->left == i && isfinite(t->value[i]), "a leaf without a value");
            continue;
        }
        ek_fuzz_require(n->left > i && n->left + 1 < t->node_count, "a child before its parent");
        ek_fuzz_require((int)(n->split & EK_NODE_COLUMN) < t->columns.count,
                        "a column out of range");
        ek_fuzz_require(!isnan(n->threshold), "a threshold that is no number");
        parents[n->left]++;
        parents[n->left + 1]++;
    }
    for (size_t i = 0; i < t->node_count; i++)
        ek_fuzz_require(parents[i] == 1, "a node without a parent, or with several");
    free(parents);
}

/* Bind the columns to item features of the same number. */
static void bind(struct ek_trees *t)
{
    t->columns.feature = ek_calloc((size_t)t->columns.count, sizeof *t->columns.feature);
    ek_fuzz_require(t->columns.feature != NULL, "no memory");
    for (int i = 0; i < t->columns.count; i++)
        t->columns.feature[i] = i;
}

static void score_list(const struct ek_trees *t)
{
    static const float value[] = {0, NAN, 1, -1, 1e30f, -INFINITY, INFINITY, 3, 1e-36f, .5f, 40};
    struct ek_tree_scorer *s;
    struct ek_list q;
    double scores[ITEMS];
    ek_list_init(&q);
    ek_fuzz_require(!ek_tree_scorer_new(&s, t) && !ek_list_resize(&q, ITEMS, t->columns.count, 0),
                    "no memory");
    for (int i = 0; i < ITEMS * t->columns.count; i++)
        q.x[i] = value[i % 11];
    ek_tree_scorer_score(s, &q, NULL, scores);
    for (int i = 0; i < ITEMS; i++)
        ek_fuzz_require(t->tree_count > 100 || !isnan(scores[i]), "a score that is no number");
    ek_tree_scorer_free(s);
    ek_list_release(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_trees *t;
    struct ek_error e = {0};
    char *text = (char *)ek_fuzz_exact(data, size);
    if (ek_trees_parse(&t, "input", text, size, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    } else {
        ek_fuzz_take();
        check_nodes(t);
        bind(t);
        score_list(t);
        ek_trees_free(t);
    }
    free(text);
    return 0;
}
