#include "offline/scale/rank_svm.h"

#include "base/alloc.h"
#include "offline/scale/planes.h"
#include "offline/scale/rank_pairs.h"

#include <math.h>
#include <string.h>

/* Of the accuracy asked for, what the small problem may use up. */
static const double SMALL_SHARE = 0.5;

struct work {
    const struct ek_dataset *lists;
    const float *x;
    size_t columns;
    struct ek_rank_pairs *pairs;
    struct ek_planes *planes;
    double *w, *best, *a; /* [columns] */
    double *scores, *net; /* [N] */
};

void ek_rank_svm_defaults(struct ek_rank_svm_options *o)
{
    *o = (struct ek_rank_svm_options){.c = 1, .epsilon = 1e-3, .rounds_max = 1000};
}

static int check(const struct ek_rank_svm_options *o, struct ek_error *e)
{
    if (!(o->c > 0) || !isfinite(o->c))
        return ek_fail(e, EK_EUSAGE, "C of %g is not a positive number", o->c);
    if (!(o->epsilon > 0) || !(o->epsilon < 1))
        return ek_fail(e, EK_EUSAGE, "epsilon of %g is not between 0 and 1", o->epsilon);
    if (o->rounds_max < 1)
        return ek_fail(e, EK_EUSAGE, "%d rounds are none", o->rounds_max);
    return EK_OK;
}

static int prepare(struct work *k, const struct ek_rank_svm_options *o, struct ek_error *e)
{
    size_t items = k->lists->items;
    k->w = ek_calloc(k->columns, sizeof *k->w);
    k->best = ek_calloc(k->columns, sizeof *k->best);
    k->a = ek_calloc(k->columns, sizeof *k->a);
    k->scores = ek_calloc(items, sizeof *k->scores);
    k->net = ek_calloc(items, sizeof *k->net);
    if (!k->w || !k->best || !k->a || !k->scores || !k->net)
        return ek_fail(e, EK_ENOMEM, "no memory to rank %zu items by %zu columns", items,
                       k->columns);
    int rc = ek_rank_pairs_new(&k->pairs, k->lists, e);
    if (!rc && !ek_rank_pairs_count(k->pairs))
        rc = ek_fail(e, EK_EUSAGE, "no list has items with different labels: nothing to learn");
    return rc ? rc : ek_planes_new(&k->planes, k->columns, o->c, e);
}

static void release(struct work *k)
{
    ek_rank_pairs_free(k->pairs);
    ek_planes_free(k->planes);
    ek_free(k->w);
    ek_free(k->best);
    ek_free(k->a);
    ek_free(k->scores);
    ek_free(k->net);
}

/* The plane that touches the loss at w: a, b, and the loss, b - w . a. Sums of whole numbers times
 * floats: where a column is the same within its lists, what cancels does so without a trace. */
static double touch(struct work *k, double *b)
{
    size_t items = k->lists->items;
    for (size_t i = 0; i < items; i++) {
        const float *x = k->x + i * k->columns;
        double sum = 0;
        for (size_t c = 0; c < k->columns; c++)
            sum += k->w[c] * (double)x[c];
        k->scores[i] = sum;
    }
    double pairs = (double)ek_rank_pairs_count(k->pairs), sum = 0;
    *b = (double)ek_rank_pairs_violated(k->pairs, k->scores, k->net) / pairs;
    memset(k->a, 0, k->columns * sizeof *k->a);
    for (size_t i = 0; i < items; i++) {
        const float *x = k->x + i * k->columns;
        if (k->net[i] != 0)
            for (size_t c = 0; c < k->columns; c++)
                k->a[c] += k->net[i] * (double)x[c];
    }
    for (size_t c = 0; c < k->columns; c++) {
        k->a[c] /= pairs;
        sum += k->w[c] * k->a[c];
    }
    return *b - sum;
}

static double half_square(const double *w, size_t columns)
{
    double sum = 0;
    for (size_t c = 0; c < columns; c++)
        sum += w[c] * w[c];
    return sum / 2;
}

/* A plane where w is; then the best w under all planes. The result keeps the best of both sides. */
static int round_of(struct work *k, const struct ek_rank_svm_options *o,
                    struct ek_rank_svm_result *r, struct ek_error *e)
{
    double b, loss = touch(k, &b);
    double objective = half_square(k->w, k->columns) + o->c * loss;
    if (!isfinite(objective))
        return ek_fail(e, EK_EUSAGE, "a value of the data is no finite number, or far too large");
    if (objective < r->objective) {
        r->objective = objective;
        memcpy(k->best, k->w, k->columns * sizeof *k->best);
    }
    if (r->objective - r->bound <= o->epsilon * o->c)
        return EK_OK;
    int rc = ek_planes_add(k->planes, k->a, b, e);
    if (!rc)
        r->bound =
            fmax(r->bound, ek_planes_solve(k->planes, SMALL_SHARE * o->epsilon * o->c, k->w));
    return rc;
}

static int run(struct work *k, const struct ek_rank_svm_options *o, struct ek_rank_svm_result *r,
               struct ek_error *e)
{
    while (r->rounds < o->rounds_max) {
        r->rounds++;
        int rc = round_of(k, o, r, e);
        if (rc || r->objective - r->bound <= o->epsilon * o->c)
            return rc;
    }
    return ek_fail(e, EK_ESTATE, "C %g: after %d rounds the objective is %g, and may be %g", o->c,
                   r->rounds, r->objective, r->bound);
}

int ek_rank_svm(const struct ek_dataset *lists, const float *x, size_t columns,
                const struct ek_rank_svm_options *o, double *w, struct ek_rank_svm_result *result,
                struct ek_error *e)
{
    struct work k = {.lists = lists, .x = x, .columns = columns};
    struct ek_rank_svm_result r = {.objective = INFINITY};
    int rc = check(o, e);
    if (!rc)
        rc = prepare(&k, o, e);
    if (!rc) {
        r.pairs = ek_rank_pairs_count(k.pairs);
        rc = run(&k, o, &r, e);
    }
    if (!rc) {
        memcpy(w, k.best, columns * sizeof *w);
        if (result)
            *result = r;
    }
    release(&k);
    return rc;
}
