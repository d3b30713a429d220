/* Timing of this scorer as an external process, in turns with a peer:
 *
 *     time_scores MODEL SECONDS < lists
 *
 * Lists as in tests/exchange/lists.h. Prints the best time of a pass over all lists in seconds:
 * from raw values to scores, and only the deep part's layers on prepared inputs.
 */
#include "base/alloc.h"
#include "base/parse.h"
#include "num/dense.h"
#include "score/scorer.h"
#include "tests/exchange/lists.h"
#include "tests/measure.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS_MAX = 256 };

struct work {
    struct lists lists;
    struct ek_scorer *scorer;
    const struct ek_model *model;
    struct ek_dense *layer[EK_LAYERS_MAX];
    float *input, *a, *b; /* [ITEMS_MAX, widest] each */
    size_t widest;
};

static void score_all(struct work *w)
{
    double scores[ITEMS_MAX];
    for (size_t i = 0; i < w->lists.count; i++) {
        const struct list *l = &w->lists.list[i];
        if (ek_scorer_score(w->scorer, &l->query, l->treatment, scores, NULL))
            abort();
        __asm__ volatile("" : : "r"(scores) : "memory");
    }
}

static void run_layers(struct work *w)
{
    int last = w->model->hidden_count;
    for (size_t i = 0; i < w->lists.count; i++) {
        const float *from = w->input;
        for (int l = 0; l <= last; l++) {
            float *to = l % 2 ? w->b : w->a;
            ek_dense_apply(w->layer[l], from, w->lists.list[i].query.items,
                           (size_t)ek_dense_inputs(w->layer[l]), to,
                           (size_t)ek_dense_outputs(w->layer[l]), l < last);
            from = to;
        }
        __asm__ volatile("" : : "r"(from) : "memory");
    }
}

static double best_of(void (*run)(struct work *), struct work *w, double seconds)
{
    double best = 1e9, until = ek_measure_seconds() + seconds;
    run(w);
    while (ek_measure_seconds() < until) {
        double start = ek_measure_seconds();
        run(w);
        double took = ek_measure_seconds() - start;
        best = took < best ? took : best;
    }
    return best;
}

static float *room(const struct work *w)
{
    float *p = ek_calloc_aligned(ITEMS_MAX * w->widest, sizeof *p);
    for (size_t i = 0; p && i < ITEMS_MAX * w->widest; i++)
        p[i] = (float)(i % 7) - 3;
    return p;
}

static void make_layers(struct work *w)
{
    const struct ek_model *m = w->model;
    int below = m->deep_inputs;
    w->widest = (size_t)below;
    for (int i = 0; i <= m->hidden_count; i++) {
        int width = i < m->hidden_count ? m->hidden[i] : 1;
        if (ek_dense_new(&w->layer[i], below, width, m->weight[i], m->bias[i]))
            abort();
        w->widest = (size_t)width > w->widest ? (size_t)width : w->widest;
        below = width;
    }
    w->input = room(w);
    w->a = room(w);
    w->b = room(w);
    if (!w->input || !w->a || !w->b)
        abort();
}

int main(int argc, char **argv)
{
    struct work w = {0};
    struct ek_model *m;
    struct ek_error e;
    double seconds;
    if (argc != 3 || ek_parse_finite(argv[2], EK_WHOLE, &seconds) ||
        ek_model_load(&m, argv[1], &e) || ek_scorer_new(&w.scorer, m, &e) ||
        lists_read(&w.lists, m, stdin)) {
        fputs("usage: time_scores MODEL SECONDS < lists\n", stderr);
        return EXIT_FAILURE;
    }
    w.model = m;
    make_layers(&w);
    printf("%.9g %.9g\n", best_of(score_all, &w, seconds), best_of(run_layers, &w, seconds));
    for (int i = 0; i <= m->hidden_count; i++)
        ek_dense_free(w.layer[i]);
    ek_free(w.input);
    ek_free(w.a);
    ek_free(w.b);
    lists_release(&w.lists);
    ek_scorer_free(w.scorer);
    ek_model_free(m);
    return 0;
}
