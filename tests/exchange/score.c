/* Scorer for comparison with other implementations: score MODEL < lists > scores. Input:
 * tests/exchange/lists.h. Output: n doubles per list. */
#include "score/scorer.h"
#include "tests/exchange/lists.h"

#include <stdlib.h>

static void give_up(const char *what, const char *why)
{
    fprintf(stderr, "score: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void print_scores(struct ek_scorer *s, const struct list *l)
{
    struct ek_error e;
    size_t n = (size_t)l->query.items;
    double *scores = ek_calloc(n, sizeof *scores);
    if (!scores)
        give_up("scores", "no memory");
    if (ek_scorer_score(s, &l->query, l->treatment, scores, &e))
        give_up("scores", e.message);
    fwrite(scores, sizeof *scores, n, stdout);
    ek_free(scores);
}

int main(int argc, char **argv)
{
    struct ek_model *m;
    struct ek_scorer *s;
    struct lists lists;
    struct ek_error e;
    if (argc != 2)
        give_up("usage", "score MODEL < lists > scores");
    if (ek_model_load(&m, argv[1], &e) || ek_scorer_new(&s, m, &e))
        give_up(argv[1], e.message);
    if (lists_read(&lists, m, stdin))
        give_up("lists", "cut short, or no memory");
    for (size_t i = 0; i < lists.count; i++)
        print_scores(s, &lists.list[i]);
    lists_release(&lists);
    ek_scorer_free(s);
    ek_model_free(m);
    return 0;
}
