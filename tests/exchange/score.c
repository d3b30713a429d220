/* Scores lists as the library does, for the comparison with others: score MODEL < lists > scores.
 *
 * In, per list, in the byte order of the machine: int32 n; float x [n, F], query [M], mask [K],
 * where 1 routes a feature. Out: n doubles per list.
 */
#include "base/alloc.h"
#include "score/scorer.h"

#include <stdio.h>
#include <stdlib.h>

static void give_up(const char *what, const struct ek_error *e)
{
    fprintf(stderr, "score: %s%s%s\n", what, e ? ": " : "", e ? e->message : "");
    exit(EXIT_FAILURE);
}

static void take(float *to, int count)
{
    if (fread(to, sizeof *to, (size_t)count, stdin) != (size_t)count)
        give_up("a list is cut short", NULL);
}

static void score_list(struct ek_scorer *s, const struct ek_model *m, int n, float *mask)
{
    struct ek_query q;
    struct ek_error e;
    ek_query_init(&q);
    if (ek_query_resize(&q, n, m->item_features, m->query_features))
        give_up("no memory", NULL);
    take(q.x, n * m->item_features);
    take(q.query, m->query_features);
    take(mask, m->routable_count);
    struct ek_treatment *t = ek_calloc((size_t)m->routable_count, sizeof *t);
    double *scores = ek_calloc((size_t)n, sizeof *scores);
    if (!t || !scores)
        give_up("no memory", NULL);
    for (int k = 0; k < m->routable_count; k++)
        t[k].action = mask[k] > 0 ? EK_ACT_ROUTE : EK_ACT_NONE;
    if (ek_scorer_score(s, &q, t, scores, &e))
        give_up("cannot score", &e);
    fwrite(scores, sizeof *scores, (size_t)n, stdout);
    ek_free(scores);
    ek_free(t);
    ek_query_release(&q);
}

int main(int argc, char **argv)
{
    struct ek_model *m;
    struct ek_scorer *s;
    struct ek_error e;
    int n;
    if (argc != 2)
        give_up("usage: score MODEL < lists > scores", NULL);
    if (ek_model_load(&m, argv[1], &e) || ek_scorer_new(&s, m, &e))
        give_up(argv[1], &e);
    float *mask = ek_calloc((size_t)m->routable_count, sizeof *mask);
    if (!mask)
        give_up("no memory", NULL);
    while (fread(&n, sizeof n, 1, stdin) == 1)
        score_list(s, m, n, mask);
    ek_free(mask);
    ek_scorer_free(s);
    ek_model_free(m);
    return 0;
}
