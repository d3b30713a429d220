/* Tree scorer for comparison with LightGBM and XGBoost: trees MODEL MANIFEST < lists > scores.
 * Input: lists of an int32 n, n * F doubles and M float32. Output: n doubles per list. */
#include "base/alloc.h"
#include "score/tree_scorer.h"

#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "trees: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void read_exactly(void *to, size_t size, size_t count)
{
    if (fread(to, size, count, stdin) != count)
        give_up("input", "truncated");
}

static void score_list(struct ek_tree_scorer *s, const struct ek_manifest *m, struct ek_list *q,
                       int32_t n)
{
    size_t items = (size_t)n, values = items * (size_t)m->item_count;
    double *x = ek_calloc(values, sizeof *x), *scores = ek_calloc(items, sizeof *scores);
    if (!x || !scores || ek_list_resize(q, n, m->item_count, m->query_count))
        give_up("list", "out of memory");
    read_exactly(x, sizeof *x, values);
    read_exactly(q->query, sizeof *q->query, (size_t)m->query_count);
    ek_tree_scorer_score(s, q, x, scores);
    fwrite(scores, sizeof *scores, items, stdout);
    ek_free(x);
    ek_free(scores);
}

int main(int argc, char **argv)
{
    struct ek_trees *t;
    struct ek_manifest *m;
    struct ek_tree_scorer *s;
    struct ek_list q;
    struct ek_error e;
    int32_t n;
    if (argc != 3)
        give_up("usage", "trees MODEL MANIFEST < lists > scores");
    if (ek_manifest_load(&m, argv[2], &e))
        give_up(argv[2], e.message);
    if (ek_trees_load(&t, argv[1], &e) || ek_columns_bind(&t->columns, m, &e))
        give_up(argv[1], e.message);
    if (ek_tree_scorer_new(&s, t))
        give_up(argv[1], "out of memory");
    ek_list_init(&q);
    while (fread(&n, sizeof n, 1, stdin) == 1)
        score_list(s, m, &q, n);
    ek_list_release(&q);
    ek_tree_scorer_free(s);
    ek_trees_free(t);
    ek_manifest_free(m);
    return EXIT_SUCCESS;
}
